"""The Newton direction of a constrained step, through solves of the free tree (Fan et al. 2018, §3.3).

With J = ∂r/∂ξ for forces that stay as they are, E what forces at the points add to the rows, P = ∂f/∂λ and G the
derivative of the conditions, one step of Newton's method solves

    (J + E K Y) δz + E P δλ = b,    G δz = c,

where K = ∂f/∂y is how the forces turn with the points y, and Y = ∂y/∂z. Forces of one body's own motion are in J; the
rest has the rank of K, so J + E K Y is inverted by Woodbury's formula. With N = (J + E K Y)⁻¹ E P,

    δλ = (G N)⁺ (G (J + E K Y)⁻¹ b − c),    δz = (J + E K Y)⁻¹ b − N δλ:

one solve in linear time for each equation, and a matrix of the size of the multipliers. The pseudoinverse gives
redundant constraints the smallest multipliers that do the work.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from . import dense, newton_direction
from .constrained_rows import condition_rows, point_columns, pushed
from .nodes import Nodes, StepProblem, stacked

Pair = tuple[Array, Array]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Turning:
    """Woodbury's formula for J + E K Y: ``columns`` J⁻¹E K, ``rows`` Y and ``inverse`` (1 + Y J⁻¹ E K)⁻¹."""

    columns: Array
    rows: Array
    inverse: Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Free:
    """The step with given multipliers: the factors of J, and how the forces turn if they do."""

    factors: Any
    turning: Turning | None
    recursive: bool = dataclasses.field(metadata={"static": True})

    def solve(self, b: Float[Array, "s nv"]) -> Float[Array, "s nv"]:
        """(J + E K Y)⁻¹ b."""
        x = _method(self.recursive).solve(self.factors, b)
        if self.turning is None:
            return x
        moved = self.turning.inverse @ (self.turning.rows @ x.reshape(-1))
        return x - (self.turning.columns @ moved).reshape(x.shape)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Bordered:
    """The eliminated system: the step with given multipliers, N as ``columns``, G as ``rows`` and (G N)⁺."""

    free: Free
    columns: Array
    rows: Array
    inverse: Array


def factorise_free(problem: StepProblem, nodes: Nodes, z: Array, multipliers: Array, recursive: bool = True) -> Free:
    """Eliminate the joints."""
    factors = _method(recursive).factorise(problem, nodes, z)
    return Free(factors, _turning(problem, nodes, z, multipliers, Free(factors, None, recursive)), recursive)


def factorise(problem: StepProblem, nodes: Nodes, z: Array, multipliers: Array, recursive: bool = True) -> Bordered:
    """Eliminate the joints, then the constraints."""
    free = factorise_free(problem, nodes, z, multipliers, recursive)
    rows = condition_rows(problem, nodes, z).reshape(multipliers.size, z.size)
    columns = jax.vmap(free.solve)(force_rows(problem, nodes, z)).reshape(multipliers.size, z.size).T
    return Bordered(free, columns, rows, pseudoinverse(rows @ columns)[0])


def solve(factors: Bordered, b: Pair) -> Pair:
    """(δz, δλ) for the right-hand sides (b, c); linear, and JAX can transpose it."""
    rows, wanted = b
    x = factors.free.solve(rows)
    multipliers = factors.inverse @ (factors.rows @ x.reshape(-1) - wanted.reshape(-1))
    return x - (factors.columns @ multipliers).reshape(x.shape), multipliers.reshape(wanted.shape)


def force_rows(problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"]) -> Float[Array, "sm s nv"]:
    """E P: what each multiplier adds to the rows of the DEL equations."""
    model, constraints, s = problem.model, problem.constraints, problem.s
    m = constraints.size(model)

    def by_multiplier(unit: Array) -> Array:
        f = jax.vmap(lambda y, unit: constraints.force(model, y, unit))(stacked(nodes).y[:-1], unit)
        return pushed(problem, nodes, z, jnp.concatenate([f, jnp.zeros_like(f[:1])]))

    return jax.vmap(by_multiplier)(jnp.eye(s * m, dtype=z.dtype).reshape(s * m, s, m))


def pseudoinverse(A: Float[Array, "m m"]) -> tuple[Float[Array, "m m"], Array]:
    """A⁺ and the rank of A; singular values below ε^0.6 of the largest count as zero."""
    if A.shape[0] == 0:
        return A, jnp.zeros((), jnp.int32)
    U, sigma, Vt = jnp.linalg.svd(A)
    kept = sigma > jnp.finfo(A.dtype).eps ** 0.6 * sigma[0]
    inverse = jnp.where(kept, 1.0 / jnp.where(kept, sigma, 1.0), 0.0)
    # a comparison with NaN is false, but what is not a number must not become a zero
    inverse = jnp.where(jnp.isfinite(sigma[0]), inverse, jnp.nan)
    return (Vt.T * inverse) @ U.T, jnp.sum(kept)


def _method(recursive: bool) -> Any:
    return newton_direction if recursive else dense


def _turning(problem: StepProblem, nodes: Nodes, z: Array, multipliers: Array, free: Free) -> Turning | None:
    """How forces at the inner control points turn with the points; at the start of the step nothing moves."""
    model, constraints, s = problem.model, problem.constraints, problem.s
    if s == 1 or constraints.force_is_constant(model):
        return None
    y, k = stacked(nodes).y[1:-1], len(nodes[0].y)
    K = jax.vmap(jax.jacfwd(lambda y, l: constraints.force(model, y, l)))(y, multipliers[1:])

    def column(alpha: Array, by: Array) -> Array:
        f = jnp.zeros((s + 1, k, 3), z.dtype).at[alpha + 1].set(by)
        return free.solve(pushed(problem, nodes, z, f)).reshape(-1)

    along = jnp.moveaxis(K.reshape(s - 1, k, 3, 3 * k), 3, 1)
    columns = jax.vmap(lambda alpha, by: jax.vmap(lambda by: column(alpha, by))(by))(jnp.arange(s - 1), along)
    columns = columns.reshape(-1, z.size).T
    Y = point_columns(problem, nodes, z)[1:-1].reshape(s - 1, 3 * k, 1, -1)
    rows = (jnp.eye(s - 1, s, dtype=z.dtype)[:, None, :, None] * Y).reshape(-1, z.size)
    return Turning(columns, rows, jnp.linalg.inv(jnp.eye(len(rows), dtype=z.dtype) + rows @ columns))
