"""Models, states and plain recursions that the tests of the derivatives share."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from jaxsim import joints
from jaxsim.dynamics import newton_euler
from jaxsim.dynamics.aba import articulated
from jaxsim.dynamics.elements import per_velocity
from jaxsim.dynamics.rnea import motion_data

CURVE = [(0.0, 0.0, 0.0), (0.3, 0.1, 0.0), (0.5, 0.4, 0.2), (0.6, 0.8, 0.1), (0.9, 0.9, 0.4)]
TURNS = [(1, 0, 0, 0), (1, 0.2, 0, 0.1), (1, 0.1, 0.4, 0), (1, -0.2, 0.3, 0.2), (1, 0, 0.5, -0.3)]

KINDS = {
    "fixed base": (
        joints.Revolute((0.3, -0.5, 0.8)),
        joints.Spherical(),
        joints.Prismatic((0.2, 0.9, -0.4)),
        joints.Universal(),
        joints.Fixed(),
    ),
    "floating base": (joints.Free(), joints.Revolute("y"), joints.Spherical(), joints.Helical("z", 0.3)),
    "screws": (joints.Cylindrical("x"), joints.Planar(), joints.Free2D(), joints.Revolute("x"), joints.Translational()),
    "charts": (
        joints.ExponentialSpherical(),
        joints.Revolute("x"),
        joints.EulerSpherical(),
        joints.Composite(joints.Spherical(), joints.Prismatic("z")),
    ),
    "splines": (joints.SplineCurve(CURVE, TURNS), joints.Revolute("y"), joints.Spherical()),
}


@functools.cache
def sample(name: str):
    """A model with armature, dampers and, on flat joints, springs, and a state (q, v, a, f_ext)."""
    kinds = KINDS[name]
    model = jaxsim.robots.random_tree(len(kinds), 7, kinds, branching=0.4)
    rng = np.random.default_rng(3)
    flat = np.ones(model.nv)
    for joint, rows in zip(model.joints, model.topology.v_rows, strict=True):
        flat[rows.reshape(-1)] = joint.is_euclidean
    leaves = [rng.uniform(0.1, 0.5, model.nv) for _ in range(3)]
    leaves[0] *= flat
    model = eqx.tree_at(lambda m: (m.stiffness, m.damping, m.armature), model, tuple(map(jnp.asarray, leaves)))
    q = jaxsim.random_configuration(model, jax.random.key(5))
    v, a = jax.random.normal(jax.random.key(6), (2, model.nv))
    f_ext = jax.random.normal(jax.random.key(7), (model.num_bodies, 6))
    return model, q, v, a, f_ext


def plain_inverse_dynamics(model, q, v, a, f_ext=None):
    """Inverse dynamics without its differentiation rule."""
    data = motion_data(model, q, v, a, f_ext)
    tau = newton_euler.plain_recursion(model.topology, data, jnp.result_type(q, v, a))
    return per_velocity(model, tau) + model.armature * a - jaxsim.passive_forces(model, q, v)


def plain_forward_dynamics(model, q, v, tau, f_ext=None):
    """Forward dynamics without its differentiation rule."""
    return articulated(model, q, v, tau + jaxsim.passive_forces(model, q, v), f_ext)[0]


def assert_close(actual, expected, tolerance):
    """Agreement relative to the largest entry."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    scale = max(float(np.abs(expected).max(initial=0.0)), 1e-12)
    np.testing.assert_allclose(actual / scale, expected / scale, rtol=0, atol=tolerance)
