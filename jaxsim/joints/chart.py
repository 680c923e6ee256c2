"""The twelve Euler charts of the rotations: their names, their angles, and how far they are from gimbal lock."""

from __future__ import annotations

import itertools

import jax.numpy as jnp

from ..spatial import Mat3, Scalar

PROPER = tuple(a + b + a for a, b in itertools.permutations("XYZ", 2))
TAIT_BRYAN = tuple(a + b + c for a, b, c in itertools.permutations("XYZ", 3))
CHARTS = PROPER + TAIT_BRYAN
"""XYX, XZX, … with one axis twice, and XYZ, XZY, … with three different ones (Sueda, tables 1 and 2)."""

_POSITIVE = ("xyz", "yzx", "zxy")


def angles(chart: str, R: Mat3) -> tuple[Scalar, Scalar, Scalar]:
    """The angles (q₁, q₂, q₃) of a rotation matrix (Sueda, table 3), q₂ in [0, π] or [−π/2, π/2].

    The third angle is taken from R_a(q₁)ᵀ R rather than from R, so that the three always reproduce R to rounding, near
    gimbal lock too. In gimbal lock, where only q₁ ± q₃ is determined, q₁ = 0.
    """
    i, j, k, sign = _axes(chart)
    proper = chart in PROPER

    def entry(row: str, column: str) -> Scalar:
        return getattr(R, row + column)

    y, x = (entry(j, i), -sign * entry(k, i)) if proper else (-sign * entry(j, k), entry(k, k))
    square = jnp.asarray(x * x + y * y)
    locked = square <= jnp.finfo(square.dtype).tiny
    size = jnp.sqrt(jnp.where(locked, 1.0, square))
    s1, c1 = jnp.where(locked, 0.0, y / size), jnp.where(locked, 1.0, x / size)
    size = jnp.where(locked, 0.0, size)

    def turned_back(column: str) -> Scalar:
        """Row j of R_a(q₁)ᵀ R, which is row j of R_c(q₃)."""
        return c1 * entry(j, column) + sign * s1 * entry(k, column)

    q2 = jnp.arctan2(size, entry(i, i)) if proper else jnp.arctan2(sign * entry(i, k), size)
    q3 = jnp.arctan2(-sign * turned_back(k) if proper else sign * turned_back(i), turned_back(j))
    return jnp.arctan2(s1, c1), q2, q3


def distance_from_lock(chart: str, R: Mat3) -> Scalar:
    """|det S|: |sin q₂| or |cos q₂|, from the rotation matrix alone."""
    i, _, k, _ = _axes(chart)
    c = getattr(R, i + (i if chart in PROPER else k))
    return jnp.sqrt(jnp.maximum(1.0 - c * c, 0.0))


def _axes(chart: str) -> tuple[str, str, str, float]:
    """The first and second axis, the one that completes them, and whether the three are a right-handed frame."""
    i, j = chart[0].lower(), chart[1].lower()
    (k,) = {"x", "y", "z"} - {i, j}
    return i, j, k, 1.0 if i + j + k in _POSITIVE else -1.0
