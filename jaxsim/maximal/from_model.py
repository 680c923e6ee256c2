"""Mechanisms from models: the same tree in maximal coordinates, differentiable in the model's leaves."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .. import joints as minimal
from ..joints.axis import unit
from ..model import Model
from ..spatial import Mat3, Quaternion
from .builder import WORLD, MechanismBuilder
from .contact import tangents
from .joint import Joints
from .mechanism import Mechanism

_KINDS: dict[type, tuple[str, tuple[int, ...]]] = {
    minimal.Fixed: ("fixed", ()),
    minimal.Revolute: ("revolute", (2,)),
    minimal.Prismatic: ("prismatic", (5,)),
    minimal.Cylindrical: ("cylindrical", (2, 5)),
    minimal.Helical: ("helical", (2,)),
    minimal.Spherical: ("spherical", (0, 1, 2)),
    minimal.Universal: ("universal", (0, 1)),
    minimal.Planar: ("planar_fixed_orientation", (3, 4)),
    minimal.Translational: ("fixed_orientation", (3, 4, 5)),
    minimal.Free: ("floating", ()),
}
"""The name of each kind in maximal coordinates, and its degrees of freedom among the six of a joint."""


def mechanism_from_model(
    model: Model, loops: Sequence[Mapping[str, Any]] = (), contacts: Sequence[Mapping[str, Any]] = ()
) -> Mechanism:
    """The mechanism of a tree, with loop-closing joints and contacts added.

    Body i of the model is body i − 1 of the mechanism; its frame has the same directions and its origin in the centre
    of mass. ``loops`` are the arguments of ``MechanismBuilder.add_joint`` and ``contacts`` those of its methods for
    contacts: ``add_box_…`` if ``half_sizes`` is among them, ``add_capsule_…`` with ``half``, ``add_capsule_on_capsule``
    with ``body_a`` and ``body_b``, else ``add_sphere_…``; ``…on_terrain`` with a ``terrain``, else ``…on_plane``.
    Bodies are named as in the model, and points are given in the model's body frames. Free joints leave their bodies
    without a joint. Springs see angles in (−π, π].

    The leaves are functions of the model's leaves, in which they can be differentiated and batched. What maximal
    coordinates cannot hold raises where its values are known, outside of ``jit``: rotor inertias, axes that are not at
    right angles, springs of ball joints that do not rest at the identity and unequal dampings of one.
    """
    _check(model)
    builder = MechanismBuilder()
    for i in range(1, model.num_bodies):
        builder.add_body(1.0, (1.0, 1.0, 1.0), model.body_names[i])
    parts = [part for group in zip(model.joints, model.topology.groups, strict=True) if (part := _tree(model, *group))]
    for joint, bodies, _ in parts:
        for body in bodies:
            parent, kind = model.topology.parents[body], _KINDS[type(joint)][0]
            builder.add_joint(kind, _index(parent), _index(body), pitch=1.0, name=model.joint_names[body])
    for loop in loops:
        ends = {end: _index(model.body_index(loop[end])) for end in ("parent", "child")}
        builder.add_joint(**{**loop, **ends})
    for contact in contacts:
        _add_contact(builder, model, contact)
    built = builder.build()
    com = jnp.concatenate([model.com[1:], jnp.zeros((1, 3), model.dtype)])
    return dataclasses.replace(
        built,
        mass=model.mass[1:],
        inertia=model.inertia[1:],
        gravity=model.gravity,
        joints=_about_centers(_filled(model, built.joints, [leaves for _, _, leaves in parts]), com),
        contacts=tuple(group.about_centers(com) for group in built.contacts),
    )


def _tree(model: Model, joint, bodies):
    """The leaves of the joints of one kind, with points in the model's body frames; nothing for free joints."""
    kind, columns = _KINDS[type(joint)]
    if kind == "floating":
        return None
    bodies = np.asarray(bodies)
    count, topology = len(bodies), model.topology
    frame = Quaternion.from_matrix(_joint_frame(joint)).to_array()
    frame = jnp.broadcast_to(frame, (count, 4))
    placed = Quaternion.from_array(model.orientation[bodies]).normalised()
    rows = np.asarray(topology.v_start)[bodies][:, None] + np.arange(len(columns))
    rows_q = np.asarray(topology.q_start)[bodies][:, None] + np.arange(len(columns))
    spread = jnp.zeros((count, 6), model.dtype)

    def six(values):
        return spread.at[:, list(columns)].set(values)

    is_ball = isinstance(joint, minimal.Spherical)
    has_spring = topology.ball_springs or not is_ball
    leaves = {
        "anchor_a": model.position[bodies],
        "anchor_b": jnp.zeros((count, 3), model.dtype),
        "frame_a": (placed * Quaternion.from_array(frame)).to_array(),
        "frame_b": frame,
        "pitch": jnp.asarray(joint.pitch) if isinstance(joint, minimal.Helical) else jnp.ones(count, model.dtype),
        "stiffness": six(model.stiffness[rows]) if has_spring else spread,
        "damping": six(model.damping[rows]),
        "rest": spread if is_ball else six(model.spring_reference[rows_q]),
    }
    return joint, bodies.tolist(), leaves


def _filled(model: Model, joints: Joints, parts) -> Joints:
    """Joints whose first rows are those of the tree."""
    count = sum(len(part["pitch"]) for part in parts)
    leaves = {
        name: jnp.concatenate([*(part[name] for part in parts), getattr(joints, name)[count:].astype(model.dtype)])
        for name in ("anchor_a", "anchor_b", "frame_a", "frame_b", "pitch", "stiffness", "damping", "rest")
    }
    return dataclasses.replace(
        joints,
        **leaves,
        has_springs=joints.has_springs or _may_act(model.stiffness),
        has_dampers=joints.has_dampers or _may_act(model.damping),
    )


def _about_centers(joints: Joints, com: jax.Array) -> Joints:
    """The same joints with anchors relative to the centres of mass (nb+1,3)."""
    a, b = joints.bodies
    return dataclasses.replace(joints, anchor_a=joints.anchor_a - com[a], anchor_b=joints.anchor_b - com[b])


def _joint_frame(joint) -> Mat3:
    """Axes along which the constraint rows of a joint are written: z is its axis, or x and y are its two axes."""
    if hasattr(joint, "axes"):
        x, y = unit(joint.axes[..., 0, :]), unit(joint.axes[..., 1, :])
        return Mat3.from_columns(x, y, x.cross(y))
    if hasattr(joint, "axis"):
        z = unit(joint.axis)
        return Mat3.from_columns(*tangents(z), z)
    return Mat3.identity()


def _add_contact(builder: MechanismBuilder, model: Model, contact: Mapping[str, Any]) -> None:
    names = {key: _index(model.body_index(contact[key])) for key in _BODY_KEYS if key in contact}
    arguments = {**contact, **names}
    surface = "terrain" if "terrain" in contact else "plane"
    if "body_a" in contact:
        builder.add_capsule_on_capsule(**arguments)
    elif "half_sizes" in contact:
        getattr(builder, f"add_box_on_{surface}")(**arguments)
    elif "half" in contact:
        getattr(builder, f"add_capsule_on_{surface}")(**arguments)
    else:
        getattr(builder, f"add_sphere_on_{surface}")(**arguments)


_BODY_KEYS = ("body", "body_a", "body_b", "plane_body")


def _check(model: Model) -> None:
    """What is static, and the values that are known."""
    for joint in model.joints:
        if type(joint) not in _KINDS:
            raise ValueError(
                f"The joint {type(joint).__name__} has no counterpart in maximal coordinates; use another."
            )
    if model.coupling is not None:
        raise ValueError("The model has joints that mimic others, which maximal coordinates do not know; remove them.")
    if not isinstance(model.armature, Tracer) and np.any(np.asarray(model.armature) != 0.0):
        raise ValueError(
            "The model has rotor inertias (armature), which maximal coordinates cannot hold; set them to 0."
        )
    for joint, bodies in zip(model.joints, model.topology.groups, strict=True):
        axes = getattr(joint, "axes", None)
        if axes is not None and not isinstance(axes, Tracer):
            _check_axes(np.asarray(axes))
        if isinstance(joint, minimal.Spherical) and not isinstance(model.stiffness, Tracer):
            _check_balls(model, np.asarray(bodies))


def _check_axes(axes: np.ndarray) -> None:
    inner = np.einsum("...ij,...kj->...ik", axes, axes) * (1.0 - np.eye(axes.shape[-2]))
    if np.any(np.abs(inner) > 1e-9):
        raise ValueError(f"The axes {axes} of a joint are not at right angles, as maximal coordinates need.")


def _check_balls(model: Model, bodies: np.ndarray) -> None:
    rows = np.asarray(model.topology.v_start)[bodies][:, None] + np.arange(3)
    rows_q = np.asarray(model.topology.q_start)[bodies][:, None] + np.arange(4)
    stiffness, damping = np.asarray(model.stiffness)[rows], np.asarray(model.damping)[rows]
    turned = np.any(np.abs(np.asarray(model.spring_reference)[rows_q][:, 1:]) > 1e-12, axis=1)
    if np.any(turned & np.any(stiffness != 0.0, axis=1)):
        raise ValueError("A ball joint has a spring that does not rest at the identity; let it rest there.")
    if np.any(damping != damping[:, :1]):
        raise ValueError(f"A ball joint has unequal dampings {damping}; give it the same for all three directions.")


def _may_act(values: jax.Array) -> bool:
    """Whether any entry is, or under ``jit`` may be, other than zero."""
    return isinstance(values, Tracer) or bool(np.any(np.asarray(values) != 0.0))


def _index(body: int) -> int:
    return WORLD if body == 0 else body - 1
