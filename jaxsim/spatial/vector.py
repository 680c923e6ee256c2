"""Three-vectors as pytrees of three scalars.

Every component is an array of its own, so that under ``vmap`` each operation is one contiguous loop over the batch.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp

Scalar = jax.Array | float
"""A component: an array of any (common) shape, or a Python number that broadcasts against the others."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Vec3:
    """A vector of three components ``(x, y, z)``."""

    x: Scalar
    y: Scalar
    z: Scalar

    @staticmethod
    def from_array(array) -> Vec3:
        """The vector whose components are ``array[..., 0:3]``."""
        return Vec3(array[..., 0], array[..., 1], array[..., 2])

    @staticmethod
    def zero() -> Vec3:
        """The vector 0."""
        return Vec3(0.0, 0.0, 0.0)

    def to_array(self) -> jax.Array:
        """The components stacked along a new last axis."""
        return stack_last(self.x, self.y, self.z)

    def __add__(self, other: Vec3) -> Vec3:
        return Vec3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vec3) -> Vec3:
        return Vec3(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vec3:
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, scale: Scalar) -> Vec3:
        return Vec3(self.x * scale, self.y * scale, self.z * scale)

    __rmul__ = __mul__

    def dot(self, other: Vec3) -> Scalar:
        """a·b."""
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vec3) -> Vec3:
        """a×b."""
        return Vec3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def norm_squared(self) -> Scalar:
        """|a|²."""
        return self.dot(self)


def stack_last(*components: Scalar) -> jax.Array:
    """Broadcast the components against each other and stack them along a new last axis."""
    return jnp.stack(jnp.broadcast_arrays(*map(jnp.asarray, components)), axis=-1)
