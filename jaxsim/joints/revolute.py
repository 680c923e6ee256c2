"""Revolute joint: rotation about a fixed axis."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ..spatial import Motion, Pose, Scalar, Vec3
from .axis import Axis, axis_leaf, rotation_about, unit
from .base import Components
from .euclidean import uniform
from .screw import AbstractScrewJoint


class Revolute(AbstractScrewJoint):
    """Rotation by the angle q about a fixed axis: T = exp(a q) (Sueda, §2.5.7)."""

    axis: jax.Array

    def __init__(self, axis: Axis = "z"):
        self.axis = axis_leaf(axis)

    def screw(self) -> Motion:
        return Motion(unit(self.axis), Vec3.zero())

    def transform(self, q: Components) -> Pose:
        return Pose(rotation_about(unit(self.axis), jnp.sin(q[0]), jnp.cos(q[0])), Vec3.zero())

    def random(self, key: jax.Array) -> tuple[Scalar, ...]:
        return uniform(key, 1, jnp.pi)
