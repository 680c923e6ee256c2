"""The dynamics against Pinocchio, on models built from the same leaves."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from tests.samples import relative_error, state, with_joint_elements

pin = pytest.importorskip("pinocchio")
from tests.oracles.pinocchio_twin import SWAP, twin  # noqa: E402

POINT = (0.2, -0.1, 0.3)

SHARED = (
    jaxsim.Free(),
    jaxsim.Revolute((0.3, -0.5, 0.8)),
    jaxsim.Spherical(),
    jaxsim.Fixed(),
    jaxsim.Prismatic((0.2, 0.9, -0.4)),
    jaxsim.Helical((0.1, 0.2, 1.0), 0.3),
    jaxsim.Translational(),
    jaxsim.Free2D(),
    jaxsim.Composite(jaxsim.Spherical(), jaxsim.Prismatic("z")),
)
"""Joints that both engines have; planar, cylindrical and universal ones are composites in Pinocchio."""

MODELS = {
    "chain": lambda: jaxsim.robots.chain(10, jaxsim.Revolute((0.2, 0.9, 0.1))),
    "tree": lambda: jaxsim.robots.random_tree(2 * len(SHARED), 11, joints=SHARED),
    "quadruped": jaxsim.robots.quadruped,
    "humanoid": jaxsim.robots.humanoid,
}


def ours(model, s, body):
    """Everything that both engines compute, in one compilation."""
    q, v, a, tau, f = s
    com = jaxsim.center_of_mass(model, q)
    h = jaxsim.momentum(model, q, v)
    energy = jaxsim.energy(model, q, v)
    poses = jaxsim.forward_kinematics(model, q)
    return {
        "inverse dynamics": jaxsim.inverse_dynamics(model, q, v, a, f),
        "forward dynamics": jaxsim.forward_dynamics(model, q, v, tau, f),
        "mass matrix": jaxsim.mass_matrix(model, q),
        "inverse mass product": jaxsim.inverse_mass_product(model, q, tau),
        "bias forces": jaxsim.bias_forces(model, q, v),
        "gravity forces": jaxsim.gravity_forces(model, q),
        "rotations": poses.rotation,
        "positions": poses.position,
        "twists": jaxsim.body_velocities(model, q, v),
        "jacobian": jaxsim.jacobian(model, q, body, POINT),
        "jacobian derivative": jaxsim.jacobian_derivative(model, q, v, body, POINT)[:, _simple_joints(model)],
        "centre of mass": com,
        # about the centre of mass instead of the origin
        "centroidal momentum": jnp.concatenate([h[:3] - jnp.cross(com, h[3:]), h[3:]]),
        "kinetic energy": energy.kinetic,
        "potential energy": energy.potential,
    }


def theirs(t, s, body):
    """The same by Pinocchio, in our order."""
    model, data = t.model, t.data
    q, v, a, tau = t.q(s.q), t.v(s.v), t.v(s.a), t.v(s.tau)
    f = t.forces(s.f_ext)
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    result = {
        "inverse dynamics": t.from_v(pin.rnea(model, data, q, v, a, f)),
        "forward dynamics": t.from_v(pin.aba(model, data, q, v, tau, f)),
        "mass matrix": t.from_matrix(M),
        "bias forces": t.from_v(pin.nonLinearEffects(model, data, q, v)),
        "gravity forces": t.from_v(pin.computeGeneralizedGravity(model, data, q)),
        # computeKineticEnergy counts the rotors of some kinds of joints only
        "kinetic energy": 0.5 * v @ M @ v,
        "potential energy": pin.computePotentialEnergy(model, data, q),
        "centre of mass": pin.centerOfMass(model, data, q).copy(),
    }
    inverse = pin.computeMinverse(model, data, q)
    inverse = np.triu(inverse) + np.triu(inverse, 1).T
    result["inverse mass product"] = t.from_v(inverse @ tau)
    momentum = pin.computeCentroidalMomentum(model, data, q, v).vector
    result["centroidal momentum"] = momentum[SWAP]
    return result | _kinematics(t, q, v, body)


def _kinematics(t, q, v, body):
    model, data = t.model, t.data
    pin.forwardKinematics(model, data, q, v)
    poses = [data.oMi[j] * offset for j, offset in zip(t.joint, t.offset, strict=True)]
    twists = [offset.actInv(data.v[j]).vector[SWAP] for j, offset in zip(t.joint, t.offset, strict=True)]
    # J and J̇ of the joint in the world frame, moved to the point p: ṗ = v + ω×p, and ω×ṗ for its rate
    pin.computeJointJacobiansTimeVariation(model, data, q, v)
    J = pin.getJointJacobian(model, data, t.joint[body], pin.WORLD)[SWAP]
    dJ = pin.getJointJacobianTimeVariation(model, data, t.joint[body], pin.WORLD)[SWAP]
    p = poses[body].act(np.array(POINT))
    J, dJ = t.from_v(J), t.from_v(dJ)
    linear = J[3:] + np.cross(J[:3].T, p).T
    velocity = linear @ t.from_v(v)
    rate = dJ[3:] + np.cross(dJ[:3].T, p).T + np.cross(J[:3].T, velocity).T
    return {
        "rotations": np.stack([pose.rotation for pose in poses]),
        "positions": np.stack([pose.translation for pose in poses]),
        "twists": np.stack(twists),
        "jacobian": np.concatenate([J[:3], linear]),
        "jacobian derivative": np.concatenate([dJ[:3], rate])[:, _simple_joints(t.ours)],
    }


def _simple_joints(model) -> np.ndarray:
    """Which degrees of freedom do not belong to a composite: Pinocchio leaves out how a composite's subspace turns."""
    simple = np.ones(model.nv, bool)
    for joint, rows in zip(model.joints, model.topology.v_rows, strict=True):
        simple[np.ravel(rows)] = len(joint.parts()) == 1
    return simple


@functools.cache
def compared(name):
    """A model with rotors, a state of it, and what both engines say; ours in double and in single precision."""
    model = with_joint_elements(MODELS[name]())
    nothing = jnp.zeros(model.nv)
    model = dataclasses.replace(model, stiffness=nothing, damping=nothing)
    s = state(model, seed=3)
    body = model.num_bodies - 1
    run = jax.jit(ours, static_argnums=2)
    single = run(model.astype(jnp.float32), state(model, seed=3, dtype=jnp.float32), body)
    return theirs(twin(model), s, body), run(model, s, body), single


QUANTITIES = (
    "inverse dynamics",
    "forward dynamics",
    "mass matrix",
    "inverse mass product",
    "bias forces",
    "gravity forces",
    "rotations",
    "positions",
    "twists",
    "jacobian",
    "jacobian derivative",
    "centre of mass",
    "centroidal momentum",
    "kinetic energy",
    "potential energy",
)


every_model = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "tree")) for name in MODELS]
)


@pytest.mark.parametrize("quantity", QUANTITIES)
@every_model
def test_double_precision(name, quantity):
    expected, got, _ = compared(name)
    assert relative_error(got[quantity], expected[quantity]) < 1e-9


@pytest.mark.parametrize("quantity", QUANTITIES)
@every_model
def test_single_precision(name, quantity):
    expected, _, got = compared(name)
    assert got[quantity].dtype == jnp.float32
    assert relative_error(got[quantity], expected[quantity]) < 1e-4


def test_nothing_is_compared_with_nothing():
    """Both dictionaries hold exactly the quantities of the table, none of them trivially zero."""
    expected, got, single = compared("tree")
    assert set(expected) == set(got) == set(single) == set(QUANTITIES)
    assert all(np.abs(value).max() > 1e-2 for value in expected.values())
