"""Universal joint: two rotations, one after the other."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .axis import Axes, axes_leaf
from .base import AbstractJoint
from .chain import AbstractChain
from .revolute import Revolute


class Universal(AbstractChain):
    """Rotation by q₁ about the first axis, then by q₂ about the (turned) second one (Sueda, eqs. 2.41–2.44)."""

    axes: jax.Array

    def __init__(self, axes: Axes = ("x", "y")):
        self.axes = axes_leaf(axes, 2)

    def links(self) -> tuple[AbstractJoint, ...]:
        axes = jnp.asarray(self.axes)
        return Revolute(axes[..., 0, :]), Revolute(axes[..., 1, :])
