"""Building a model body by body."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..joints import AbstractJoint, Fixed
from .actuation import Actuator, Drive, actuator, stack_actuators
from .body_inertia import BodyInertia, check_inertia
from .coordinates import PER_COORDINATE, PER_VELOCITY, check_coordinates
from .coupling import Follower, couple
from .frames import stack_frames
from .geometry import Mesh, PlacedShape, Shape, placed_shape, stack_geometry
from .keyframes import stack_keyframes
from .loops import KINDS, Loop, stack_loops
from .mobility import moves_mass
from .model import Model
from .placement import Placement, finite_vector, placement_of, unit_quaternion
from .topology import Topology


@dataclasses.dataclass
class _Body:
    name: str
    parent: int
    joint: AbstractJoint
    joint_name: str
    position: np.ndarray
    orientation: np.ndarray
    inertia: BodyInertia
    coordinates: dict[str, np.ndarray]


class ModelBuilder:
    """Collects bodies and makes a ``Model`` of them.

    >>> builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    >>> link = builder.add_body("link", parent=0, joint=Revolute("y"), inertia=BodyInertia.rod(1.0, (0, 0, -1)))
    >>> model = builder.build()
    """

    def __init__(self, gravity=(0.0, 0.0, -9.81), check_inertias: bool = True):
        """Start with the world alone.

        Args:
            gravity: the acceleration of gravity, in the world frame.
            check_inertias: whether inertias that no rigid body can have are refused.
        """
        self.gravity = finite_vector(gravity, 3, "gravity")
        self._check_inertias = check_inertias
        self._bodies: list[_Body] = []
        self._index = {"world": 0}
        self._shapes: list[PlacedShape] = []
        self._frames: dict[str, tuple[int, Placement]] = {}
        self._loops: list[tuple[Loop, Placement, Placement]] = []
        self._followers: dict[int, Follower] = {}
        self._actuators: list[Actuator] = []
        self._keyframes: list[tuple] = []

    def add_body(
        self,
        name: str,
        parent: int | str = 0,
        joint: AbstractJoint | None = None,
        placement: Placement | Sequence[float] | None = None,
        inertia: BodyInertia | None = None,
        joint_name: str | None = None,
        **coordinates,
    ) -> int:
        """Hang a body on a parent and return its index.

        Args:
            name: the name of the body, unique in the model.
            parent: the index or the name of the parent; 0 or ``"world"`` is the world.
            joint: how the body moves in the parent's frame; ``None`` fixes it.
            placement: where the joint stands in the parent's frame, a ``Placement`` or three numbers for a position;
                the default is the parent's origin.
            inertia: what the body weighs; ``None`` for a massless link.
            joint_name: the name of the joint; the default is ``name + "_joint"``.
            **coordinates: ``stiffness``, ``damping``, ``armature``, ``friction``, ``velocity_limit`` and
                ``effort_limit`` for each degree of freedom, ``lower``, ``upper`` and ``spring_reference`` for each
                coordinate; a single number serves all.
        """
        if name in self._index:
            raise ValueError(f"There already is a body named {name!r}; body names must be unique.")
        joint = Fixed() if joint is None else joint
        if not isinstance(joint, AbstractJoint):
            raise ValueError(f"The joint of {name!r} is {joint!r}; give a joint such as jaxsim.Revolute('y').")
        if inertia is not None and self._check_inertias:
            check_inertia(name, inertia)
        place = placement_of(placement)
        body = _Body(
            name,
            self._body_index(parent, f"The parent of {name!r}"),
            joint,
            joint_name or f"{name}_joint",
            finite_vector(place.position, 3, f"the position of {name!r}"),
            unit_quaternion(place.rotation, name),
            BodyInertia(0.0) if inertia is None else inertia,
            check_coordinates(name, joint, coordinates),
        )
        self._bodies.append(body)
        self._index[name] = len(self._bodies)
        return len(self._bodies)

    def add_geometry(
        self,
        body: int | str,
        kind: str,
        size=(),
        placement: Placement | Sequence[float] | None = None,
        name: str = "",
        visual: bool = True,
        collision: bool = True,
        rgba: tuple[float, float, float, float] | None = None,
        mesh: Mesh | None = None,
    ) -> int:
        """Put a shape on a body and return its index; ``jaxsim.model.geometry.SIZES`` says what the sizes mean."""
        shape = Shape(
            kind, self._body_index(body, f"The body of the shape {kind!r}"), name, visual, collision, rgba, mesh
        )
        self._shapes.append(placed_shape(shape, size, placement_of(placement)))
        return len(self._shapes) - 1

    def add_frame(self, name: str, body: int | str, placement: Placement | Sequence[float] | None = None) -> None:
        """Name a frame of a body; kinematics accept the name of a frame wherever they accept that of a body."""
        if name in self._frames:
            raise ValueError(f"There already is a frame named {name!r}; frame names must be unique.")
        self._frames[name] = self._body_index(body, f"The body of the frame {name!r}"), placement_of(placement)

    def add_loop(
        self,
        kind: str,
        body_a: int | str,
        body_b: int | str,
        placement_a: Placement | Sequence[float] | None = None,
        placement_b: Placement | Sequence[float] | None = None,
        name: str = "",
    ) -> int:
        """Close a loop between frames of two bodies and return its index.

        ``"connect"`` holds the origins of the frames together, ``"weld"`` also their axes. The tree's own recursions do
        not enforce loops; they are data for the solvers that do.
        """
        if kind not in KINDS:
            raise ValueError(f"There is no loop closure {kind!r}; the kinds are {', '.join(KINDS)}.")
        bodies = [self._body_index(body, f"A body of the loop {name or kind!r}") for body in (body_a, body_b)]
        self._loops.append((Loop(name, kind, *bodies), placement_of(placement_a), placement_of(placement_b)))
        return len(self._loops) - 1

    def add_mimic(self, body: int | str, leader: int | str, multiplier: float = 1.0, offset: float = 0.0) -> None:
        """Let the joint of a body follow that of another: q_body = multiplier · q_leader + offset, exactly.

        The joint that follows has no coordinate of its own in q and v. Its damping, armature and limits act on the
        leader.
        """
        index, above = (self._body_index(b, "A body of a mimic pair") for b in (body, leader))
        for end in (index, above):
            if end == 0 or self._bodies[end - 1].joint.nq != 1:
                name = "world" if end == 0 else self._bodies[end - 1].name
                raise ValueError(f"The joint of {name!r} cannot mimic or lead: it has not exactly one coordinate.")
        if not np.isfinite(multiplier) or not np.isfinite(offset):
            raise ValueError(f"The multiplier {multiplier} and the offset {offset} of a mimic pair must be finite.")
        self._followers[index] = Follower(index, above, float(multiplier), float(offset))

    def add_actuator(
        self,
        name: str,
        body: int | str | Mapping[int | str, float],
        gear: float | Sequence[float] = 1.0,
        gain: float = 1.0,
        bias: Sequence[float] = (0.0, 0.0, 0.0),
        control_range: tuple[float, float] = (-np.inf, np.inf),
        force_range: tuple[float, float] = (-np.inf, np.inf),
    ) -> int:
        """Drive the joint of a body and return the index of the actuator; see ``Actuation`` for the law.

        The gear is one number for a joint of one degree of freedom, else one for each. A mapping from bodies to
        coefficients drives all their joints at once, each with its coefficient times the gear, as a tendon does.
        """
        pulls = {key: np.multiply(gear, c) for key, c in body.items()} if isinstance(body, Mapping) else {body: gear}
        gears = []
        for key, number in pulls.items():
            index = self._body_index(key, f"The body of the actuator {name!r}")
            gears.append((index, self._bodies[index - 1].joint.nv if index else 0, number))
        self._actuators.append(actuator(name, gears, gain, bias, control_range, force_range))
        return len(self._actuators) - 1

    def add_keyframe(self, name: str, q, v=None, u=None) -> None:
        """Name a state: a configuration, a velocity (zero by default) and controls (zero by default)."""
        self._keyframes.append((name, q, v, u))

    def build(self, dtype=None, strict: bool = True) -> Model:
        """Make the model.

        Args:
            dtype: the floating-point type of the leaves; JAX's default one if ``None``.
            strict: whether joints that move no mass, whose acceleration is undefined, are refused.
        """
        dtype = jnp.zeros(0).dtype if dtype is None else dtype
        if strict:
            self._check_mobility()
        topology, joints = self._topology()
        data = {index: body.coordinates for index, body in enumerate(self._bodies, start=1)}
        coupling, data = couple(topology, data, self._followers, dtype)

        def rows(world, get) -> jax.Array:
            return jnp.asarray(np.stack([np.asarray(world, float), *(get(body) for body in self._bodies)]), dtype)

        def coordinates(field: str) -> jax.Array:
            return jnp.asarray(np.concatenate([np.zeros(0), *(entry[field] for entry in data.values())]), dtype)

        per_coordinate: dict[str, Any] = {field: coordinates(field) for field in (*PER_VELOCITY, *PER_COORDINATE)}
        model = Model(
            joints=tuple(jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), joint) for joint in joints),
            position=rows(np.zeros(3), lambda body: body.position),
            orientation=rows([1.0, 0.0, 0.0, 0.0], lambda body: body.orientation),
            mass=rows(0.0, lambda body: body.inertia.mass),
            com=rows(np.zeros(3), lambda body: body.inertia.com),
            inertia=rows(np.zeros((3, 3)), lambda body: 0.5 * (body.inertia.matrix + body.inertia.matrix.T)),
            **per_coordinate,
            gravity=jnp.asarray(self.gravity, dtype),
            topology=topology,
            geometry=stack_geometry(self._shapes, dtype),
            frames=stack_frames([(name, *place) for name, place in self._frames.items()], dtype),
            loops=stack_loops(self._loops, dtype),
            coupling=coupling,
        )
        return self._with_controls(model, dtype)

    def _check_mobility(self) -> None:
        """Refuse joints at the ends of the tree that move no mass; coupled ones may move that of others."""
        coupled = {*self._followers, *(follower.leader for follower in self._followers.values())}
        carries = [False] * (len(self._bodies) + 1)
        for index, body in reversed(list(enumerate(self._bodies, start=1))):
            at_end = not carries[index] and index not in coupled
            if at_end and not moves_mass(body.joint, body.inertia, body.coordinates["armature"]):
                raise ValueError(
                    f"The joint of {body.name!r} can move without moving any mass, so that no force determines its "
                    "acceleration; give the body, or one that it carries, mass and rotational inertia, or give the "
                    "joint armature."
                )
            carries[body.parent] |= carries[index] or body.inertia.mass > 0.0

    def _body_index(self, body: int | str, what: str) -> int:
        if isinstance(body, str):
            if body not in self._index:
                raise ValueError(f"{what} is {body!r}, which has not been added; add it first.")
            return self._index[body]
        if not 0 <= body <= len(self._bodies):
            raise ValueError(f"{what} is body {body}, but only bodies 0 to {len(self._bodies)} exist.")
        return int(body)

    def _topology(self) -> tuple[Topology, list[AbstractJoint]]:
        groups, joints = self._grouped_joints()
        topology = Topology(
            parents=(-1, *(body.parent for body in self._bodies)),
            body_names=tuple(self._index),
            joint_names=("", *(body.joint_name for body in self._bodies)),
            joint_nq=(0, *(body.joint.nq for body in self._bodies)),
            part_nv=((), *(tuple(part.nv for part in body.joint.parts()) for body in self._bodies)),
            groups=groups,
            ball_springs=any(
                not body.joint.is_euclidean and np.any(body.coordinates["stiffness"]) for body in self._bodies
            ),
        )
        return topology, joints

    def _grouped_joints(self) -> tuple[tuple[tuple[int, ...], ...], list[AbstractJoint]]:
        """The joints stacked by kind: same class, same static fields, leaves of the same shapes."""
        kinds: dict[object, list[int]] = {}
        for index, body in enumerate(self._bodies, start=1):
            leaves, structure = jax.tree.flatten(body.joint)
            kinds.setdefault((structure, tuple(np.shape(leaf) for leaf in leaves)), []).append(index)
        groups = tuple(tuple(bodies) for bodies in kinds.values())
        stacked = [
            jax.tree.map(lambda *leaves: np.stack(leaves), *(self._bodies[b - 1].joint for b in bodies))
            for bodies in groups
        ]
        return groups, stacked

    def _with_controls(self, model: Model, dtype) -> Model:
        """The model with its actuators and keyframes, whose sizes are those of its coordinates."""
        actuation = stack_actuators(self._actuators, lambda body: self._drive(model, body), model.nv, dtype)
        sizes = model.nq, model.nv, len(actuation)
        keyframes = []
        for name, *state in self._keyframes:
            given = [np.zeros(size) if value is None else value for value, size in zip(state, sizes, strict=True)]
            what = [f"{letter} of the keyframe {name!r}" for letter in "qvu"]
            keyframes.append((name, *map(finite_vector, given, sizes, what)))
        return dataclasses.replace(
            model,
            actuation=actuation,
            keyframes=stack_keyframes(keyframes, dtype),
        )

    def _drive(self, model: Model, body: int) -> Drive:
        """Where the coordinates of a body's joint stand in those of the model, its leader's if it follows another."""
        places = model.coordinates_of(body)
        if body not in self._followers or model.coupling is None:
            return Drive(*places)
        row = model.coupling.followers.index((int(model.topology.q_start[body]), int(model.topology.v_start[body])))
        return Drive(*places, float(model.coupling.multiplier[row]), float(model.coupling.offset[row]))
