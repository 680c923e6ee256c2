"""Nonlinear least squares by Gauss–Newton steps with Levenberg and Marquardt's damping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array


def levenberg_marquardt(
    residual: Callable[[Any], Array], theta: Any, iterations: int = 50, damping: float = 1e-3
) -> tuple[Any, Array]:
    """θ that minimises ½|r(θ)|², and the history of ½|r|², one entry an iteration.

    (JᵀJ + μ D) δ = −Jᵀ r with D = diag(JᵀJ) + ε, and μ divided by 10 after a step that helps and multiplied by 10 after
    one that does not and is not taken (Marquardt 1963). Directions that the data do not show stay where they were.
    """
    flat, restore = ravel_pytree(theta)

    def r(x):
        return residual(restore(x)).reshape(-1)

    def step(carry, _):
        x, mu = carry
        value, J = r(x), jax.jacfwd(r)(x)
        H = J.T @ J
        # below rounding of the largest entry a direction is not shown by the data at all
        D = jnp.diagonal(H) + 1e-9 * jnp.max(jnp.diagonal(H))
        moved = x - jnp.linalg.solve(H + mu * jnp.diag(D), J.T @ value)
        cost, trial = 0.5 * value @ value, 0.5 * jnp.sum(r(moved) ** 2)
        better = trial < cost
        mu = jnp.clip(jnp.where(better, 0.1 * mu, 10.0 * mu), 1e-9, 1e9)
        return (jnp.where(better, moved, x), mu), cost

    (x, _), history = jax.lax.scan(step, (flat, jnp.asarray(damping, flat.dtype)), length=iterations)
    return restore(x), history
