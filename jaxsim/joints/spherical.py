"""Spherical joint: every rotation, by unit quaternion."""

from __future__ import annotations

import jax

from ..spatial import Motion, Pose, Quaternion, Scalar, Vec3, so3
from .base import AbstractJoint, Components
from .basis import angular_basis, constant_subspace


class Spherical(AbstractJoint):
    """Rotation by the quaternion q (wxyz); v is the angular velocity in the child frame, and q ⊕ dv = q ⊗ exp(dv).

    q need not be exactly of unit length: only its direction matters.
    """

    @property
    def nq(self) -> int:
        return 4

    @property
    def nv(self) -> int:
        return 3

    @property
    def is_euclidean(self) -> bool:
        return False

    def transform(self, q: Components) -> Pose:
        return Pose(Quaternion(*q).to_matrix(), Vec3.zero())

    def subspace(self, q: Components) -> tuple[Motion, ...]:
        return angular_basis()

    def subspace_derivative(self, q: Components) -> tuple[tuple[Motion, ...], ...]:
        return constant_subspace(3)

    def integrate(self, q: Components, dv: Components) -> tuple[Scalar, ...]:
        return components(Quaternion(*q).normalised() * so3.exp_quaternion(Vec3(*dv)))

    def difference(self, q0: Components, q1: Components) -> tuple[Scalar, ...]:
        w = so3.log_quaternion(Quaternion(*q0).conjugate() * Quaternion(*q1))
        return w.x, w.y, w.z

    def neutral(self) -> tuple[Scalar, ...]:
        return 1.0, 0.0, 0.0, 0.0

    def random(self, key: jax.Array) -> tuple[Scalar, ...]:
        return components(random_rotation(key))


def components(q: Quaternion) -> tuple[Scalar, ...]:
    """The four coordinates wxyz."""
    return q.w, q.x, q.y, q.z


def random_rotation(key: jax.Array) -> Quaternion:
    """A rotation drawn uniformly from SO(3): the direction of a normal vector is uniform on the 3-sphere."""
    return Quaternion.from_array(jax.random.normal(key, (4,))).normalised()
