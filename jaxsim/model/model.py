"""The model: differentiable leaves around a static topology."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..joints import AbstractJoint
from ..spatial import Quaternion, Scalar, Vec3
from .actuation import Actuation
from .coupling import Coupling
from .frames import Frames
from .geometry import Geometry
from .keyframes import Keyframes
from .loops import Loops
from .rows import take_rows
from .topology import Topology


class Model(eqx.Module):
    """A tree of rigid bodies.

    All arrays are ordinary differentiable leaves, one row a body (row 0 is the world) or one entry a coordinate.
    Quantities that follow from them are computed when they are needed, so a model with other leaves, made with
    ``equinox.tree_at`` or under ``jax.vmap``, is always consistent.

    Attributes:
        joints: the joints, those of one kind stacked; ``topology.groups`` says whose they are.
        position: where each joint stands in the frame of the parent body, at the neutral configuration.
        orientation: the rotation of the joint's frame in the parent's, as a quaternion wxyz.
        mass: the masses, in kg.
        com: the centres of mass, in the body frames.
        inertia: the rotational inertias about the centres of mass, in the body frames.
        stiffness: the spring constant of each degree of freedom, and
        spring_reference: the configuration in which the springs are at rest.
        damping: the viscous damping of each degree of freedom.
        armature: the inertia of the rotor reflected to each degree of freedom.
        friction: the dry friction of each degree of freedom (data: the smooth dynamics does not use it).
        lower: the lower limits of the configuration coordinates (data), and
        upper: the upper ones.
        velocity_limit: the bounds of the velocities (data).
        effort_limit: the bounds of the joint forces (data).
        gravity: the acceleration of gravity, in the world frame.
        topology: the static structure.
        geometry: shapes for viewers and contact (data).
        frames: named frames that are not bodies (data).
        loops: loop closures (data).
        actuation: the actuators, which map controls to joint forces (data).
        keyframes: named states (data).
        coupling: how the tree's coordinates follow from those of the model, if some joints mimic others.
    """

    joints: tuple[AbstractJoint, ...]
    position: Float[Array, "nb 3"]
    orientation: Float[Array, "nb 4"]
    mass: Float[Array, " nb"]
    com: Float[Array, "nb 3"]
    inertia: Float[Array, "nb 3 3"]
    stiffness: Float[Array, " nv"]
    spring_reference: Float[Array, " nq"]
    damping: Float[Array, " nv"]
    armature: Float[Array, " nv"]
    friction: Float[Array, " nv"]
    lower: Float[Array, " nq"]
    upper: Float[Array, " nq"]
    velocity_limit: Float[Array, " nv"]
    effort_limit: Float[Array, " nv"]
    gravity: Float[Array, " 3"]
    topology: Topology = eqx.field(static=True)
    geometry: Geometry = Geometry()
    frames: Frames = Frames()
    loops: Loops = Loops()
    actuation: Actuation = Actuation()
    keyframes: Keyframes = Keyframes()
    coupling: Coupling | None = None

    @property
    def nq(self) -> int:
        """The number of configuration coordinates."""
        return self.topology.nq if self.coupling is None else self.coupling.nq

    @property
    def nv(self) -> int:
        """The number of degrees of freedom."""
        return self.topology.nv if self.coupling is None else self.coupling.nv

    @property
    def num_bodies(self) -> int:
        """The number of bodies, the world included, which is body 0."""
        return self.topology.num_bodies

    @property
    def body_names(self) -> tuple[str, ...]:
        """The names of the bodies; the index of a name is the index of the body everywhere."""
        return self.topology.body_names

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The name of the joint above each body; ``""`` for the world."""
        return self.topology.joint_names

    @property
    def dtype(self):
        """The floating-point type of the leaves."""
        return self.mass.dtype

    def body_index(self, body: int | str) -> int:
        """The index of a body given by name or by index."""
        if isinstance(body, str):
            if body not in self.body_names:
                raise ValueError(f"There is no body {body!r}; the bodies are {', '.join(self.body_names)}.")
            return self.body_names.index(body)
        if not 0 <= body < self.num_bodies:
            raise ValueError(f"There is no body {body}; the indices go from 0 (the world) to {self.num_bodies - 1}.")
        return int(body)

    def attachment(self, frame: int | str, point=(0.0, 0.0, 0.0)) -> tuple[int, Float[Array, " 3"]]:
        """The body that carries a frame, and a point of the frame in that body's own frame.

        A string is looked for among the named frames first and among the bodies then; a number is a body.
        """
        x = jnp.asarray(point, self.dtype)
        if not isinstance(frame, str) or frame not in self.frames:
            return self.body_index(frame), x
        index = self.frames.names.index(frame)
        turned = Quaternion.from_array(jnp.asarray(self.frames.orientation[index])).rotate(Vec3.from_array(x))
        return self.frames.bodies[index], jnp.asarray(self.frames.position[index]) + turned.to_array()

    def coordinates_of(self, body: int | str) -> tuple[slice, slice]:
        """Where the coordinates of a body's joint stand in q and in v; for a joint that mimics, those of its leader."""
        index = self.body_index(body)
        spans = []
        for starts, source in ((self.topology.q_start, "q_source"), (self.topology.v_start, "v_source")):
            first, size = int(starts[index]), int(starts[index + 1] - starts[index])
            if self.coupling is not None and size:
                first = getattr(self.coupling, source)[first]
            spans.append(slice(first, first + size))
        return spans[0], spans[1]

    def neutral(self) -> Float[Array, " nq"]:
        """The configuration in which every joint is at rest."""
        parts = [
            [jnp.broadcast_to(jnp.asarray(component, self.dtype), (len(bodies),)) for component in joint.neutral()]
            for joint, bodies in zip(self.joints, self.topology.groups, strict=True)
        ]
        q = from_groups(parts, self.topology.q_rows, self.dtype)
        return q if self.coupling is None else q[self.coupling.own_q]

    def astype(self, dtype) -> Model:
        """The same model with leaves of another floating-point type."""
        return jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), self)


def from_groups(parts: Sequence[Sequence[Scalar]], rows: Sequence[np.ndarray], dtype) -> Array:
    """Put components that were computed group by group back into one vector of coordinates.

    ``parts[g][c]`` holds the c-th coordinate of every joint of group g, and ``rows[g][c]`` says where they belong.
    """
    values = [component for components in parts for component in components]
    if not values:
        return jnp.zeros(0, dtype)
    order = np.argsort(np.concatenate([index.reshape(-1) for index in rows]))
    return take_rows(jnp.concatenate([jnp.asarray(value) for value in values]), order)
