"""Closed-form first derivatives against differentiation of the plain recursions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import jaxsim
from jaxsim.dynamics.chunked import worlds_in_cache
from tests.dynamics.derivative_samples import (
    assert_close,
    assert_finite,
    at_angle,
    first_by_differentiation,
    plain_forward_dynamics,
    plain_inverse_dynamics,
    sample,
    slow,
    slow_except,
)

first_derivatives = jax.jit(jaxsim.inverse_dynamics_derivatives)
by_differentiation = jax.jit(first_by_differentiation, static_argnums=0)


@pytest.mark.parametrize("name", slow_except("legs"))
def test_inverse_dynamics(name):
    model, *state = sample(name)
    d = first_derivatives(model, *state)
    wanted = by_differentiation(plain_inverse_dynamics, model, *state)
    for actual, expected in zip((d.dq, d.dv, d.da), wanted, strict=True):
        assert_close(actual, expected, 1e-12)


@pytest.mark.parametrize("name", ["legs", *slow("balls", "charts")])
def test_forward_dynamics(name):
    model, *state = sample(name)
    d = jax.jit(jaxsim.forward_dynamics_derivatives)(model, *state)
    wanted = by_differentiation(plain_forward_dynamics, model, *state)
    for actual, expected in zip((d.dq, d.dv, d.dtau), wanted, strict=True):
        assert_close(actual, expected, 1e-11)


def test_chain_of_forty_links():
    model = jaxsim.robots.chain(40)
    q, v, a = jax.random.normal(jax.random.key(0), (3, 40))
    d = first_derivatives(model, q, v, a)
    wanted = by_differentiation(plain_inverse_dynamics, model, q, v, a, None)
    for actual, expected in zip((d.dq, d.dv, d.da), wanted, strict=True):
        assert_close(actual, expected, 1e-12)


def test_springs_on_quaternion_joints():
    builder = jaxsim.ModelBuilder()
    ball = builder.add_body("ball", 0, jaxsim.Spherical(), inertia=jaxsim.BodyInertia.box(1.0, (0.1, 0.2, 0.3)),
                            stiffness=(1.0, 2.0, 3.0), damping=0.1)  # fmt: skip
    builder.add_body("arm", ball, jaxsim.Revolute("x"), (0.1, 0.2, 0.3), jaxsim.BodyInertia.rod(1.0, (0, 0, -1)))
    model = builder.build()
    q = jaxsim.random_configuration(model, jax.random.key(0))
    v, a = jax.random.normal(jax.random.key(1), (2, model.nv))
    d = first_derivatives(model, q, v, a)
    assert_close(d.dq, by_differentiation(plain_inverse_dynamics, model, q, v, a, None)[0], 1e-12)


def test_joints_that_mimic_others():
    builder = jaxsim.ModelBuilder()
    rod = jaxsim.BodyInertia.rod(1.0, (0, 0, -1), 0.1)
    first = builder.add_body("first", 0, jaxsim.Revolute("y"), inertia=rod, damping=0.2)
    builder.add_body("second", first, jaxsim.Revolute("x"), (0, 0, -1), rod)
    builder.add_body("third", "second", jaxsim.Revolute("z"), (0, 0.1, -1), rod)
    builder.add_mimic("third", "first", multiplier=-1.5, offset=0.2)
    model = builder.build()
    q, v, a = jnp.array([[0.3, -0.4], [1.0, 0.5], [0.2, -0.7]])
    expected = jax.jit(jax.jacfwd(jaxsim.inverse_dynamics, argnums=(1, 2, 3)))(model, q, v, a)
    d = first_derivatives(model, q, v, a)
    for actual, wanted in zip((d.dq, d.dv, d.da), expected, strict=True):
        assert_close(actual, wanted, 1e-12)


@pytest.mark.parametrize("name", slow_except("legs"))
def test_finite_at_rest_at_the_identity_and_at_pi(name):
    model, _, v, _, _ = sample(name)
    for angle in (0.0, np.pi):
        d = first_derivatives(model, at_angle(model, angle), 0 * v, 0 * v, jnp.zeros((model.num_bodies, 6)))
        assert_finite(d)
        np.testing.assert_allclose(d.dv, jnp.diag(model.damping), atol=1e-12)


def test_single_precision_far_from_the_origin():
    """The base of a floating robot may be anywhere: the derivatives do not lose digits to its position."""
    model, q, v, a, f_ext = sample("legs")
    expected = first_derivatives(model, q, v, a, f_ext)
    small = model.astype(jnp.float32)
    far = q.at[:3].set(jnp.array([4096.0, -2048.0, 512.0]))
    actual = first_derivatives(small, *(x.astype(jnp.float32) for x in (far, v, a, f_ext)))
    for x, y in zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True):
        assert x.dtype == jnp.float32
        assert_close(x, y, 1e-5)


@pytest.mark.parametrize("name", ["legs", *slow("balls", "charts")])
def test_batches_equal_single_worlds(name):
    """A batch is swept, a single world is not."""
    model, *state = sample(name)
    batch = [jnp.stack([x, 0.9 * x]) for x in state]
    many = jax.jit(jax.vmap(jaxsim.inverse_dynamics_derivatives, (None, 0, 0, 0, 0)))(model, *batch)
    one = first_derivatives(model, *state)
    jax.tree.map(lambda x, y: assert_close(x[0], y, 1e-12), many, one)


def test_large_batches_equal_single_worlds():
    """The batch is more than is worked on at a time."""
    model = jaxsim.robots.chain(12)
    q, v, a = jax.random.normal(jax.random.key(0), (3, 500, 12))
    assert worlds_in_cache(3 * 12**2, megabytes=1.5) < 500
    batch = jax.jit(jax.vmap(jaxsim.inverse_dynamics_derivatives, (None, 0, 0, 0)))(model, q, v, a)
    one = first_derivatives(model, q[471], v[471], a[471])
    jax.tree.map(lambda x, y: assert_close(x[471], y, 1e-12), batch, one)


@pytest.mark.slow
def test_derivatives_of_derivatives():
    model = jaxsim.robots.pendulum(links=2)
    q, v, a = jax.random.normal(jax.random.key(0), (3, 2))

    def norm(q, v):
        return jnp.sum(jaxsim.inverse_dynamics_derivatives(model, q, v, a).dq ** 2)

    check_grads(jax.jit(norm), (q, v), order=1, modes=("fwd", "rev"), eps=1e-6)
