"""Closed-form second derivatives against nested differentiation of the plain recursions."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim.dynamics.chunked import worlds_in_cache
from tests.dynamics.derivative_samples import (
    assert_close,
    assert_finite,
    assert_second_derivatives_along,
    at_angle,
    dense_forward_dynamics,
    plain_inverse_dynamics,
    sample,
    second_along,
    second_by_differentiation,
    slow,
)

# second derivatives of splines take a minute to compile, so that a curve stands for the surface too
NAMES = ["legs", *slow("flat", "balls", "charts", "curve")]
second_derivatives = jax.jit(jaxsim.inverse_dynamics_second_derivatives)
by_differentiation = jax.jit(second_by_differentiation, static_argnums=0)


@functools.cache
def tensors(name):
    """The closed-form tensors of a sample, computed once."""
    return second_derivatives(*sample(name))


@pytest.mark.parametrize("name", NAMES)
def test_inverse_dynamics(name):
    d = tensors(name)
    wanted = by_differentiation(plain_inverse_dynamics, *sample(name))
    for actual, expected in zip((d.qq, d.vv, d.qv, d.aq), wanted, strict=True):
        assert_close(actual, expected, 1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_symmetry_and_the_order_of_lie_derivatives(name):
    """qq[:, j, k] − qq[:, k, j] is ∂τ/∂q along the bracket e_k×e_j for two coordinates of one joint, else zero."""
    model, *state = sample(name)
    d, first = tensors(name), jax.jit(jaxsim.inverse_dynamics_derivatives)(model, *state)
    assert_close(d.vv, d.vv.transpose(0, 2, 1), 1e-12)
    assert_close(d.aq, d.aq.transpose(1, 0, 2), 1e-12)
    expected = np.zeros_like(d.qq)
    for joint, bodies in zip(model.joints, model.topology.groups, strict=True):
        for body in bodies:
            start = int(model.topology.v_start[body])
            for part in joint.parts():
                span = slice(start, start + part.nv)
                if isinstance(part, jaxsim.Spherical | jaxsim.Free):
                    expected[:, span, span] = np.einsum("kjb,ib->ijk", brackets(part.nv), first.dq[:, span])
                start += part.nv
    assert_close(d.qq, d.qq.transpose(0, 2, 1) + expected, 1e-11)


def brackets(n: int) -> np.ndarray:
    """Entry (k, j) is the motion cross product e_k×e_j, of rotations or of twists (angular, linear)."""
    skew = np.cross(np.eye(3)[:, None], np.eye(3)[None])
    if n == 3:
        return skew
    result = np.zeros((6, 6, 6))
    result[:3, :3, :3] = skew
    result[:3, 3:, 3:] = skew
    result[3:, :3, 3:] = skew
    return result


@pytest.mark.parametrize("name", NAMES)
def test_contraction(name):
    model, q, v, a, f_ext = sample(name)
    cotangent = jax.random.normal(jax.random.key(8), (model.nv,))
    d = tensors(name)
    w = jax.jit(jaxsim.contracted_inverse_dynamics_second_derivatives)(model, q, v, a, cotangent, f_ext)
    for actual, tensor in zip((w.qq, w.vv, w.qv, w.aq), (d.qq, d.vv, d.qv, d.aq), strict=True):
        assert_close(actual, jnp.einsum("i,ijk->jk", cotangent, tensor), 1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pair", "curved"])
def test_forward_dynamics(name):
    model, q, v, tau, f_ext = sample(name)
    d = jax.jit(jaxsim.forward_dynamics_second_derivatives)(model, q, v, tau, f_ext)
    wanted = by_differentiation(dense_forward_dynamics, model, q, v, tau, f_ext)
    for actual, expected in zip((d.qq, d.vv, d.qv, d.tauq), wanted, strict=True):
        assert_close(actual, expected, 1e-9)
    cotangent = jax.random.normal(jax.random.key(8), (model.nv,))
    w = jax.jit(jaxsim.contracted_forward_dynamics_second_derivatives)(model, q, v, tau, cotangent, f_ext)
    for actual, tensor in zip((w.qq, w.vv, w.qv, w.tauq), (d.qq, d.vv, d.qv, d.tauq), strict=True):
        assert_close(actual, jnp.einsum("i,ijk->jk", cotangent, tensor), 1e-10)


@pytest.mark.slow
def test_forward_dynamics_of_a_pendulum():
    model = jaxsim.robots.pendulum(links=3)
    q, v, tau = jax.random.normal(jax.random.key(0), (3, 3))
    d = jax.jit(jaxsim.forward_dynamics_second_derivatives)(model, q, v, tau)
    wanted = by_differentiation(dense_forward_dynamics, model, q, v, tau, None)
    for actual, expected in zip((d.qq, d.vv, d.qv, d.tauq), wanted, strict=True):
        assert_close(actual, expected, 1e-11)


@pytest.mark.slow
def test_chain_of_forty_links():
    model = jaxsim.robots.chain(40)
    q, v, a, dq, dv = jax.random.normal(jax.random.key(0), (5, 40))
    d = second_derivatives(model, q, v, a)
    along = jax.jit(second_along, static_argnums=0)(plain_inverse_dynamics, model, q, v, a, None, dq, dv)
    assert_second_derivatives_along(d, along, dq, dv, 1e-11)


@pytest.mark.slow
def test_springs_on_quaternion_joints():
    builder = jaxsim.ModelBuilder()
    ball = builder.add_body("ball", 0, jaxsim.Spherical(), inertia=jaxsim.BodyInertia.box(1.0, (0.1, 0.2, 0.3)),
                            stiffness=(1.0, 2.0, 3.0), damping=0.1)  # fmt: skip
    builder.add_body("arm", ball, jaxsim.Revolute("x"), (0.1, 0.2, 0.3), jaxsim.BodyInertia.rod(1.0, (0, 0, -1)))
    model = builder.build()
    q = jaxsim.random_configuration(model, jax.random.key(0))
    v, a, cotangent = jax.random.normal(jax.random.key(1), (3, model.nv))
    d = second_derivatives(model, q, v, a)
    qq, *_ = by_differentiation(plain_inverse_dynamics, model, q, v, a, None)
    assert_close(d.qq, qq, 1e-11)
    w = jax.jit(jaxsim.contracted_inverse_dynamics_second_derivatives)(model, q, v, a, cotangent)
    assert_close(w.qq, jnp.einsum("i,ijk->jk", cotangent, qq), 1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_finite_at_rest_at_the_identity_and_at_pi(name):
    model, _, v, _, f_ext = sample(name)
    for angle in (0.0, np.pi):
        d = second_derivatives(model, at_angle(model, angle), 0 * v, 0 * v, 0 * f_ext)
        assert_finite(d)
        # at rest τ has no first derivative in v but damping, so none of it changes with q
        assert_close(d.qv, jnp.zeros_like(d.qv), 1e-12)


def test_batches_equal_single_worlds():
    """The batch is more than is worked on at a time."""
    model = jaxsim.robots.chain(6)
    q, v, a = jax.random.normal(jax.random.key(0), (3, 200, 6))
    assert worlds_in_cache(4 * 6**3, megabytes=1.1) < 200
    batch = jax.jit(jax.vmap(jaxsim.inverse_dynamics_second_derivatives, (None, 0, 0, 0)))(model, q, v, a)
    one = second_derivatives(model, q[181], v[181], a[181])
    jax.tree.map(lambda x, y: assert_close(x[181], y, 1e-12), batch, one)
