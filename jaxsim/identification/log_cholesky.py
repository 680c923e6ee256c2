"""Inertias as ten free numbers, every one of which a rigid body can have (Rucker and Wensing 2022).

The pseudo-inertia P = [[Σ, h], [hᵀ, m]] with Σ = ½ tr(J) 𝟙 − J, J the second moment about the body's origin and
h = m c, is positive definite exactly for the inertias of bodies of positive density (Wensing, Kim and Slotine 2018).
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float


def log_cholesky(mass: Float[Array, ""], com: Float[Array, " 3"], inertia: Float[Array, "3 3"]) -> Float[Array, " 10"]:
    """θ = (α, d₁, d₂, d₃, s₁₂, s₂₃, s₁₃, t₁, t₂, t₃) with P = U Uᵀ and

    U = e^α [[e^{d₁}, s₁₂, s₁₃, t₁], [0, e^{d₂}, s₂₃, t₂], [0, 0, e^{d₃}, t₃], [0, 0, 0, 1]] (Rucker and Wensing 2022).

    Args:
        mass: m.
        com: c, in the body frame.
        inertia: the rotational inertia about the centre of mass. Bodies without extent have no θ (infinite entries).
    """
    about_com = 0.5 * jnp.trace(inertia) * jnp.eye(3, dtype=inertia.dtype) - inertia
    # P = [[Σ_c + m c cᵀ, m c], [m cᵀ, m]], so that the last column of U is √m (c, 1) and the rest is the root of Σ_c
    root = jnp.flip(jnp.linalg.cholesky(jnp.flip(about_com))) / jnp.sqrt(mass)
    d = jnp.log(jnp.diagonal(root))
    off = jnp.stack([root[0, 1], root[1, 2], root[0, 2]])
    return jnp.concatenate([0.5 * jnp.log(mass)[None], d, off, com])


def inertias_from_log_cholesky(
    theta: Float[Array, " 10"],
) -> tuple[Float[Array, ""], Float[Array, " 3"], Float[Array, "3 3"]]:
    """Mass, centre of mass and rotational inertia about it; the inverse of ``log_cholesky``."""
    mass = jnp.exp(2.0 * theta[0])
    d, (s12, s23, s13), com = jnp.exp(theta[1:4]), theta[4:7], theta[7:]
    zero = jnp.zeros_like(s12)
    root = jnp.stack([jnp.stack([d[0], s12, s13]), jnp.stack([zero, d[1], s23]), jnp.stack([zero, zero, d[2]])])
    about_com = mass * root @ root.T
    return mass, com, jnp.trace(about_com) * jnp.eye(3, dtype=theta.dtype) - about_com
