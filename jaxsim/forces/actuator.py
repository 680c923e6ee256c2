"""Drives and servos on the joints."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..model import Model
from .joint import AbstractJointForce, flat_coordinates


class Actuator(AbstractJointForce):
    """A servo f = clip(u + kp (q* − q) + kd (v* − v), ±limit) on some degrees of freedom.

    With kp = kd = 0 it is a direct drive of the force u. All numbers may be arrays with one entry for each of the
    degrees of freedom ``at``, which must have flat coordinates where kp is used.
    """

    at: tuple[int, ...] = eqx.field(static=True)
    effort: Float[Array, " n"] | float = 0.0
    position_gain: Float[Array, " n"] | float = 0.0
    velocity_gain: Float[Array, " n"] | float = 0.0
    target: Float[Array, " n"] | float = 0.0
    target_velocity: Float[Array, " n"] | float = 0.0
    limit: Float[Array, " n"] | float = jnp.inf

    @property
    def is_diagonal(self) -> bool:
        return True

    def force(self, model: Model, q: Array, v: Array) -> Float[Array, " nv"]:
        rows = np.array(self.at)
        coordinate, flat = flat_coordinates(model)
        ahead = jnp.where(flat[rows], self.target - q[coordinate[rows]], 0.0)
        wanted = self.effort + self.position_gain * ahead + self.velocity_gain * (self.target_velocity - v[rows])
        return jnp.zeros_like(v).at[rows].set(jnp.clip(wanted, -self.limit, self.limit))
