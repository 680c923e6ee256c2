"""Planar joint: translation in a plane, without rotation."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .axis import Axes, axes_leaf
from .base import AbstractJoint
from .chain import AbstractChain
from .prismatic import Prismatic


class Planar(AbstractChain):
    """q = lengths along two axes: p = B q (Sueda, eqs. 2.27–2.28)."""

    axes: jax.Array

    def __init__(self, axes: Axes = ("x", "y")):
        self.axes = axes_leaf(axes, 2)

    def links(self) -> tuple[AbstractJoint, ...]:
        axes = jnp.asarray(self.axes)
        return Prismatic(axes[..., 0, :]), Prismatic(axes[..., 1, :])
