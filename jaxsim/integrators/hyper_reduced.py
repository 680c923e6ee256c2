"""Motion in hyper-reduced coordinates."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..forces import AbstractForce
from ..model import Model
from ..reduced.coordinates import AbstractCoordinates, reduced_accelerations
from .base import AbstractIntegrator, Info, State, keep_if_finite


class HyperReduced(AbstractIntegrator):
    """The classical Runge–Kutta method in coordinates y with q = φ(y) (Sueda, §2.7): fourth order, explicit.

    The state's q and v are y and ẏ, and the joint forces of a step are forces on y; ``coordinates.configuration`` gives
    the configuration of the model.

    Attributes:
        dt: the time step.
        coordinates: φ.
        forces: what acts beside gravity, the model's own springs and τ, see ``AbstractForce``.
    """

    dt: float | Array
    coordinates: AbstractCoordinates
    forces: tuple[AbstractForce, ...] = ()

    def init(self, model: Model, q: Array, v: Array, t: float = 0.0) -> State:
        y, rate = jnp.asarray(q, model.dtype), jnp.asarray(v, model.dtype)
        if y.shape != (self.coordinates.size,) or rate.shape != y.shape:
            raise ValueError(
                f"The coordinates and rates have shapes {y.shape} and {rate.shape}, but there are "
                f"{self.coordinates.size} coordinates; give one number for each."
            )
        return State(y, rate, jnp.asarray(t, model.dtype))

    def step(self, model: Model, state: State, tau: Array | None = None) -> tuple[State, Info]:
        force = jnp.zeros_like(state.v) if tau is None else jnp.asarray(tau, state.v.dtype)
        h, dtype = self.dt, state.v.dtype

        def stage(carry, weights):
            (dy, dv), (total_y, total_v) = carry
            ahead, weight = weights
            y, v = state.q + ahead * h * dy, state.v + ahead * h * dv
            k = v, reduced_accelerations(model, self.coordinates, y, v, force, self.forces)
            return (k, (total_y + weight * k[0], total_v + weight * k[1])), None

        zero = jnp.zeros_like(state.v)
        weights = jnp.asarray([0.0, 0.5, 0.5, 1.0], dtype), jnp.asarray([1 / 6, 1 / 3, 1 / 3, 1 / 6], dtype)
        (_, (dy, dv)), _ = jax.lax.scan(stage, ((zero, zero), (zero, zero)), weights)
        return keep_if_finite(state, State(state.q + h * dy, state.v + h * dv, state.t + h))
