"""Build a mechanism body by body."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from ..joints.axis import axis_leaf
from .contact import AbstractContact, CapsuleOnCapsule, SphereOnPlane
from .friction import AbstractCone, Frictionless, SecondOrderCone
from .joint import KINDS, Joints
from .limit import JointLimit
from .mechanism import Mechanism, PointSprings
from .terrain import SphereOnTerrain, Terrain

WORLD = -1
"""Stands for the world where a body is asked for."""


class MechanismBuilder:
    """Collects bodies, joints, springs and contacts; ``build`` makes the mechanism.

    Points and axes are given in the frame of the body they belong to, whose origin is the centre of mass. Bodies are
    named by the index that ``add_body`` returned; ``WORLD`` stands for the world.
    """

    def __init__(self, gravity: Sequence[float] = (0.0, 0.0, -9.81)):
        self._gravity = np.asarray(gravity, float)
        self._bodies: list[dict] = []
        self._joints: list[dict] = []
        self._springs: list[dict] = []
        self._contacts: list[tuple[type[AbstractContact], AbstractCone, dict]] = []
        self._terrains: list[Terrain] = []

    def add_body(self, mass: float, inertia, name: str | None = None) -> int:
        """A rigid body with its inertia about the centre of mass, (3,) principal moments or (3,3); its index."""
        J = np.asarray(inertia, float)
        J = np.diag(J) if J.shape == (3,) else J
        name = f"body{len(self._bodies)}" if name is None else name
        _check_inertia(name, mass, J)
        self._bodies.append({"mass": float(mass), "inertia": J, "name": name})
        return len(self._bodies) - 1

    def add_joint(
        self,
        kind: str,
        parent: int,
        child: int,
        *,
        anchor_parent=(0.0, 0.0, 0.0),
        anchor_child=(0.0, 0.0, 0.0),
        axis="z",
        frame=None,
        orientation=(1.0, 0.0, 0.0, 0.0),
        pitch: float = 0.0,
        stiffness=0.0,
        rest=0.0,
        damping=0.0,
        limits: tuple[float, float] | None = None,
        name: str | None = None,
    ) -> int:
        """A joint of one of the ``KINDS`` that carries ``child`` on ``parent``; its index.

        ``axis`` is the special axis in the parent's frame; a universal joint turns about two others, the x and y of
        ``frame``, a quaternion in the parent's frame given instead. ``orientation`` is the child's orientation in the
        parent (wxyz) where all rotations of the joint are zero. ``pitch`` is the travel of a screw for a full turn.
        ``stiffness``, ``rest`` and ``damping`` are numbers for all free coordinates or six numbers (rotations, then
        translations). ``limits`` bound the one free coordinate of a joint that has just one.
        """
        if kind not in KINDS:
            raise ValueError(f"There is no joint kind {kind!r}; use one of {', '.join(KINDS)}.")
        if kind == "helical" and pitch == 0.0:
            raise ValueError("A helical joint with pitch 0 is a revolute joint; use kind 'revolute' or a pitch.")
        self._check_body(child)
        if parent != WORLD:
            self._check_body(parent)
        name = f"joint{len(self._joints)}" if name is None else name
        if limits is not None:
            _check_limits(name, kind, limits)
        free = np.array(KINDS[kind].free, float)
        frame_a = _frame_along(axis) if frame is None else np.asarray(frame, float)
        offset = np.asarray(orientation, float) / np.linalg.norm(orientation)
        self._joints.append(
            {
                "kind": KINDS[kind],
                "parent": parent,
                "child": child,
                "name": name,
                "anchor_a": np.asarray(anchor_parent, float),
                "anchor_b": np.asarray(anchor_child, float),
                "frame_a": frame_a,
                "frame_b": _multiply(offset * np.array([1.0, -1.0, -1.0, -1.0]), frame_a),
                "pitch": pitch / (2.0 * np.pi) if kind == "helical" else 1.0,
                "stiffness": np.broadcast_to(stiffness, 6) * free,
                "rest": np.broadcast_to(rest, 6) * free,
                "damping": np.broadcast_to(damping, 6) * free,
            }
        )
        if limits is not None:
            self._add_limits(len(self._joints) - 1, limits)
        return len(self._joints) - 1

    def add_spring(self, body_a: int, body_b: int, stiffness, length=0.0, point_a=(0, 0, 0), point_b=(0, 0, 0)) -> None:
        """A spring of the given length at rest between points of two bodies."""
        values = {"stiffness": stiffness, "length": length, "point_a": point_a, "point_b": point_b}
        self._springs.append({"body_a": body_a, "body_b": body_b, **values})

    def add_sphere_on_plane(
        self,
        body: int,
        center=(0.0, 0.0, 0.0),
        radius: float = 0.0,
        *,
        normal=(0.0, 0.0, 1.0),
        offset: float = 0.0,
        plane_body: int = WORLD,
        friction: float | None = None,
        restitution: float = 0.0,
        cone: AbstractCone | None = None,
    ) -> None:
        """A sphere, or a point of radius zero, on a body against the half-space n·x ≥ offset of the world or a body.

        Without ``friction`` the contact is smooth; ``cone`` is ``SecondOrderCone()`` unless another is given.
        """
        self._check_body(body)
        values = {"center": center, "radius": radius, "normal": normal, "offset": offset}
        self._add_contact(SphereOnPlane, plane_body, body, friction, restitution, cone, values)

    def add_box_on_plane(self, body: int, half_sizes, center=(0.0, 0.0, 0.0), **contact) -> None:
        """The eight corners of a box along the axes of a body against a half-space; see ``add_sphere_on_plane``."""
        for corner in _corners(half_sizes, center):
            self.add_sphere_on_plane(body, corner, **contact)

    def add_capsule_on_plane(self, body: int, half, radius: float, center=(0.0, 0.0, 0.0), **contact) -> None:
        """The two end spheres of a capsule with half axis ``half`` against a half-space."""
        for end in _ends(half, center):
            self.add_sphere_on_plane(body, end, radius, **contact)

    def add_sphere_on_terrain(
        self,
        body: int,
        terrain: Terrain,
        center=(0.0, 0.0, 0.0),
        radius: float = 0.0,
        *,
        friction: float | None = None,
        restitution: float = 0.0,
        cone: AbstractCone | None = None,
    ) -> None:
        """A sphere, or a point of radius zero, on a body against a height field of the world."""
        self._check_body(body)
        if not any(known is terrain for known in self._terrains):
            self._terrains.append(terrain)
        values = {"terrain": terrain, "center": center, "radius": radius}
        self._add_contact(SphereOnTerrain, WORLD, body, friction, restitution, cone, values)

    def add_box_on_terrain(self, body: int, terrain: Terrain, half_sizes, center=(0.0, 0.0, 0.0), **contact) -> None:
        """The eight corners of a box along the axes of a body against a height field."""
        for corner in _corners(half_sizes, center):
            self.add_sphere_on_terrain(body, terrain, corner, **contact)

    def add_capsule_on_terrain(
        self, body: int, terrain: Terrain, half, radius: float, center=(0.0, 0.0, 0.0), **contact
    ) -> None:
        """The two end spheres of a capsule with half axis ``half`` against a height field."""
        for end in _ends(half, center):
            self.add_sphere_on_terrain(body, terrain, end, radius, **contact)

    def add_capsule_on_capsule(
        self,
        body_a: int,
        body_b: int,
        radius_a: float,
        radius_b: float,
        *,
        half_a=(0.0, 0.0, 0.0),
        half_b=(0.0, 0.0, 0.0),
        center_a=(0.0, 0.0, 0.0),
        center_b=(0.0, 0.0, 0.0),
        friction: float | None = None,
        restitution: float = 0.0,
        cone: AbstractCone | None = None,
    ) -> None:
        """Two capsules with half axes ``half_a`` and ``half_b``, or spheres where these are zero, on two bodies."""
        self._check_body(body_b)
        values = {"center_a": center_a, "half_a": half_a, "radius_a": radius_a}
        values |= {"center_b": center_b, "half_b": half_b, "radius_b": radius_b}
        self._add_contact(CapsuleOnCapsule, body_a, body_b, friction, restitution, cone, values)

    def build(self) -> Mechanism:
        """The mechanism."""
        if not self._bodies:
            raise ValueError("The mechanism has no bodies; add at least one with add_body.")
        groups: dict[tuple, list[dict]] = {}
        for kind, cone, values in self._contacts:
            terrain = next((i for i, known in enumerate(self._terrains) if known is values.get("terrain")), None)
            groups.setdefault((kind, cone, values["restitution"] > 0.0, terrain), []).append(values)
        return Mechanism(
            mass=jnp.asarray([body["mass"] for body in self._bodies]),
            inertia=jnp.asarray([body["inertia"] for body in self._bodies]),
            gravity=jnp.asarray(self._gravity),
            joints=self._build_joints(),
            springs=self._build_springs(),
            contacts=tuple(self._build_group(kind, cone, values) for (kind, cone, *_), values in groups.items()),
            body_names=tuple(body["name"] for body in self._bodies),
            joint_names=tuple(joint["name"] for joint in self._joints),
        )

    def _build_joints(self) -> Joints:
        widths = {"anchor_a": 3, "frame_a": 4, "anchor_b": 3, "frame_b": 4, "stiffness": 6, "rest": 6, "damping": 6}
        leaves = {name: jnp.asarray(np.reshape([j[name] for j in self._joints], (-1, n))) for name, n in widths.items()}
        return Joints(
            **leaves,
            pitch=jnp.asarray(np.array([joint["pitch"] for joint in self._joints], float)),
            parent=tuple(self._index(joint["parent"]) for joint in self._joints),
            child=tuple(joint["child"] for joint in self._joints),
            kinds=tuple(joint["kind"] for joint in self._joints),
            has_springs=any(np.any(joint["stiffness"] != 0.0) for joint in self._joints),
            has_dampers=any(np.any(joint["damping"] != 0.0) for joint in self._joints),
        )

    def _build_springs(self) -> PointSprings:
        def leaf(name, *shape):
            return jnp.asarray(np.reshape([spring[name] for spring in self._springs], (-1, *shape)).astype(float))

        return PointSprings(
            leaf("point_a", 3),
            leaf("point_b", 3),
            leaf("stiffness"),
            leaf("length"),
            tuple(self._index(spring["body_a"]) for spring in self._springs),
            tuple(self._index(spring["body_b"]) for spring in self._springs),
        )

    def _build_group(self, kind, cone, values) -> AbstractContact:
        static = {"body_a", "body_b", "joint", "coordinate", "sign"}
        fields = {}
        for name in values[0]:
            column = [value[name] for value in values]
            if name == "terrain":
                fields[name] = column[0]
                continue
            if name in ("body_a", "body_b"):
                column = [self._index(body) for body in column]
            fields[name] = tuple(column) if name in static else jnp.asarray(np.asarray(column, float))
        if not any(value["restitution"] for value in values):
            fields["restitution"] = None
        return kind(cone=cone, **fields)

    def _add_contact(self, kind, body_a, body_b, friction, restitution, cone, values) -> None:
        if friction is not None and friction <= 0.0:
            raise ValueError(f"The friction coefficient {friction} has no cone; give a positive one, or None for none.")
        if not 0.0 <= restitution <= 1.0:
            raise ValueError(f"The restitution {restitution} is not between 0 and 1; choose one that is.")
        if friction is None:
            cone = Frictionless()
        cone = SecondOrderCone() if cone is None else cone
        common = {"body_a": body_a, "body_b": body_b, "friction": friction or 0.0, "restitution": restitution}
        self._contacts.append((kind, cone, {**values, **common}))

    def _add_limits(self, joint: int, limits) -> None:
        entry = self._joints[joint]
        (free,) = np.flatnonzero(entry["kind"].free)
        for bound, sign in ((limits[0], 1), (limits[1], -1)):
            if np.isfinite(bound):
                values = {"bound": bound, "joint": joint, "coordinate": int(free), "sign": sign}
                common = {"body_a": entry["parent"], "body_b": entry["child"], "friction": 0.0, "restitution": 0.0}
                self._contacts.append((JointLimit, Frictionless(), {**values, **common}))

    def _index(self, body: int) -> int:
        return len(self._bodies) if body == WORLD else body

    def _check_body(self, body: int) -> None:
        if not 0 <= body < len(self._bodies):
            raise ValueError(f"There is no body {body}; add_body has returned 0…{len(self._bodies) - 1}.")


def _corners(half_sizes, center) -> np.ndarray:
    signs = np.stack(np.meshgrid(*[[-1, 1]] * 3), axis=-1).reshape(8, 3)
    return np.asarray(center, float) + signs * np.asarray(half_sizes, float)


def _ends(half, center) -> np.ndarray:
    return np.asarray(center, float) + np.outer([-1.0, 1.0], np.asarray(half, float))


def _check_inertia(name: str, mass: float, J: np.ndarray) -> None:
    if not mass > 0.0:
        raise ValueError(f"The mass {mass} of body {name!r} is not positive; every body needs mass.")
    if J.shape != (3, 3) or not np.allclose(J, J.T):
        raise ValueError(f"The inertia of body {name!r} is not a symmetric 3×3 matrix or three moments; give one.")
    moments = np.linalg.eigvalsh(J)
    if not moments[0] > 0.0:
        raise ValueError(f"The inertia of body {name!r} has moments {moments}; they must all be positive.")
    if moments[0] + moments[1] < moments[2] * (1.0 - 1e-9):
        raise ValueError(f"The moments {moments} of body {name!r} violate the triangle inequality; check the inertia.")


def _check_limits(name: str, kind: str, limits) -> None:
    count = sum(KINDS[kind].free)
    if count != 1:
        raise ValueError(f"Joint {name!r} has {count} free coordinates; limits need exactly one.")
    if not limits[0] < limits[1]:
        raise ValueError(f"The limits {limits} of joint {name!r} are empty; give lower < upper.")


def _frame_along(axis) -> np.ndarray:
    """The shortest rotation (wxyz) that takes z to the direction of ``axis``."""
    with jax.ensure_compile_time_eval():  # a mechanism may be built inside of a traced function
        axis = np.asarray(axis_leaf(axis))
    if axis[2] < -1.0 + 1e-12:
        return np.array([0.0, 1.0, 0.0, 0.0])
    q = np.array([1.0 + axis[2], -axis[1], axis[0], 0.0])
    return q / np.linalg.norm(q)


def _multiply(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Hamilton's product."""
    return np.concatenate([[p[0] * q[0] - p[1:] @ q[1:]], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])])
