"""The momentum at the end of a constrained step."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics import inverse_mass_product
from ..model import Model
from ..solvers.implicit import implicit_root
from .bordered import pseudoinverse
from .constrained_rows import constraint_jacobian
from .constraints.constraint_set import ConstraintSet

_Theta = tuple[Model, ConstraintSet, Array, Array, Array]


def project(
    model: Model, constraints: ConstraintSet, q: Float[Array, " nq"], p: Float[Array, " nv"], weight: Float[Array, ""]
) -> tuple[Float[Array, " nv"], Float[Array, " m"], Array]:
    """p + w Cᵀλ with C M⁻¹(p + w Cᵀλ) + c = 0: the momentum whose velocity the constraints allow, λ, and the rank of C.

    The step that follows does not notice, since it starts with multipliers of its own at the same configuration; but
    only this momentum has the order of the method.
    """
    (multipliers,), rank = implicit_root(_residual, _solve, _linearise, (model, constraints, q, p, weight))
    C, _ = constraint_jacobian(model, constraints, q)
    return p + weight * multipliers @ C, multipliers, rank


def _residual(unknowns: tuple[Array], theta: _Theta) -> Array:
    model, constraints, q, p, weight = theta
    C, c = constraint_jacobian(model, constraints, q)
    return C @ inverse_mass_product(model, q, p + weight * unknowns[0] @ C) + c


def _inverse(theta: _Theta) -> tuple[Array, Array]:
    model, constraints, q, _, weight = theta
    C, _ = constraint_jacobian(model, constraints, q)
    return pseudoinverse(weight * C @ jax.vmap(lambda row: inverse_mass_product(model, q, row))(C).T)


def _solve(theta: _Theta) -> tuple[tuple[Array], Array]:
    model, constraints, *_ = theta
    inverse, rank = _inverse(theta)
    none = (jnp.zeros(constraints.size(model), inverse.dtype),)
    return (-inverse @ _residual(none, theta),), rank


def _linearise(unknowns: tuple[Array], theta: _Theta):
    inverse, _ = _inverse(theta)
    return lambda b: (inverse @ b,), lambda c: inverse.T @ c[0]
