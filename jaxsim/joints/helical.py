"""Helical joint: rotation about an axis and a proportional translation along it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from ..spatial import Motion, Pose, Scalar
from .axis import Axis, axis_leaf, rotation_about, unit
from .base import Components
from .euclidean import uniform
from .screw import AbstractScrewJoint


class Helical(AbstractScrewJoint):
    """Rotation by the angle q about an axis with an advance of h metres per radian: T = exp((a, h a) q)."""

    axis: jax.Array
    pitch: jax.Array

    def __init__(self, axis: Axis = "z", pitch: Scalar = 0.1):
        self.axis = axis_leaf(axis)
        if not isinstance(pitch, jax.Array) and not np.isfinite(np.float64(pitch)):
            raise ValueError(f"The pitch {pitch!r} is not a finite number; give metres per radian.")
        self.pitch = jnp.asarray(pitch, dtype=float) if not isinstance(pitch, jax.Array) else pitch

    def screw(self) -> Motion:
        a = unit(self.axis)
        return Motion(a, a * self.pitch)

    def transform(self, q: Components) -> Pose:
        a = unit(self.axis)
        return Pose(rotation_about(a, jnp.sin(q[0]), jnp.cos(q[0])), a * (self.pitch * q[0]))

    def random(self, key: jax.Array) -> tuple[Scalar, ...]:
        return uniform(key, 1, jnp.pi)
