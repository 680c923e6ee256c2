"""The differentiation rules of the four recursions, in both modes, to second order, over every input."""

import functools

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
    assert_close,
    assert_finite,
    assert_trees_close,
    at_angle,
    dense_forward_dynamics,
    plain_forward_dynamics,
    plain_inverse_dynamics,
    sample,
    slow,
)


def plain_mass_matrix(model, q):
    """The mass matrix without its differentiation rule."""
    return composite_sweeps(model.topology, (elements(model, q), inertias(model), model.armature), q.dtype)[0]


def plain_inverse_mass_product(model, q, x):
    """M⁻¹x without its differentiation rule."""
    return articulated(model, q, None, x)[0]


def dense_inverse_mass_product(model, q, x):
    """The same by a dense solve: quicker to compile when differentiated twice."""
    return jnp.linalg.solve(plain_mass_matrix(model, q), x)


def weights_of(function, *args):
    """Random weights of the shape of the result."""
    return jax.random.normal(jax.random.key(9), jax.eval_shape(function, *args).shape)


def gradient(function, *args):
    """The gradient of the weighted result with respect to everything, the leaves of the model included."""
    weights = weights_of(function, *args)
    everything = tuple(range(len(args)))
    return jax.jit(jax.grad(lambda *args: jnp.sum(weights * function(*args)), argnums=everything))(*args)


def assert_both_modes_agree_with_differentiation(rule, plain, args, tolerance):
    """Reverse mode against that of the plain recursion, forward mode against reverse mode."""
    by_rule = gradient(rule, *args)
    assert_trees_close(by_rule, gradient(plain, *args), tolerance)
    key = jax.random.key(1)
    tangents = jax.tree.map(lambda x: jax.random.normal(jax.random.fold_in(key, x.size), x.shape), args)
    along = jax.jit(lambda x, d: jax.jvp(rule, x, d)[1])(args, tangents)
    products = jax.tree.leaves(jax.tree.map(lambda g, d: jnp.sum(g * d), by_rule, tangents))
    scale = float(jnp.sum(jnp.abs(jnp.stack(products))))
    assert_close(jnp.sum(weights_of(rule, *args) * along) / scale, sum(products) / scale, 1e-12)


@pytest.mark.parametrize("name", ["legs", *slow("screws", "curved")])
def test_inverse_dynamics(name):
    assert_both_modes_agree_with_differentiation(jaxsim.inverse_dynamics, plain_inverse_dynamics, sample(name), 1e-10)


@pytest.mark.parametrize("name", ["pair", *slow("legs", "curved")])
def test_forward_dynamics(name):
    assert_both_modes_agree_with_differentiation(jaxsim.forward_dynamics, plain_forward_dynamics, sample(name), 1e-10)


@pytest.mark.parametrize("name", slow("legs", "curved"))
def test_mass_matrix(name):
    model, q, *_ = sample(name)
    assert_both_modes_agree_with_differentiation(jaxsim.mass_matrix, plain_mass_matrix, (model, q), 1e-11)


@pytest.mark.parametrize("name", slow("screws", "balls"))
def test_inverse_mass_product(name):
    model, q, v, *_ = sample(name)
    assert_both_modes_agree_with_differentiation(
        jaxsim.inverse_mass_product, plain_inverse_mass_product, (model, q, v), 1e-9
    )


SECOND_ORDER = {
    "inverse dynamics": (jaxsim.inverse_dynamics, plain_inverse_dynamics, 4),
    "forward dynamics": (jaxsim.forward_dynamics, dense_forward_dynamics, 4),
    "mass matrix": (jaxsim.mass_matrix, plain_mass_matrix, 1),
    "inverse mass product": (jaxsim.inverse_mass_product, dense_inverse_mass_product, 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("which", SECOND_ORDER)
def test_hessian(which):
    """Forward over reverse; for the dynamics, the external wrenches are among the variables."""
    rule, plain, count = SECOND_ORDER[which]
    model, *state = sample("pair")
    state = state[:count]
    weights = weights_of(rule, model, *state)
    by_rule, by_plain = (
        jax.jit(jax.hessian(lambda *x, f=f: jnp.sum(weights * f(model, *x)), tuple(range(count))))(*state)
        for f in (rule, plain)
    )
    # blocks that vanish are not compared with the rounding of a dense solve
    largest = max(float(jnp.abs(block).max()) for block in jax.tree.leaves(by_plain))
    for actual, expected in zip(jax.tree.leaves(by_rule), jax.tree.leaves(by_plain), strict=True):
        assert_close(actual, expected, 1e-9, smallest=1e-4 * largest)


@pytest.mark.slow
def test_hessian_reaches_the_closed_forms():
    """The Hessian by the rules is the contraction of the closed-form tensors."""
    model = jaxsim.robots.pendulum(links=3)
    q, v, tau, weights = jax.random.normal(jax.random.key(0), (4, 3))

    def energy(q, v, tau):
        return weights @ jaxsim.forward_dynamics(model, q, v, tau)

    (qq, qv, _), (_, vv, _), (tauq, _, tautau) = jax.jit(jax.hessian(energy, argnums=(0, 1, 2)))(q, v, tau)
    w = jax.jit(jaxsim.contracted_forward_dynamics_second_derivatives)(model, q, v, tau, weights)
    for actual, expected in zip((qq, vv, qv, tauq), (w.qq, w.vv, w.qv, w.tauq), strict=True):
        assert_close(actual, expected, 1e-11)
    np.testing.assert_array_equal(tautau, 0)


@pytest.mark.slow
@pytest.mark.parametrize("which", ["inverse dynamics", "forward dynamics", "mass matrix"])
def test_second_order_in_every_mode(which):
    """``check_grads`` to second order, forward over forward to reverse over reverse."""
    model = jaxsim.robots.pendulum(links=2)
    q, v, x = jax.random.normal(jax.random.key(0), (3, 2))
    function = SECOND_ORDER[which][0]
    state = (q, v, x)[: SECOND_ORDER[which][2]]
    check_grads(jax.jit(functools.partial(function, model)), state, order=2, modes=("fwd", "rev"), eps=1e-5, rtol=1e-5)


@pytest.mark.slow
def test_transformations_compose():
    """jit, vmap, linearize, vjp, jacrev and jacfwd of one function agree."""
    model = jaxsim.robots.pendulum(links=2)
    q, v, tau = jax.random.normal(jax.random.key(0), (3, 4, 2))

    def step(q, v, tau):
        return jaxsim.forward_dynamics(model, q, v, tau)

    reverse = jax.jit(jax.vmap(jax.jacrev(step, argnums=(0, 1, 2))))(q, v, tau)
    forward = jax.jit(jax.vmap(jax.jacfwd(step, argnums=(0, 1, 2))))(q, v, tau)
    assert_trees_close(reverse, forward, 1e-12)
    e = jnp.array([1.0, -2.0])
    along = jax.jit(lambda *x: jax.linearize(step, *x)[1](e, e, e))(q[0], v[0], tau[0])
    np.testing.assert_allclose(along, sum(J[0] @ e for J in forward), rtol=1e-10)
    back = jax.jit(lambda *x: jax.vjp(step, *x)[1](e))(q[0], v[0], tau[0])
    for actual, J in zip(back, forward, strict=True):
        np.testing.assert_allclose(actual, J[0].T @ e, rtol=1e-10)


def work(model, q, v, tau):
    """Something that passes through inverse and forward dynamics."""
    return jnp.sum(jaxsim.inverse_dynamics(model, q, v, jaxsim.forward_dynamics(model, q, v, tau)) ** 2)


@pytest.mark.parametrize("name", slow("balls", "curved"))
def test_gradients_are_finite_at_rest_at_the_identity_and_at_pi(name):
    model, _, v, _, _ = sample(name)
    run = jax.jit(jax.grad(work, argnums=(1, 2, 3)))
    for angle in (0.0, np.pi):
        assert_finite(run(model, at_angle(model, angle), 0 * v, 0 * v))


@pytest.mark.slow
def test_hessians_are_finite_at_rest_at_the_identity_and_at_pi():
    model, _, v, a, _ = sample("pair")

    def power(q, v):
        return a @ jaxsim.inverse_dynamics(model, q, v, 0 * a)

    run = jax.jit(jax.hessian(power, argnums=(0, 1)))
    for angle in (0.0, np.pi):
        assert_finite(run(at_angle(model, angle), 0 * v))


def scans(function, *args) -> int:
    """How many sweeps the compiled function runs."""
    return jax.jit(function).lower(*args).as_text().count("stablehlo.while")


def test_what_is_not_differentiated_costs_nothing():
    model, q, v, a, f_ext = sample("legs")
    alone = scans(jaxsim.inverse_dynamics, model, q, v, a, f_ext)
    assert alone == 2

    def power(f_ext, v):
        return jnp.sum(jaxsim.inverse_dynamics(model, q, v, a, f_ext))

    by_wrench = scans(jax.grad(power), f_ext, v)
    by_velocity = scans(jax.grad(power, argnums=1), f_ext, v)
    assert by_wrench < by_velocity <= alone + 4
