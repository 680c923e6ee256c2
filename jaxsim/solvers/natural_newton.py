"""Newton's method with the natural monotonicity test, for systems whose factorisation costs more than a solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array

from .newton import SolverInfo, add_scaled, max_norm

_FAST = 0.1

Unknowns = TypeVar("Unknowns")


class _Trial(NamedTuple):
    """A step from ``z`` along ``delta`` with the factors at hand: the next one if ``open``, else how the last went."""

    z: Any
    delta: Any
    size: Array
    t: Array
    error: Array
    first: Array
    open: Array
    done: Array
    stalled: Array


def natural_newton(
    residual: Callable[[Unknowns], tuple[Any, Array]],
    factorise: Callable[[Unknowns], tuple[Any, Any]],
    solve: Callable[[Any, Any], Unknowns],
    guess: Unknowns,
    *,
    tolerance,
    step_tolerance,
    max_iterations: int = 20,
    max_halvings: int = 8,
    norm: Callable[[Unknowns], Array] = max_norm,
) -> tuple[Unknowns, SolverInfo]:
    """z with ‖r(z)‖ ≤ tolerance, with as few factorisations as possible.

    ``residual(z)`` returns r(z) and its size ‖r(z)‖ in units of the caller's choice, ``factorise(z)`` returns r(z) and
    the factors F of J = ∂r/∂z, and ``solve(F, b)`` is J⁻¹b. With δ = −J⁻¹r(z), the step t δ is taken for the first
    t = 1, ½, ¼, … that passes the natural monotonicity test (Deuflhard 2011, §3.1.1)

        ‖δ̄‖ ≤ (1 − t/4) ‖δ‖,   δ̄ = −J⁻¹ r(z + t δ),

    which no scaling of the equations can spoil; ``norm`` may leave out unknowns that enter linearly. As long as full
    steps shrink the correction tenfold, further ones use the same factors. The iteration ends when ‖r(z + δ)‖ ≤
    tolerance and |δ̄| ≤ step_tolerance: the reported residual is r(z + δ), and the point handed back, z + δ + δ̄, is
    better still. A failed solve hands back the last point that passed the test. Iterations count factorisations.
    """
    no = jnp.zeros((), bool)

    def attempt(F: Any, trial: _Trial) -> _Trial:
        ahead = add_scaled(trial.z, trial.t, trial.delta)
        r, error = residual(ahead)
        correction = _negative(solve(F, r))
        left = norm(correction)
        done = (error <= tolerance) & (left <= step_tolerance)
        # infinities pass every comparison with each other: without the last condition they would go round for ever
        accepted = done | ((left <= (1.0 - 0.25 * trial.t) * trial.size) & jnp.isfinite(left))
        full = accepted & (trial.t == 1.0)
        fast = full & (left <= _FAST * trial.size) & ~done
        shorten = ~accepted & trial.first & (trial.t > 0.5**max_halvings)
        z = _where(accepted, ahead, trial.z)
        # the last correction is already known, so it is added where the next step would start with new factors
        z = _where(full & ~fast, add_scaled(ahead, 1.0, correction), z)
        return _Trial(
            z,
            _where(accepted, correction, trial.delta),
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
        delta = _negative(solve(F, r))
        size = norm(delta)
        one = jnp.ones_like(size)
        start = _Trial(z, delta, size, one, one * jnp.inf, ~no, ~no, no, no)
        end = jax.lax.while_loop(lambda trial: trial.open, lambda trial: attempt(F, trial), start)
        return end.z, end.error, count + 1, end.done, end.stalled

    def unfinished(carry):
        _, _, count, done, stalled = carry
        return ~done & ~stalled & (count < max_iterations)

    start = guess, jnp.full_like(norm(guess), jnp.inf), jnp.zeros((), jnp.int32), no, no
    z, error, count, done, _ = jax.lax.while_loop(unfinished, iterate, start)
    return z, SolverInfo(done, error, count)


def _negative(x: Unknowns) -> Unknowns:
    return jax.tree.map(jnp.negative, x)


def _where(condition: Array, a: Unknowns, b: Unknowns) -> Unknowns:
    return jax.tree.map(lambda x, y: jnp.where(condition, x, y), a, b)
