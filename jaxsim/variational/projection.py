"""The momentum at the end of a constrained step."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics import inverse_mass_product
from ..model import Model
from ..solvers.implicit import implicit_root
from .bordered import pseudoinverse


class Projected(NamedTuple):
    """The momentum and the velocity that the constraints allow, the multipliers that lead there, and the rank of C."""

    p: Array
    v: Array
    multipliers: Array
    rank: Array


def project(
    model: Model,
    q: Float[Array, " nq"],
    p: Float[Array, " nv"],
    C: Float[Array, "m nv"],
    c: Float[Array, " m"],
    weight: Float[Array, ""],
) -> Projected:
    """p + w Cᵀλ such that C v + c = 0 for v = M⁻¹(p + w Cᵀλ).

    The step that follows does not notice, since it starts with multipliers of its own at the same configuration; but
    only this momentum has the order of the method.
    """
    by_mass = jax.vmap(lambda row: inverse_mass_product(model, q, row))(jnp.concatenate([C, p[None]]))
    columns, v = by_mass[:-1], by_mass[-1]
    multipliers, rank = implicit_root(_residual, _solve, _linearise, (weight * C @ columns.T, C @ v + c))
    return Projected(p + weight * multipliers @ C, v + weight * multipliers @ columns, multipliers, rank)


def _residual(multipliers: Array, theta: tuple[Array, Array]) -> Array:
    matrix, rate = theta
    return matrix @ multipliers + rate


def _solve(theta: tuple[Array, Array]) -> tuple[Array, Array]:
    matrix, rate = theta
    inverse, rank = pseudoinverse(matrix)
    return -inverse @ rate, rank


def _linearise(multipliers: Array, theta: tuple[Array, Array]):
    inverse, _ = pseudoinverse(theta[0])
    return lambda b: inverse @ b, lambda c: inverse.T @ c
