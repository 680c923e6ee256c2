"""Accelerations of models whose joints mimic others: the reduced mass matrix is formed and solved (Sueda, eq. 2.90).

The articulated-body recursion eliminates one joint at a time and cannot know that a joint elsewhere follows it.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import Model
from .crba import mass_matrix
from .kinematics import body_velocities
from .rnea import inverse_dynamics


def coupled_forward_dynamics(model: Model, q, v, tau, f_ext=None) -> Float[Array, " nv"]:
    """a = (Gᵀ M G)⁻¹ (τ − ID(q, v, 0)), with springs, dampers and external forces in ID."""
    return _solve(mass_matrix(model, q), tau - inverse_dynamics(model, q, v, jnp.zeros_like(v), f_ext))


def coupled_hybrid_dynamics(model: Model, q, v, tau, a, prescribed, f_ext=None) -> tuple[Array, Array]:
    """(τ, a) where each degree of freedom gives one of them: known columns of M a move to the right-hand side."""
    M = mass_matrix(model, q)
    known = jnp.where(prescribed, a, 0)
    missing = tau - inverse_dynamics(model, q, v, known, f_ext)
    pinned = prescribed[:, None] | prescribed[None, :]
    free = jnp.where(pinned, jnp.eye(model.nv, dtype=M.dtype), M)
    acceleration = known + _solve(free, jnp.where(prescribed, 0, missing))
    return jnp.where(prescribed, inverse_dynamics(model, q, v, acceleration, f_ext), tau), acceleration


def coupled_inverse_mass_product(model: Model, q, x, body_matrix=None, joint_matrix=None) -> Float[Array, " nv"]:
    """(Gᵀ M G + Jᵀ blkdiag(P_m) J + diag(P_r))⁻¹ x, where J are the body twists of the reduced coordinates."""
    matrix = mass_matrix(model, q)
    if joint_matrix is not None:
        matrix = matrix + jnp.diag(joint_matrix)
    if body_matrix is None:
        return _solve(matrix, x)
    J = jax.vmap(lambda column: body_velocities(model, q, column))(jnp.eye(model.nv, dtype=matrix.dtype))
    return jnp.linalg.solve(matrix + jnp.einsum("iba,bac,jbc->ij", J, body_matrix, J), x)


def _solve(M: Array, b: Array) -> Array:
    """M⁻¹ b for a symmetric positive-definite M."""
    return jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(M), b)
