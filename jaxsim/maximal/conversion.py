"""Between minimal and maximal coordinates: mechanisms from models, and states in both directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import joints as minimal
from ..dynamics import body_velocities, forward_kinematics
from ..joints.axis import unit
from ..model import Model
from ..model.model import from_groups
from ..spatial import Mat3, Motion, Pose, Quaternion, Vec3
from .builder import WORLD, MechanismBuilder
from .mechanism import Mechanism

_KINDS = {
    minimal.Fixed: "fixed",
    minimal.Revolute: "revolute",
    minimal.Prismatic: "prismatic",
    minimal.Cylindrical: "cylindrical",
    minimal.Helical: "helical",
    minimal.Spherical: "spherical",
    minimal.Universal: "universal",
    minimal.Planar: "planar_fixed_orientation",
    minimal.Translational: "fixed_orientation",
    minimal.Free: "floating",
}


def mechanism_from_model(
    model: Model, loops: Sequence[Mapping[str, Any]] = (), contacts: Sequence[Mapping[str, Any]] = ()
) -> Mechanism:
    """The mechanism of a tree, with loop-closing joints and contacts added.

    Body i of the model is body i − 1 of the mechanism; its frame has the same directions and its origin in the centre
    of mass. ``loops`` are the arguments of ``MechanismBuilder.add_joint`` and ``contacts`` those of
    ``add_sphere_on_plane``, with bodies named as in the model and points in the model's body frames. Free joints leave
    their bodies without a joint. Rotor inertias have no place in maximal coordinates and must be zero. The leaves are
    computed from the model's values once; differentiate with respect to the mechanism's own leaves.
    """
    builder = MechanismBuilder(gravity=np.asarray(model.gravity).tolist())
    if np.any(np.asarray(model.armature) != 0.0):
        raise ValueError(
            "The model has rotor inertias (armature), which maximal coordinates cannot hold; set them to 0."
        )
    for i in range(1, model.num_bodies):
        builder.add_body(float(model.mass[i]), np.asarray(model.inertia[i]), model.body_names[i])
    for joint, bodies in zip(model.joints, model.topology.groups, strict=True):
        for k, body in enumerate(bodies):
            _add_tree_joint(builder, model, jax.tree.map(lambda leaf, k=k: np.asarray(leaf[k]), joint), body)
    for loop in loops:
        ends = {end: model.body_index(loop[end]) for end in ("parent", "child")}
        shifted = {
            f"anchor_{end}": _from_center(model, body, loop.get(f"anchor_{end}", (0.0, 0.0, 0.0)))
            for end, body in ends.items()
        }
        builder.add_joint(**{**loop, **shifted, **{end: _index(body) for end, body in ends.items()}})
    for contact in contacts:
        body = model.body_index(contact["body"])
        center = _from_center(model, body, contact.get("center", (0.0, 0.0, 0.0)))
        builder.add_sphere_on_plane(**{**contact, "body": _index(body), "center": center})
    return builder.build()


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


def _add_tree_joint(builder, model, joint, body) -> None:
    kind = _KINDS.get(type(joint))
    if kind is None:
        raise ValueError(f"Joint {type(joint).__name__} of body {body} has no counterpart in maximal coordinates.")
    nv = slice(*model.topology.v_start[body : body + 2])
    if kind == "floating":
        return
    settings = {}
    if nv.stop - nv.start == 1:
        reference = float(model.spring_reference[model.topology.q_start[body]])
        settings = {"stiffness": float(model.stiffness[nv][0]), "damping": float(model.damping[nv][0])}
        settings["rest"] = reference
    elif np.any(np.asarray(model.stiffness[nv])) or np.any(np.asarray(model.damping[nv])):
        raise ValueError(f"Body {body} has a spring or damper on a joint of several degrees of freedom; remove it.")
    if kind == "helical":
        settings["pitch"] = 2.0 * np.pi * float(joint.pitch)
    placed = Quaternion.from_array(jnp.asarray(model.orientation[body]))
    frame = placed * Quaternion.from_matrix(_joint_frame(joint))
    parent = model.topology.parents[body]
    builder.add_joint(
        kind,
        _index(parent),
        _index(body),
        anchor_parent=_from_center(model, parent, model.position[body]),
        anchor_child=_from_center(model, body, (0.0, 0.0, 0.0)),
        frame=np.asarray(frame.to_array()),
        orientation=np.asarray(placed.to_array()),
        name=model.joint_names[body],
        **settings,
    )


def _joint_frame(joint) -> Mat3:
    """Axes along which the constraint rows of a joint are written: z is its axis, or x and y are its two axes."""
    if isinstance(joint, minimal.Universal | minimal.Planar):
        x, y = (unit(jnp.asarray(axis)) for axis in joint.axes)
        if abs(float(x.dot(y))) > 1e-9:
            raise ValueError(f"The axes {joint.axes} of a joint are not at right angles, as maximal coordinates need.")
        return Mat3.from_columns(x, y, x.cross(y))
    if hasattr(joint, "axis"):
        z = unit(jnp.asarray(joint.axis))
        x = unit(jnp.asarray(np.cross(np.asarray(z.to_array()), np.eye(3)[np.argmin(np.abs(z.to_array()))])))
        return Mat3.from_columns(x, z.cross(x), z)
    return Mat3.identity()


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


def _from_center(model, body: int, point) -> np.ndarray:
    return np.asarray(point, float) - np.asarray(model.com[body])


def _index(body: int) -> int:
    return WORLD if body == 0 else body - 1
