"""Rigid transforms and how they carry motions, forces and points between frames."""

from __future__ import annotations

import dataclasses
from typing import overload

import jax

from .matrix import Mat3
from .motion import Force, Motion
from .vector import Vec3


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Pose:
    """The pose of a child frame in its parent: x_parent = R x_child + p.

    ``pose @ m`` carries a motion or a force from child to parent coordinates (Ad, and Ad⁻ᵀ for forces);
    ``pose.inv() @ m`` carries it back.
    """

    rotation: Mat3
    position: Vec3

    @staticmethod
    def identity() -> Pose:
        """The pose of a frame in itself."""
        return Pose(Mat3.identity(), Vec3.zero())

    @staticmethod
    def translation(position: Vec3) -> Pose:
        """The pose of a frame with the parent's axes; moving it costs cross products only."""
        return Pose(Mat3.identity(), position)

    @staticmethod
    def turned(rotation: Mat3) -> Pose:
        """The pose of a frame with the parent's origin."""
        return Pose(rotation, Vec3.zero())

    def inv(self) -> InversePose:
        """The parent→child transform, kept as a view so that no product is formed."""
        return InversePose(self)

    def inverse(self) -> Pose:
        """The inverse as a pose of its own: (Rᵀ, −Rᵀp)."""
        return Pose(self.rotation.T, -self.rotation.apply_transposed(self.position))

    def point(self, x: Vec3) -> Vec3:
        """R x + p."""
        return self.rotation.apply(x) + self.position

    @overload
    def __matmul__(self, other: Pose) -> Pose: ...
    @overload
    def __matmul__(self, other: Motion) -> Motion: ...
    @overload
    def __matmul__(self, other: Force) -> Force: ...

    def __matmul__(self, other):
        R, p = self.rotation, self.position
        if isinstance(other, Pose):
            return Pose(R.matmul(other.rotation), self.point(other.position))
        angular, linear = R.apply(other.angular), R.apply(other.linear)
        if isinstance(other, Motion):
            return Motion(angular, linear + p.cross(angular))
        return Force(angular + p.cross(linear), linear)


@dataclasses.dataclass(frozen=True)
class InversePose:
    """A pose read backwards: ``inverse @ m`` carries parent coordinates to child coordinates."""

    pose: Pose

    @overload
    def __matmul__(self, other: Motion) -> Motion: ...
    @overload
    def __matmul__(self, other: Force) -> Force: ...

    def __matmul__(self, other):
        R, p = self.pose.rotation, self.pose.position
        if isinstance(other, Motion):
            return Motion(
                R.apply_transposed(other.angular),
                R.apply_transposed(other.linear - p.cross(other.angular)),
            )
        return Force(
            R.apply_transposed(other.angular - p.cross(other.linear)),
            R.apply_transposed(other.linear),
        )
