"""Viscous damping of a body."""

from __future__ import annotations

import equinox as eqx
from jaxtyping import Array, Float

from ..spatial import Force
from .link import AbstractLinkForce, Poses, Twists


class ViscousDamping(AbstractLinkForce):
    """f = −d φ on the twist φ of one body, in its own frame (Sueda, §1.9.1)."""

    bodies: tuple[int, ...] = eqx.field(static=True)
    coefficient: Float[Array, ""] | float

    def wrenches(self, poses: Poses, twists: Twists) -> tuple[Force, ...]:
        slowing = twists[0] * -self.coefficient
        return (Force(slowing.angular, slowing.linear),)
