"""Quaternions as pytrees of four scalars: wxyz, Hamilton's product, child→parent rotations."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp

from .matrix import Mat3
from .vector import Scalar, Vec3, component, stack_last


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Quaternion:
    """The quaternion w + xi + yj + zk; as a rotation by the angle θ about a: (cos θ/2, a sin θ/2).

    q and −q, and every other non-zero multiple of q, stand for the same rotation: ``to_matrix`` and ``rotate`` divide
    by |q|², so nothing goes wrong when a quaternion is not exactly of unit length.
    """

    w: Scalar
    x: Scalar
    y: Scalar
    z: Scalar

    @staticmethod
    def from_array(array) -> Quaternion:
        """The quaternion whose components are ``array[..., 0:4]``."""
        return Quaternion(*(component(array, i) for i in range(4)))

    @staticmethod
    def from_parts(w: Scalar, u: Vec3) -> Quaternion:
        """w + u, a scalar and a vector part."""
        return Quaternion(w, u.x, u.y, u.z)

    @staticmethod
    def identity() -> Quaternion:
        """The rotation by zero."""
        return Quaternion(1.0, 0.0, 0.0, 0.0)

    @staticmethod
    def from_matrix(R: Mat3) -> Quaternion:
        """The unit quaternion with w ≥ 0 of a rotation matrix, smooth at every angle below π and safe at π.

        4 q qᵀ is linear in R; its column with the largest diagonal entry (never below 1) is a multiple of q
        (Shepperd 1978).
        """
        ww = 1.0 + R.xx + R.yy + R.zz
        xx = 1.0 + R.xx - R.yy - R.zz
        yy = 1.0 - R.xx + R.yy - R.zz
        zz = 1.0 - R.xx - R.yy + R.zz
        wx, wy, wz = R.zy - R.yz, R.xz - R.zx, R.yx - R.xy
        xy, xz, yz = R.xy + R.yx, R.xz + R.zx, R.yz + R.zy
        use_x, use_y, use_z = xx > ww, yy > jnp.maximum(ww, xx), zz > jnp.maximum(jnp.maximum(ww, xx), yy)

        def pick(w, x, y, z):
            return jnp.where(use_z, z, jnp.where(use_y, y, jnp.where(use_x, x, w)))

        column = Quaternion(pick(ww, wx, wy, wz), pick(wx, xx, xy, xz), pick(wy, xy, yy, yz), pick(wz, xz, yz, zz))
        return column.normalised().canonical()

    @property
    def vector(self) -> Vec3:
        """The vector part (x, y, z)."""
        return Vec3(self.x, self.y, self.z)

    def to_array(self) -> jax.Array:
        """The components wxyz along a new last axis."""
        return stack_last(self.w, self.x, self.y, self.z)

    def __neg__(self) -> Quaternion:
        return Quaternion(-self.w, -self.x, -self.y, -self.z)

    def __mul__(self, other: Quaternion) -> Quaternion:
        """Hamilton's product: rotate by ``other`` first, then by ``self``."""
        a, b = self.vector, other.vector
        return Quaternion.from_parts(self.w * other.w - a.dot(b), b * self.w + a * other.w + a.cross(b))

    def conjugate(self) -> Quaternion:
        """w − xi − yj − zk, the inverse of a unit quaternion."""
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    def norm_squared(self) -> Scalar:
        """|q|²."""
        return self.w * self.w + self.vector.norm_squared()

    def normalised(self) -> Quaternion:
        """q/|q|, and the identity for q = 0."""
        squared = self.norm_squared()
        valid = jnp.asarray(squared > 0.0)
        scale = jax.lax.rsqrt(jnp.where(valid, squared, 1.0))
        return Quaternion.from_parts(jnp.where(valid, self.w * scale, 1.0), self.vector * scale)

    def canonical(self) -> Quaternion:
        """The one of q and −q with w ≥ 0."""
        sign = jnp.where(jnp.asarray(self.w) < 0.0, -1.0, 1.0)
        return Quaternion(self.w * sign, self.x * sign, self.y * sign, self.z * sign)

    def to_matrix(self) -> Mat3:
        """The rotation matrix R = 𝟙 + 2 (w[u]× + [u]×²)/|q|², and the identity for q = 0."""
        w, x, y, z = self.w, self.x, self.y, self.z
        s = self._double_inverse_square()
        return Mat3(
            1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y),
            s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x),
            s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y),
        )  # fmt: skip

    def rotate(self, a: Vec3) -> Vec3:
        """R a = a + 2 (w u×a + u×(u×a))/|q|²."""
        turned = self.vector.cross(a)
        return a + (turned * self.w + self.vector.cross(turned)) * self._double_inverse_square()

    def _double_inverse_square(self) -> Scalar:
        squared = self.norm_squared()
        return 2.0 / jnp.where(jnp.asarray(squared > 0.0), squared, 1.0)
