"""Accelerations and velocities under equations between coordinates, by KKT or by the dual in linear time a row."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics import forward_dynamics, inverse_mass_product, mass_matrix
from ..forces.applied import Forces, applied_forces
from ..model import Model, integrate
from .constraints import Equations, rates, rows, values

METHODS = "dual", "kkt"


def constrained_dynamics(
    model: Model,
    equations: Equations,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    tau: Float[Array, " nv"],
    forces: Forces = (),
    alpha: float = 0.0,
    beta: float = 0.0,
    method: str = "dual",
) -> tuple[Float[Array, " nv"], Float[Array, " m"]]:
    """The acceleration that keeps g(q) = 0, and the multipliers λ with M a = f + Gᵀλ (Sueda, eqs. 2.105 and 2.130).

    G a = −Ġ v − 2α G v − β² g, with Baumgarte's stabilisation for α, β > 0 (eq. 1.97).

    Args:
        model: the model.
        equations: what must hold.
        q: the configuration.
        v: the velocity.
        tau: the joint forces.
        forces: what else acts.
        alpha: α, in 1/s.
        beta: β, in 1/s.
        method: "dual" for (G M⁻¹Gᵀ) λ with one product M⁻¹x in linear time for each row, "kkt" for the whole matrix.
    """
    wrench, force = applied_forces(model, forces, q, v)
    free = forward_dynamics(model, q, v, tau + force, wrench)
    speed, drift = rates(model, equations, q, v)
    wanted = -drift - 2.0 * alpha * speed - beta**2 * values(model, equations, q)
    change, multipliers = nearest(model, rows(model, equations, q), q, wanted, free, method)
    return free + change, multipliers


def constrained_velocity(
    model: Model, equations: Equations, q: Float[Array, " nq"], v: Float[Array, " nv"], gamma=0.0, method: str = "dual"
) -> tuple[Float[Array, " nv"], Float[Array, " m"]]:
    """The velocity nearest to v in kinetic energy with G v = −γ g, and the impulses (Sueda, eqs. 2.106 and 1.97)."""
    wanted = -gamma * values(model, equations, q)
    change, impulses = nearest(model, rows(model, equations, q), q, wanted, v, method)
    return v + change, impulses


def post_stabilised(
    model: Model, equations: Equations, q: Float[Array, " nq"], iterations: int = 2
) -> Float[Array, " nq"]:
    """q moved back onto g(q) = 0 along M⁻¹Gᵀ (Cline and Pai 2003), by Gauss and Newton."""
    for _ in range(iterations):
        step, _ = constrained_velocity(model, equations, q, jnp.zeros(model.nv, q.dtype), 1.0)
        q = integrate(model, q, step)
    return q


def nearest(
    model: Model, G: Float[Array, "m nv"], q: Array, wanted: Float[Array, " m"], x: Array, method: str = "dual"
) -> tuple[Array, Array]:
    """The smallest change d in the metric of M with G (x + d) = wanted, and λ with M d = Gᵀλ."""
    if method not in METHODS:
        raise ValueError(f"There is no method {method!r}; use one of {', '.join(map(repr, METHODS))}.")
    missing = wanted - G @ x
    if method == "kkt":
        M, m = mass_matrix(model, q), G.shape[0]
        matrix = jnp.block([[M, -G.T], [G, jnp.zeros((m, m), M.dtype)]])
        solution = jnp.linalg.solve(matrix, jnp.concatenate([jnp.zeros_like(x), missing]))
        return solution[: model.nv], solution[model.nv :]
    W = inverse_mass_rows(model, q, G)
    multipliers = jnp.linalg.solve(G @ W.T, missing)
    return W.T @ multipliers, multipliers


def inverse_mass_rows(model: Model, q: Array, G: Float[Array, "m nv"]) -> Float[Array, "m nv"]:
    """M⁻¹ applied to every row of G, each in linear time."""
    return jax.vmap(lambda row: inverse_mass_product(model, q, row))(G)
