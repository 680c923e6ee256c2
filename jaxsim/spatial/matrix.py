"""Three-by-three matrices as pytrees of scalars: general and symmetric."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp

from .vector import Scalar, Vec3, add, component, multiply, negate, stack_last, subtract


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Mat3:
    """A 3×3 matrix; the component ``xy`` stands in row x and column y."""

    xx: Scalar
    xy: Scalar
    xz: Scalar
    yx: Scalar
    yy: Scalar
    yz: Scalar
    zx: Scalar
    zy: Scalar
    zz: Scalar

    @staticmethod
    def from_array(array) -> Mat3:
        """The matrix whose entries are ``array[..., 0:3, 0:3]``."""
        return Mat3(*(component(component(array, j), i) for i in range(3) for j in range(3)))

    @staticmethod
    def from_columns(a: Vec3, b: Vec3, c: Vec3) -> Mat3:
        """[a b c]."""
        return Mat3(a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z)

    @staticmethod
    def identity() -> Mat3:
        """The identity 𝟙."""
        return Mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)

    @staticmethod
    def zero() -> Mat3:
        """The matrix 0."""
        return Mat3(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    @staticmethod
    def skew(a: Vec3) -> Mat3:
        """The matrix [a]× with [a]× b = a×b."""
        return Mat3(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)

    @staticmethod
    def outer(a: Vec3, b: Vec3) -> Mat3:
        """a bᵀ."""
        return Mat3.from_columns(a * b.x, a * b.y, a * b.z)

    def to_array(self) -> jax.Array:
        """The entries as an array of shape (..., 3, 3)."""
        flat = stack_last(self.xx, self.xy, self.xz, self.yx, self.yy, self.yz, self.zx, self.zy, self.zz)
        return jnp.reshape(flat, (*flat.shape[:-1], 3, 3))

    @property
    def T(self) -> Mat3:
        """The transpose."""
        return Mat3(self.xx, self.yx, self.zx, self.xy, self.yy, self.zy, self.xz, self.yz, self.zz)

    def columns(self) -> tuple[Vec3, Vec3, Vec3]:
        """The three columns."""
        return Vec3(self.xx, self.yx, self.zx), Vec3(self.xy, self.yy, self.zy), Vec3(self.xz, self.yz, self.zz)

    def rows(self) -> tuple[Vec3, Vec3, Vec3]:
        """The three rows."""
        return self.T.columns()

    def __add__(self, other: Mat3) -> Mat3:
        return jax.tree.map(add, self, other)

    def __sub__(self, other: Mat3) -> Mat3:
        return jax.tree.map(subtract, self, other)

    def __neg__(self) -> Mat3:
        return jax.tree.map(negate, self)

    def __mul__(self, scale: Scalar) -> Mat3:
        return jax.tree.map(lambda entry: multiply(entry, scale), self)

    __rmul__ = __mul__

    def apply(self, a: Vec3) -> Vec3:
        """A a."""
        row_x, row_y, row_z = self.rows()
        return Vec3(row_x.dot(a), row_y.dot(a), row_z.dot(a))

    def apply_transposed(self, a: Vec3) -> Vec3:
        """Aᵀ a."""
        column_x, column_y, column_z = self.columns()
        return Vec3(column_x.dot(a), column_y.dot(a), column_z.dot(a))

    def matmul(self, other: Mat3) -> Mat3:
        """A B."""
        return Mat3.from_columns(*(self.apply(column) for column in other.columns()))

    def determinant(self) -> Scalar:
        """det A."""
        a, b, c = self.columns()
        return a.dot(b.cross(c))

    def inverse(self) -> Mat3:
        """A⁻¹ by cofactors."""
        a, b, c = self.columns()
        scale = 1.0 / a.dot(b.cross(c))
        return Mat3.from_columns(b.cross(c), c.cross(a), a.cross(b)).T * scale


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Sym3:
    """A symmetric 3×3 matrix of six components."""

    xx: Scalar
    yy: Scalar
    zz: Scalar
    xy: Scalar
    xz: Scalar
    yz: Scalar

    @staticmethod
    def from_array(array) -> Sym3:
        """The symmetric part of ``array[..., 0:3, 0:3]``."""
        m = Mat3.from_array(array)
        return Sym3(m.xx, m.yy, m.zz, 0.5 * (m.xy + m.yx), 0.5 * (m.xz + m.zx), 0.5 * (m.yz + m.zy))

    @staticmethod
    def upper(matrix: Mat3) -> Sym3:
        """The symmetric matrix with the upper triangle of ``matrix``."""
        return Sym3(matrix.xx, matrix.yy, matrix.zz, matrix.xy, matrix.xz, matrix.yz)

    @staticmethod
    def zero() -> Sym3:
        """The matrix 0."""
        return Sym3(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    @staticmethod
    def diagonal(entry: Scalar) -> Sym3:
        """entry · 𝟙."""
        return Sym3(entry, entry, entry, 0.0, 0.0, 0.0)

    @staticmethod
    def outer(a: Vec3) -> Sym3:
        """a aᵀ."""
        return Sym3.outer_symmetric(a, a)

    @staticmethod
    def outer_symmetric(a: Vec3, b: Vec3) -> Sym3:
        """a bᵀ where the product is known to be symmetric (b ∥ a)."""
        return Sym3(
            multiply(a.x, b.x),
            multiply(a.y, b.y),
            multiply(a.z, b.z),
            multiply(a.x, b.y),
            multiply(a.x, b.z),
            multiply(a.y, b.z),
        )

    @staticmethod
    def cross_cross(a: Vec3, b: Vec3) -> Sym3:
        """The symmetric part of −[a]×[b]×, which is (a·b)𝟙 − ½(abᵀ + baᵀ)."""
        xx, yy, zz = multiply(a.x, b.x), multiply(a.y, b.y), multiply(a.z, b.z)
        return Sym3(
            add(yy, zz),
            add(xx, zz),
            add(xx, yy),
            multiply(-0.5, add(multiply(a.x, b.y), multiply(a.y, b.x))),
            multiply(-0.5, add(multiply(a.x, b.z), multiply(a.z, b.x))),
            multiply(-0.5, add(multiply(a.y, b.z), multiply(a.z, b.y))),
        )

    @staticmethod
    def congruence(rotation: Mat3, inner: Sym3) -> Sym3:
        """R A Rᵀ."""
        x, y, z = rotation.rows()
        ax, ay, az = inner.apply(x), inner.apply(y), inner.apply(z)
        return Sym3(x.dot(ax), y.dot(ay), z.dot(az), x.dot(ay), x.dot(az), y.dot(az))

    def to_array(self) -> jax.Array:
        """The entries as an array of shape (..., 3, 3)."""
        return self.to_matrix().to_array()

    def to_matrix(self) -> Mat3:
        """The same matrix with all nine components."""
        return Mat3(self.xx, self.xy, self.xz, self.xy, self.yy, self.yz, self.xz, self.yz, self.zz)

    def __add__(self, other: Sym3) -> Sym3:
        return jax.tree.map(add, self, other)

    def __sub__(self, other: Sym3) -> Sym3:
        return jax.tree.map(subtract, self, other)

    def __mul__(self, scale: Scalar) -> Sym3:
        return jax.tree.map(lambda entry: multiply(entry, scale), self)

    __rmul__ = __mul__

    def apply(self, a: Vec3) -> Vec3:
        """A a."""
        return self.to_matrix().apply(a)
