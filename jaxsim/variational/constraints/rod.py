"""Two points at a fixed distance."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...model import Model
from .base import AbstractHolonomicConstraint, Anchor


class Rod(AbstractHolonomicConstraint):
    """(|y_a − y_b|² − l²) / 2l = 0: a massless rod between two points.

    The multiplier is the force in the rod, positive where it pushes the points apart.

    Attributes:
        body_a: a body or a named frame.
        point_a: the point in it.
        body_b: another body or named frame; 0 is the world.
        point_b: the point in that one.
        length: l, in metres.
    """

    body_a: int | str = eqx.field(static=True)
    point_a: Float[Array, " 3"] = eqx.field(converter=jnp.asarray)
    body_b: int | str = eqx.field(static=True)
    point_b: Float[Array, " 3"] = eqx.field(converter=jnp.asarray)
    length: Float[Array, ""] = eqx.field(converter=jnp.asarray)

    def anchors(self, model: Model) -> Sequence[Anchor]:
        return (self.body_a, self.point_a), (self.body_b, self.point_b)

    def size(self, model: Model) -> int:
        return 1

    def value(self, model: Model, y: Float[Array, "2 3"]) -> Float[Array, " 1"]:
        length = jnp.asarray(self.length, y.dtype)
        return ((jnp.sum((y[0] - y[1]) ** 2) - length**2) / (2.0 * length))[None]
