"""The Jacobians of joints with respect to their two bodies."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from ..spatial import Mat3, Vec3
from .blocks import PairOf, block_jacobian, rotation, skew
from .joint import Joints, joint_constraints, relative_frame
from .state import BodyPose


def drift_jacobian(v: jax.Array, dt) -> jax.Array:
    """∂z₂/∂(Δt v) (n,6,6): 𝟙√(1 − |h|²) + hhᵀ/√(1 − |h|²) − [h]× for rotation, with h = Δt ω/2, and 𝟙."""
    h = 0.5 * dt * v[:, :3]
    c = jnp.sqrt(1.0 - jnp.sum(h**2, axis=-1))[:, None, None]
    turn = c * jnp.eye(3, dtype=v.dtype) + h[:, :, None] * h[:, None, :] / c - skew(h)
    return jnp.broadcast_to(jnp.eye(6, dtype=v.dtype), (len(v), 6, 6)).at[:, :3, :3].set(turn)


def constraint_jacobian(joints: Joints, a: BodyPose, b: BodyPose) -> PairOf:
    """G = ∂g/∂(φ, x) (Brüdigam et al. 2023, (21), rotational columns halved), zero in padding rows."""
    G_a, G_b = _full_jacobian(joints, a, b)
    if any(kind.is_helical or kind.is_universal for kind in joints.kinds):
        is_special = np.array([kind.is_helical or kind.is_universal for kind in joints.kinds])[:, None]
        zero = jnp.zeros_like(joints.rest)
        S_a = block_jacobian(lambda x: joint_constraints(joints, a.displaced(x), b)[:, 2:3], zero)[:, 0]
        S_b = block_jacobian(lambda x: joint_constraints(joints, a, b.displaced(x))[:, 2:3], zero)[:, 0]
        G_a = G_a.at[:, 2].set(jnp.where(is_special, S_a, G_a[:, 2]))
        G_b = G_b.at[:, 2].set(jnp.where(is_special, S_b, G_b[:, 2]))
    rows = joints.rows[:, :, None]
    return jnp.where(rows, G_a, 0.0), jnp.where(rows, G_b, 0.0)


def motion_jacobian(joints: Joints, a: BodyPose, b: BodyPose) -> PairOf:
    """J: relative angular velocity and rate of translation of frame B, in frame A, from body velocities.

    The second row of a universal joint is the rate about the y-axis of frame B.
    """
    J_a, J_b = _full_jacobian(joints, a, b)
    orientation, _ = relative_frame(joints, a, b)
    R_a, R_b = rotation(joints.frame_a), rotation(joints.frame_b)
    angular_a = -R_a.mT
    angular_b = jnp.einsum("nij,nkj->nik", orientation.to_matrix().to_array(), R_b)
    if any(kind.is_universal for kind in joints.kinds):
        is_universal = np.array([[kind.is_universal] for kind in joints.kinds])
        axis = orientation.rotate(Vec3(0.0, 1.0, 0.0)).to_array()
        angular_a, angular_b = (
            side.at[:, 1].set(jnp.where(is_universal, jnp.einsum("ni,nij->nj", axis, side), side[:, 1]))
            for side in (angular_a, angular_b)
        )
    return J_a.at[:, :3, :3].set(angular_a), J_b.at[:, :3, :3].set(angular_b)


def _full_jacobian(joints: Joints, a: BodyPose, b: BodyPose) -> PairOf:
    """∂(g_R, g_T) with respect to (φ, x) of bodies A and B; with quaternion (w, u) of frame B in frame A,

    ∂g_R = −(w𝟙 − [u]×)R_aᵀ φ_A + (w𝟙 + [u]×)R_bᵀ φ_B, and ∂g_T by differentiating g_T = R_aᵀQ_Aᵀ(x_B + … − x_A − …).
    """
    orientation, offset = relative_frame(joints, a, b)
    R_a, R_b = rotation(joints.frame_a), rotation(joints.frame_b)
    Q_a, Q_b = a.orientation.to_matrix().to_array(), b.orientation.to_matrix().to_array()
    to_a = jnp.einsum("nji,nkj->nik", R_a, Q_a)
    w = jnp.asarray(orientation.w)[:, None, None] * jnp.eye(3, dtype=R_a.dtype)
    u = Mat3.skew(orientation.vector).to_array()
    moved_a = jnp.einsum("nij,njk->nik", skew(offset.to_array()), R_a.mT) + jnp.einsum(
        "nji,njk->nik", R_a, skew(joints.anchor_a)
    )
    moved_b = -jnp.einsum("nij,njk,nkl->nil", to_a, Q_b, skew(joints.anchor_b))
    zero = jnp.zeros_like(R_a)
    turned_a, turned_b = -jnp.einsum("nij,nkj->nik", w - u, R_a), jnp.einsum("nij,nkj->nik", w + u, R_b)
    G_a = jnp.block([[turned_a, zero], [moved_a, -to_a]])
    G_b = jnp.block([[turned_b, zero], [moved_b, to_a]])
    return G_a, G_b
