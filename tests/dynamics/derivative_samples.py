"""Models, states and plain recursions that the tests of the derivatives share."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim import joints
from jaxsim.dynamics import newton_euler
from jaxsim.dynamics.aba import articulated
from jaxsim.dynamics.elements import per_velocity
from jaxsim.dynamics.rnea import motion_data

CURVE = [(0.0, 0.0, 0.0), (0.3, 0.1, 0.0), (0.5, 0.4, 0.2), (0.6, 0.8, 0.1), (0.9, 0.9, 0.4)]
TURNS = [(1, 0, 0, 0), (1, 0.2, 0, 0.1), (1, 0.1, 0.4, 0), (1, -0.2, 0.3, 0.2), (1, 0, 0.5, -0.3)]
SURFACE = [[(x, y, np.sin(x + y)) for y in range(5)] for x in range(5)]

SCREWS = (
    joints.Revolute((0.3, -0.5, 0.8)),
    joints.Prismatic((0.2, 0.9, -0.4)),
    joints.Helical("z", 0.3),
    joints.Fixed(),
    joints.Revolute("x"),
)
KINDS = {
    "legs": (joints.Free(), joints.Revolute("y"), joints.Prismatic("x"), joints.Revolute((0.1, 0.2, -0.7))),
    "flat": (*SCREWS, joints.Cylindrical("x"), joints.Planar(), joints.Free2D(), joints.Translational()),
    "balls": (joints.Spherical(), joints.Revolute("y"), joints.Free(), joints.Universal()),
    "charts": (
        joints.ExponentialSpherical(),
        joints.Revolute("x"),
        joints.EulerSpherical(),
        joints.Composite(joints.Spherical(), joints.Prismatic("z")),
    ),
    "splines": (joints.SplineCurve(CURVE, TURNS), joints.Revolute("y"), joints.SplineSurface(SURFACE)),
}
"""Every joint, in few models: what takes time is compiling."""
SMALL = {
    "screws": SCREWS,
    "pair": (joints.Spherical(), joints.Revolute("y")),
    "curve": (joints.SplineCurve(CURVE, TURNS), joints.Revolute("y")),
    "curved": (joints.ExponentialSpherical(), joints.Composite(joints.Spherical(), joints.Prismatic("z"))),
}


def slow(*names: str) -> list:
    """Samples for the slow run."""
    return [pytest.param(name, marks=pytest.mark.slow) for name in names]


def slow_except(*quick: str) -> list:
    """Every sample, those not named marked as slow."""
    return [name if name in quick else slow(name)[0] for name in KINDS]


@functools.cache
def sample(name: str):
    """A branched model with armature, dampers and, on flat joints, springs, and a state (q, v, a, f_ext)."""
    kinds = (KINDS | SMALL)[name]
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


def dense_forward_dynamics(model, q, v, tau, f_ext=None):
    """The same from plain inverse dynamics and a dense solve: quicker to compile when differentiated twice."""
    bias = plain_inverse_dynamics(model, q, v, jnp.zeros_like(v), f_ext)
    columns = jax.vmap(lambda a: plain_inverse_dynamics(model, q, v, a, f_ext))(jnp.eye(model.nv))
    return jnp.linalg.solve((columns - bias).T, tau - bias)


def first_by_differentiation(function, model, q, v, x, f_ext):
    """Jacobians along q ⊕ δ and along the two vectors that follow."""

    def moved(d, v, x):
        return function(model, jaxsim.integrate(model, q, d), v, x, f_ext)

    return jax.jacfwd(moved, argnums=(0, 1, 2))(jnp.zeros_like(v), v, x)


def second_by_differentiation(function, model, q, v, x, f_ext):
    """qq, vv, qv and xq by forward over forward mode; the outer displacement is applied to q first."""
    first = first_after_displacement(function, model, q, x, f_ext)
    (qq, qv), (_, vv), (xq, _) = jax.jacfwd(first, argnums=(0, 1))(jnp.zeros_like(v), v)
    return qq, vv, qv, xq


def second_along(function, model, q, v, x, f_ext, dq, dv):
    """The first derivatives, by forward mode, differentiated along (dq, dv)."""
    first = first_after_displacement(function, model, q, x, f_ext)
    return jax.jvp(first, (jnp.zeros_like(v), v), (dq, dv))[1]


def first_after_displacement(function, model, q, x, f_ext):
    """The first derivatives at a displaced q, as a function of the displacement and of v."""

    def moved(outer, inner, v, x):
        return function(model, jaxsim.integrate(model, jaxsim.integrate(model, q, outer), inner), v, x, f_ext)

    return lambda outer, v: jax.jacfwd(moved, argnums=(1, 2, 3))(outer, jnp.zeros_like(v), v, x)


def assert_second_derivatives_along(d, along, dq, dv, tolerance):
    """The tensors of inverse dynamics times a direction against ``second_along``."""
    by_q = d.qq @ dq + d.qv @ dv
    by_v = jnp.einsum("ijk,j->ik", d.qv, dq) + d.vv @ dv
    assert_trees_close((by_q, by_v, d.aq @ dq), along, tolerance)


def at_angle(model, angle: float):
    """The neutral configuration with every joint displaced by ``angle`` along its first coordinate."""
    starts = [int(start) for start, nv in zip(model.topology.v_start, model.topology.joint_nv, strict=False) if nv]
    return jaxsim.integrate(model, model.neutral(), jnp.zeros(model.nv).at[np.array(starts)].set(angle))


def assert_close(actual, expected, tolerance, smallest=1e-12):
    """Agreement relative to the largest entry, or to ``smallest`` if that is larger."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    scale = max(float(np.abs(expected).max(initial=0.0)), smallest)
    np.testing.assert_allclose(actual / scale, expected / scale, rtol=0, atol=tolerance)


def assert_trees_close(actual, expected, tolerance):
    """Leaf by leaf."""
    jax.tree.map(lambda x, y: assert_close(x, y, tolerance), actual, expected)


def assert_finite(tree):
    """No leaf has a NaN or an infinity."""
    assert all(bool(jnp.all(jnp.isfinite(leaf))) for leaf in jax.tree.leaves(tree))
