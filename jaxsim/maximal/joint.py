"""Joints as constraints between two bodies, all from one translational and one rotational constraint function.

A joint has a frame on each of its two bodies. The position of frame B in frame A is g_T, and twice the vector part of
its quaternion is g_R (Brüdigam et al. 2023, (B.1) and (B.3), with the axis in the frame of body A). A kind of joint is
the choice of the rows that must vanish (Table B.2): the special axis V₃ is the z-axis of the frames. Screws and
universal joints replace one row by a function of their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..spatial import Quaternion, Scalar, Vec3, so3
from .state import BodyPose


@dataclasses.dataclass(frozen=True)
class JointKind:
    """Which of the six rows (rotation xyz, translation xyz) are constrained, and which coordinates are free."""

    name: str
    rows: tuple[int, ...]
    free: tuple[int, ...]

    @property
    def is_helical(self) -> bool:
        """Whether the rotation-z row couples rotation and translation along z."""
        return self.name == "helical"

    @property
    def is_universal(self) -> bool:
        """Whether the rotation-z row keeps the x-axis of A at right angles to the y-axis of B."""
        return self.name == "universal"


def _kind(name, rotation, translation):
    rows = (*rotation, *translation)
    return JointKind(name, rows, tuple(1 - row for row in rows))


_NONE, _AXIS, _PLANE, _ALL = (0, 0, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1)

KINDS = {
    kind.name: kind
    for kind in (
        _kind("fixed", _ALL, _ALL),
        _kind("prismatic", _ALL, _PLANE),
        _kind("planar_fixed_orientation", _ALL, _AXIS),
        _kind("fixed_orientation", _ALL, _NONE),
        _kind("revolute", _PLANE, _ALL),
        _kind("cylindrical", _PLANE, _PLANE),
        _kind("planar", _PLANE, _AXIS),
        _kind("fixed_axis", _PLANE, _NONE),
        _kind("spherical", _NONE, _ALL),
        _kind("cylindrical_free_orientation", _NONE, _PLANE),
        _kind("planar_free_orientation", _NONE, _AXIS),
        _kind("floating", _NONE, _NONE),
        JointKind("helical", (1, 1, 1, 1, 1, 0), (0, 0, 1, 0, 0, 0)),
        JointKind("universal", (0, 0, 1, 1, 1, 1), (1, 1, 0, 0, 0, 0)),
    )
}
"""Table B.2 of Brüdigam et al. 2023, the screw and the universal joint."""


class Joints(eqx.Module):
    """All joints of a mechanism; every leaf has the joint as its first axis. Body ``nb`` is the world.

    ``stiffness``, ``rest`` and ``damping`` (nj,6) act along the joint's coordinates: rotation vector and translation of
    frame B in frame A. ``pitch`` is the travel of a screw per radian.
    """

    anchor_a: jax.Array
    frame_a: jax.Array
    anchor_b: jax.Array
    frame_b: jax.Array
    pitch: jax.Array
    stiffness: jax.Array
    rest: jax.Array
    damping: jax.Array
    parent: tuple[int, ...] = eqx.field(static=True)
    child: tuple[int, ...] = eqx.field(static=True)
    kinds: tuple[JointKind, ...] = eqx.field(static=True)
    has_springs: bool = eqx.field(static=True)
    has_dampers: bool = eqx.field(static=True)

    @property
    def num_joints(self) -> int:
        """The number of joints."""
        return len(self.kinds)

    @property
    def bodies(self) -> tuple[np.ndarray, np.ndarray]:
        """The indices of the bodies A and B."""
        return np.asarray(self.parent, int), np.asarray(self.child, int)

    def take(self, indices: Sequence[int]) -> Joints:
        """Some of the joints, in the order of ``indices`` and with repetition."""
        leaves = jax.tree.map(lambda leaf: leaf[np.asarray(indices, int)], self)
        pick = {name: tuple(getattr(self, name)[i] for i in indices) for name in ("parent", "child", "kinds")}
        return dataclasses.replace(leaves, **pick)

    @property
    def rows(self) -> np.ndarray:
        """(nj,6) booleans: which rows are constraints; the others are padding."""
        return np.array([kind.rows for kind in self.kinds], bool).reshape(-1, 6)

    @property
    def free(self) -> np.ndarray:
        """(nj,6) booleans: which coordinates can be actuated."""
        return np.array([kind.free for kind in self.kinds], bool).reshape(-1, 6)


def relative_frame(joints: Joints, a: BodyPose, b: BodyPose) -> tuple[Quaternion, Vec3]:
    """Orientation and position of frame B in frame A."""
    frame_a = Quaternion.from_array(joints.frame_a)
    to_a = (a.orientation * frame_a).conjugate()
    orientation = to_a * b.orientation * Quaternion.from_array(joints.frame_b)
    offset = b.point(Vec3.from_array(joints.anchor_b)) - a.point(Vec3.from_array(joints.anchor_a))
    return orientation, to_a.rotate(offset)


def joint_constraints(joints: Joints, a: BodyPose, b: BodyPose) -> jax.Array:
    """g (nj,6): the constrained rows of (g_R, g_T) for bodies A at ``a`` and B at ``b``; zero in padding rows."""
    orientation, offset = relative_frame(joints, a, b)
    g_R, g_T = (orientation.vector * 2.0).to_array(), offset.to_array()
    special = g_R[:, 2]
    if any(kind.is_helical for kind in joints.kinds):
        is_helical = np.array([kind.is_helical for kind in joints.kinds])
        special = jnp.where(is_helical, _screw(joints.pitch, orientation, offset.z), special)
    if any(kind.is_universal for kind in joints.kinds):
        is_universal = np.array([kind.is_universal for kind in joints.kinds])
        special = jnp.where(is_universal, orientation.to_matrix().xy, special)
    g = jnp.concatenate([g_R[:, :2], special[:, None], g_T], axis=-1)
    return jnp.where(joints.rows, g, 0.0)


def joint_coordinates(joints: Joints, a: BodyPose, b: BodyPose) -> jax.Array:
    """(nj,6): rotation vector and translation of frame B in frame A; a universal joint's two angles about x and y."""
    orientation, offset = relative_frame(joints, a, b)
    angles = so3.log_quaternion(orientation).to_array()
    if any(kind.is_universal for kind in joints.kinds):
        is_universal = np.array([[kind.is_universal] for kind in joints.kinds])
        R = orientation.to_matrix()
        two = jnp.stack([jnp.arctan2(R.zy, R.yy), jnp.arctan2(R.xz, R.xx), jnp.zeros_like(R.xx)], axis=-1)
        angles = jnp.where(is_universal, two, angles)
    return jnp.concatenate([angles, offset.to_array()], axis=-1)


def _screw(pitch, orientation: Quaternion, z: Scalar):
    """2p sin(z/2p − θ/2) for a pitch of p a radian: z − pθ near zero, and free of the 2π jumps of the angle θ."""
    phase = z / (2.0 * pitch)
    return 2.0 * pitch * (jnp.sin(phase) * orientation.w - jnp.cos(phase) * orientation.z)
