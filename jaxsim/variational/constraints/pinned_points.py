"""Two points held together."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...model import Model
from .base import AbstractHolonomicConstraint, Anchor

_AXES = "xyz"


class PinnedPoints(AbstractHolonomicConstraint):
    """y_a = y_b along some of the world's axes; with the world as body b, a foot on the ground.

    The multipliers are the force on body a along these axes; body b takes the opposite force.

    Attributes:
        body_a: a body or a named frame.
        point_a: the point in it.
        body_b: another body or named frame; 0 is the world.
        point_b: the point in that one.
        axes: the world's axes along which they are held together: "xyz", "z" for a foot that slides on the ground, "xz"
            for a loop in a tree that moves in that plane.
    """

    body_a: int | str = eqx.field(static=True)
    point_a: Float[Array, " 3"] = eqx.field(converter=jnp.asarray)
    body_b: int | str = eqx.field(static=True, default=0)
    point_b: Float[Array, " 3"] = eqx.field(converter=jnp.asarray, default=(0.0, 0.0, 0.0))
    axes: str = eqx.field(static=True, default=_AXES)

    def __check_init__(self):
        if not self.axes or any(axis not in _AXES for axis in self.axes) or len({*self.axes}) < len(self.axes):
            raise ValueError(f"The axes of pinned points are {self.axes!r}; give some of 'x', 'y', 'z', each once.")

    def anchors(self, model: Model) -> Sequence[Anchor]:
        return (self.body_a, self.point_a), (self.body_b, self.point_b)

    def size(self, model: Model) -> int:
        return len(self.axes)

    def value(self, model: Model, y: Float[Array, "2 3"]) -> Float[Array, " m"]:
        return (y[0] - y[1])[np.array([_AXES.index(axis) for axis in self.axes])]

    def force_is_constant(self, model: Model) -> bool:
        return True
