"""The Newton matrix of a stage as a matrix, for any forces and couplings."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics import inverse_dynamics_derivatives, jacobian_transpose_product
from ..forces.applied import applied_forces
from .stage import Stage, increment_columns, is_flat

Factors = tuple[Array, Array]


def newton_matrix(stage: Stage, psi: Float[Array, " nv"]) -> Float[Array, "nv nv"]:
    """H = ∂_q ID J_r + ∂_v ID/c + M/c² − Jᵀ ∂f_m/∂ψ − ∂f_r/∂ψ, the derivative of ``residual`` along ψ.

    The wrenches f_m turn with their bodies in the first term; what is left of their change is in the fourth.
    """
    model = stage.model
    q, v, a = stage.motion(psi)
    wrench, _ = applied_forces(model, stage.forces, q, v)
    d = inverse_dynamics_derivatives(model, q, v, a, wrench)
    basis = jnp.eye(model.nv, dtype=psi.dtype)
    dq = d.dq if is_flat(model) else d.dq @ increment_columns(stage, psi, basis).T
    H = dq + d.dv / stage.c + d.da / stage.c**2
    if not stage.forces:
        return H

    def forces(psi):
        q, v, _ = stage.motion(psi)
        return applied_forces(model, stage.forces, q, v)

    by_wrench, by_force = jax.jacfwd(forces)(psi)
    H = H - by_force
    if wrench is None:
        return H
    columns = jnp.moveaxis(by_wrench, -1, 0)
    return H - jax.vmap(lambda y: jacobian_transpose_product(model, q, y))(columns).T


def factorise(stage: Stage, psi: Float[Array, " nv"]) -> Factors:
    """The LU factors of the Newton matrix."""
    return jax.scipy.linalg.lu_factor(newton_matrix(stage, psi))


def solve(factors: Factors, b: Float[Array, " nv"], transposed: bool = False) -> Float[Array, " nv"]:
    """H⁻¹ b or H⁻ᵀ b."""
    return jax.scipy.linalg.lu_solve(factors, b, trans=1 if transposed else 0)
