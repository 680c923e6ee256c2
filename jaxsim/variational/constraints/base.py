"""What a constraint answers: which points of the bodies it looks at, and what they have to fulfil.

A constraint sees the tree through points fixed in its bodies, y in the world frame, and pushes at the same points. So
its generalised force is (∂h/∂q)ᵀλ = Σ J_pᵀ f_p with f = (∂h/∂y)ᵀλ: wrenches on bodies, which the recursions of the
unconstrained system take without change (Fan et al. 2018, §3.3).
"""

from __future__ import annotations

import abc
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...model import Model

Anchor = tuple[int | str, Float[Array, " 3"]]
"""A body or a named frame, and a point in it."""


class AbstractConstraint(eqx.Module):
    """Equations that the points of some bodies have to fulfil, in metres, radians or their rates."""

    @abc.abstractmethod
    def anchors(self, model: Model) -> Sequence[Anchor]:
        """The points that the constraint looks at."""

    @abc.abstractmethod
    def size(self, model: Model) -> int:
        """The number m of equations."""

    @abc.abstractmethod
    def rate(self, model: Model, y: Float[Array, "k 3"], y_dot: Float[Array, "k 3"]) -> Float[Array, " m"]:
        """What has to vanish of the velocities, an affine function of ẏ; all arguments in the world frame."""

    @property
    @abc.abstractmethod
    def is_holonomic(self) -> bool:
        """Whether the constraint is one on positions."""

    def force_is_constant(self, model: Model) -> bool:
        """Whether the forces at the points depend on the multipliers alone; saying yes saves work."""
        return False

    def force(self, model: Model, y: Float[Array, "k 3"], multipliers: Float[Array, " m"]) -> Float[Array, "k 3"]:
        """The forces at the points, (∂ rate/∂ẏ)ᵀλ."""
        _, pull = jax.vjp(lambda y_dot: self.rate(model, y, y_dot), jnp.zeros_like(y))
        return pull(multipliers)[0]


class AbstractHolonomicConstraint(AbstractConstraint):
    """h(y) = 0 for the positions of the points."""

    @abc.abstractmethod
    def value(self, model: Model, y: Float[Array, "k 3"]) -> Float[Array, " m"]:
        """h(y), for points in the world frame."""

    def rate(self, model: Model, y: Float[Array, "k 3"], y_dot: Float[Array, "k 3"]) -> Float[Array, " m"]:
        """ḣ = (∂h/∂y) ẏ."""
        return jax.jvp(lambda y: self.value(model, y), (y,), (y_dot,))[1]

    @property
    def is_holonomic(self) -> bool:
        return True


class AbstractVelocityConstraint(AbstractConstraint):
    """Linear equations for the velocities of the points that need not come from equations for positions."""

    @property
    def is_holonomic(self) -> bool:
        return False
