"""Motion subspaces that do not depend on the configuration."""

from __future__ import annotations

from ..spatial import Motion, Vec3


def unit_vectors() -> tuple[Vec3, Vec3, Vec3]:
    """The unit vectors along x, y and z."""
    return Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)


def angular_basis() -> tuple[Motion, ...]:
    """The unit angular velocities about x, y and z."""
    return tuple(Motion(axis, Vec3.zero()) for axis in unit_vectors())


def linear_basis() -> tuple[Motion, ...]:
    """The unit linear velocities along x, y and z."""
    return tuple(Motion(Vec3.zero(), axis) for axis in unit_vectors())


def constant_subspace(nv: int) -> tuple[tuple[Motion, ...], ...]:
    """The derivative of a constant subspace of nv columns: all zero."""
    return tuple(tuple(Motion.zero() for _ in range(nv)) for _ in range(nv))
