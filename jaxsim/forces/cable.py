"""A cable, which pulls and never pushes."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..spatial import Scalar
from .path import AbstractPathForce


class Cable(AbstractPathForce):
    """f = max(k ε + d ε̇, 0) where the strain ε is positive, else zero (Sueda, eq. 1.83, kept from pushing)."""

    bodies: tuple[int, ...] = eqx.field(static=True)
    points: Float[Array, "k 3"]
    stiffness_constant: Float[Array, ""] | float
    rest_length: Float[Array, ""] | float
    damping_constant: Float[Array, ""] | float = 0.0

    def tension(self, length: Scalar, rate: Scalar) -> Scalar:
        strain = (length - self.rest_length) / self.rest_length
        pull = self.stiffness_constant * strain + self.damping_constant * rate / self.rest_length
        return jnp.where((strain > 0.0) & (pull > 0.0), pull, 0.0)
