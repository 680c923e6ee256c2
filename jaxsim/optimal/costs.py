"""Costs that are sums of squares, whose Hessians ``ilqr`` takes by Gauss and Newton's rule."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float


class AbstractLeastSquares(eqx.Module):
    """l = ½ |r|²; called with (x, u, k) as a running cost and with x alone as a terminal one."""

    @abc.abstractmethod
    def residual(self, x: Array, u: Array | None = None, k: Array | None = None) -> Array:
        """r."""

    def __call__(self, x: Array, u: Array | None = None, k: Array | None = None) -> Array:
        """½ |r|²."""
        r = self.residual(x, u, k)
        return 0.5 * jnp.sum(r * r)


class LeastSquares(AbstractLeastSquares):
    """½ |r|² for any function r, which is called as the cost is.

    Attributes:
        function: r(x, u, k), or r(x) for a terminal cost.
    """

    function: Callable[..., Array]

    def residual(self, x: Array, u: Array | None = None, k: Array | None = None) -> Array:
        return self.function(x) if u is None else self.function(x, u, k)


class Tracking(AbstractLeastSquares):
    """½ Σ w_x (x ⊖ goal)² + ½ Σ w_u u²: the usual cost, running or terminal.

    Attributes:
        dynamics: whose manifold x lies on.
        goal: the state to reach.
        state_weight: w_x, a number or one for each of the ndx tangent coordinates.
        control_weight: w_u, a number or one for each control.
    """

    dynamics: Any
    goal: Float[Array, " nx"]
    state_weight: float | Float[Array, " ndx"] = 1.0
    control_weight: float | Float[Array, " nu"] = 0.0

    def residual(self, x: Array, u: Array | None = None, k: Array | None = None) -> Array:
        rows = jnp.sqrt(self.state_weight) * self.dynamics.difference(self.goal, x)
        return rows if u is None else jnp.concatenate([rows, jnp.sqrt(self.control_weight) * u])
