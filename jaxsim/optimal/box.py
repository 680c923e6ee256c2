"""Quadratic programs with bounds, by projected Newton steps."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
from jaxtyping import Array, Bool, Float


def box_qp(
    H: Float[Array, "m m"], g: Float[Array, " m"], low: Float[Array, " m"], high: Float[Array, " m"]
) -> tuple[Float[Array, " m"], Bool[Array, " m"]]:
    """The x in [low, high] that minimises ½ xᵀH x + gᵀx for positive H, and which entries are free at it.

    Projected Newton (Bertsekas 1982; Tassa, Mansard and Todorov 2014, §III): entries at a bound that the gradient
    pushes against are held, a Newton step is taken in the others, and the step is projected on the box.
    """
    m = g.size
    tolerance = 1e2 * jnp.finfo(g.dtype).eps * (1.0 + jnp.max(jnp.abs(g)))

    def free_at(x):
        slope = g + H @ x
        return slope, ~(((x <= low) & (slope > 0)) | ((x >= high) & (slope < 0)))

    def value(x):
        return 0.5 * x @ H @ x + g @ x

    def body(carry):
        x, count, _ = carry
        slope, free = free_at(x)
        dx = solve_free(H, free, -slope[:, None])[:, 0]
        trials = jnp.clip(x + 0.5 ** jnp.arange(8.0, dtype=x.dtype)[:, None] * dx, low, high)
        gains = value(x) - jax.vmap(value)(trials)
        good = gains >= 0.1 * (x - trials) @ slope - tolerance
        best = trials[jnp.argmax(good)]
        _, free_next = free_at(best)
        settled = jnp.max(jnp.abs(jnp.where(free_next, g + H @ best, 0.0)), initial=0.0) <= tolerance
        return best, count + 1, settled | ~jnp.any(good)

    start = jnp.clip(jnp.zeros_like(g), low, high), jnp.zeros((), jnp.int32), jnp.zeros((), bool)
    x, _, _ = jax.lax.while_loop(lambda c: ~c[2] & (c[1] < 4 * m + 8), body, start)
    return x, free_at(x)[1]


def solve_free(H: Float[Array, "m m"], free: Bool[Array, " m"], b: Float[Array, "m r"]) -> Float[Array, "m r"]:
    """H⁻¹ b within the free entries, zero elsewhere."""
    both = free[:, None] & free[None, :]
    masked = jnp.where(both, H, jnp.eye(H.shape[0], dtype=H.dtype))
    return jsl.cho_solve((jnp.linalg.cholesky(masked), True), jnp.where(free[:, None], b, 0.0))
