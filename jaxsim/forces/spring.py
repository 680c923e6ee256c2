"""A spring with a rest length and a damper, along a path through points."""

from __future__ import annotations

import equinox as eqx
from jaxtyping import Array, Float

from ..spatial import Scalar
from .path import AbstractPathForce


class Spring(AbstractPathForce):
    """f = k ε + d ε̇ with the strain ε = (l − L)/L (Sueda, eq. 1.81), through any number of points."""

    bodies: tuple[int, ...] = eqx.field(static=True)
    points: Float[Array, "k 3"]
    stiffness_constant: Float[Array, ""] | float
    rest_length: Float[Array, ""] | float
    damping_constant: Float[Array, ""] | float = 0.0

    def tension(self, length: Scalar, rate: Scalar) -> Scalar:
        strain = (length - self.rest_length) / self.rest_length
        return self.stiffness_constant * strain + self.damping_constant * rate / self.rest_length
