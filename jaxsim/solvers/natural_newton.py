"""Newton's method with the natural monotonicity test, for systems whose factorisation costs more than a solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from .newton import SolverInfo, max_norm


def natural_newton(
    residual: Callable[[Array], tuple[Array, Array]],
    factorise: Callable[[Array], tuple[Array, Any]],
    solve: Callable[[Any, Array], Array],
    guess: Array,
    *,
    tolerance,
    step_tolerance,
    max_iterations: int = 20,
    max_halvings: int = 8,
) -> tuple[Array, SolverInfo]:
    """z with ‖r(z)‖ ≤ tolerance, where each iteration factorises once and solves twice.

    ``residual(z)`` returns r(z) and its size ‖r(z)‖ in units of the caller's choice, ``factorise(z)`` returns r(z) and the
    factors F of J = ∂r/∂z, and ``solve(F, b)`` is J⁻¹b. With δ = −J⁻¹r(z), the step t δ
    is taken for the first t = 1, ½, ¼, … that passes the natural monotonicity test (Deuflhard 2011, §3.1.1)

        ‖δ̄‖ ≤ (1 − t/4) ‖δ‖,   δ̄ = −J⁻¹ r(z + t δ),

    which no scaling of the equations can spoil. After a full step the simplified correction δ̄, already known, is added
    too; this makes the convergence cubic. The iteration ends when ‖r(z + δ)‖ ≤ tolerance and |δ̄| ≤ step_tolerance; the
    reported residual is r(z + δ), and the point handed back is one correction better. A failed solve hands back the
    last point that passed the test.
    """
    dtype = guess.dtype
    no = jnp.zeros((), bool)

    def iterate(carry):
        z, _, count, _, _ = carry
        r, F = factorise(z)
        delta = -solve(F, r)
        size = max_norm(delta)

        def shorten(trial):
            t = 0.5 * trial[0]
            ahead = z + t * delta
            r, error = residual(ahead)
            correction = -solve(F, r)
            left = max_norm(correction)
            done = (error <= tolerance) & (left <= step_tolerance)
            return t, ahead, correction, error, done | (left <= (1.0 - 0.25 * t) * size), done

        def rejected(trial):
            return ~trial[4] & (trial[0] > 0.5**max_halvings)

        start = jnp.asarray(2.0, dtype), z, jnp.zeros_like(z), jnp.asarray(jnp.inf, dtype), no, no
        t, ahead, correction, error, accepted, done = jax.lax.while_loop(rejected, shorten, start)
        ahead = ahead + jnp.where(t == 1.0, correction, 0.0)
        return jnp.where(accepted, ahead, z), error, count + 1, done, ~accepted

    def unfinished(carry):
        _, _, count, done, stalled = carry
        return ~done & ~stalled & (count < max_iterations)

    start = guess, jnp.asarray(jnp.inf, dtype), jnp.zeros((), jnp.int32), no, no
    z, error, count, done, _ = jax.lax.while_loop(unfinished, iterate, start)
    return z, SolverInfo(done, error, count)
