"""Rotations: exp, log and their differentials, at zero, in between, and at π."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.linalg import expm

from jaxsim.spatial import Mat3, Quaternion, Vec3, so3

close_to = functools.partial(np.testing.assert_allclose, rtol=0)

ANGLES = np.array([0.0, 1e-12, 1e-8, 1e-4, 0.05, 0.4, 1.0, 1.9999, 2.0, 2.0001, 3.0, np.pi - 1e-4, np.pi - 1e-9])
BEYOND = np.array([np.pi, np.pi + 0.1, 5.0])
RNG = np.random.default_rng(0)


def vectors(angles):
    axes = RNG.normal(size=(len(angles), 3))
    return jnp.asarray(axes / np.linalg.norm(axes, axis=1, keepdims=True) * angles[:, None])


W, FAR = vectors(ANGLES), vectors(BEYOND)
ALL = jnp.concatenate([W, FAR])


def vec(a):
    return Vec3.from_array(a)


def skew(a):
    return Mat3.skew(vec(a)).to_array()


def test_exp_is_the_matrix_exponential():
    reference = jax.vmap(lambda w: expm(skew(w), max_squarings=8))(ALL)
    close_to(so3.exp(vec(ALL)).to_array(), reference, atol=5e-15)
    close_to(so3.exp_quaternion(vec(ALL)).to_matrix().to_array(), reference, atol=5e-15)


def test_exp_of_opposite_vectors_are_inverse():
    product = so3.exp(vec(ALL)).matmul(so3.exp(vec(-ALL)))
    close_to(product.to_array(), np.broadcast_to(np.eye(3), (len(ALL), 3, 3)), atol=1e-15)


@pytest.mark.parametrize("log", [lambda w: so3.log(so3.exp(w)), lambda w: so3.log_quaternion(so3.exp_quaternion(w))])
def test_log_undoes_exp_below_pi(log):
    np.testing.assert_allclose(log(vec(W)).to_array(), W, rtol=1e-14, atol=4e-15)


def test_exp_undoes_log_everywhere():
    R = so3.exp(vec(ALL))
    w = so3.log(R)
    assert np.all(np.asarray(w.norm_squared()) <= np.pi**2 * (1 + 1e-15))
    close_to(so3.exp(w).to_array(), R.to_array(), atol=3e-15)


def test_small_rotations_keep_their_relative_accuracy():
    w = jnp.array([3e-150, -4e-150, 1e-150])
    np.testing.assert_allclose(so3.log(so3.exp(vec(w))).to_array(), w, rtol=1e-15)


def test_log_ignores_the_length_and_sign_of_a_quaternion():
    q = so3.exp_quaternion(vec(W))
    for scale in (-1.0, 0.01, -300.0):
        scaled = Quaternion.from_array(q.to_array() * scale)
        np.testing.assert_allclose(so3.log_quaternion(scaled).to_array(), W, rtol=1e-14, atol=4e-15)


def left(w):
    """dexp by automatic differentiation: d exp(w + δ) exp(w)ᵀ."""
    dR = jax.jacfwd(lambda w: so3.exp(vec(w)).to_array())(w)
    return jax.vmap(lambda d: unskew(d @ so3.exp(vec(w)).to_array().T), in_axes=2, out_axes=1)(dR)


def unskew(A):
    return jnp.stack([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]]) / 2


def test_jacobians_are_the_derivatives_of_exp():
    J = jax.vmap(left)(ALL)
    close_to(so3.left_jacobian(vec(ALL)).to_array(), J, atol=3e-15)
    close_to(so3.right_jacobian(vec(ALL)).T.to_array(), J, atol=3e-15)


def test_inverse_jacobians():
    identity = np.broadcast_to(np.eye(3), (len(ALL), 3, 3))
    for J, inverse in (
        (so3.left_jacobian, so3.left_jacobian_inverse),
        (so3.right_jacobian, so3.right_jacobian_inverse),
    ):
        close_to(J(vec(ALL)).matmul(inverse(vec(ALL))).to_array(), identity, atol=3e-14)


@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
@pytest.mark.parametrize("dtype", [jnp.float64, jnp.float32])
def test_gradients_of_log_after_exp_are_the_identity(mode, dtype):
    def round_trip(w):
        return so3.log(so3.exp(vec(w))).to_array()

    def quaternion_round_trip(w):
        return so3.log_quaternion(so3.exp_quaternion(vec(w))).to_array()

    w = W.astype(dtype) if dtype == jnp.float64 else W[:-1].astype(dtype)
    atol = 5e-15 if dtype == jnp.float64 else 3e-6
    for function in (round_trip, quaternion_round_trip):
        jacobian = jax.vmap(mode(function))(w)
        assert jacobian.dtype == dtype
        close_to(jacobian, np.broadcast_to(np.eye(3), jacobian.shape), atol=atol)


@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
@pytest.mark.parametrize("dtype", [jnp.float64, jnp.float32])
def test_gradients_at_pi_are_finite(mode, dtype):
    half_turns = jnp.asarray(np.concatenate([np.eye(3), -np.eye(3), FAR[:1] / np.pi]), dtype) * dtype(np.pi)
    for function in (lambda w: so3.log(so3.exp(vec(w))), lambda w: so3.log_quaternion(so3.exp_quaternion(vec(w)))):
        jacobian = jax.vmap(mode(lambda w, f=function: f(w).to_array()))(half_turns)
        assert np.all(np.isfinite(jacobian))
        # the axis may flip; the rate along the axis is the identity either way
        along = jnp.einsum("ni,nij,nj->n", half_turns, jacobian, half_turns) / dtype(np.pi**2)
        close_to(along, 1.0, atol=1e-14 if dtype == jnp.float64 else 1e-5)


def test_second_derivatives_are_finite_at_zero():
    hessian = jax.jacfwd(jax.jacrev(lambda w: so3.log(so3.exp(vec(w))).to_array()))(jnp.zeros(3))
    close_to(hessian, 0.0, atol=1e-15)


def test_log_of_the_zero_quaternion_is_finite():
    value, jacobian = (f(jnp.zeros(4)) for f in (quaternion_log, jax.jacrev(quaternion_log)))
    assert np.all(np.isfinite(value))
    assert np.all(np.isfinite(jacobian))


def quaternion_log(a):
    return so3.log_quaternion(Quaternion.from_array(a)).to_array()
