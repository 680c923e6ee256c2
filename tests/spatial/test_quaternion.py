"""Quaternions: the group, its rotation matrices, and safety off the unit sphere."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.spatial import Mat3, Quaternion, Vec3

close_to = functools.partial(np.testing.assert_allclose, rtol=0)

RNG = np.random.default_rng(0)
A, B, C = (Quaternion.from_array(jnp.asarray(x)).normalised() for x in RNG.normal(size=(3, 50, 4)))
HALF_TURNS = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 1, 0], [0, 0, -1, 1], [0, 1, -1, 1]], float)


def close(a, b, atol=4e-15):
    close_to(a.to_array(), b.to_array(), atol=atol)


def test_group():
    close((A * B) * C, A * (B * C))
    close(A * A.conjugate(), Quaternion(*(jnp.full(50, c) for c in (1.0, 0.0, 0.0, 0.0))))
    close((A * B).conjugate(), B.conjugate() * A.conjugate())
    close(A * Quaternion.identity(), A, atol=0)


def test_hamiltons_rule():
    i, j, k = (Quaternion(0.0, *axis) for axis in np.eye(3))
    close(i * j, k, atol=0)
    close(j * k, i, atol=0)
    close(i * i, Quaternion(-1.0, 0.0, 0.0, 0.0), atol=0)


def test_matrices_multiply_like_quaternions():
    close((A * B).to_matrix(), A.to_matrix().matmul(B.to_matrix()))


def test_a_quarter_turn_about_z_takes_x_to_y():
    turn = Quaternion(np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
    close(turn.rotate(Vec3(1.0, 0.0, 0.0)), Vec3(0.0, 1.0, 0.0), atol=1e-15)


def test_rotate_is_the_matrix_and_length_does_not_matter():
    a = Vec3.from_array(jnp.asarray(RNG.normal(size=(50, 3))))
    long = Quaternion.from_array(A.to_array() * 3.7)
    close(A.rotate(a), A.to_matrix().apply(a))
    close(long.rotate(a), A.rotate(a))
    close(long.to_matrix(), A.to_matrix())
    R = long.to_matrix()
    close(R.matmul(R.T), Mat3.identity() * jnp.ones(50))


def test_normalised_and_canonical():
    long = Quaternion.from_array(A.to_array() * 3.7)
    close(long.normalised(), A)
    close_to(long.normalised().norm_squared(), 1.0, atol=1e-15)
    assert np.all(np.asarray(A.canonical().w) >= 0)
    close(A.canonical().to_matrix(), A.to_matrix(), atol=0)


def test_zero_is_taken_as_the_identity():
    zero = Quaternion.from_array(jnp.zeros(4))
    close(zero.normalised(), Quaternion.identity(), atol=0)
    close(zero.to_matrix(), Mat3.identity(), atol=0)
    gradient = jax.grad(lambda a: jnp.sum(Quaternion.from_array(a).normalised().to_matrix().to_array()))(jnp.zeros(4))
    assert np.all(np.isfinite(gradient))


@pytest.mark.parametrize("dtype", [jnp.float64, jnp.float32])
def test_from_matrix_inverts_to_matrix(dtype):
    every = np.concatenate([A.to_array(), HALF_TURNS, np.eye(4)[:1], HALF_TURNS + [1e-9, 0, 0, 0]])
    q = Quaternion.from_array(jnp.asarray(every, dtype)).normalised()
    back = Quaternion.from_matrix(q.to_matrix())
    assert back.to_array().dtype == dtype
    atol = 4e-15 if dtype == jnp.float64 else 2e-6
    close(back.to_matrix(), q.to_matrix(), atol=atol)
    close_to(back.norm_squared(), 1.0, atol=atol)
    assert np.all(np.asarray(back.w) >= 0)


@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
def test_from_matrix_has_finite_gradients_everywhere(mode):
    def there_and_back(a):
        return Quaternion.from_matrix(Quaternion.from_array(a).to_matrix()).to_array()

    q = jnp.concatenate([HALF_TURNS, jnp.eye(4)[:1], A.to_array()[:5]])
    q = q / jnp.linalg.norm(q, axis=-1, keepdims=True)
    jacobian = jax.vmap(mode(there_and_back))(q)
    # on the unit sphere it is q ↦ ±q, so the derivative is ± the projector onto its tangent space
    projector = jnp.eye(4) - q[:, :, None] * q[:, None, :]
    signs = jnp.sign(jnp.sum(jax.vmap(there_and_back)(q) * q, axis=-1))
    close_to(jacobian, signs[:, None, None] * projector, atol=1e-14)
