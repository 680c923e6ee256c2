"""The discrete momenta of a rigid body and the Newton matrix of its equation of motion."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ..spatial import Mat3, Quaternion, Scalar, Sym3, Vec3


def start_momentum(mass, inertia, v, dt: Scalar) -> jax.Array:
    """The momentum (nb,6) with which an interval of velocity v begins, angular part in the body frame at its start.

    (Jω√(1 − |h|²) + h×Jω, m v) with h = Δt ω/2: half of (16) of Brüdigam et al. 2023, times Δt.
    """
    return _momentum(mass, inertia, v, dt, 1.0)


def end_momentum(mass, inertia, v, dt: Scalar) -> jax.Array:
    """The momentum (nb,6) with which an interval of velocity v ends, angular part in the body frame at its end."""
    return _momentum(mass, inertia, v, dt, -1.0)


def carried_momentum(mass, inertia, v, dt: Scalar, q0, q1) -> jax.Array:
    """``start_momentum`` at q0 (nb,7), angular part turned into the body frame at q1: what a free body still has there.

    Equal to ``end_momentum`` for bodies that travel from q0 to q1 with v; others change direction on the way.
    """
    momentum = start_momentum(mass, inertia, v, dt)
    turn = Quaternion.from_array(q1[:, 3:]).conjugate() * Quaternion.from_array(q0[:, 3:])
    return jnp.concatenate([turn.rotate(Vec3.from_array(momentum)).to_array(), momentum[:, 3:]], axis=-1)


def start_momentum_jacobian(mass, inertia, v, dt: Scalar) -> jax.Array:
    """∂ start_momentum/∂v (nb,6,6): cJ + [h]×J − ½Δt[Jω]× − (½Δt)² Jω ωᵀ/c with c = √(1 − |h|²), and m𝟙."""
    omega, J = Vec3.from_array(v), Sym3.from_array(inertia)
    h, L = omega * (0.5 * dt), J.apply(omega)
    c = jnp.sqrt(1.0 - h.norm_squared())
    Jm = J.to_matrix()
    angular = Jm * c + Mat3.skew(h).matmul(Jm) - (Mat3.skew(L) + Mat3.outer(L, h * (1.0 / c))) * (0.5 * dt)
    blocks = jnp.zeros((*v.shape[:-1], 6, 6), v.dtype).at[..., :3, :3].set(angular.to_array())
    return blocks.at[..., 3:, 3:].set(mass[..., None, None] * jnp.eye(3, dtype=v.dtype))


def _momentum(mass, inertia, v, dt, sign):
    omega = Vec3.from_array(v)
    h, L = omega * (0.5 * dt), Sym3.from_array(inertia).apply(omega)
    angular = L * jnp.sqrt(1.0 - h.norm_squared()) + h.cross(L) * sign
    return jnp.concatenate([angular.to_array(), mass[..., None] * v[..., 3:]], axis=-1)
