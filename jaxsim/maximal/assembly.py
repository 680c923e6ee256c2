"""Configurations and velocities of all bodies from the coordinates of the joints of a spanning tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np

from ..spatial import Quaternion, Vec3, so3
from .joint import Joints
from .state import BodyPose, with_world


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Hop:
    """A joint at given coordinates: what leads from body A to body B.

    ``orientation`` is that of body B in body A. ``on_a``, in body A, and ``on_b``, in body B, are the point where the
    origin of frame B stands; there, B moves against A with ``spin`` and ``slide``, in body A.
    """

    orientation: Quaternion
    on_a: Vec3
    on_b: Vec3
    spin: Vec3
    slide: Vec3


def assemble(joints: Joints, tree: Mapping[int, int], coordinates: jax.Array, rates: jax.Array):
    """q (nb,7) and v (nb,6) of bodies for coordinates and rates (nj,6), the inverse of ``joint_coordinates``.

    ``tree`` gives the joint that carries each body, in an order that starts at the world; the others take no part.
    """
    num_bodies = len(tree)
    bodies, carriers = np.array(list(tree), int), np.array(list(tree.values()), int)
    parent, child = (side[carriers] for side in joints.bodies)
    backwards = child != bodies
    q = with_world(jnp.zeros((num_bodies, 7), coordinates.dtype))
    v = with_world(jnp.zeros((num_bodies, 6), coordinates.dtype))

    def carry_on(carry, x):
        q, v = carry
        hop, body, start, is_back = x
        pose, twist = _carried(hop, is_back, BodyPose.from_array(q[start]), v[start])
        return (q.at[body].set(pose.to_array()), v.at[body].set(twist)), None

    hops = jax.tree.map(lambda leaf: leaf[carriers], _hops(joints, coordinates, rates))
    (q, v), _ = jax.lax.scan(carry_on, (q, v), (hops, bodies, np.where(backwards, child, parent), backwards))
    return q[:-1], v[:-1]


def _hops(joints: Joints, coordinates, rates) -> Hop:
    """All joints at their coordinates; a screw's travel follows its angle."""
    turn, spin = so3.exp_quaternion(Vec3.from_array(coordinates)), Vec3.from_array(rates)
    if any(kind.is_universal for kind in joints.kinds):
        is_universal = np.array([kind.is_universal for kind in joints.kinds])
        two = _about_x_and_y(coordinates, rates)
        turn, spin = jax.tree.map(lambda a, b: jnp.where(is_universal, a, b), two, (turn, spin))
    offset, slide = Vec3.from_array(coordinates[:, 3:]), Vec3.from_array(rates[:, 3:])
    if any(kind.is_helical for kind in joints.kinds):
        is_helical = np.array([kind.is_helical for kind in joints.kinds])
        offset, slide = (
            dataclasses.replace(along, z=jnp.where(is_helical, joints.pitch * angle, along.z))
            for along, angle in ((offset, coordinates[:, 2]), (slide, rates[:, 2]))
        )
    frame_a, frame_b = Quaternion.from_array(joints.frame_a), Quaternion.from_array(joints.frame_b)
    return Hop(
        orientation=(frame_a * turn * frame_b.conjugate()).normalised(),
        on_a=Vec3.from_array(joints.anchor_a) + frame_a.rotate(offset),
        on_b=Vec3.from_array(joints.anchor_b),
        spin=frame_a.rotate(spin),
        slide=frame_a.rotate(slide),
    )


def _about_x_and_y(angles, rates) -> tuple[Quaternion, Vec3]:
    """The turn about x and then the new y, and its angular velocity in frame A."""
    zero = jnp.zeros_like(angles[:, 0])
    first, second = (
        so3.exp_quaternion(axis) for axis in (Vec3(angles[:, 0], zero, zero), Vec3(zero, angles[:, 1], zero))
    )
    return first * second, first.rotate(Vec3(rates[:, 0], rates[:, 1], zero))


def _carried(hop: Hop, backwards, pose: BodyPose, twist) -> tuple[BodyPose, jax.Array]:
    """Pose and velocity (6,) at the far end of a joint: body B from body A, or A from B if ``backwards``."""

    def choose(back, forth):
        return jax.tree.map(lambda a, b: jnp.where(backwards, a, b), back, forth)

    orientation = pose.orientation * choose(hop.orientation.conjugate(), hop.orientation)
    at_a = choose(orientation, pose.orientation)
    near = pose.orientation.rotate(choose(hop.on_b, hop.on_a))
    far = orientation.rotate(choose(hop.on_a, hop.on_b))
    sign = jnp.where(backwards, -1.0, 1.0)
    omega = pose.orientation.rotate(Vec3.from_array(twist))
    turned = omega + at_a.rotate(hop.spin) * sign
    slide = at_a.rotate(hop.slide) * sign
    velocity = Vec3.from_array(twist[3:]) + omega.cross(near) + slide - turned.cross(far)
    in_body = orientation.conjugate().rotate(turned)
    end = BodyPose(pose.position + near - far, orientation)
    return end, jnp.concatenate([in_body.to_array(), velocity.to_array()])
