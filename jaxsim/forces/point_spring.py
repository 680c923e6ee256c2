"""A spring without rest length and a damper between two points."""

from __future__ import annotations

import equinox as eqx
from jaxtyping import Array, Float

from ..spatial import Force, Vec3
from .link import AbstractLinkForce, Poses, Twists
from .points import velocity_of, wrench_of


class PointSpring(AbstractLinkForce):
    """The pull k Δx + d Δẋ of one point towards another, linear and isotropic (Sueda, eqs. 1.40 and 1.45).

    ``points`` holds the two points, one row a body, each in its body's frame; the world's frame for body 0.
    """

    bodies: tuple[int, ...] = eqx.field(static=True)
    points: Float[Array, "2 3"]
    stiffness_constant: Float[Array, ""] | float
    damping_constant: Float[Array, ""] | float = 0.0

    def wrenches(self, poses: Poses, twists: Twists) -> tuple[Force, ...]:
        first, second = (Vec3.from_array(x) for x in self.points)
        apart = poses[1].point(second) - poses[0].point(first)
        parting = velocity_of(poses[1], twists[1], second) - velocity_of(poses[0], twists[0], first)
        pull = apart * self.stiffness_constant + parting * self.damping_constant
        return wrench_of(poses[0], first, pull), wrench_of(poses[1], second, -pull)
