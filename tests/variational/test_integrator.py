import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim.integrators.variational import Variational

from .step_derivatives import step_derivatives
from .systems import SCREWS, body_forces, tree


@pytest.fixture(scope="module")
def system():
    """A random tree with springs, dampers and drag, a state in motion and joint forces."""
    model = tree(5, 3, SCREWS)
    rng = np.random.default_rng(0)
    q = jaxsim.random_configuration(model, jax.random.key(0))
    return (
        model,
        q,
        jnp.asarray(rng.normal(size=model.nv)),
        jnp.asarray(rng.normal(size=model.nv)),
        body_forces(model, 1),
    )


def step(model, integrator, q, v, tau):
    state, info = integrator.step(model, integrator.init(model, q, v), tau)
    return state, info


@pytest.fixture(scope="module")
def taken(system):
    """One step, with its directional derivative and the pullback of a covector, by all that it depends on."""
    model, q, v, tau, forces = system

    def outcome(arguments):
        model, dt, q, v, tau = arguments
        state, _ = step(model, Variational(dt, 2, forces, tolerance=1e-13), q, v, tau)
        return jnp.concatenate([state.q, state.v])

    at = model, jnp.asarray(0.05), q, v, tau
    return step_derivatives(outcome, at)


@pytest.mark.slow
def test_derivative_of_a_step_is_that_of_finite_differences(taken):
    assert np.abs(taken.forward).max() > 0.1
    np.testing.assert_allclose(taken.forward, taken.difference, rtol=1e-7, atol=1e-8)


@pytest.mark.slow
def test_both_modes_of_differentiation_agree(taken):
    np.testing.assert_allclose(taken.pairing(), taken.forward @ taken.weights, rtol=1e-10)


@pytest.mark.slow
def test_gradient_of_a_step_is_that_of_finite_differences():
    model, weights = jaxsim.robots.pendulum(2), jnp.array([0.3, -0.7, 0.5, 1.1])

    @jax.jit
    def gradient(q, v):
        def loss(q, v, dt=0.05):
            state, _ = step(model, Variational(dt, 2, tolerance=1e-13), q, v, None)
            return jnp.concatenate([state.q, state.v]) @ weights

        return jax.value_and_grad(loss, (0, 1))(q, v)

    q, v, e = jnp.array([0.4, -0.9]), jnp.array([1.0, 0.5]), 1e-4
    _, (by_q, by_v) = gradient(q, v)
    for k in range(2):
        d = e * jnp.eye(2)[k]
        along_q = [gradient(q + c * d, v)[0] for c in (-2, -1, 1, 2)]
        along_v = [gradient(q, v + c * d)[0] for c in (-2, -1, 1, 2)]
        for values, expected in ((along_q, by_q[k]), (along_v, by_v[k])):
            difference = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * e)
            np.testing.assert_allclose(expected, difference, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
def test_linearisation_is_the_derivative_of_the_step(system):
    model, q, v, tau, forces = system
    integrator = Variational(0.05, 4, forces, tolerance=1e-13)
    state = integrator.init(model, q, v)

    def moved(x, tau):
        start = dataclasses.replace(state, q=x[: model.nv], momentum=x[model.nv :])
        end, _ = integrator.step(model, start, tau)
        return jnp.concatenate([end.q, end.momentum])

    @jax.jit
    def both(state, tau):
        at = jnp.concatenate([state.q, state.momentum])
        return integrator.linearise(model, state, tau), jax.jacfwd(moved, (0, 1))(at, tau)

    linear, (A, B) = both(state, tau)
    np.testing.assert_allclose(linear.A, A, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(linear.B, B, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_solvers_find_the_same_step(system):
    model, q, v, tau, forces = system
    found = {}
    for solver in ("recursive", "dense", "quasi-newton"):
        integrator = Variational(0.01, 2, forces, solver=solver, max_iterations=100)
        state, info = jax.jit(lambda q, i=integrator: step(model, i, q, v, tau))(q)
        assert info.converged
        found[solver] = state.q
    np.testing.assert_allclose(found["dense"], found["recursive"], atol=1e-11)
    np.testing.assert_allclose(found["quasi-newton"], found["recursive"], atol=1e-9)


@pytest.mark.slow
def test_one_world_that_fails_keeps_its_state_and_leaves_the_others_alone():
    model, integrator = jaxsim.robots.pendulum(3), Variational(0.01, 2)
    q = jnp.full((2, 3), 0.3)
    v = jnp.stack([jnp.ones(3), jnp.array([1.0, jnp.nan, 1.0])])
    state = jax.vmap(lambda q, v: integrator.init(model, q, v))(q, v)
    after, info = jax.jit(jax.vmap(lambda state: integrator.step(model, state)))(state)
    np.testing.assert_array_equal(info.converged, [True, False])
    assert not np.array_equal(after.q[0], q[0])
    np.testing.assert_array_equal(after.q[1], q[1])
    assert after.t[1] == 0.0


@pytest.mark.slow
def test_single_precision_converges_to_single_precision():
    model = jaxsim.robots.pendulum(5)
    single = model.astype(jnp.float32)
    q, v = jnp.linspace(0.5, -0.5, 5), jnp.ones(5)

    def run(model, dtype):
        return jax.jit(lambda q, v: (lambda i: i.step(model, i.init(model, q, v)))(Variational(0.01, 2)))(
            q.astype(dtype), v.astype(dtype)
        )

    (state, info), (expected, _) = run(single, jnp.float32), run(model, jnp.float64)
    assert state.q.dtype == jnp.float32
    assert info.converged
    np.testing.assert_allclose(state.q, expected.q, atol=1e-5)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="order of a variational integrator is 3"):
        Variational(0.1, 3)
    with pytest.raises(ValueError, match="no solver 'magic'"):
        Variational(0.1, 2, solver="magic")
    model, integrator = jaxsim.robots.pendulum(2), Variational(0.1, 4)
    state = integrator.init(model, jnp.zeros(2), jnp.zeros(2))
    with pytest.raises(ValueError, match=r"tau must have shape \(2,\), or \(3, 2\)"):
        integrator.step(model, state, jnp.zeros(5))
