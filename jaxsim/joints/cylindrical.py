"""Cylindrical joint: rotation about an axis and, independently, translation along it."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .axis import Axis, axis_leaf
from .base import AbstractJoint
from .chain import AbstractChain
from .prismatic import Prismatic
from .revolute import Revolute


class Cylindrical(AbstractChain):
    """q = (angle, length) about and along one axis: T = exp(a q₁) · translation(a q₂)."""

    axis: jax.Array

    def __init__(self, axis: Axis = "z"):
        self.axis = axis_leaf(axis)

    def links(self) -> tuple[AbstractJoint, ...]:
        axis = jnp.asarray(self.axis)
        return Revolute(axis), Prismatic(axis)
