"""Properties of a model from measured trajectories."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from ..integrators import AbstractIntegrator
from ..model import Model, difference
from .least_squares import levenberg_marquardt
from .parametrisation import Parametrisation, Theta


class Fit(eqx.Module):
    """What was found.

    Attributes:
        model: the model with the properties found.
        theta: their free numbers.
        history: half the sum of squared errors at each iteration.
    """

    model: Model
    theta: Theta
    history: Float[Array, " I"]


def prediction_errors(
    model: Model,
    integrator: AbstractIntegrator,
    q: Float[Array, "T1 nq"],
    v: Float[Array, "T1 nv"],
    tau: Float[Array, "T nv"],
    horizon: int = 1,
    slip: float = 0.01,
) -> Float[Array, "windows horizon 2nv"]:
    """(q̂ ⊖ q, v̂ − v) where the model, started at the measured state, is after 1 … horizon steps.

    The windows follow each other without overlap. Dry friction of the joints acts as −f tanh(v / slip).

    Args:
        model: the model.
        integrator: the method, with the time step of the measurements.
        q: the measured configurations.
        v: the measured velocities.
        tau: the joint forces of each step.
        horizon: how many steps to predict; longer averages noise, shorter is more convex.
        slip: the velocity from which on dry friction is nearly full, in rad/s or m/s.
    """
    windows = tau.shape[0] // horizon
    if windows < 1:
        raise ValueError(f"The horizon of {horizon} steps is longer than the measurement of {tau.shape[0]}.")
    cut = windows * horizon

    def group(x):
        return x[:cut].reshape(windows, horizon, *x.shape[1:])

    def predict(q0, v0, taus):
        def step(state, tau):
            rubbed = tau - model.friction * jnp.tanh(state.v / slip)
            state, _ = integrator.step(model, state, rubbed)
            return state, (state.q, state.v)

        return jax.lax.scan(step, integrator.init(model, q0, v0), taus)[1]

    q_hat, v_hat = jax.vmap(predict)(q[:cut:horizon], v[:cut:horizon], group(tau))
    dq = jax.vmap(jax.vmap(lambda a, b: difference(model, a, b)))(group(q[1:]), q_hat)
    return jnp.concatenate([dq, v_hat - group(v[1:])], axis=-1)


def identify(
    parametrisation: Parametrisation,
    integrator: AbstractIntegrator,
    q: Float[Array, "T1 nq"],
    v: Float[Array, "T1 nv"],
    tau: Float[Array, "T nv"],
    theta: Theta | None = None,
    *,
    horizon: int = 1,
    weights: float | Float[Array, " 2nv"] = 1.0,
    optimiser: optax.GradientTransformation | None = None,
    iterations: int = 50,
) -> Fit:
    """Fit a model to a trajectory by the least squares of ``prediction_errors``.

    Args:
        parametrisation: what is to be found, and where to start.
        integrator: the method, with the time step of the measurements.
        q: the measured configurations.
        v: the measured velocities.
        tau: the joint forces of each step.
        theta: another start.
        horizon: how many steps to predict.
        weights: of the errors, for example one over the noise of each sensor.
        optimiser: from optax; by default the method of Levenberg and Marquardt.
        iterations: how many.
    """
    start = parametrisation.initial() if theta is None else theta
    return _fit(parametrisation, integrator, (q, v, tau), start, horizon, weights, optimiser, iterations)


@eqx.filter_jit
def _fit(
    parametrisation: Parametrisation, integrator, data, start: Theta, horizon, weights, optimiser, iterations
) -> Fit:
    q, v, tau = data

    def residual(theta: Theta) -> Array:
        return weights * prediction_errors(parametrisation.build(theta), integrator, q, v, tau, horizon)

    if optimiser is None:
        found, history = levenberg_marquardt(residual, start, iterations)
    else:
        found, history = _descend(residual, start, optimiser, iterations)
    return Fit(parametrisation.build(found), found, history)


def _descend(residual, start: Theta, optimiser: optax.GradientTransformation, iterations: int) -> tuple[Any, Array]:
    def step(carry, _):
        theta, state = carry
        cost, gradient = jax.value_and_grad(lambda theta: 0.5 * jnp.sum(residual(theta) ** 2))(theta)
        update, state = optimiser.update(gradient, state, theta)
        return (optax.apply_updates(theta, update), state), cost

    (found, _), history = jax.lax.scan(step, (start, optimiser.init(start)), length=iterations)
    return found, history
