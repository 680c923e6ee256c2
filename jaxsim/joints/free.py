"""Free joint: every rigid motion, by position and unit quaternion."""

from __future__ import annotations

import jax

from ..spatial import Motion, Pose, Quaternion, Scalar, Vec3, se3, so3
from .base import AbstractJoint, Components
from .basis import angular_basis, constant_subspace, linear_basis
from .euclidean import uniform
from .spherical import components, random_rotation


class Free(AbstractJoint):
    """q = (position xyz, quaternion wxyz), v = twist (ω, v) in the child frame, and q ⊕ dv = T(q) exp(dv) on SE(3)."""

    @property
    def nq(self) -> int:
        return 7

    @property
    def nv(self) -> int:
        return 6

    @property
    def is_euclidean(self) -> bool:
        return False

    def transform(self, q: Components) -> Pose:
        return Pose(Quaternion(*q[3:]).to_matrix(), Vec3(*q[:3]))

    def subspace(self, q: Components) -> tuple[Motion, ...]:
        return angular_basis() + linear_basis()

    def subspace_derivative(self, q: Components) -> tuple[tuple[Motion, ...], ...]:
        return constant_subspace(6)

    def integrate(self, q: Components, dv: Components) -> tuple[Scalar, ...]:
        rotation, w = Quaternion(*q[3:]).normalised(), Vec3(*dv[:3])
        p = Vec3(*q[:3]) + rotation.rotate(so3.left_jacobian(w).apply(Vec3(*dv[3:])))
        return p.x, p.y, p.z, *components(rotation * so3.exp_quaternion(w))

    def difference(self, q0: Components, q1: Components) -> tuple[Scalar, ...]:
        m = se3.log_between(Quaternion(*q0[3:]), Vec3(*q0[:3]), Quaternion(*q1[3:]), Vec3(*q1[:3]))
        return m.angular.x, m.angular.y, m.angular.z, m.linear.x, m.linear.y, m.linear.z

    def neutral(self) -> tuple[Scalar, ...]:
        return 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0

    def random(self, key: jax.Array) -> tuple[Scalar, ...]:
        where, how = jax.random.split(key)
        return uniform(where, 3, 1.0) + components(random_rotation(how))
