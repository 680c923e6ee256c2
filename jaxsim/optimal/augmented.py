"""Constraints by an augmented Lagrangian: the unconstrained costs that the inner method sees."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .problem import Problem


class Multipliers(eqx.Module):
    """The multipliers of the constraints, equalities before inequalities, and the penalty ρ."""

    path: Float[Array, "N m"]
    terminal: Float[Array, " mN"]
    penalty: Float[Array, ""]


def path_constraints(problem: Problem, x: Array, u: Array, k: Array) -> tuple[Array, Array]:
    """h(x, u, k) and g(x, u, k)."""
    return tuple(
        jnp.zeros(0, x.dtype) if c is None else jnp.atleast_1d(c(x, u, k))
        for c in (problem.equality, problem.inequality)
    )


def terminal_constraints(problem: Problem, x: Array) -> tuple[Array, Array]:
    """h_N(x) and g_N(x)."""
    return tuple(
        jnp.zeros(0, x.dtype) if c is None else jnp.atleast_1d(c(x))
        for c in (problem.terminal_equality, problem.terminal_inequality)
    )


def constrained(problem: Problem) -> bool:
    """Whether there are constraints beside the bounds of u."""
    parts = problem.equality, problem.inequality, problem.terminal_equality, problem.terminal_inequality
    return any(part is not None for part in parts)


def no_multipliers(problem: Problem, states: Array, controls: Array, penalty) -> Multipliers:
    """Multipliers of zero."""
    path = jax.eval_shape(lambda x, u: jnp.concatenate(path_constraints(problem, x, u, 0)), states[0], controls[0])
    end = jax.eval_shape(lambda x: jnp.concatenate(terminal_constraints(problem, x)), states[0])
    dtype = states.dtype
    zeros = jnp.zeros((problem.steps, *path.shape), dtype), jnp.zeros(end.shape, dtype)
    return Multipliers(*zeros, jnp.asarray(penalty, dtype))


def running_cost(problem: Problem, x: Array, u: Array, k: Array, multipliers: Array, penalty: Array) -> Array:
    """l + λᵀh + ½ρ|h|² + (|max(0, λ + ρ g)|² − |λ|²) / 2ρ (Nocedal and Wright 2006, eq. 17.63)."""
    extra = penalty_terms(path_constraints(problem, x, u, k), multipliers, penalty)
    return problem.running(x, u, k) + extra


def terminal_cost(problem: Problem, x: Array, multipliers: Array, penalty: Array) -> Array:
    """The same at the end."""
    return problem.end_cost(x) + penalty_terms(terminal_constraints(problem, x), multipliers, penalty)


def penalty_terms(constraints: tuple[Array, Array], multipliers: Array, penalty: Array) -> Array:
    """What equalities h and inequalities g add to the cost."""
    h, g = constraints
    of_h, of_g = multipliers[: h.size], multipliers[h.size :]
    equal = jnp.sum(of_h * h + 0.5 * penalty * h**2)
    return equal + jnp.sum(jnp.maximum(0.0, of_g + penalty * g) ** 2 - of_g**2) / (2.0 * penalty)


def violation(problem: Problem, states: Array, controls: Array) -> Array:
    """The largest |h| or max(0, g) along a trajectory."""
    path = jax.vmap(lambda x, u, k: path_constraints(problem, x, u, k))(
        states[:-1], controls, jnp.arange(problem.steps)
    )
    parts = [(jnp.abs(h), jnp.maximum(g, 0.0)) for h, g in (path, terminal_constraints(problem, states[-1]))]
    return jnp.max(jnp.concatenate([jnp.ravel(p) for pair in parts for p in pair]), initial=0.0)


def updated(problem: Problem, states: Array, controls: Array, old: Multipliers, penalty: Array) -> Multipliers:
    """λ ← λ + ρ h and λ ← max(0, λ + ρ g), with a new penalty for what follows."""

    def one(constraints, multipliers):
        h, g = constraints
        return jnp.concatenate(
            [
                multipliers[: h.size] + old.penalty * h,
                jnp.maximum(0.0, multipliers[h.size :] + old.penalty * g),
            ]
        )

    path = jax.vmap(lambda x, u, k, m: one(path_constraints(problem, x, u, k), m))(
        states[:-1], controls, jnp.arange(problem.steps), old.path
    )
    return Multipliers(path, one(terminal_constraints(problem, states[-1]), old.terminal), penalty)


def total_cost(problem: Problem, states: Array, controls: Array, multipliers: Multipliers) -> Array:
    """The augmented cost of a trajectory."""
    k = jnp.arange(problem.steps)
    running = jax.vmap(lambda x, u, k, m: running_cost(problem, x, u, k, m, multipliers.penalty))(
        states[:-1], controls, k, multipliers.path
    )
    return jnp.sum(running) + terminal_cost(problem, states[-1], multipliers.terminal, multipliers.penalty)
