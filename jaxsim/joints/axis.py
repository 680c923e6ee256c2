"""Axes as users give them: a letter, a signed letter or any vector."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from ..spatial import Mat3, Vec3

_LETTERS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def axis_leaf(axis) -> jax.Array:
    """The unit vector for ``axis``: "x", "-y", or three numbers of any non-zero length."""
    if isinstance(axis, str):
        letter = axis.lower().lstrip("+-")
        if letter not in _LETTERS:
            raise ValueError(
                f'The axis {axis!r} is not one of "x", "y", "z", "-x", "-y", "-z"; use one of them or three numbers.'
            )
        sign = -1.0 if axis.startswith("-") else 1.0
        return jnp.asarray([sign * component for component in _LETTERS[letter]])
    if isinstance(axis, jax.Array):
        return axis
    vector = np.asarray(axis, dtype=float)
    if vector.shape != (3,):
        raise ValueError(f"An axis has three components, but {axis!r} has shape {vector.shape}; give three numbers.")
    length = np.linalg.norm(vector)
    if not np.isfinite(length) or length == 0.0:
        raise ValueError(f"The axis {axis!r} has no direction; give three finite numbers that are not all zero.")
    return jnp.asarray(vector / length)


def unit(axis) -> Vec3:
    """The axis leaf as a vector of unit length, whatever a user or an optimiser has made of the leaf."""
    a = Vec3.from_array(axis)
    return a * jax.lax.rsqrt(a.norm_squared())


def rotation_about(a: Vec3, sin, cos) -> Mat3:
    """Rodrigues' formula R = c𝟙 + s[a]× + (1 − c) a aᵀ for a unit axis a."""
    return Mat3.identity() * cos + Mat3.skew(a) * sin + Mat3.outer(a, a) * (1.0 - cos)
