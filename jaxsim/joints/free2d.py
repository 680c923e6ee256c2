"""Free joint in the plane: two translations and a rotation."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .axis import Axes, axes_leaf
from .base import AbstractJoint
from .chain import AbstractChain
from .prismatic import Prismatic
from .revolute import Revolute


class Free2D(AbstractChain):
    """q = (lengths along the first two axes, angle about the third): T = translation · rotation (Sueda, §2.5.10)."""

    axes: jax.Array

    def __init__(self, axes: Axes = ("x", "y", "z")):
        self.axes = axes_leaf(axes, 3)

    def links(self) -> tuple[AbstractJoint, ...]:
        axes = jnp.asarray(self.axes)
        return Prismatic(axes[..., 0, :]), Prismatic(axes[..., 1, :]), Revolute(axes[..., 2, :])
