"""States between minimal and maximal coordinates, in both directions."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import joints as minimal
from ..dynamics import body_velocities, forward_kinematics
from ..joints.axis import unit
from ..model import Model
from ..model.model import from_groups
from ..spatial import Mat3, Motion, Pose, Quaternion, Vec3


def to_maximal(model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> tuple[Array, Array]:
    """Configurations (nb,7) and velocities (nb,6) of the mechanism's bodies: x = p + R c, ẋ = R(v + ω×c), R as is."""
    poses, twists = forward_kinematics(model, q), body_velocities(model, q, v)[1:]
    R, p = Mat3.from_array(poses.rotation[1:]), Vec3.from_array(poses.position[1:])
    com, twist = Vec3.from_array(model.com[1:]), Motion.from_array(twists)
    velocity = R.apply(twist.linear + twist.angular.cross(com))
    position = (p + R.apply(com)).to_array()
    configuration = jnp.concatenate([position, Quaternion.from_matrix(R).to_array()], axis=-1)
    return configuration, jnp.concatenate([twist.angular.to_array(), velocity.to_array()], axis=-1)


def to_minimal(model: Model, q: Float[Array, "nb 7"], v: Float[Array, "nb 6"]) -> tuple[Array, Array]:
    """The model's q and v for bodies that keep all its joints; the inverse of ``to_maximal`` up to full turns."""
    R = jnp.concatenate([jnp.eye(3, dtype=q.dtype)[None], Quaternion.from_array(q[:, 3:]).to_matrix().to_array()])
    center = Vec3.from_array(q[:, :3]) - Mat3.from_array(R[1:]).apply(Vec3.from_array(model.com[1:]))
    p = jnp.concatenate([jnp.zeros((1, 3), q.dtype), center.to_array()])
    omega, com = Vec3.from_array(v), Vec3.from_array(model.com[1:])
    linear = Mat3.from_array(R[1:]).apply_transposed(Vec3.from_array(v[:, 3:])) - omega.cross(com)
    twist = jnp.concatenate([jnp.zeros((1, 6), q.dtype), Motion(omega, linear).to_array()])
    parents = np.asarray(model.topology.parents)
    coordinates, velocities = [], []
    for joint, bodies in zip(model.joints, model.topology.groups, strict=True):
        body, parent = np.asarray(bodies), parents[np.asarray(bodies)]
        there = Pose(Mat3.from_array(R[parent]), Vec3.from_array(p[parent]))
        orientation = Quaternion.from_array(model.orientation[body]).to_matrix()
        base = there @ Pose(orientation, Vec3.from_array(model.position[body]))
        here = Pose(Mat3.from_array(R[body]), Vec3.from_array(p[body]))
        components = _coordinates(joint, base.inverse() @ here)
        carried = here.inv() @ (there @ Motion.from_array(twist[parent]))
        relative = Motion.from_array(twist[body]) - carried
        coordinates.append(components)
        velocities.append(_rates(joint, components, relative))
    topology = model.topology
    return from_groups(coordinates, topology.q_rows, q.dtype), from_groups(velocities, topology.v_rows, q.dtype)


def _coordinates(joint, pose: Pose):
    """The coordinates of stacked joints from the pose of the child frame in the joint frame."""
    R, p = pose.rotation, pose.position
    if isinstance(joint, minimal.Fixed):
        return ()
    if isinstance(joint, minimal.Revolute):
        return (_angle(R, unit(joint.axis)),)
    if isinstance(joint, minimal.Prismatic):
        return (unit(joint.axis).dot(p),)
    if isinstance(joint, minimal.Cylindrical):
        return _angle(R, unit(joint.axis)), unit(joint.axis).dot(p)
    if isinstance(joint, minimal.Helical):
        return (unit(joint.axis).dot(p) / joint.pitch,)
    if isinstance(joint, minimal.Spherical):
        q = Quaternion.from_matrix(R)
        return q.w, q.x, q.y, q.z
    if isinstance(joint, minimal.Free):
        q = Quaternion.from_matrix(R)
        return p.x, p.y, p.z, q.w, q.x, q.y, q.z
    if isinstance(joint, minimal.Universal):
        x, y = unit(joint.axes[..., 0, :]), unit(joint.axes[..., 1, :])
        z = x.cross(y)
        return jnp.arctan2(z.dot(R.apply(y)), y.dot(R.apply(y))), jnp.arctan2(x.dot(R.apply(z)), x.dot(R.apply(x)))
    axes = joint.axes
    inner = jnp.einsum("nij,nkj->nik", axes, axes)
    q = jnp.linalg.solve(inner, jnp.einsum("nij,nj->ni", axes, p.to_array())[..., None])[..., 0]
    return tuple(q[..., i] for i in range(q.shape[-1]))


def _angle(R: Mat3, a: Vec3):
    """The angle of a rotation about the axis a, in (−π, π]."""
    twice_sine = a.dot(Vec3(R.zy - R.yz, R.xz - R.zx, R.yx - R.xy))
    return jnp.arctan2(twice_sine, R.xx + R.yy + R.zz - 1.0)


def _rates(joint, components, relative: Motion):
    """The velocities with S v = the relative twist, by least squares."""
    columns = [column.to_array() for column in joint.subspace(components)]
    if not columns:
        return ()
    target = relative.to_array()
    S = jnp.stack([jnp.broadcast_to(column, target.shape) for column in columns], axis=-1)
    v = jnp.linalg.solve(jnp.einsum("nki,nkj->nij", S, S), jnp.einsum("nki,nk->ni", S, target)[..., None])[..., 0]
    return tuple(v[..., i] for i in range(v.shape[-1]))
