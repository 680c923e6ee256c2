"""Springs and dampers on the joints."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import Model
from .joint import AbstractJointForce, flat_coordinates


class JointSpring(AbstractJointForce):
    """f = −k (q − q₀) − d v on every degree of freedom with flat coordinates (Sueda, §2.6).

    Arrays with one entry a degree of freedom, or single numbers; quaternion joints feel the damper only.
    """

    stiffness_constant: Float[Array, " nv"] | float = 0.0
    damping_constant: Float[Array, " nv"] | float = 0.0
    rest: Float[Array, " nv"] | float = 0.0

    @property
    def is_diagonal(self) -> bool:
        return True

    def force(self, model: Model, q: Array, v: Array) -> Float[Array, " nv"]:
        coordinate, flat = flat_coordinates(model)
        stretch = jnp.where(flat, q[coordinate] - self.rest, 0.0)
        return -self.stiffness_constant * stretch - self.damping_constant * v
