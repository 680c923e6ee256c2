"""Rigid motions: exp, log and their differentials."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.linalg import expm

from jaxsim.spatial import Mat3, Motion, Pose, Quaternion, Vec3, se3

close_to = functools.partial(np.testing.assert_allclose, rtol=0)

ANGLES = np.array([0.0, 1e-10, 1e-5, 0.05, 0.5, 1.5, 1.9999, 2.0001, 3.0, np.pi - 1e-7])
RNG = np.random.default_rng(0)


def twists(angles):
    axes = RNG.normal(size=(len(angles), 3))
    axes *= angles[:, None] / np.linalg.norm(axes, axis=1, keepdims=True)
    return jnp.asarray(np.concatenate([axes, RNG.normal(size=(len(angles), 3))], axis=1))


M = twists(ANGLES)
ALL = jnp.concatenate([M, twists(np.array([np.pi, 4.0, 5.5]))])
X = jnp.asarray(RNG.normal(size=ALL.shape))


def motion(a):
    return Motion.from_array(a)


def hat(m):
    top = jnp.concatenate([Mat3.skew(motion(m).angular).to_array(), m[3:, None]], axis=1)
    return jnp.concatenate([top, jnp.zeros((1, 4))])


def homogeneous(pose):
    top = jnp.concatenate([pose.rotation.to_array(), pose.position.to_array()[..., None]], axis=-1)
    return jnp.concatenate([top, jnp.zeros_like(top[..., :1, :]).at[..., 3].set(1.0)], axis=-2)


def test_exp_is_the_matrix_exponential():
    reference = jax.vmap(lambda m: expm(hat(m), max_squarings=8))(ALL)
    close_to(homogeneous(se3.exp(motion(ALL))), reference, atol=5e-15)


def test_log_undoes_exp():
    np.testing.assert_allclose(se3.log(se3.exp(motion(M))).to_array(), M, rtol=1e-14, atol=5e-15)


def test_log_between_is_the_log_of_the_relative_pose():
    r = [Quaternion.from_array(jnp.asarray(x)) for x in RNG.normal(size=(2, 20, 4))]
    p = [Vec3.from_array(jnp.asarray(x)) for x in RNG.normal(size=(2, 20, 3))]
    poses = [Pose(r_i.to_matrix(), p_i) for r_i, p_i in zip(r, p, strict=True)]
    reference = se3.log(poses[0].inverse() @ poses[1])
    between = se3.log_between(r[0], p[0], r[1], p[1])
    close_to(between.to_array(), reference.to_array(), atol=5e-14)


def test_left_jacobian_is_the_series_of_ad():
    """Σ ad^k/(k+1)! is a block of exp [[ad, 1], [0, 0]]."""

    def series(m, x):
        ad = jax.jacfwd(lambda y: motion(m).cross(motion(y)).to_array())(x)
        block = jnp.block([[ad, jnp.eye(6)], [jnp.zeros((6, 12))]])
        return expm(block, max_squarings=12)[:6, 6:] @ x

    reference = jax.vmap(series)(ALL, X)
    close_to(se3.left_jacobian(motion(ALL), motion(X)).to_array(), reference, atol=2e-13)


def test_right_jacobian_is_the_derivative_of_exp():
    def rate(m, x):
        T, dT = jax.jvp(lambda m: homogeneous(se3.exp(motion(m))), (m,), (x,))
        A = jnp.linalg.inv(T) @ dT
        return jnp.stack([A[2, 1], A[0, 2], A[1, 0], A[0, 3], A[1, 3], A[2, 3]])

    reference = jax.vmap(rate)(ALL, X)
    close_to(se3.right_jacobian(motion(ALL), motion(X)).to_array(), reference, atol=1e-14)


@pytest.mark.parametrize("side", ["left", "right"])
def test_inverse_jacobians(side):
    J, inverse = getattr(se3, f"{side}_jacobian"), getattr(se3, f"{side}_jacobian_inverse")
    m, x = motion(ALL), motion(X)
    close_to(inverse(m, J(m, x)).to_array(), X, atol=2e-13)
    close_to(J(m, inverse(m, x)).to_array(), X, atol=2e-13)


@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
@pytest.mark.parametrize("dtype", [jnp.float64, jnp.float32])
def test_gradients_of_log_after_exp_are_the_identity(mode, dtype):
    m = (M if dtype == jnp.float64 else M[:-1]).astype(dtype)
    jacobian = jax.vmap(mode(lambda m: se3.log(se3.exp(motion(m))).to_array()))(m)
    assert jacobian.dtype == dtype
    atol = 1e-14 if dtype == jnp.float64 else 1e-5
    close_to(jacobian, np.broadcast_to(np.eye(6), jacobian.shape), atol=atol)


@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
def test_gradients_at_half_turns_are_finite(mode):
    half_turns = jnp.concatenate([np.pi * jnp.eye(3), X[:3, :3]], axis=1)
    for function in (se3.exp, lambda m: se3.log(se3.exp(m)), lambda m: se3.left_jacobian_inverse(m, m)):
        for leaf in jax.tree.leaves(jax.vmap(mode(lambda m, f=function: f(motion(m))))(half_turns)):
            assert np.all(np.isfinite(leaf))
