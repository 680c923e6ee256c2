"""Newton's method with one more correction by the same factors, and with the natural monotonicity test.

All that an iteration does is one straight run without inner loops, so that in a batch of worlds nothing is moved in
memory between factorisation and solves, and most steps from a good guess take one iteration in all worlds alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array

from .newton import SolverInfo, add_scaled, max_norm

_PROGRESS = 0.1

Unknowns = TypeVar("Unknowns")
Extra = TypeVar("Extra")


class _State(NamedTuple):
    """Where the search is, the fraction of the next step, what the residual is there, and whether to go on."""

    z: Any
    t: Array
    error: Array
    extra: Any
    steps: Array
    solved: Array
    open: Array


def corrected_newton(
    residual: Callable[[Unknowns], tuple[Any, Array, Extra]],
    factorise: Callable[[Unknowns], tuple[Any, Any]],
    solve: Callable[[Any, Any], Unknowns],
    guess: Unknowns,
    *,
    tolerance: float,
    step_tolerance: float,
    floor: float,
    max_iterations: int = 20,
    max_halvings: int = 8,
    norm: Callable[[Unknowns], Array] = max_norm,
) -> tuple[tuple[Unknowns, Extra], SolverInfo]:
    """z with ‖r(z)‖ ≤ tolerance, and what else ``residual`` found there.

    ``residual(z)`` returns r(z), its size ‖r(z)‖ in units of the caller's choice, and anything else that is wanted at
    the solution; ``factorise(z)`` returns r(z) and the factors F of J = ∂r/∂z, and ``solve(F, b)`` is J⁻¹b. With
    δ = −J⁻¹r(z) and δ̄ = −J⁻¹r(z + t δ), the step is taken if it passes the natural monotonicity test (Deuflhard 2011,
    §3.1.1)

        ‖δ̄‖ ≤ (1 − t/4) ‖δ‖,

    which no scaling of the equations can spoil; ``norm`` may leave out unknowns that enter linearly. Otherwise t is
    halved. A full step goes on to z + δ + δ̄, which makes the order three (Traub 1964, §8.2) for one more residual.

    It is solved when ‖r(z + δ + δ̄)‖ ≤ tolerance and the next correction, about |δ̄|²/|δ|, is at most
    ``step_tolerance``. The iteration goes on from there only as long as the residual falls tenfold and neither it nor
    what it should be after two corrections, ‖r(z + δ)‖ ‖δ̄‖/‖δ‖, is below ``floor``, the size that rounding leaves. A
    failed solve hands back the last point that passed the test. Iterations count the steps taken; each trial of a
    shorter one factorises again.
    """

    def iterate(state: _State) -> _State:
        r, F = factorise(state.z)
        delta = solve(F, r)
        ahead = add_scaled(state.z, -state.t, delta)
        r_ahead, error_ahead, _ = residual(ahead)
        correction = solve(F, r_ahead)
        size, left = norm(delta), norm(correction)
        # infinities pass every comparison with each other: without the last condition they would go round for ever
        passed = (left <= (1.0 - 0.25 * state.t) * size) & jnp.isfinite(left)
        full = state.t == 1.0
        z = _where(full, add_scaled(ahead, -1.0, correction), ahead)
        _, error, extra = residual(z)
        shrunk = jnp.where(left > 0.0, left / size, 0.0)
        solved = full & (error <= tolerance) & (shrunk * left <= step_tolerance)
        accepted = jnp.where(state.solved, error < state.error, passed | solved)
        # without rounding a correction shrinks the residual as much as it has shrunk itself
        progress = (jnp.minimum(error, shrunk * error_ahead) > floor) & (error <= _PROGRESS * state.error)
        finished = (solved & ~progress) | (state.solved & ~accepted)
        moved = z, jnp.minimum(2.0 * state.t, 1.0), error, extra
        stayed = state.z, 0.5 * state.t, state.error, state.extra
        stalled = ~accepted & (state.t <= 0.5**max_halvings)
        z, t, error, extra = _where(accepted, moved, stayed)
        return _State(z, t, error, extra, state.steps + accepted, solved | state.solved, ~finished & ~stalled)

    one = jnp.ones_like(norm(guess))
    extra = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(residual, guess)[2])
    yes = jnp.ones((), bool)
    start = _State(guess, one, one * jnp.inf, extra, jnp.zeros((), jnp.int32), ~yes, yes)
    end = jax.lax.while_loop(lambda state: state.open & (state.steps < max_iterations), iterate, start)
    return (end.z, end.extra), SolverInfo(end.solved, end.error, end.steps)


def _where(condition: Array, a: Any, b: Any) -> Any:
    return jax.tree.map(lambda x, y: jnp.where(condition, x, y), a, b)
