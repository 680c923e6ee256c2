"""Single shooting: gradient descent on the controls, with any optimiser of optax."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from .augmented import constrained
from .problem import Problem, inward
from .solution import History, Solution, print_header, print_row


class _Iterate(eqx.Module):
    controls: Array
    optimiser: Any
    count: Array
    converged: Array
    history: History


def shoot(
    problem: Problem,
    guess: Any = None,
    optimiser: optax.GradientTransformationExtraArgs | None = None,
    *,
    tolerance: float = 1e-6,
    max_iterations: int = 500,
    verbose: bool = False,
) -> Solution:
    """Minimise J(u) over the controls alone, by reverse mode through the roll-out, for ``jit`` and ``vmap``.

    Bounds are kept by projection after each step. Constraints belong to ``ddp`` and ``collocate``.

    Args:
        problem: the problem.
        guess: nothing, or the controls (N, nu).
        optimiser: from optax; by default L-BFGS with its line search.
        tolerance: the largest ∂J/∂u at the end, where at a bound only what points inward counts.
        max_iterations: when to stop.
        verbose: print a line for every iteration; not under ``jit`` or ``vmap``.
    """
    if constrained(problem):
        raise ValueError("shoot knows no constraints but the bounds of u; use ddp or collocate.")
    method = optax.lbfgs() if optimiser is None else optax.with_extra_args_support(optimiser)
    start = _begin(problem, guess, method, max_iterations)
    if not verbose:
        return _run(problem, start, method, tolerance, max_iterations)
    print_header("shoot")
    iterate = start
    while not bool(iterate.converged) and int(iterate.count) < max_iterations:
        index, iterate = int(iterate.count), _advance(problem, iterate, method, tolerance)
        print_row(index, iterate.history)
    return _finish(problem, iterate)


@eqx.filter_jit
def _begin(problem: Problem, guess: Any, method, max_iterations: int) -> _Iterate:
    controls = jnp.zeros((problem.steps, problem.dynamics.nu), problem.x0.dtype) if guess is None else guess
    controls = _project(problem, jnp.asarray(controls, problem.x0.dtype))
    history = History.empty(max_iterations, controls.dtype)
    return _Iterate(controls, method.init(controls), jnp.zeros((), jnp.int32), jnp.zeros((), bool), history)


@eqx.filter_jit
def _run(problem: Problem, start: _Iterate, method, tolerance: float, max_iterations: int) -> Solution:
    end = jax.lax.while_loop(
        lambda it: ~it.converged & (it.count < max_iterations),
        lambda it: _iteration(problem, it, method, tolerance),
        start,
    )
    return _finish(problem, end)


@eqx.filter_jit
def _advance(problem: Problem, iterate: _Iterate, method, tolerance: float) -> _Iterate:
    return _iteration(problem, iterate, method, tolerance)


def _iteration(problem: Problem, it: _Iterate, method, tolerance: float) -> _Iterate:
    def cost(u):
        return problem.cost(problem.rollout(u), u)

    value, gradient = jax.value_and_grad(cost)(it.controls)
    residual = jnp.max(jnp.abs(inward(it.controls, gradient, problem.bounds)))
    solved = residual <= tolerance
    update, optimiser = method.update(gradient, it.optimiser, it.controls, value=value, grad=gradient, value_fn=cost)
    moved = _project(problem, it.controls + update)
    moved = jnp.where(jnp.all(jnp.isfinite(moved)) & ~solved, moved, it.controls)
    zero = jnp.zeros_like(value)
    history = it.history.row(
        it.count,
        cost=value,
        gradient=residual,
        gap=zero,
        violation=zero,
        step=jnp.max(jnp.abs(moved - it.controls)),
        regularisation=zero,
    )
    return _Iterate(moved, optimiser, it.count + 1, solved, history)


def _project(problem: Problem, controls: Array) -> Array:
    return controls if problem.bounds is None else jnp.clip(controls, *problem.bounds)


def _finish(problem: Problem, end: _Iterate) -> Solution:
    states = problem.rollout(end.controls)
    cost = problem.cost(states, end.controls)
    return Solution(states, end.controls, cost, end.converged, end.count, end.history)
