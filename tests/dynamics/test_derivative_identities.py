"""The identities K1–K16 of Singh et al. (2022, appendix A), corrected where misprinted, against differentiation.

A chain of a spherical, a revolute and a spherical joint, in plain 6×6 matrices of the ground frame.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim.joints import Revolute, Spherical
from jaxsim.spatial.matrix_algebra import (
    coriolis,
    cross,
    cross_force,
    cross_swapped,
    tensor_times,
    times_tensor,
    transposed,
)

SPANS = (slice(0, 3), slice(3, 4), slice(4, 7))
PAIRS = [(i, j) for i in range(3) for j in range(i + 1)]


def adjoint(R, p):
    x = cross(jnp.concatenate([p, jnp.zeros(3)])[:, None])[:3, :3, 0]
    return jnp.block([[R, jnp.zeros((3, 3))], [x @ R, R]])


def quantities(model, q, v, a):
    """S, Ṡ, Ψ̇, Ψ̈, v, a, I, I^C, B^C and f^C of the three joints, in the ground frame."""
    poses = jaxsim.forward_kinematics(model, q)
    out = {name: [] for name in ("S", "Sd", "P", "Pdd", "v", "a", "I", "f", "B", "own")}
    V, A = jnp.zeros(6), jnp.concatenate([jnp.zeros(3), -model.gravity])
    axis = jnp.concatenate([model.joints[1].axis[0], jnp.zeros(3)])[:, None]
    for i, span in enumerate(SPANS):
        X = adjoint(poses.rotation[i + 1], poses.position[i + 1])
        S = X @ (axis if i == 1 else jnp.eye(6)[:, :3])
        Pd = mx(V) @ S
        out["P"].append(Pd)
        out["Pdd"].append(mx(A) @ S + mx(V) @ Pd)
        drive = S @ v[span]
        V = V + drive
        A = A + S @ a[span] + mx(V) @ drive
        inverse = jnp.linalg.inv(X)
        I = inverse.T @ body_inertia(model, i + 1) @ inverse
        for name, value in (("S", S), ("Sd", mx(V) @ S), ("v", V), ("a", A), ("I", I), ("own", mx(drive) @ S)):
            out[name].append(value)
        out["f"].append(I @ A + fx(V) @ I @ V)
        out["B"].append(coriolis(V[:, None], I)[..., 0])
    for name in ("I", "f", "B"):
        out[name + "C"] = [sum(out[name][i:]) for i in range(3)]
    return out


def mx(x):
    return cross(x[:, None])[..., 0]


def fx(x):
    return cross_force(x[:, None])[..., 0]


def body_inertia(model, body):
    m, c = model.mass[body], mx(jnp.concatenate([model.com[body], jnp.zeros(3)]))[:3, :3]
    return jnp.block([[model.inertia[body] - m * c @ c, m * c], [-m * c, m * jnp.eye(3)]])


@pytest.fixture(scope="module")
def chain():
    model = jaxsim.robots.random_tree(3, 4, (Spherical(), Revolute((0.3, 0.5, -0.8)), Spherical()), branching=0.0)
    q = jaxsim.random_configuration(model, jax.random.key(1))
    v, a = jax.random.normal(jax.random.key(2), (2, model.nv))
    zero = jnp.zeros(model.nv)
    at = quantities(model, q, v, a)
    by_q = jax.jacfwd(lambda d: quantities(model, jaxsim.integrate(model, q, d), v, a))(zero)
    by_v = jax.jacfwd(lambda v: quantities(model, q, v, a))(v)
    return at, by_q, by_v


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-11)


def moved(S, I):
    return tensor_times(cross_force(S), I) - times_tensor(I, cross(S))


@pytest.mark.parametrize(("i", "j"), PAIRS)
def test_columns(chain, i, j):
    x, by_q, _ = chain
    span, S, P, Pdd = SPANS[j], x["S"], x["P"], x["Pdd"]

    def d(name):
        return by_q[name][i][..., span]

    Sx, Px, Pddx = cross(S[j]), cross(P[j]), cross(Pdd[j])
    close(d("S"), tensor_times(Sx, S[i]))  # K1
    close(d("Sd"), tensor_times(Px, S[i]) + tensor_times(Sx, x["Sd"][i]))  # K2
    close(d("own"), tensor_times(Sx, x["own"][i]))  # K3
    close(d("P"), tensor_times(Px, S[i]) + tensor_times(Sx, P[i]))  # K4
    second = tensor_times(Pddx, S[i]) + 2 * tensor_times(Px, P[i]) + tensor_times(Sx, Pdd[i])
    close(d("Pdd"), second)  # K9, K11
    close(transposed(d("S")), -times_tensor(S[i].T, cross_force(S[j])))  # K13


@pytest.mark.parametrize(("i", "j"), PAIRS)
def test_bodies(chain, i, j):
    x, by_q, _ = chain
    span, S, P, Pdd, I = SPANS[j], x["S"], x["P"], x["Pdd"], x["I"][i]
    close(by_q["I"][i][..., span], moved(S[j], I))  # K5
    close(by_q["a"][i][..., span], Pdd[j] - mx(x["v"][i]) @ P[j] - mx(x["a"][i]) @ S[j])  # K7
    # K8, the derivative of I a by the product rule
    momentum = jnp.einsum("abk,b->ak", by_q["I"][i][..., span], x["a"][i]) + I @ by_q["a"][i][..., span]
    carried = tensor_times(cross_force(S[j]), (I @ x["a"][i])[:, None])[:, 0]
    close(momentum, carried + I @ Pdd[j] - I @ mx(x["v"][i]) @ P[j])


@pytest.mark.parametrize(("i", "j"), [(i, j) for i in range(3) for j in range(3)])
def test_composites(chain, i, j):
    x, by_q, by_v = chain
    span, S, P, Pdd = SPANS[j], x["S"][j], x["P"][j], x["Pdd"][j]
    k = max(i, j)
    I, B, f = x["IC"][k], x["BC"][k], x["fC"][k]
    close(by_q["IC"][i][..., span], moved(S, I))  # K6
    close(by_q["BC"][i][..., span], coriolis(P, I) + moved(S, B))  # K10
    force = I @ Pdd + tensor_times(cross_force(S), f[:, None])[:, 0] + 2 * B @ P
    close(by_q["fC"][i][..., span], force)  # K12
    close(by_v["BC"][i][..., span], coriolis(S, I))  # K16


@pytest.mark.parametrize(("i", "j"), PAIRS)
def test_velocities(chain, i, j):
    x, _, by_v = chain
    span, bracket = SPANS[j], tensor_times(cross(x["S"][j]), x["S"][i])
    close(by_v["Sd"][i][..., span], bracket)  # K14
    close(by_v["P"][i][..., span], bracket if j < i else jnp.zeros_like(bracket))  # K15


def test_swapped_product_is_the_derivative_of_the_coriolis_force(chain):
    """∂(v×*I v)/∂v = v×*I + (I v)×̄*, the two force terms of eq. 6."""
    x, _, _ = chain
    I, v = x["I"][0], x["v"][0]
    derivative = jax.jacfwd(lambda v: fx(v) @ I @ v)(v)
    close(derivative, fx(v) @ I + cross_swapped((I @ v)[:, None])[..., 0])
