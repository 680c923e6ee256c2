"""The exact derivatives of one step, A and B (Fan et al. 2018, §4)."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import difference, integrate
from ..solvers.implicit import implicit_root
from . import bordered
from .chart import retract
from .constrained_rows import constraint_jacobian
from .dense import del_derivatives
from .newton_direction import factorise, solve
from .nodes import StepProblem, evaluate
from .residual import end_momentum, residual
from .step import Unknowns, equations, finish, inverses


class Linearisation(eqx.Module):
    """(δq', δp') = A (δq, δp) + B δu, with δq in the tangent space, p the discrete momentum and u the joint forces.

    With constraints A and B are those of the step that keeps them, and δλ = L (δq, δp) + U δu for the multipliers at
    the s + 1 control points, one control point after the other. Multipliers given as if they were inputs add C δλ.

    Attributes:
        A: (2 nv, 2 nv).
        B: (2 nv, nv), for joint forces held over the step.
        C: (2 nv, (s + 1) m), the step as a function of given multipliers.
        L: ((s + 1) m, 2 nv).
        U: ((s + 1) m, nv).
    """

    A: Float[Array, "2nv 2nv"]
    B: Float[Array, "2nv nv"]
    C: Float[Array, "2nv l"]
    L: Float[Array, "l 2nv"]
    U: Float[Array, "l nv"]


def linearise_screws(problem: StepProblem, z: Float[Array, "s nv"]) -> Linearisation:
    """A and B at a solved step of a model of screw joints.

    With M = ∂ρ/∂q, dz = −J⁻¹(∂r/∂q⁰ dq⁰ + dp + ∂r/∂u du), dq' = dz^s and dp' = ∂ρ^s (dq⁰, dz, du); a right-hand side
    costs two light sweeps, so all of them O(s² n²).
    """
    nodes = evaluate(problem, z)
    s, nv = problem.s, problem.model.nv
    M = del_derivatives(problem, nodes, z)
    factors = factorise(problem, nodes, z)
    weights = jnp.asarray(problem.rule.weights, z.dtype) * problem.h
    eye = jnp.eye(nv, dtype=z.dtype)
    first = jnp.zeros((s, nv, nv), z.dtype).at[0].set(eye)
    by_u = weights[:s, None, None] * eye
    right = jnp.concatenate([M[:s, :, 0], first, by_u], axis=2)
    dz = -jax.vmap(lambda b: solve(factors, b), in_axes=2, out_axes=2)(right)
    dp = jnp.einsum("igj,gjc->ic", M[s, :, 1:], dz)
    dp = dp + jnp.concatenate([M[s, :, 0], jnp.zeros_like(eye), weights[s] * eye], axis=1)
    both = jnp.concatenate([dz[-1], dp])
    none = jnp.zeros((0, 3 * nv), z.dtype)
    return Linearisation(
        both[:, : 2 * nv], both[:, 2 * nv :], none[:, : 2 * nv].T, none[:, : 2 * nv], none[:, 2 * nv :]
    )


def linearise_by_columns(problem: StepProblem, unknowns: Unknowns, momentum: Array) -> Linearisation:
    """The derivatives at a solved step of any model with ρ^s at its end, with or without constraints.

    O(n) a column, so O(n²) all.
    """
    model, nv = problem.model, problem.model.nv
    reached = finish(problem, unknowns, momentum)

    def moved(x: Array) -> Array:
        dq, dp, du = jnp.split(x, 3)
        changed = integrate(model, problem.q0, dq), problem.p + dp, problem.tau + du
        start = eqx.tree_at(lambda problem: (problem.q0, problem.p, problem.tau), problem, changed)
        found, _ = implicit_root(_equations, _known, _inverses, (start, unknowns))
        end = finish(start, found, momentum)
        multipliers = found[1].reshape(-1), end.multipliers
        return jnp.concatenate([difference(model, reached.q, end.q), end.p, *multipliers])

    rows = jax.jacfwd(moved)(jnp.zeros(3 * nv, problem.p.dtype))
    both, by_multipliers = rows[: 2 * nv], rows[2 * nv :]
    multipliers = jnp.concatenate([unknowns[1], reached.multipliers[None]])
    C = jnp.zeros((2 * nv, 0), rows.dtype)
    if multipliers.size:
        C = jax.jacfwd(lambda given: _given(problem, unknowns[0], given, reached.q))(multipliers).reshape(2 * nv, -1)
    return Linearisation(
        both[:, : 2 * nv], both[:, 2 * nv :], C, by_multipliers[:, : 2 * nv], by_multipliers[:, 2 * nv :]
    )


def _given(problem: StepProblem, z: Array, multipliers: Array, reached: Array) -> Array:
    """The end of the step under given multipliers at all control points, at the solution z for their present values."""
    model, weight = problem.model, problem.h * float(problem.rule.weights[-1])
    z, _ = implicit_root(_free_rows, lambda theta: (theta[2], None), _free_inverses, (problem, multipliers[:-1], z))
    q = retract(model, problem.q0, z[-1])
    p = end_momentum(problem, evaluate(problem, z, multipliers[:-1]), z)
    force = multipliers[-1] @ constraint_jacobian(model, problem.constraints, q)[0]
    return jnp.concatenate([difference(model, reached, q), p + weight * force])


def _known(theta: tuple[StepProblem, Unknowns]):
    return theta[1], None


def _equations(unknowns: Unknowns, theta: tuple[StepProblem, Unknowns]) -> Unknowns:
    return equations(unknowns, theta[0])


def _inverses(unknowns: Unknowns, theta: tuple[StepProblem, Unknowns]):
    return inverses(unknowns, theta[0])


def _free_rows(z: Array, theta: tuple[StepProblem, Array, Array]) -> Array:
    problem, multipliers, _ = theta
    return residual(problem, evaluate(problem, z, multipliers), z)


def _free_inverses(z: Array, theta: tuple[StepProblem, Array, Array]):
    problem, multipliers, _ = theta
    free = bordered.factorise_free(problem, evaluate(problem, z, multipliers), z, multipliers)
    return free.solve, lambda c: jax.linear_transpose(free.solve, z)(c)[0]
