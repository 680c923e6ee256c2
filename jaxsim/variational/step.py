"""One step solved: the DEL equations together with the constraints, for the control points and the multipliers."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics import inverse_mass_product
from ..model import Model
from ..solvers.corrected_newton import corrected_newton
from ..solvers.implicit import known
from ..solvers.newton import SolverInfo, max_norm, newton
from . import bordered, dense, newton_direction
from .chart import ball_parts, retract
from .constrained_rows import conditions, rate_rows
from .nodes import Nodes, StepProblem, evaluate
from .projection import project
from .quasi_newton import approximate_direction
from .residual import balance, end_momentum, residual, scale

Unknowns = tuple[Float[Array, "s nv"], Float[Array, "s m"]]
"""The displacements at the control points 1 … s and the multipliers at 0 … s − 1."""


class End(NamedTuple):
    """Where a step ends: q, p and v, the multipliers there, the equations that say nothing new, max |h|."""

    q: Array
    p: Array
    v: Array
    multipliers: Array
    redundant: Array
    violation: Array


def equations(unknowns: Unknowns, problem: StepProblem) -> Unknowns:
    """The rows of the DEL equations and the conditions of the constraints (Fan et al. 2018, eqs. 6a, 6b and 6d)."""
    z, multipliers = unknowns
    return _rows(problem, evaluate(problem, z, multipliers), unknowns)


class Found(NamedTuple):
    """How the search for a step went, and the momentum ρ^s at its end; the residual has no unit."""

    info: SolverInfo
    momentum: Array


def find(
    problem: StepProblem, guess: Unknowns, solver: str, asked: float | None, max_iterations: int
) -> tuple[Unknowns, Found]:
    """The step; the residual is relative to the momenta and lengths in it."""
    tolerance, step_tolerance, floor = tolerances(asked, problem.model.nv, guess[0].dtype)
    if solver == "quasi-newton":
        return _quasi_newton(problem, guess, tolerance, max_iterations)
    recursive = is_recursive(problem, solver)

    def measured(unknowns: Unknowns):
        nodes = evaluate(problem, *unknowns)
        rows, momentum = balance(problem, nodes, unknowns[0])
        error = max_norm(rows) / scale(problem, nodes)
        if not problem.constraints.items:
            return (rows, unknowns[1]), error, momentum
        wanted = conditions(problem, nodes, unknowns[0])
        return (rows, wanted), jnp.maximum(error, max_norm(wanted) / _length(nodes)), momentum

    def factorised(unknowns: Unknowns):
        nodes = evaluate(problem, *unknowns)
        return _rows(problem, nodes, unknowns), _factorise(problem, nodes, unknowns, recursive)

    (unknowns, momentum), info = corrected_newton(
        measured,
        factorised,
        lambda factors, rows: _solve(problem, factors, rows, recursive),
        guess,
        tolerance=tolerance,
        step_tolerance=step_tolerance,
        floor=floor,
        max_iterations=max_iterations,
        norm=lambda unknowns: max_norm(unknowns[0]),
    )
    return unknowns, Found(info, momentum)


def inverses(unknowns: Unknowns, problem: StepProblem):
    """The solutions of the linearised equations and of their transpose, both in linear time."""
    factors = _factorise(problem, evaluate(problem, *unknowns), unknowns, True)

    def inverse(b: Unknowns) -> Unknowns:
        return _solve(problem, factors, b, True)

    return inverse, lambda c: jax.linear_transpose(inverse, unknowns)(c)[0]


def finish(problem: StepProblem, unknowns: Unknowns, momentum: Array) -> End:
    """The configuration and the momentum at the end of a solved step, where the search has found ρ^s."""
    model, constraints, z = problem.model, problem.constraints, unknowns[0]
    q = retract(model, problem.q0, z[-1])
    p = known(_momentum, (problem, unknowns), momentum)
    if not constraints.items:
        none = jnp.zeros_like(unknowns[1][0])
        return End(q, p, inverse_mass_product(model, q, p), none, jnp.zeros((), jnp.int32), jnp.zeros_like(problem.h))
    end = evaluate(problem, *unknowns)[-1]
    S, y = end.S, end.y
    weight = problem.h * float(problem.rule.weights[-1])
    p, v, multipliers, rank = project(model, q, p, *rate_rows(model, constraints, S, y), weight)
    violation = max_norm(constraints.value(model, y))
    return End(q, p, v, multipliers, constraints.size(model) - rank, violation)


def _momentum(theta: tuple[StepProblem, Unknowns]) -> Array:
    problem, unknowns = theta
    return end_momentum(problem, evaluate(problem, *unknowns), unknowns[0])


def tolerances(asked: float | None, nv: int, dtype) -> tuple[float, float, float]:
    """The residual of a solved step relative to its unit, the last correction of the unknowns, and what is good enough.

    Rounding leaves a residual of about 100 ε, a little more for many degrees of freedom, and up to 1e-12 in float64 for
    small time steps, where the momenta at both ends nearly cancel.
    """
    floor = 500.0 * float(jnp.finfo(dtype).eps) * max(nv, 1) ** 0.5
    tolerance = max(1e-11 if asked is None else asked, floor)
    return tolerance, max(1e-9, floor), max(min(1e-12, tolerance), floor)


_CROSSOVER = 64
"""Up to so many unknowns a dense inverse was faster for screw joints, in ``benchmarks/variational_crossover.py``."""


def is_recursive(problem: StepProblem, solver: str) -> bool:
    """Whether the Newton direction is found in linear time: quaternion joints are eliminated as blocks for any size."""
    if solver != "auto":
        return solver == "recursive"
    return problem.s * problem.model.nv > _CROSSOVER or bool(ball_parts(problem.model))


def check_supported(model: Model, constrained: bool, solver: str) -> None:
    """Raise for what variational integrators cannot do."""
    if model.coupling is not None:
        raise ValueError(
            "Variational integrators do not know joints that mimic others; use another integrator for this model."
        )
    if constrained and solver == "quasi-newton":
        raise ValueError("The solver 'quasi-newton' knows no constraints; use 'recursive' or 'dense'.")


def _rows(problem: StepProblem, nodes: Nodes, unknowns: Unknowns) -> Unknowns:
    z, multipliers = unknowns
    wanted = conditions(problem, nodes, z) if problem.constraints.items else multipliers
    return residual(problem, nodes, z), wanted


def _factorise(problem: StepProblem, nodes: Nodes, unknowns: Unknowns, recursive: bool) -> Any:
    if problem.constraints.items:
        return bordered.factorise(problem, nodes, *unknowns, recursive)
    return (newton_direction if recursive else dense).factorise(problem, nodes, unknowns[0])


def _solve(problem: StepProblem, factors: Any, b: Unknowns, recursive: bool) -> Unknowns:
    if problem.constraints.items:
        return bordered.solve(factors, b)
    return (newton_direction if recursive else dense).solve(factors, b[0]), b[1]


def _length(nodes: Nodes) -> Array:
    """The largest distance from the world's origin, or a radius of gyration: the unit of violated constraints."""
    second, mass = nodes[0].inertia.second_moment, jnp.max(jnp.asarray(nodes[0].inertia.mass))
    gyration = jnp.sqrt(max_norm((second.xx, second.yy, second.zz)) / mass)
    return jnp.maximum(gyration, max_norm([(node.pose.position, node.y) for node in nodes]))


def _quasi_newton(problem: StepProblem, guess: Unknowns, tolerance: float, max_iterations: int):
    """Plain iteration with the approximate direction, as Lee et al. have it."""
    z, none = guess
    unit = scale(problem, evaluate(problem, z))
    z, info = newton(
        lambda z: equations((z, none), problem)[0] / unit,
        lambda z, r: approximate_direction(problem, r * unit),
        z,
        tolerance=tolerance,
        max_iterations=max_iterations,
        max_halvings=0,
    )
    return (z, none), Found(info, _momentum((problem, (z, none))))
