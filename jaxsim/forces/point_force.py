"""A force of constant direction on a point of a body."""

from __future__ import annotations

import equinox as eqx
from jaxtyping import Array, Float

from ..spatial import Force, Vec3
from .link import AbstractLinkForce, Poses, Twists
from .points import wrench_of


class PointForce(AbstractLinkForce):
    """f = Γ(x)ᵀRᵀ a with the force a constant in world axes (Sueda, eq. 1.30), from the potential V = −x·a."""

    bodies: tuple[int, ...] = eqx.field(static=True)
    point: Float[Array, " 3"]
    force: Float[Array, " 3"]

    def wrenches(self, poses: Poses, twists: Twists) -> tuple[Force, ...]:
        return (wrench_of(poses[0], Vec3.from_array(self.point), Vec3.from_array(self.force)),)
