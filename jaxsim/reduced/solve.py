"""A stage solved by Newton's method, with its derivative by the implicit function theorem.

Reverse mode through a rollout of such stages is the adjoint recursion of Sueda (eqs. 3.89–3.106): one transposed solve
a stage with the factors at the solution, and products with the derivatives of the residual. Nothing of the iteration
is kept, and no substep is left out.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..forces.applied import Forces, sort_forces
from ..model import Model
from ..solvers.implicit import implicit_root
from ..solvers.natural_newton import natural_newton
from ..solvers.newton import SolverInfo, max_norm
from . import dense, elimination
from .stage import Stage, residual, scale

SOLVERS = "auto", "recursive", "dense"

_CROSSOVER = 12
"""From so many degrees of freedom on, the elimination is at least as fast as a matrix."""


class Options(eqx.Module):
    """How stages are solved; all of it static."""

    solver: str = eqx.field(static=True)
    tolerance: float | None = eqx.field(static=True)
    max_iterations: int = eqx.field(static=True)


def check_solver(solver: str) -> None:
    """Raise for a solver that does not exist."""
    if solver not in SOLVERS:
        raise ValueError(f"There is no solver {solver!r}; use one of {', '.join(map(repr, SOLVERS))}.")


def is_recursive(model: Model, forces: Forces, solver: str) -> bool:
    """Whether the Newton direction is found by elimination, in linear time."""
    if solver == "dense" or (solver == "auto" and model.nv < _CROSSOVER):
        return False
    possible = elimination.applies(model, sort_forces(model, forces))
    if solver == "recursive" and not possible:
        raise ValueError(
            "The solver 'recursive' needs forces on single bodies, across single joints or on them, and neither "
            "mimic joints nor springs on quaternion joints; use 'auto' or 'dense'."
        )
    return possible


def solve_stage(stage: Stage, guess: Float[Array, " nv"], options: Options) -> tuple[Array, SolverInfo]:
    """ψ with ``residual(ψ, stage)`` = 0, differentiable with respect to all of the stage."""
    recursive = is_recursive(stage.model, stage.forces, options.solver)
    theta = stage, jax.lax.stop_gradient(guess)
    return implicit_root(
        lambda psi, theta: residual(psi, theta[0]),
        lambda theta: _find(*theta, options, recursive),
        lambda psi, theta: inverses(psi, theta[0], recursive),
        theta,
    )


def inverses(psi: Float[Array, " nv"], stage: Stage, recursive: bool):
    """The maps b ↦ H⁻¹ b and c ↦ H⁻ᵀ c, with common factors."""
    if not recursive:
        factors = dense.factorise(stage, psi)
        return lambda b: dense.solve(factors, b), lambda c: dense.solve(factors, c, transposed=True)
    eliminated = elimination.factorise(stage, psi)

    def inverse(b: Array) -> Array:
        return elimination.solve(eliminated, b)

    return inverse, lambda c: jax.linear_transpose(inverse, psi)(c)[0]


def _find(stage: Stage, guess: Array, options: Options, recursive: bool) -> tuple[Array, SolverInfo]:
    floor = 500.0 * float(jnp.finfo(guess.dtype).eps) * max(stage.model.nv, 1) ** 0.5
    tolerance = max(1e-11 if options.tolerance is None else options.tolerance, floor)
    unit = scale(guess, stage)
    method: Any = elimination if recursive else dense

    def measured(psi: Array) -> tuple[Array, Array]:
        r = residual(psi, stage)
        return r, max_norm(r) / unit

    def factorised(psi: Array) -> tuple[Array, Any]:
        return residual(psi, stage), method.factorise(stage, psi)

    return natural_newton(
        measured,
        factorised,
        method.solve,
        guess,
        tolerance=tolerance,
        step_tolerance=max(1e-9, floor),
        max_iterations=options.max_iterations,
    )
