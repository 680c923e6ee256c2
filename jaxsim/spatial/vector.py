"""Three-vectors as pytrees of three scalars.

Every component is an array of its own, so that under ``vmap`` each operation is one contiguous loop over the batch.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
from jax import lax

Scalar = jax.Array | float
"""A component: an array of any (common) shape, or a Python number that broadcasts against the others."""


def is_zero(a: Scalar) -> bool:
    """Whether a component is the literal ``0.0``, known before tracing.

    Literal zeros stand for structure (a revolute joint has no linear part); products with them are never emitted.
    """
    return type(a) is float and a == 0.0


def is_one(a: Scalar) -> bool:
    """Whether a component is the literal ``1.0``, known before tracing."""
    return type(a) is float and a == 1.0


def are_alike(a: Scalar, b: Scalar) -> bool:
    """Whether two components are arrays of one shape and type.

    Then the primitive says it all. Inside a sweep all components are alike, and the conversions, promotions and nested
    compilations of ``jax.numpy`` would take most of the time of tracing.
    """
    if isinstance(a, jax.Array) and isinstance(b, jax.Array):
        return a.shape == b.shape and a.dtype == b.dtype
    return False


def add(a: Scalar, b: Scalar) -> Scalar:
    """a + b, emitting nothing where one is a literal zero."""
    if is_zero(a) or is_zero(b):
        return b if is_zero(a) else a
    return lax.add(a, b) if are_alike(a, b) else a + b


def subtract(a: Scalar, b: Scalar) -> Scalar:
    """a − b, emitting no difference where one is a literal zero."""
    if is_zero(a) or is_zero(b):
        return a if is_zero(b) else negate(b)
    return lax.sub(a, b) if are_alike(a, b) else a - b


def multiply(a: Scalar, b: Scalar) -> Scalar:
    """a b, emitting nothing where one is a literal zero or a literal one."""
    if is_zero(a) or is_zero(b):
        return 0.0
    if is_one(a) or is_one(b):
        return b if is_one(a) else a
    return lax.mul(a, b) if are_alike(a, b) else a * b


def choose(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """a where the condition holds, else b; emitting nothing where both are literal zeros."""
    if is_zero(a) and is_zero(b):
        return 0.0
    simple = are_alike(a, b) and isinstance(condition, jax.Array) and condition.shape in ((), jnp.shape(a))
    return lax.select(condition, a, b) if simple else jnp.where(condition, a, b)


def negate(a: Scalar) -> Scalar:
    """−a, emitting nothing for a literal zero."""
    return 0.0 if is_zero(a) else lax.neg(a) if isinstance(a, jax.Array) else -a


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
        return Vec3(*(component(array, i) for i in range(3)))

    @staticmethod
    def zero() -> Vec3:
        """The vector 0."""
        return Vec3(0.0, 0.0, 0.0)

    def to_array(self) -> jax.Array:
        """The components stacked along a new last axis."""
        return stack_last(self.x, self.y, self.z)

    def __add__(self, other: Vec3) -> Vec3:
        return Vec3(add(self.x, other.x), add(self.y, other.y), add(self.z, other.z))

    def __sub__(self, other: Vec3) -> Vec3:
        return Vec3(subtract(self.x, other.x), subtract(self.y, other.y), subtract(self.z, other.z))

    def __neg__(self) -> Vec3:
        return Vec3(negate(self.x), negate(self.y), negate(self.z))

    def __mul__(self, scale: Scalar) -> Vec3:
        return Vec3(multiply(self.x, scale), multiply(self.y, scale), multiply(self.z, scale))

    __rmul__ = __mul__

    def dot(self, other: Vec3) -> Scalar:
        """a·b."""
        return add(add(multiply(self.x, other.x), multiply(self.y, other.y)), multiply(self.z, other.z))

    def cross(self, other: Vec3) -> Vec3:
        """a×b."""
        return Vec3(
            subtract(multiply(self.y, other.z), multiply(self.z, other.y)),
            subtract(multiply(self.z, other.x), multiply(self.x, other.z)),
            subtract(multiply(self.x, other.y), multiply(self.y, other.x)),
        )

    def norm_squared(self) -> Scalar:
        """|a|²."""
        return self.dot(self)


def component(array, i: int) -> Scalar:
    """``array[..., i]``, as the primitive where that is an array of JAX."""
    if isinstance(array, jax.Array):
        return lax.index_in_dim(array, i, axis=-1, keepdims=False)
    return array[..., i]


def stack_last(*components: Scalar) -> jax.Array:
    """Broadcast the components against each other and stack them along a new last axis."""
    return jnp.stack(jnp.broadcast_arrays(*map(jnp.asarray, components)), axis=-1)
