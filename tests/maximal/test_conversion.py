"""Minimal and maximal coordinates describe the same mechanism: states map to and fro, and trajectories agree."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim import joints as minimal
from jaxsim.dynamics import energy
from jaxsim.integrators import Variational
from jaxsim.integrators.maximal_variational import MaximalVariational
from jaxsim.maximal import MaximalState, mechanism_from_model, to_maximal, to_minimal
from jaxsim.model import BodyInertia, ModelBuilder, Placement, integrate, random_configuration
from jaxsim.rollout import rollout

JOINTS = {
    "revolute": minimal.Revolute((0.2, 1.0, 0.3)),
    "spherical": minimal.Spherical(),
    "prismatic": minimal.Prismatic("y"),
    "universal": minimal.Universal(("y", "z")),
    "cylindrical": minimal.Cylindrical((1.0, -1.0, 0.0)),
    "helical": minimal.Helical("-z", pitch=0.3),
    "planar": minimal.Planar(("z", "x")),
    "translational": minimal.Translational(),
    "fixed": minimal.Fixed(),
}


def tree(kinds, base=None):
    rng = np.random.default_rng(0)
    builder = ModelBuilder()
    if base is not None:
        builder.add_body("base", 0, base, inertia=BodyInertia(2.0, (0.1, 0.0, 0.2), np.diag([0.3, 0.4, 0.5])))
    for i, kind in enumerate(kinds):
        angle = rng.normal(size=4)
        builder.add_body(
            kind,
            parent=int(rng.integers(i, i + 1)) + (base is not None),
            joint=JOINTS[kind],
            placement=Placement(rng.normal(size=3) * 0.3, angle / np.linalg.norm(angle)),
            inertia=BodyInertia(1.0 + rng.uniform(), rng.normal(size=3) * 0.2, np.diag([0.1, 0.12, 0.15])),
        )
    return builder.build()


@pytest.fixture(scope="module")
def everything():
    return tree(list(JOINTS), base=minimal.Free())


def test_states_map_to_and_fro_and_keep_all_joints(everything):
    model = everything
    mechanism = mechanism_from_model(model)
    q = random_configuration(model, jax.random.key(1))
    v = jax.random.normal(jax.random.key(2), (model.nv,))
    q_max, v_max = jax.jit(to_maximal)(model, q, v)
    assert jnp.max(jnp.abs(mechanism.violation(q_max))) < 1e-13
    q_back, v_back = jax.jit(to_minimal)(model, q_max, v_max)
    there = jax.jit(to_maximal)(model, q_back, v_back)
    np.testing.assert_allclose(v_back, v, atol=1e-12)
    np.testing.assert_allclose(there[1], v_max, atol=1e-12)
    np.testing.assert_allclose(jnp.abs(there[0]), jnp.abs(q_max), atol=1e-12)
    total = energy(model, q, v)
    np.testing.assert_allclose(mechanism.kinetic_energy(v_max), total.kinetic, rtol=1e-12)
    np.testing.assert_allclose(mechanism.potential_energy(q_max), total.potential, rtol=1e-12)
    rates, free = mechanism.coordinate_rates(q_max, v_max), mechanism.joints.free
    for name in ("revolute", "prismatic", "helical"):
        body = model.body_index(name)
        row = free[: mechanism.joints.child.index(body - 1)].sum()
        np.testing.assert_allclose(rates[row], v[model.topology.v_start[body]], atol=1e-12)


DURATION = 0.2


@pytest.fixture(scope="module")
def in_minimal_coordinates():
    """A tree with springs and dampers under constant joint forces: final state and derivative in the leaves."""
    model = tree(["revolute", "spherical", "universal"])
    rng = np.random.default_rng(5)
    stiffness, damping = jnp.array([2.0, 1.0, 1.0, 1.0, 0.5, 0.7]), jnp.array([0.1, 0.05, 0.05, 0.05, 0.2, 0.1])
    with_ball_springs = dataclasses.replace(model.topology, ball_springs=True)
    model = dataclasses.replace(model, topology=with_ball_springs, stiffness=stiffness, damping=damping)
    # Far from half turns, beyond which maximal coordinates count the angle of a spring from the other side.
    q, v = 0.5 * jax.random.normal(jax.random.key(3), (2, model.nv))
    q = integrate(model, model.neutral(), q)
    # Ball joints are driven in the child frame here and in the parent frame there: no torque on them.
    tau = jnp.asarray(rng.normal(size=model.nv)).at[1:4].set(0.0)
    names = ("mass", "com", "inertia", "position", "stiffness", "damping", "gravity")
    leaves = lambda m: [*(getattr(m, name) for name in names), m.joints[0].axis]  # noqa: E731
    changes = [jnp.asarray(0.1 * rng.normal(size=leaf.shape)) for leaf in leaves(model)]
    changes[2] = 0.1 * model.inertia
    changes[5] = (
        changes[5].at[1:4].set(0.1)
    )  # dampers of ball joints act along the child's axes here, the parent's there

    def changed(s):
        return eqx.tree_at(leaves, model, [a + s * b for a, b in zip(leaves(model), changes, strict=True)])

    def final(s):
        m, integrator = changed(s), Variational(0.01, order=4)
        trajectory = rollout(m, integrator, integrator.init(m, q, v), jnp.broadcast_to(tau, (20, model.nv)))
        return jnp.concatenate([part.ravel() for part in to_maximal(m, trajectory.q[-1], trajectory.v[-1])])

    h = 1e-3
    below, value, above = jax.jit(jax.vmap(final))(jnp.array([-h, 0.0, h]))
    return changed, q, v, tau, (value, (above - below) / (2 * h))


@pytest.mark.slow
def test_the_same_tree_follows_the_same_trajectory_with_the_same_gradient(in_minimal_coordinates):
    changed, q, v, tau, (exact, exact_derivative) = in_minimal_coordinates

    @jax.jit
    def errors(dt, steps):
        def final(s):
            model = changed(s)
            mechanism, integrator = mechanism_from_model(model), MaximalVariational(dt, symmetric=True)

            def body(_, carry):
                state, good = carry
                state, info = integrator.step(mechanism, state, tau)
                return state, good & info.converged

            state = MaximalState(*to_maximal(model, q, v), jnp.zeros(()), jnp.zeros((mechanism.num_joints, 6)))
            state, good = jax.lax.fori_loop(0, steps, body, (state, jnp.asarray(True)))
            return jnp.concatenate([state.q.ravel(), state.v.ravel()]), good

        value, derivative, good = jax.jvp(final, (0.0,), (1.0,), has_aux=True)
        return value - exact, derivative - exact_derivative, good

    value, derivative, good = zip(*(errors(DURATION / steps, steps) for steps in (20, 40)), strict=True)
    assert all(good)
    assert jnp.max(jnp.abs(exact_derivative)) > 0.1
    # Order 2 in positions and velocities, with dampers and controls, and in the derivatives; extrapolated, order 3.
    for coarse, fine in (value, derivative):
        assert 3.7 < jnp.linalg.norm(coarse) / jnp.linalg.norm(fine) < 4.3
        np.testing.assert_allclose((4 * fine - coarse) / 3, 0.0, atol=2e-6)


def test_what_cannot_be_converted_is_named():
    builder = ModelBuilder()
    builder.add_body("a", 0, minimal.Free2D(), inertia=BodyInertia(1.0, (0, 0, 0), np.eye(3)))
    with pytest.raises(ValueError, match="Free2D"):
        mechanism_from_model(builder.build())
    builder = ModelBuilder()
    builder.add_body("a", 0, minimal.Revolute(), inertia=BodyInertia(1.0, (0, 0, 0), np.eye(3)), armature=0.1)
    with pytest.raises(ValueError, match="armature"):
        mechanism_from_model(builder.build())
