"""Differential dynamic programming: full second order (``ddp``) and its Gauss–Newton form (``ilqr``).

One iteration: derivatives along the trajectory, all steps at once (``expansion``); a Riccati recursion backward
(``riccati``), with bounds on the controls (``box``); a nonlinear roll-out forward with a line search (``forward``). States
that do not follow from the controls are allowed and their gaps are closed on the way. Constraints other than bounds are
met by an augmented Lagrangian, whose multipliers are updated whenever the inner problem is nearly solved.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from .augmented import Multipliers, constrained, no_multipliers, updated, violation
from .expansion import Expansion, expand, stationarity
from .forward import line_search
from .problem import Problem
from .riccati import Policy, backward, slope
from .solution import History, Solution, print_header, print_row

_LARGEST = 1e10
"""The regularisation at which the method gives up."""


class _Settings(NamedTuple):
    second: bool
    tolerance: float
    constraint_tolerance: float
    max_iterations: int
    regularisation: float
    penalty: float


class _Iterate(eqx.Module):
    states: Array
    controls: Array
    multipliers: Multipliers
    gains: Array
    regularisation: Array
    merit_weight: Array
    last_violation: Array
    count: Array
    converged: Array
    failed: Array
    history: History


def ddp(
    problem: Problem,
    guess: Any = None,
    *,
    tolerance: float = 1e-6,
    constraint_tolerance: float = 1e-6,
    max_iterations: int = 200,
    regularisation: float = 1e-6,
    penalty: float = 10.0,
    verbose: bool = False,
) -> Solution:
    """Solve a problem by differential dynamic programming with the second derivatives of the dynamics.

    Near a solution it converges quadratically. Where the Hessian is not positive the iteration takes the Gauss–Newton
    one instead, so it also makes way far from a solution. Pure, for ``jit`` and ``vmap``, unless it is verbose.

    Args:
        problem: the problem.
        guess: nothing (zero controls), the controls (N, nu), or (states, controls) that need not fit together.
        tolerance: the largest ∂J/∂u relative to its two parts, and the largest gap.
        constraint_tolerance: the largest violation of a constraint.
        max_iterations: when to give up.
        regularisation: μ, added to Q_uu at first; it falls and rises with success.
        penalty: ρ of the augmented Lagrangian at first; it grows tenfold where the violation does not fall fast enough.
        verbose: print a line for each iteration, while it runs; not under ``jit`` or ``vmap``.
    """
    settings = _Settings(True, tolerance, constraint_tolerance, max_iterations, regularisation, penalty)
    return _solve(problem, guess, settings, "ddp" if verbose else None)


def ilqr(
    problem: Problem,
    guess: Any = None,
    *,
    tolerance: float = 1e-6,
    constraint_tolerance: float = 1e-6,
    max_iterations: int = 500,
    regularisation: float = 1e-6,
    penalty: float = 10.0,
    verbose: bool = False,
) -> Solution:
    """The same as ``ddp`` without the second derivatives of the dynamics: cheaper iterations, linear convergence."""
    settings = _Settings(False, tolerance, constraint_tolerance, max_iterations, regularisation, penalty)
    return _solve(problem, guess, settings, "ilqr" if verbose else None)


def _solve(problem: Problem, guess: Any, settings: _Settings, name: str | None) -> Solution:
    if name is None:
        return _run(problem, guess, settings)
    print_header(name)
    iterate, go_on = _begin(problem, guess, settings), True
    while go_on:
        index = int(iterate.count)
        iterate = _advance(problem, iterate, settings)
        print_row(index, iterate.history)
        go_on = bool(_unfinished(iterate, settings))
    return _finish(problem, iterate)


@eqx.filter_jit
def _run(problem: Problem, guess: Any, settings: _Settings) -> Solution:
    end = jax.lax.while_loop(
        lambda it: _unfinished(it, settings),
        lambda it: _iteration(problem, it, settings),
        _initial(problem, guess, settings),
    )
    return _finish(problem, end)


@eqx.filter_jit
def _begin(problem: Problem, guess: Any, settings: _Settings) -> _Iterate:
    return _initial(problem, guess, settings)


@eqx.filter_jit
def _advance(problem: Problem, iterate: _Iterate, settings: _Settings) -> _Iterate:
    return _iteration(problem, iterate, settings)


@eqx.filter_jit
def _finish(problem: Problem, end: _Iterate) -> Solution:
    return Solution(
        end.states,
        end.controls,
        problem.cost(end.states, end.controls),
        end.converged,
        end.count,
        end.history,
        end.gains,
        end.multipliers,
    )


def _initial(problem: Problem, guess: Any, settings: _Settings) -> _Iterate:
    states, controls = problem.start(guess)
    dtype, f = states.dtype, problem.dynamics
    return _Iterate(
        states,
        controls,
        no_multipliers(problem, states, controls, settings.penalty),
        jnp.zeros((problem.steps, f.nu, f.ndx), dtype),
        jnp.asarray(settings.regularisation, dtype),
        jnp.zeros((), dtype),
        jnp.asarray(jnp.inf, dtype),
        jnp.zeros((), jnp.int32),
        jnp.zeros((), bool),
        jnp.zeros((), bool),
        History.empty(settings.max_iterations, dtype),
    )


def _unfinished(it: _Iterate, settings: _Settings) -> Array:
    return ~it.converged & ~it.failed & (it.count < settings.max_iterations)


def _iteration(problem: Problem, it: _Iterate, settings: _Settings) -> _Iterate:
    e = expand(problem, it.states, it.controls, it.multipliers, settings.second)
    policy, mu, merit_weight, descent = _direction(problem, it, e, settings)
    states, controls, alpha, accepted = line_search(
        problem, it.states, it.controls, it.multipliers, e.gap, policy, descent, merit_weight
    )
    gradient, gap = stationarity(e, it.controls, problem.bounds), jnp.max(jnp.abs(e.gap))
    broken = violation(problem, it.states, it.controls)
    solved, nearly, met = _tests(it, e, gradient, gap, broken, descent, settings)
    taken = accepted & policy.positive & ~solved
    renew = nearly & ~met & ~solved

    multipliers = it.multipliers
    if constrained(problem):
        slow = broken > 0.25 * it.last_violation
        penalty = jnp.where(slow, 10.0, 1.0) * it.multipliers.penalty
        new = updated(problem, it.states, it.controls, it.multipliers, penalty)
        multipliers = _where(renew, new, multipliers)
        taken = taken & ~renew
    failed = ~taken & ~solved & ~renew & (mu >= _LARGEST)
    mu = jnp.where(taken, jnp.where(alpha > 0.25, _lower(mu), mu), jnp.where(renew | solved, mu, _raise(mu)))
    return _Iterate(
        *_where(taken, (states, controls), (it.states, it.controls)),
        multipliers,
        policy.gains,
        mu,
        merit_weight,
        jnp.where(renew, broken, it.last_violation),
        it.count + 1,
        solved,
        failed,
        it.history.row(
            it.count,
            cost=problem.cost(it.states, it.controls),
            gradient=gradient,
            gap=gap,
            violation=broken,
            step=jnp.where(taken, alpha, 0.0),
            regularisation=it.regularisation,
        ),
    )


def _direction(problem: Problem, it: _Iterate, e: Expansion, settings: _Settings):
    """The policy, with the least regularisation that makes it positive, and the slope of the merit along it."""
    room = None
    if problem.bounds is not None:
        low, high = problem.bounds
        room = low - it.controls, high - it.controls
    one = jnp.ones_like(it.regularisation)
    start = backward(e, one, it.regularisation, room)

    # the curvature of the dynamics is given up first, then μ grows
    def weaker(carry):
        policy, weight, mu = carry
        mu = jnp.where(weight > 0.0, mu, _raise(mu)) if settings.second else _raise(mu)
        return backward(e, 0.0 * weight, mu, room), 0.0 * weight, mu

    def not_positive(carry):
        return ~carry[0].positive & (carry[2] < _LARGEST)

    policy, _, mu = jax.lax.while_loop(not_positive, weaker, (start, one, it.regularisation))
    size = jnp.sum(jnp.abs(e.gap))
    down = slope(e, policy)
    needed = jnp.where(size > 0.0, 2.0 * jnp.maximum(down, 0.0) / jnp.where(size > 0.0, size, 1.0), 0.0)
    weight = jnp.maximum(it.merit_weight, needed)
    return policy, mu, weight, down - weight * size


def _tests(it: _Iterate, e: Expansion, gradient, gap, broken, descent, settings: _Settings):
    """Whether the problem is solved, whether the inner problem nearly is, and whether the constraints are met."""
    dtype = e.gap.dtype
    eps = float(jnp.finfo(dtype).eps)
    tolerance = max(settings.tolerance, 1e2 * eps)
    n = e.costate.shape[-1]
    scale = 1.0 + jnp.max(jnp.abs(e.gradient[:, n:]))
    rounding = jnp.abs(descent) <= 10.0 * eps * (1.0 + jnp.sum(jnp.abs(e.gradient[:, n:] * it.controls)))
    closed = gap <= tolerance * (1.0 + jnp.max(jnp.abs(it.states)))
    flat = (gradient <= tolerance * scale) | rounding
    met = broken <= max(settings.constraint_tolerance, 1e2 * eps)
    loose = max(tolerance, 1e-3)
    return flat & closed & met, closed & (flat | (gradient <= loose * scale)), met


def _raise(mu: Array) -> Array:
    return jnp.maximum(10.0 * mu, 1e-6)


def _lower(mu: Array) -> Array:
    return jnp.where(mu > 1e-8, 0.1 * mu, 0.0)


def _where(condition: Array, new, old):
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), new, old)
