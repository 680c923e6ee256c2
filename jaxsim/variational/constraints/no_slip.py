"""A point that does not slip along a direction of its body."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...model import Model
from .base import AbstractVelocityConstraint, Anchor


class NoSlip(AbstractVelocityConstraint):
    """ẏ·d = 0: the velocity of a point has no part along a direction fixed in its body, as for a skate or a knife edge.

    The multiplier is the force on the body along d, for a unit vector d.

    Attributes:
        body: a body or a named frame.
        point: the point in it.
        direction: d in the same frame.
    """

    body: int | str = eqx.field(static=True)
    point: Float[Array, " 3"] = eqx.field(converter=jnp.asarray)
    direction: Float[Array, " 3"] = eqx.field(converter=jnp.asarray)

    def anchors(self, model: Model) -> Sequence[Anchor]:
        return (self.body, self.point), (self.body, self.point + self.direction)

    def size(self, model: Model) -> int:
        return 1

    def rate(self, model: Model, y: Float[Array, "2 3"], y_dot: Float[Array, "2 3"]) -> Float[Array, " 1"]:
        return jnp.sum(y_dot[0] * (y[1] - y[0]))[None]
