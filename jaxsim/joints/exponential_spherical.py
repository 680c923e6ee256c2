"""Spherical joint by exponential coordinates: the rotation vector."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from ..spatial import Motion, Pose, Scalar, Vec3, so3, stumpff
from .base import Components
from .basis import unit_vectors
from .euclidean import AbstractEuclideanJoint, uniform


class ExponentialSpherical(AbstractEuclideanJoint):
    """R = exp[q]× with q in ℝ³ (Sueda, §2.5.8); regular everywhere inside |q| < 2π, q = 0 included.

    On |q| = 2π the subspace is singular; ``reparametrise`` moves q away from there.
    """

    @property
    def nv(self) -> int:
        return 3

    def transform(self, q: Components) -> Pose:
        return Pose(so3.exp(Vec3(*q)), Vec3.zero())

    def subspace(self, q: Components) -> tuple[Motion, ...]:
        """S = 𝟙 − c₂[q]× + c₃[q]×², which eqs. 2.48–2.49 amount to without dividing by |q|."""
        return _angular(so3.right_jacobian(Vec3(*q)).columns())

    def subspace_derivative(self, q: Components) -> tuple[tuple[Motion, ...], ...]:
        """∂S/∂q_k = q_k((c₃ − 2c₄)[q]× + (3c₅ − c₄)[q]×²) − c₂[e_k]× + c₃([e_k]×[q]× + [q]×[e_k]×).

        The same as eqs. 3.34–3.38, regular at q = 0, where Ṡ = −½[q̇]×.
        """
        a = Vec3(*q)
        *_, c2, c3, c4, c5 = stumpff(5, a.norm_squared())
        b, c = c3 - 2.0 * c4, 3.0 * c5 - c4

        def derivative(e_j: Vec3, e_k: Vec3) -> Vec3:
            a_j, a_k = a.cross(e_j), a.dot(e_k)
            turned = e_k.cross(a_j) + a.cross(e_k.cross(e_j))
            return (a_j * b + a.cross(a_j) * c) * a_k - e_k.cross(e_j) * c2 + turned * c3

        return tuple(_angular(derivative(e_j, e_k) for e_k in unit_vectors()) for e_j in unit_vectors())

    def reparametrise(self, q: Components, v: Components, limit: float = 1.5 * math.pi):
        """(q, v) with q → (1 − 2πn/|q|) q for the n that gives |q| ≤ π, if |q| exceeds ``limit``; R is the same.

        The new velocity is q̇' = S(q')⁻¹ S(q) q̇, so that the angular velocity is the same too. A limit well above π
        keeps a joint that swings about |q| = π from changing back and forth.
        """
        a = Vec3(*q)
        square = a.norm_squared()
        exceeds = jnp.asarray(square > limit * limit)
        theta = jnp.sqrt(jnp.where(exceeds, square, 1.0))
        turns = jnp.where(exceeds, jax.lax.round(jax.lax.stop_gradient(theta) / (2.0 * math.pi)), 0.0)
        b = a * (1.0 - 2.0 * math.pi * turns / theta)
        w = so3.right_jacobian_inverse(b).apply(so3.right_jacobian(a).apply(Vec3(*v)))
        new_v = tuple(jnp.where(exceeds, new, old) for new, old in zip((w.x, w.y, w.z), v, strict=True))
        return (b.x, b.y, b.z), new_v

    def neutral(self) -> tuple[Scalar, ...]:
        return 0.0, 0.0, 0.0

    def random(self, key: jax.Array) -> tuple[Scalar, ...]:
        """|q| < 2.6, well inside the sphere of radius 2π."""
        return uniform(key, 3, 1.5)


def _angular(columns) -> tuple[Motion, ...]:
    """Motions that only turn."""
    return tuple(Motion(column, Vec3.zero()) for column in columns)
