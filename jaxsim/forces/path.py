"""Springs along a path through points of bodies, given by a tension as a function of length and rate."""

from __future__ import annotations

import abc
import itertools

import equinox as eqx
from jaxtyping import Array, Float

from ..spatial import Force, Scalar, Vec3
from .link import AbstractLinkForce, Poses, Twists
from .points import direction_of, length_of, velocity_of, wrench_of


class AbstractPathForce(AbstractLinkForce):
    """A tension f(l, l̇) along the path through the points, which slides freely in all but its ends (Sueda, §1.9.8).

    With two points it is the generic spring of §1.9.7.

    Attributes:
        points: one point a body, in its body's frame; the world's frame for body 0.
    """

    points: eqx.AbstractVar[Float[Array, "k 3"]]

    @abc.abstractmethod
    def tension(self, length: Scalar, rate: Scalar) -> Scalar:
        """f(l, l̇), positive where it pulls."""

    @property
    def is_relative(self) -> bool:
        return True

    def wrenches(self, poses: Poses, twists: Twists) -> tuple[Force, ...]:
        points = [Vec3.from_array(x) for x in self.points]
        at = [pose.point(x) for pose, x in zip(poses, points, strict=True)]
        moving = [velocity_of(*state) for state in zip(poses, twists, points, strict=True)]
        gaps = [b - a for a, b in itertools.pairwise(at)]
        along = [direction_of(gap) for gap in gaps]
        length = sum(length_of(gap) for gap in gaps)
        rate = sum(u.dot(b - a) for u, a, b in zip(along, moving, moving[1:], strict=False))
        f = self.tension(length, rate)
        ends = [Vec3.zero(), *along, Vec3.zero()]
        pulls = [(after - before) * f for before, after in itertools.pairwise(ends)]
        return tuple(wrench_of(*pull) for pull in zip(poses, points, pulls, strict=True))
