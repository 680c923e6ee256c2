"""General 6×6 maps from motions to forces, in four 3×3 blocks."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp

from .inertia import Inertia
from .matrix import Mat3, Sym3
from .motion import Force, Motion
from .pose import Pose
from .vector import Scalar


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SpatialMatrix:
    """A matrix [[A, B], [C, D]] that need not be symmetric."""

    A: Mat3
    B: Mat3
    C: Mat3
    D: Mat3

    @staticmethod
    def from_array(array) -> SpatialMatrix:
        """The matrix with the entries ``array[..., 0:6, 0:6]``."""
        top, bottom = array[..., :3, :], array[..., 3:, :]
        return SpatialMatrix(
            Mat3.from_array(top[..., :3]),
            Mat3.from_array(top[..., 3:]),
            Mat3.from_array(bottom[..., :3]),
            Mat3.from_array(bottom[..., 3:]),
        )

    @staticmethod
    def from_inertia(inertia: Inertia) -> SpatialMatrix:
        """A rigid body's inertia as a general matrix."""
        skew = Mat3.skew(inertia.first_moment)
        mass = Sym3.diagonal(inertia.mass).to_matrix()
        return SpatialMatrix(inertia.second_moment.to_matrix(), skew, -skew, mass)

    @staticmethod
    def zero() -> SpatialMatrix:
        """The matrix 0."""
        nothing = Mat3.identity() * 0.0
        return SpatialMatrix(nothing, nothing, nothing, nothing)

    @staticmethod
    def outer(f: Force, g: Force) -> SpatialMatrix:
        """f gᵀ."""
        return SpatialMatrix(
            Mat3.outer(f.angular, g.angular),
            Mat3.outer(f.angular, g.linear),
            Mat3.outer(f.linear, g.angular),
            Mat3.outer(f.linear, g.linear),
        )

    def to_array(self) -> jax.Array:
        """The entries as an array of shape (..., 6, 6)."""
        top = jnp.concatenate(jnp.broadcast_arrays(self.A.to_array(), self.B.to_array()), axis=-1)
        bottom = jnp.concatenate(jnp.broadcast_arrays(self.C.to_array(), self.D.to_array()), axis=-1)
        return jnp.concatenate(jnp.broadcast_arrays(top, bottom), axis=-2)

    @property
    def T(self) -> SpatialMatrix:
        """The transpose."""
        return SpatialMatrix(self.A.T, self.C.T, self.B.T, self.D.T)

    def __add__(self, other: SpatialMatrix) -> SpatialMatrix:
        return SpatialMatrix(self.A + other.A, self.B + other.B, self.C + other.C, self.D + other.D)

    def __sub__(self, other: SpatialMatrix) -> SpatialMatrix:
        return SpatialMatrix(self.A - other.A, self.B - other.B, self.C - other.C, self.D - other.D)

    def __mul__(self, scale: Scalar) -> SpatialMatrix:
        return SpatialMatrix(self.A * scale, self.B * scale, self.C * scale, self.D * scale)

    def apply(self, m: Motion) -> Force:
        """P m."""
        return Force(
            self.A.apply(m.angular) + self.B.apply(m.linear),
            self.C.apply(m.angular) + self.D.apply(m.linear),
        )

    def transformed(self, pose: Pose) -> SpatialMatrix:
        """The same map in the parent frame of ``pose``: X* P X⁻¹."""
        R, px = pose.rotation, Mat3.skew(pose.position)
        A, B, C, D = (R.matmul(block).matmul(R.T) for block in (self.A, self.B, self.C, self.D))
        A, B = A + px.matmul(C), B + px.matmul(D)
        return SpatialMatrix(A - B.matmul(px), B, C - D.matmul(px), D)
