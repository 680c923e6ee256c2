"""Masses, inertias, damping, friction and lengths from trajectories."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import jaxsim
from jaxsim import identification
from jaxsim.identification import inertias_from_log_cholesky, log_cholesky

STEP = jaxsim.SemiImplicitEuler(0.02)


@pytest.fixture(scope="module")
def truth():
    model = jaxsim.robots.acrobot(lengths=(0.8, 1.0), masses=(1.3, 0.7))
    return dataclasses.replace(model, damping=jnp.array([0.1, 0.2]), friction=jnp.array([0.3, 0.05]))


def measured(truth, seed):
    """A run of the true system under random forces, with its own friction."""
    tau = 3.0 * jnp.asarray(np.random.default_rng(seed).normal(size=(200, 2)))

    def step(state, tau):
        state, _ = STEP.step(truth, state, tau - truth.friction * jnp.tanh(state.v / 0.01))
        return state, (state.q, state.v)

    start = STEP.init(truth, jnp.array([0.5, -1.0]), jnp.zeros(2))
    q, v = jax.jit(lambda tau: jax.lax.scan(step, start, tau)[1])(tau)
    return jnp.concatenate([start.q[None], q]), jnp.concatenate([start.v[None], v]), tau


def test_every_theta_is_an_inertia_that_a_body_can_have():
    theta = jnp.asarray(np.random.default_rng(0).normal(size=(50, 10)))
    mass, com, inertia = jax.jit(jax.vmap(inertias_from_log_cholesky))(theta)
    moments = np.linalg.eigvalsh(inertia)
    assert np.all(mass > 0)
    assert np.all(moments > 0)
    assert np.all(moments[:, 2] < moments[:, 0] + moments[:, 1])
    np.testing.assert_allclose(jax.jit(jax.vmap(log_cholesky))(mass, com, inertia), theta, atol=1e-9)


def test_a_model_is_found_from_its_motion(truth):
    """From a wrong model to one that predicts another run to rounding, with the damping and friction of the truth."""
    wrong = jaxsim.robots.acrobot(lengths=(0.8, 1.0))
    free = identification.Parametrisation(wrong, properties=("damping", "friction"))
    fit = identification.identify(free, STEP, *measured(truth, 0), iterations=40)
    assert fit.history[-1] < 1e-20 * fit.history[0]
    np.testing.assert_allclose(fit.model.damping, truth.damping, rtol=1e-7)
    np.testing.assert_allclose(fit.model.friction, truth.friction, rtol=1e-7)
    other = measured(truth, 1)
    errors = jax.jit(lambda model: identification.prediction_errors(model, STEP, *other, horizon=20))
    assert np.max(np.abs(errors(fit.model))) < 1e-7
    assert np.max(np.abs(errors(wrong))) > 0.1


@pytest.mark.slow
def test_a_length_is_found_by_optax_too(truth):
    wrong = dataclasses.replace(truth, position=truth.position.at[2].multiply(1.3))
    free = identification.Parametrisation(wrong, inertia=(), lengths=["lower"])
    fit = identification.identify(
        free, STEP, *measured(truth, 2), optimiser=optax.adam(optax.cosine_decay_schedule(0.03, 300)), iterations=300
    )
    np.testing.assert_allclose(fit.model.position[2], truth.position[2], rtol=1e-4)


def test_what_cannot_be_identified(truth):
    with pytest.raises(ValueError, match="There is no property 'colour'"):
        identification.Parametrisation(truth, properties=["colour"])
    point = dataclasses.replace(truth, inertia=truth.inertia.at[1].set(0.0))
    with pytest.raises(ValueError, match="upper have no extent"):
        identification.Parametrisation(point).initial()
