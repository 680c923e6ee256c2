"""Height fields as surfaces of contact."""

from __future__ import annotations

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..spatial import Vec3
from .contact import AbstractContact, tangents, velocity_row
from .friction import AbstractCone


class Terrain(eqx.Module):
    """A height field z = h(x, y) over the world's xy-plane, through samples on a grid.

    ``heights`` (nx,ny) are the samples at x = origin[0] + i·spacing[0], y = origin[1] + j·spacing[1]. Between them h is
    the bicubic interpolant of Catmull & Rom, with continuous slopes; outside of the grid it goes on as at its border.
    """

    heights: jax.Array
    spacing: jax.Array
    origin: jax.Array

    def __init__(self, heights, spacing=(1.0, 1.0), origin=(0.0, 0.0)):
        """A terrain of heights (nx,ny), with one spacing or two and the position of the first sample."""
        self.heights = jnp.asarray(heights, float)
        self.spacing = jnp.broadcast_to(jnp.asarray(spacing, float), (2,))
        self.origin = jnp.asarray(origin, float)

    def __check_init__(self):
        if self.heights.ndim != 2 or min(self.heights.shape) < 2:
            raise ValueError(f"A terrain of shape {self.heights.shape} is no surface; give at least 2×2 heights.")

    def height(self, x, y) -> jax.Array:
        """h at one point."""
        rows, across = _stencil((x - self.origin[0]) / self.spacing[0], self.heights.shape[0])
        columns, along = _stencil((y - self.origin[1]) / self.spacing[1], self.heights.shape[1])
        return across @ self.heights[rows[:, None], columns[None, :]] @ along


class SphereOnTerrain(AbstractContact):
    """Spheres, or points of radius zero, on bodies B against a terrain: φ = (z − h)/√(1 + |∇h|²) − r ≥ 0.

    The first term is the distance of the centre to the surface, exact on planes and on the surface; its error is the
    curvature of the terrain times the square of the radius.
    """

    terrain: Terrain
    center: jax.Array
    radius: jax.Array
    friction: jax.Array
    restitution: jax.Array | None
    body_a: tuple[int, ...] = eqx.field(static=True)
    body_b: tuple[int, ...] = eqx.field(static=True)
    cone: AbstractCone

    def gap(self, joints, a, b):
        return jax.vmap(self._distance)(b.point(Vec3.from_array(self.center)).to_array()) - self.radius

    def rows(self, joints, a, b):
        center = b.point(Vec3.from_array(self.center))
        slope = Vec3.from_array(jax.vmap(jax.grad(self._distance))(center.to_array()))
        n = slope * jax.lax.rsqrt(slope.norm_squared())
        lowest = center - n * self.radius
        # φ depends on the bodies through the centre alone, so its row holds the gradient at the centre.
        sides = [(slope, center), *((t, lowest) for t in tangents(n))][: self.cone.directions]
        on_a = jnp.stack([-velocity_row(t, a, point) for t, point in sides], axis=1)
        on_b = jnp.stack([velocity_row(t, b, point) for t, point in sides], axis=1)
        return on_a, on_b

    def about_centers(self, com):
        return dataclasses.replace(self, center=self.center - com[self.bodies[1]])

    def _distance(self, p: jax.Array) -> jax.Array:
        h, slope = jax.value_and_grad(lambda xy: self.terrain.height(xy[0], xy[1]))(p[:2])
        return (p[2] - h) * jax.lax.rsqrt(1.0 + slope @ slope)


def _stencil(u, count: int) -> tuple[jax.Array, jax.Array]:
    """The four samples around the grid coordinate u and their weights (Catmull & Rom 1974)."""
    u = jnp.clip(u, 0.0, count - 1.0)
    first = jnp.clip(jnp.floor(jax.lax.stop_gradient(u)).astype(int), 0, count - 2)
    s = u - first
    powers = jnp.stack([jnp.ones_like(s), s, s**2, s**3])
    return jnp.clip(first + np.arange(-1, 3), 0, count - 1), jnp.asarray(_CATMULL_ROM, s.dtype) @ powers


_CATMULL_ROM = 0.5 * np.array([[0, -1, 2, -1], [2, 0, -5, 3], [0, 1, 4, -3], [0, 0, -1, 1]])
