"""Newton's method with a backtracking line search, stopping per world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp

Unknowns = TypeVar("Unknowns")


class SolverInfo(eqx.Module):
    """How a solve ended: whether the residual met the tolerance, its norm, and the number of iterations."""

    converged: jax.Array
    residual: jax.Array
    iterations: jax.Array


def max_norm(r: Any) -> jax.Array:
    """The largest magnitude in a pytree, infinite if any entry is not finite."""
    sizes = jnp.stack([jnp.max(jnp.abs(leaf), initial=0.0) for leaf in jax.tree.leaves(r)])
    return jnp.where(jnp.all(jnp.isfinite(sizes)), jnp.max(sizes), jnp.inf)


def add_scaled(w: Unknowns, alpha, dw: Unknowns) -> Unknowns:
    """w + α dw."""
    return jax.tree.map(lambda a, b: a + alpha * b, w, dw)


def newton(
    residual: Callable[[Unknowns], Any],
    direction: Callable[[Unknowns, Any], Unknowns],
    guess: Unknowns,
    *,
    tolerance,
    max_iterations: int = 30,
    max_halvings: int = 8,
    norm: Callable[[Any], jax.Array] = max_norm,
) -> tuple[Unknowns, SolverInfo]:
    """w with ‖r(w)‖ ≤ tolerance by w ← w + α Δ, Δ = ``direction(w, r)`` = −(∂r/∂w)⁻¹ r and α = 1, ½, ¼, …

    The first α that lowers the norm is taken; if none does, the iteration stops. The residual never grows, and the
    returned unknowns are always finite if the guess was: a failed solve hands back the best point it has seen.
    """

    def shorten(w, dw):
        def body(carry):
            alpha, _, _, count = carry
            r = residual(add_scaled(w, 0.5 * alpha, dw))
            return 0.5 * alpha, r, norm(r), count + 1

        return body

    def step(carry):
        w, r, size, count, _ = carry
        dw = direction(w, r)
        start = (2.0 * jnp.ones_like(size), r, jnp.full_like(size, jnp.inf), jnp.zeros_like(count))
        alpha, r_new, new_size, _ = jax.lax.while_loop(
            lambda c: ~(c[2] < size) & (c[3] <= max_halvings), shorten(w, dw), start
        )
        better = new_size < size
        moved = (add_scaled(w, alpha, dw), r_new, new_size)
        w, r, size = jax.tree.map(lambda a, b: jnp.where(better, a, b), moved, (w, r, size))
        return w, r, size, count + 1, ~better

    def unfinished(carry):
        _, _, size, count, stalled = carry
        return (size > tolerance) & (count < max_iterations) & ~stalled

    r = residual(guess)
    start = (guess, r, norm(r), jnp.zeros((), jnp.int32), jnp.zeros((), bool))
    w, _, size, count, _ = jax.lax.while_loop(unfinished, step, start)
    return w, SolverInfo(size <= tolerance, size, count)
