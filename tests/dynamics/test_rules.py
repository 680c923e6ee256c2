"""The differentiation rules of the four recursions, in both modes, to second order, over every input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import jaxsim
from jaxsim.dynamics.aba import articulated
from jaxsim.dynamics.crba import composite_sweeps
from jaxsim.dynamics.elements import elements, inertias
from tests.dynamics.derivative_samples import (
    KINDS,
    assert_close,
    plain_forward_dynamics,
    plain_inverse_dynamics,
    sample,
)

pytestmark = pytest.mark.slow

PAIRS = {
    "inverse dynamics": (jaxsim.inverse_dynamics, plain_inverse_dynamics),
    "forward dynamics": (jaxsim.forward_dynamics, plain_forward_dynamics),
}


def weighted(function, weights):
    return lambda *args: jnp.sum(weights * function(*args))


def assert_trees_close(actual, expected, tolerance):
    jax.tree.map(lambda x, y: assert_close(x, y, tolerance), actual, expected)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("which", PAIRS)
def test_gradient_with_respect_to_everything(which, name):
    """Model leaves, q, v, a or τ, and external wrenches."""
    model, *state = sample(name)
    weights = jax.random.normal(jax.random.key(9), (model.nv,))
    by_rule, by_plain = (
        jax.jit(jax.grad(weighted(function, weights), argnums=(0, 1, 2, 3, 4)))(model, *state)
        for function in PAIRS[which]
    )
    assert_trees_close(by_rule, by_plain, 1e-10)


@pytest.mark.parametrize("which", PAIRS)
def test_forward_mode(which):
    model, *state = sample("floating base")
    tangents = jax.tree.map(lambda x: jax.random.normal(jax.random.key(1), x.shape), (model, *state))
    by_rule, by_plain = (
        jax.jit(lambda p, t, function=function: jax.jvp(function, p, t))((model, *state), tangents)
        for function in PAIRS[which]
    )
    assert_trees_close(by_rule, by_plain, 1e-10)


@pytest.mark.parametrize("which", PAIRS)
def test_hessian(which):
    """Forward over reverse, with the external wrenches among the variables."""
    model, *state = sample("charts")
    weights = jax.random.normal(jax.random.key(9), (model.nv,))
    by_rule, by_plain = (
        jax.jit(jax.hessian(weighted(lambda *state, function=function: function(model, *state), weights), (0, 1, 2)))(
            *state
        )
        for function in PAIRS[which]
    )
    assert_trees_close(by_rule, by_plain, 1e-8)


def test_mass_matrix():
    model, q, *_ = sample("floating base")
    weights = jax.random.normal(jax.random.key(9), (model.nv, model.nv))

    def plain(model, q):
        M, _ = composite_sweeps(model.topology, (elements(model, q), inertias(model)), q.dtype)
        return M + jnp.diag(model.armature)

    for transform in (
        lambda f: jax.grad(weighted(f, weights), argnums=(0, 1)),
        lambda f: jax.jacfwd(f, argnums=1),
        lambda f: jax.hessian(weighted(f, weights), argnums=1),
    ):
        by_rule, by_plain = (jax.jit(transform(f))(model, q) for f in (jaxsim.mass_matrix, plain))
        assert_trees_close(by_rule, by_plain, 1e-11)


def test_inverse_mass_product():
    model, q, v, *_ = sample("floating base")
    weights = jax.random.normal(jax.random.key(9), (model.nv,))

    def plain(model, q, x):
        return articulated(model, q, None, x)[0]

    for transform in (
        lambda f: jax.grad(weighted(f, weights), argnums=(0, 1, 2)),
        lambda f: jax.jacfwd(f, argnums=(1, 2)),
        lambda f: jax.hessian(weighted(f, weights), argnums=(1, 2)),
    ):
        by_rule, by_plain = (jax.jit(transform(f))(model, q, v) for f in (jaxsim.inverse_mass_product, plain))
        assert_trees_close(by_rule, by_plain, 1e-9)


def test_second_order_in_every_mode():
    """``check_grads`` to second order, forward and reverse, on a chain with every rule in one function."""
    model = jaxsim.robots.pendulum(links=2)
    q, v, x = jax.random.normal(jax.random.key(0), (3, 2))

    def everything(q, v, x):
        a = jaxsim.forward_dynamics(model, q, v, x)
        tau = jaxsim.inverse_dynamics(model, q, v, jnp.sin(a))
        return jaxsim.mass_matrix(model, q) @ jaxsim.inverse_mass_product(model, q, tau * x)

    check_grads(jax.jit(everything), (q, v, x), order=2, modes=("fwd", "rev"), eps=1e-5, rtol=1e-5)


def test_transformations_compose():
    """jit, vmap, linearize, vjp, jacrev and jacfwd of one function agree."""
    model = jaxsim.robots.pendulum(links=2)
    q, v, tau = jax.random.normal(jax.random.key(0), (3, 4, 2))

    def step(q, v, tau):
        return jaxsim.forward_dynamics(model, q, v, tau)

    reverse = jax.jit(jax.vmap(jax.jacrev(step, argnums=(0, 1, 2))))(q, v, tau)
    forward = jax.jit(jax.vmap(jax.jacfwd(step, argnums=(0, 1, 2))))(q, v, tau)
    assert_trees_close(reverse, forward, 1e-12)
    _, linear = jax.linearize(step, q[0], v[0], tau[0])
    _, pullback = jax.vjp(step, q[0], v[0], tau[0])
    e = jnp.array([1.0, -2.0])
    np.testing.assert_allclose(linear(e, e, e), sum(J[0] @ e for J in forward), rtol=1e-10)
    for actual, J in zip(pullback(e), forward, strict=True):
        np.testing.assert_allclose(actual, J[0].T @ e, rtol=1e-10)


@pytest.mark.parametrize("angle", [0.0, np.pi])
def test_gradients_are_finite_at_rest_at_the_identity_and_at_pi(angle):
    model, _, v, _, _ = sample("charts")
    q = jaxsim.integrate(model, model.neutral(), jnp.zeros(model.nv).at[0].set(angle))

    def work(q, v, tau):
        return jnp.sum(jaxsim.inverse_dynamics(model, q, v, jaxsim.forward_dynamics(model, q, v, tau)) ** 2)

    gradients = jax.jit(jax.grad(work, argnums=(0, 1, 2)))(q, 0 * v, 0 * v)
    assert all(bool(jnp.all(jnp.isfinite(x))) for x in gradients)


def scans(function, *args) -> int:
    """How many sweeps the compiled function runs."""
    return jax.jit(function).lower(*args).as_text().count("stablehlo.while")


def test_what_is_not_differentiated_costs_nothing():
    model, q, v, a, f_ext = sample("floating base")
    alone = scans(jaxsim.inverse_dynamics, model, q, v, a, f_ext)
    assert alone == 2

    def power(f_ext, v):
        return jnp.sum(jaxsim.inverse_dynamics(model, q, v, a, f_ext))

    by_wrench = scans(jax.grad(power), f_ext, v)
    by_velocity = scans(jax.grad(power, argnums=1), f_ext, v)
    assert by_wrench < by_velocity <= alone + 4
