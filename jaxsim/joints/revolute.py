"""Revolute joint: rotation about a fixed axis."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ..spatial import Motion, Pose, Vec3
from .axis import axis_leaf, rotation_about, unit
from .base import AbstractJoint, Components
from .euclidean import add, constant_subspace, subtract, uniform


class Revolute(AbstractJoint):
    """Rotation by the angle q about a fixed axis: T = exp(a q) (Sueda, §2.5.7)."""

    axis: jax.Array

    def __init__(self, axis="z"):
        self.axis = axis_leaf(axis)

    @property
    def nq(self) -> int:
        return 1

    @property
    def nv(self) -> int:
        return 1

    def transform(self, q: Components) -> Pose:
        return Pose(rotation_about(unit(self.axis), jnp.sin(q[0]), jnp.cos(q[0])), Vec3.zero())

    def screw(self) -> Motion:
        return Motion(unit(self.axis), Vec3.zero())

    def subspace(self, q: Components) -> tuple[Motion, ...]:
        return (self.screw(),)

    def subspace_derivative(self, q: Components) -> tuple[tuple[Motion, ...], ...]:
        return constant_subspace(1)

    def integrate(self, q: Components, dv: Components):
        return add(q, dv)

    def difference(self, q0: Components, q1: Components):
        return subtract(q0, q1)

    def neutral(self):
        return (0.0,)

    def random(self, key: jax.Array):
        return uniform(key, 1, jnp.pi)
