"""Newton's method with the natural monotonicity test, for systems whose factorisation costs more than a solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from .newton import SolverInfo, max_norm

_FAST = 0.1


class _Trial(NamedTuple):
    """A step from ``z`` along ``delta`` with the factors at hand: the next one if ``open``, else how the last went."""

    z: Array
    delta: Array
    size: Array
    t: Array
    error: Array
    first: Array
    open: Array
    done: Array
    stalled: Array


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
    """z with ‖r(z)‖ ≤ tolerance, with as few factorisations as possible.

    ``residual(z)`` returns r(z) and its size ‖r(z)‖ in units of the caller's choice, ``factorise(z)`` returns r(z) and
    the factors F of J = ∂r/∂z, and ``solve(F, b)`` is J⁻¹b. With δ = −J⁻¹r(z), the step t δ is taken for the first
    t = 1, ½, ¼, … that passes the natural monotonicity test (Deuflhard 2011, §3.1.1)

        ‖δ̄‖ ≤ (1 − t/4) ‖δ‖,   δ̄ = −J⁻¹ r(z + t δ),

    which no scaling of the equations can spoil. As long as full steps shrink the correction tenfold, further ones use
    the same factors. The iteration ends when ‖r(z + δ)‖ ≤ tolerance and |δ̄| ≤ step_tolerance: the reported residual is
    r(z + δ), and the point handed back, z + δ + δ̄, is better still. A failed solve hands back the last point that
    passed the test. Iterations count factorisations.
    """
    no = jnp.zeros((), bool)

    def attempt(F: Any, trial: _Trial) -> _Trial:
        ahead = trial.z + trial.t * trial.delta
        r, error = residual(ahead)
        correction = -solve(F, r)
        left = max_norm(correction)
        done = (error <= tolerance) & (left <= step_tolerance)
        accepted = done | (left <= (1.0 - 0.25 * trial.t) * trial.size)
        full = accepted & (trial.t == 1.0)
        fast = full & (left <= _FAST * trial.size) & ~done
        shorten = ~accepted & trial.first & (trial.t > 0.5**max_halvings)
        z = jnp.where(accepted, ahead, trial.z)
        # the last correction is already known, so it is added where the next step would start with new factors
        z = jnp.where(full & ~fast, ahead + correction, z)
        return _Trial(
            z,
            jnp.where(accepted, correction, trial.delta),
            jnp.where(accepted, left, trial.size),
            jnp.where(accepted, trial.t, 0.5 * trial.t),
            jnp.where(accepted, error, trial.error),
            trial.first & ~accepted,
            fast | shorten,
            done,
            ~accepted & trial.first & ~shorten,
        )

    def iterate(carry):
        z, _, count, _, _ = carry
        r, F = factorise(z)
        delta = -solve(F, r)
        one = jnp.ones((), guess.dtype)
        start = _Trial(z, delta, max_norm(delta), one, one * jnp.inf, ~no, ~no, no, no)
        end = jax.lax.while_loop(lambda trial: trial.open, lambda trial: attempt(F, trial), start)
        return end.z, end.error, count + 1, end.done, end.stalled

    def unfinished(carry):
        _, _, count, done, stalled = carry
        return ~done & ~stalled & (count < max_iterations)

    start = guess, jnp.asarray(jnp.inf, guess.dtype), jnp.zeros((), jnp.int32), no, no
    z, error, count, done, _ = jax.lax.while_loop(unfinished, iterate, start)
    return z, SolverInfo(done, error, count)
