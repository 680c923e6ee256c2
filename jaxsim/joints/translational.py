"""Translational joint: every translation, no rotation."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .axis import Axes, axes_leaf
from .base import AbstractJoint
from .chain import AbstractChain
from .prismatic import Prismatic


class Translational(AbstractChain):
    """q = lengths along three axes; by default p = q (Sueda, eqs. 2.29–2.30)."""

    axes: jax.Array

    def __init__(self, axes: Axes = ("x", "y", "z")):
        self.axes = axes_leaf(axes, 3)

    def links(self) -> tuple[AbstractJoint, ...]:
        axes = jnp.asarray(self.axes)
        return Prismatic(axes[..., 0, :]), Prismatic(axes[..., 1, :]), Prismatic(axes[..., 2, :])
