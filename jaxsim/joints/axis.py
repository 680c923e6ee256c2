"""Axes as users give them: a letter, a signed letter or any vector."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..spatial import Mat3, Vec3

Axis = str | Sequence[float] | np.ndarray | jax.Array
"""A letter "x", "y", "z", "-x", "-y", "-z", or three numbers."""

Axes = Sequence[Axis] | np.ndarray | jax.Array
"""Several axes."""

_LETTERS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def axis_leaf(axis: Axis) -> jax.Array:
    """The unit vector for ``axis``: "x", "-y", or three numbers of any non-zero length.

    A JAX array is kept as it is, so that it can be traced, and may hold the axes of many joints.
    """
    if isinstance(axis, str):
        letter = axis.lower().removeprefix("+").removeprefix("-")
        if letter not in _LETTERS:
            raise ValueError(
                f'The axis {axis!r} is not one of "x", "y", "z", "-x", "-y", "-z"; use one of them or three numbers.'
            )
        sign = -1.0 if axis.startswith("-") else 1.0
        return jnp.asarray([sign * component for component in _LETTERS[letter]])
    vector = axis if isinstance(axis, jax.Array) else np.asarray(axis, dtype=float)
    if vector.shape[-1:] != (3,) or (vector.ndim > 1 and not isinstance(axis, jax.Array)):
        raise ValueError(f"An axis has three components, but {axis!r} has shape {vector.shape}; give three numbers.")
    if isinstance(vector, jax.Array):
        return vector if jnp.issubdtype(vector.dtype, jnp.floating) else vector.astype(float)
    length = np.linalg.norm(vector)
    if not np.isfinite(length) or length == 0.0:
        raise ValueError(f"The axis {axis!r} has no direction; give three finite numbers that are not all zero.")
    return jnp.asarray(vector / length)


def axes_leaf(axes: Axes, count: int) -> jax.Array:
    """The rows of a (count, 3) array for ``count`` linearly independent axes, each as ``axis_leaf`` takes it."""
    if isinstance(axes, jax.Array) and axes.shape[-2:] == (count, 3):
        return axes
    if isinstance(axes, str) or len(axes) != count:
        raise ValueError(f"This joint has {count} axes, but {axes!r} was given; give a sequence of {count} axes.")
    leaf = jnp.stack([axis_leaf(axis) for axis in axes])
    if not isinstance(leaf, Tracer) and np.linalg.matrix_rank(np.asarray(leaf), tol=1e-6) < count:
        raise ValueError(f"The axes {axes!r} are not independent; give {count} axes that span {count} directions.")
    return leaf


def unit(axis) -> Vec3:
    """The axis leaf as a vector of unit length, whatever a user or an optimiser has made of the leaf."""
    a = Vec3.from_array(axis)
    return a * jax.lax.rsqrt(a.norm_squared())


def rotation_about(a: Vec3, sin, cos) -> Mat3:
    """Rodrigues' formula R = c𝟙 + s[a]× + (1 − c) a aᵀ for a unit axis a."""
    return Mat3.identity() * cos + Mat3.skew(a) * sin + Mat3.outer(a, a) * (1.0 - cos)
