"""Contacts: signed gaps between bodies, or a body and the world, and the directions in which they act.

A group holds many contacts of one kind. The gap φ is measured along the normal from body A (or the world) to body B.
Points are spheres of radius zero, a box is its eight corners, and a capsule above a plane is the spheres at its ends.
"""

from __future__ import annotations

import abc
import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..spatial import Vec3
from .blocks import PairOf
from .friction import AbstractCone
from .joint import Joints
from .state import BodyPose


class AbstractContact(eqx.Module):
    """A group of nc possible contacts between the bodies ``body_a`` and ``body_b`` (the world is body nb).

    ``restitution`` is ``None`` for groups whose contacts never bounce.
    """

    body_a: eqx.AbstractVar[tuple[int, ...]]
    body_b: eqx.AbstractVar[tuple[int, ...]]
    friction: eqx.AbstractVar[jax.Array]
    restitution: eqx.AbstractVar[jax.Array | None]
    cone: eqx.AbstractVar[AbstractCone]

    @property
    def bodies(self) -> tuple[np.ndarray, np.ndarray]:
        """The indices of the bodies A and B."""
        return np.asarray(self.body_a, int), np.asarray(self.body_b, int)

    @abc.abstractmethod
    def gap(self, joints: Joints, a: BodyPose, b: BodyPose) -> jax.Array:
        """The signed distances φ (nc,) for bodies at the poses ``a`` and ``b``; positive when apart."""

    @abc.abstractmethod
    def rows(self, joints: Joints, a: BodyPose, b: BodyPose) -> PairOf:
        """The Jacobians (nc,d,6) for bodies A and B: N = ∂φ, then the tangential velocities of B against A."""

    @abc.abstractmethod
    def about_centers(self, com: jax.Array) -> AbstractContact:
        """The same contacts, whose points were given in frames with the centres of mass at com (nb+1,3)."""


class SphereOnPlane(AbstractContact):
    """Spheres on bodies B against half-spaces fixed to bodies A or the world: φ = n·x_A − r − d ≥ 0.

    x_A is the centre of the sphere in the frame of body A, n the unit normal there and d the offset of the plane.
    """

    center: jax.Array
    radius: jax.Array
    normal: jax.Array
    offset: jax.Array
    friction: jax.Array
    restitution: jax.Array | None
    body_a: tuple[int, ...] = eqx.field(static=True)
    body_b: tuple[int, ...] = eqx.field(static=True)
    cone: AbstractCone

    def gap(self, joints, a, b):
        n = a.orientation.rotate(_unit(Vec3.from_array(self.normal)))
        return n.dot(b.point(Vec3.from_array(self.center)) - a.position) - self.radius - self.offset

    def rows(self, joints, a, b):
        n = a.orientation.rotate(_unit(Vec3.from_array(self.normal)))
        lowest = b.point(Vec3.from_array(self.center)) - n * self.radius
        return touch_rows(self.cone, n, (a, lowest), (b, lowest))

    def about_centers(self, com):
        a, b = self.bodies
        height = _unit(Vec3.from_array(self.normal)).dot(Vec3.from_array(com[a]))
        return dataclasses.replace(self, center=self.center - com[b], offset=self.offset - height)


class CapsuleOnCapsule(AbstractContact):
    """Capsules on two bodies: φ is the distance of their segments p ± h less both radii. A sphere has h = 0."""

    center_a: jax.Array
    half_a: jax.Array
    radius_a: jax.Array
    center_b: jax.Array
    half_b: jax.Array
    radius_b: jax.Array
    friction: jax.Array
    restitution: jax.Array | None
    body_a: tuple[int, ...] = eqx.field(static=True)
    body_b: tuple[int, ...] = eqx.field(static=True)
    cone: AbstractCone

    def gap(self, joints, a, b):
        on_a, on_b = self._closest(a, b)
        return _length(on_b - on_a) - self.radius_a - self.radius_b

    def rows(self, joints, a, b):
        on_a, on_b = self._closest(a, b)
        n = _unit(on_b - on_a)
        return touch_rows(self.cone, n, (a, on_a + n * self.radius_a), (b, on_b - n * self.radius_b))

    def about_centers(self, com):
        a, b = self.bodies
        return dataclasses.replace(self, center_a=self.center_a - com[a], center_b=self.center_b - com[b])

    def _closest(self, a, b):
        center_a, half_a = a.point(Vec3.from_array(self.center_a)), a.orientation.rotate(Vec3.from_array(self.half_a))
        center_b, half_b = b.point(Vec3.from_array(self.center_b)), b.orientation.rotate(Vec3.from_array(self.half_b))
        s, t = closest_on_segments(center_a - center_b, half_a, half_b)
        return center_a + half_a * s, center_b + half_b * t


def closest_on_segments(r: Vec3, d: Vec3, e: Vec3):
    """The parameters s, t in [−1, 1] of the closest points s d + r and t e of two segments centred at r and 0.

    Clamped minimisation of |r + s d − t e|² (Ericson 2005, §5.1.9); degenerate and parallel segments give a valid pair.
    """
    dd, ee, de = d.norm_squared(), e.norm_squared(), d.dot(e)
    dr, er = d.dot(r), e.dot(r)
    det = dd * ee - de * de
    regular = det > 1e-9 * dd * ee
    s = jnp.where(regular, (de * er - ee * dr) / jnp.where(regular, det, 1.0), 0.0)
    s = jnp.clip(s, -1.0, 1.0)
    t = jnp.clip(jnp.where(ee > 0.0, (de * s + er) / jnp.where(ee > 0.0, ee, 1.0), 0.0), -1.0, 1.0)
    s = jnp.clip(jnp.where(dd > 0.0, (de * t - dr) / jnp.where(dd > 0.0, dd, 1.0), 0.0), -1.0, 1.0)
    return s, t


def tangents(n: Vec3) -> tuple[Vec3, Vec3]:
    """Two unit vectors that complete the unit vector n to a right-handed frame (Duff et al. 2017)."""
    sign = jnp.where(jnp.asarray(n.z) < 0.0, -1.0, 1.0)
    a = -1.0 / (sign + n.z)
    b = n.x * n.y * a
    return Vec3(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x), Vec3(b, sign + n.y * n.y * a, -n.y)


def touch_rows(cone: AbstractCone, n: Vec3, at_a: tuple[BodyPose, Vec3], at_b: tuple[BodyPose, Vec3]) -> PairOf:
    """The rows of contacts with the normal n, from A to B, that touch at points of the world (Brüdigam et al., (C.2)).

    The closest points move along their surfaces, which does not change the distance: φ̇ is the normal velocity of the
    touching points.
    """
    directions = (n, *tangents(n))[: cone.directions]
    on_a = jnp.stack([-velocity_row(t, *at_a) for t in directions], axis=1)
    on_b = jnp.stack([velocity_row(t, *at_b) for t in directions], axis=1)
    return on_a, on_b


def velocity_row(t: Vec3, pose: BodyPose, point: Vec3) -> jax.Array:
    """The row (nc,6) of the velocity of a body at a point of the world along the direction t: (Rᵀ(p×t), t)."""
    moment = pose.orientation.conjugate().rotate((point - pose.position).cross(t))
    return jnp.concatenate([moment.to_array(), t.to_array()], axis=-1)


def _length(a: Vec3):
    squared = a.norm_squared()
    return jnp.where(squared > 0.0, jnp.sqrt(jnp.where(squared > 0.0, squared, 1.0)), 0.0)


def _unit(a: Vec3) -> Vec3:
    squared = a.norm_squared()
    valid = squared > 0.0
    scale = jnp.where(valid, jax.lax.rsqrt(jnp.where(valid, squared, 1.0)), 0.0)
    return Vec3(a.x * scale, a.y * scale, jnp.where(valid, a.z * scale, 1.0))
