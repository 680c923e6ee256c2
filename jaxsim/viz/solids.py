"""Triangles of simple solids, which both the browser and the painter of pictures draw."""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Solid:
    """A surface of triangles: vertices (n, 3) and faces (m, 3), counter-clockwise seen from outside.

    Faces that share vertices are shaded as one smooth surface.
    """

    vertices: np.ndarray
    faces: np.ndarray

    def moved(self, rotation: np.ndarray, position: np.ndarray) -> Solid:
        """The surface with each vertex x at R x + p."""
        return Solid(self.vertices @ np.asarray(rotation).T + np.asarray(position), self.faces)


def box(size) -> Solid:
    """A box with the given edge lengths; every side has vertices of its own, so edges stay sharp."""
    vertices, faces = [], []
    for axis in range(3):
        for sign in (1.0, -1.0):
            u, w = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3] * sign
            corners = [sign * np.eye(3)[axis] + a * u + b * w for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            faces += [np.array([0, 1, 2]) + len(vertices), np.array([0, 2, 3]) + len(vertices)]
            vertices += corners
    return Solid(np.array(vertices) * np.asarray(size, float) / 2.0, np.array(faces))


def capsule(radius: float, length: float, around: int = 16, rings: int = 6) -> Solid:
    """A capsule along z whose caps are centred at ±length/2; a sphere for length 0."""
    latitude = np.linspace(-np.pi / 2, np.pi / 2, 2 * rings)
    shift = np.where(latitude < 0.0, -0.5, 0.5) * length
    return _lathe(radius * np.cos(latitude), radius * np.sin(latitude) + shift, around)


def sphere(radius: float) -> Solid:
    """A sphere."""
    latitude = np.linspace(-np.pi / 2, np.pi / 2, 13)
    return _lathe(radius * np.cos(latitude), radius * np.sin(latitude), 20)


def ellipsoid(semi_axes) -> Solid:
    """An ellipsoid with the given semi-axes."""
    ball = sphere(1.0)
    return Solid(ball.vertices * np.asarray(semi_axes, float), ball.faces)


def cylinder(radius: float, length: float, around: int = 24) -> Solid:
    """A cylinder along z, centred; its flat ends have vertices of their own."""
    r, h = radius, length / 2.0
    parts = [_lathe(np.array(rs), np.array(zs), around) for rs, zs in (([0, r], [-h, -h]), ([r, r], [-h, h]))]
    return joined([*parts, _lathe(np.array([r, 0.0]), np.array([h, h]), around)])


def plane(extent: float) -> Solid:
    """A square of the plane z = 0, seen from above."""
    corners = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    return Solid(corners * extent, np.array([[0, 1, 2], [0, 2, 3]]))


def rod(start, end, radius: float) -> Solid:
    """A capsule from one point to another."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    return capsule(radius, float(np.linalg.norm(end - start))).moved(_along(end - start), (start + end) / 2.0)


def joined(solids: list[Solid]) -> Solid:
    """Several surfaces as one."""
    starts = np.cumsum([0] + [len(solid.vertices) for solid in solids])
    faces = [solid.faces + start for solid, start in zip(solids, starts, strict=False)]
    return Solid(np.concatenate([solid.vertices for solid in solids]), np.concatenate(faces))


def _lathe(radii: np.ndarray, heights: np.ndarray, around: int) -> Solid:
    """A surface of revolution about z with a profile from bottom to top."""
    angle = 2.0 * np.pi * np.arange(around) / around
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    circles = [np.column_stack([r * ring, np.full(around, z)]) for r, z in zip(radii, heights, strict=True)]
    i = np.arange(around)
    j = (i + 1) % around
    faces = []
    for k in range(len(radii) - 1):
        low, high = k * around, (k + 1) * around
        faces += [np.column_stack([low + i, low + j, high + j]), np.column_stack([low + i, high + j, high + i])]
    return Solid(np.concatenate(circles), np.concatenate(faces))


def _along(direction: np.ndarray) -> np.ndarray:
    """A rotation that takes z to a direction."""
    z = direction / max(float(np.linalg.norm(direction)), 1e-12)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x = x / np.linalg.norm(x) if np.linalg.norm(x) > 0 else np.eye(3)[0]
    return np.column_stack([x, np.cross(z, x), z]) if np.linalg.norm(direction) > 0 else np.eye(3)
