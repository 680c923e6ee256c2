"""Spatial motion and force vectors, ``[angular; linear]``, with their cross products (Featherstone 2008, §2.9)."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp

from .vector import Scalar, Vec3, add


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Motion:
    """A spatial motion: velocity, acceleration or a column of a motion subspace, as (ω, v)."""

    angular: Vec3
    linear: Vec3

    @staticmethod
    def from_array(array) -> Motion:
        """The motion whose components are ``array[..., 0:6]``."""
        return Motion(Vec3.from_array(array[..., :3]), Vec3.from_array(array[..., 3:]))

    @staticmethod
    def zero() -> Motion:
        """The motion 0."""
        return Motion(Vec3.zero(), Vec3.zero())

    def to_array(self) -> jax.Array:
        """The six components along a new last axis."""
        return jnp.concatenate(jnp.broadcast_arrays(self.angular.to_array(), self.linear.to_array()), axis=-1)

    def __add__(self, other: Motion) -> Motion:
        return Motion(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Motion) -> Motion:
        return Motion(self.angular - other.angular, self.linear - other.linear)

    def __neg__(self) -> Motion:
        return Motion(-self.angular, -self.linear)

    def __mul__(self, scale: Scalar) -> Motion:
        return Motion(self.angular * scale, self.linear * scale)

    __rmul__ = __mul__

    def dot(self, force: Force) -> Scalar:
        """The power mᵀf of a force on this motion."""
        return add(self.angular.dot(force.angular), self.linear.dot(force.linear))

    def cross(self, other: Motion) -> Motion:
        """The motion cross product v×m, ad_v m."""
        return Motion(
            self.angular.cross(other.angular),
            self.angular.cross(other.linear) + self.linear.cross(other.angular),
        )

    def cross_force(self, force: Force) -> Force:
        """The force cross product v×*f = −(v×)ᵀf."""
        return Force(
            self.angular.cross(force.angular) + self.linear.cross(force.linear),
            self.angular.cross(force.linear),
        )


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Force:
    """A spatial force: wrench or momentum, as (moment, force)."""

    angular: Vec3
    linear: Vec3

    @staticmethod
    def from_array(array) -> Force:
        """The force whose components are ``array[..., 0:6]``."""
        return Force(Vec3.from_array(array[..., :3]), Vec3.from_array(array[..., 3:]))

    @staticmethod
    def zero() -> Force:
        """The force 0."""
        return Force(Vec3.zero(), Vec3.zero())

    def to_array(self) -> jax.Array:
        """The six components along a new last axis."""
        return jnp.concatenate(jnp.broadcast_arrays(self.angular.to_array(), self.linear.to_array()), axis=-1)

    def __add__(self, other: Force) -> Force:
        return Force(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Force) -> Force:
        return Force(self.angular - other.angular, self.linear - other.linear)

    def __neg__(self) -> Force:
        return Force(-self.angular, -self.linear)

    def __mul__(self, scale: Scalar) -> Force:
        return Force(self.angular * scale, self.linear * scale)

    __rmul__ = __mul__

    def dot(self, motion: Motion) -> Scalar:
        """The power fᵀm of this force on a motion."""
        return motion.dot(self)
