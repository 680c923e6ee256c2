"""Prismatic joint: translation along a fixed axis."""

from __future__ import annotations

import jax

from ..spatial import Mat3, Motion, Pose, Scalar, Vec3
from .axis import Axis, axis_leaf, unit
from .base import Components
from .euclidean import uniform
from .screw import AbstractScrewJoint


class Prismatic(AbstractScrewJoint):
    """Translation by the length q along a fixed axis: p = a q (Sueda, eqs. 2.25–2.26)."""

    axis: jax.Array

    def __init__(self, axis: Axis = "z"):
        self.axis = axis_leaf(axis)

    def screw(self) -> Motion:
        return Motion(Vec3.zero(), unit(self.axis))

    def transform(self, q: Components) -> Pose:
        return Pose(Mat3.identity(), unit(self.axis) * q[0])

    def random(self, key: jax.Array) -> tuple[Scalar, ...]:
        return uniform(key, 1, 1.0)
