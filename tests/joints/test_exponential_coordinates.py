"""Exponential coordinates: the printed formulas, the limit at zero, and moving away from 2π."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.joints import ExponentialSpherical
from tests.joints.joint_table import columns

JOINT = ExponentialSpherical()
close = functools.partial(np.testing.assert_allclose, rtol=0)
V = np.array([0.7, -0.4, 1.3])


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rotation(q):
    return JOINT.transform(tuple(q)).rotation.to_array()


def test_subspace_as_printed():
    """Sueda, eqs. 2.48–2.49: [S_j] = Rᵀ (q_j [q] + [[q](1 − R) e_j]) R/qᵀq."""
    q = np.array([0.9, -1.2, 0.5])
    R = np.array(rotation(q))
    S = columns(JOINT.subspace(q))[:3]
    for j, e_j in enumerate(np.eye(3)):
        dR = (q[j] * skew(q) + skew(skew(q) @ (np.eye(3) - R) @ e_j)) / (q @ q) @ R
        close(R.T @ dR, skew(S[:, j]), atol=2e-15)


def test_rate_at_zero():
    """Ṡ → −½ [q̇], so that Ṡ q̇ = 0."""
    dS = JOINT.subspace_derivative(np.zeros(3))
    rate = sum(np.array([dS[j][k].angular.to_array() for j in range(3)]).T * V[k] for k in range(3))
    close(rate, -0.5 * skew(V), atol=1e-16)
    close(JOINT.bias(np.zeros(3), V).to_array(), np.zeros(6), atol=1e-16)


@pytest.mark.parametrize("length", [5.0, 2 * np.pi - 1e-6, 2 * np.pi, 7.0, 11.0])
def test_reparametrisation_keeps_the_motion(length):
    q = length * np.array([2.0, -1.0, 2.0]) / 3
    new_q, new_v = jax.jit(JOINT.reparametrise)(tuple(q), tuple(V))
    assert np.linalg.norm(new_q) <= np.pi
    close(rotation(new_q), rotation(q), atol=5e-15)
    omega = columns(JOINT.subspace(tuple(q)))[:3] @ V
    close(columns(JOINT.subspace(new_q))[:3] @ np.array(new_v), omega, atol=5e-15)


@pytest.mark.parametrize("length", [0.0, 1.0, 4.0])
def test_reparametrisation_leaves_the_rest_alone(length):
    q = length * np.array([2.0, -1.0, 2.0]) / 3
    new_q, new_v = JOINT.reparametrise(tuple(q), tuple(V))
    np.testing.assert_array_equal(new_q, q)
    np.testing.assert_array_equal(new_v, V)


@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
def test_reparametrisation_has_finite_gradients(mode):
    def moved(q, v):
        return jnp.stack([jnp.stack(x) for x in JOINT.reparametrise(tuple(q), tuple(v))])

    for q in (np.zeros(3), np.array([0.0, 2 * np.pi, 0.0]), np.array([0.0, 0.0, 5.0])):
        for jacobian in mode(moved, argnums=(0, 1))(jnp.asarray(q), jnp.asarray(V)):
            assert np.all(np.isfinite(jacobian))
    # (1 − 2π/θ) q moves with q along itself
    close(mode(moved)(jnp.array([0.0, 0.0, 5.0]), jnp.asarray(V))[0, 2], [0.0, 0.0, 1.0], atol=1e-15)
