"""Building a model body by body."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from ..joints import AbstractJoint, Fixed
from .model import Model
from .topology import Topology


@dataclasses.dataclass(frozen=True)
class Placement:
    """Where a joint stands in the frame of the parent body: a position and a rotation.

    The rotation is a quaternion wxyz or a 3×3 matrix.
    """

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: object = (1.0, 0.0, 0.0, 0.0)

    @staticmethod
    def from_rpy(position=(0.0, 0.0, 0.0), rpy=(0.0, 0.0, 0.0)) -> Placement:
        """From roll, pitch and yaw about fixed axes: R = Rz(yaw) Ry(pitch) Rx(roll)."""
        (cr, cp, cy), (sr, sp, sy) = np.cos(np.asarray(rpy) / 2), np.sin(np.asarray(rpy) / 2)
        quaternion = (
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        )
        return Placement(tuple(position), quaternion)


@dataclasses.dataclass(frozen=True)
class BodyInertia:
    """What a body weighs: mass, centre of mass and rotational inertia about it, in the body frame.

    The inertia is a 3×3 matrix, or three principal moments along the body axes.
    """

    mass: float
    com: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: object = (0.0, 0.0, 0.0)

    @staticmethod
    def box(mass: float, size, com=(0.0, 0.0, 0.0)) -> BodyInertia:
        """A solid box with edges ``size`` along the body axes."""
        x, y, z = (float(edge) ** 2 for edge in size)
        return BodyInertia(mass, com, (mass * (y + z) / 12, mass * (x + z) / 12, mass * (x + y) / 12))

    @staticmethod
    def sphere(mass: float, radius: float, com=(0.0, 0.0, 0.0)) -> BodyInertia:
        """A solid ball."""
        return BodyInertia(mass, com, (0.4 * mass * radius**2,) * 3)

    @staticmethod
    def rod(mass: float, end, radius: float = 0.0) -> BodyInertia:
        """A solid cylinder from the body's origin to the point ``end``."""
        end = np.asarray(end, float)
        length = float(np.linalg.norm(end))
        axis = end / length
        along, across = 0.5 * mass * radius**2, mass * (length**2 / 12 + radius**2 / 4)
        matrix = across * np.eye(3) + (along - across) * np.outer(axis, axis)
        return BodyInertia(mass, tuple(end / 2), matrix)


@dataclasses.dataclass
class _Body:
    name: str
    parent: int
    joint: AbstractJoint
    joint_name: str
    position: np.ndarray
    orientation: np.ndarray
    inertia: tuple[float, np.ndarray, np.ndarray]
    coordinates: dict[str, np.ndarray]


_PER_VELOCITY = {
    "stiffness": 0.0,
    "damping": 0.0,
    "armature": 0.0,
    "friction": 0.0,
    "velocity_limit": np.inf,
    "effort_limit": np.inf,
}
_PER_COORDINATE = {"lower": -np.inf, "upper": np.inf, "spring_reference": None}


class ModelBuilder:
    """Collects bodies and makes a ``Model`` of them.

    >>> builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    >>> link = builder.add_body("link", parent=0, joint=Revolute("y"), inertia=BodyInertia.rod(1.0, (0, 0, -1)))
    >>> model = builder.build()
    """

    def __init__(self, gravity=(0.0, 0.0, -9.81)):
        self.gravity = _vector(gravity, 3, "gravity")
        self._bodies: list[_Body] = []

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
        names = self._names()
        if name in names:
            raise ValueError(f"There already is a body named {name!r}; body names must be unique.")
        joint = Fixed() if joint is None else joint
        if not isinstance(joint, AbstractJoint):
            raise ValueError(f"The joint of {name!r} is {joint!r}; give a joint such as jaxsim.Revolute('y').")
        placement = _placement(placement)
        self._bodies.append(
            _Body(
                name,
                self._parent_index(name, parent),
                joint,
                joint_name or f"{name}_joint",
                _vector(placement.position, 3, f"the position of {name!r}"),
                _quaternion(placement.rotation, name),
                _check_inertia(name, inertia),
                _check_coordinates(name, joint, coordinates),
            )
        )
        return len(self._bodies)

    def build(self, dtype=None) -> Model:
        """Make the model; leaves have JAX's default floating-point type unless ``dtype`` says otherwise."""
        dtype = jnp.zeros(0).dtype if dtype is None else dtype
        groups, joints = self._grouped_joints()
        topology = Topology(
            parents=(-1, *(body.parent for body in self._bodies)),
            body_names=tuple(self._names()),
            joint_names=("", *(body.joint_name for body in self._bodies)),
            joint_nq=(0, *(body.joint.nq for body in self._bodies)),
            part_nv=((), *(tuple(part.nv for part in body.joint.parts()) for body in self._bodies)),
            groups=groups,
            ball_springs=any(
                not body.joint.is_euclidean and np.any(body.coordinates["stiffness"]) for body in self._bodies
            ),
        )

        def rows(world, get) -> jax.Array:
            return jnp.asarray(np.stack([np.asarray(world, float), *(get(body) for body in self._bodies)]), dtype)

        def coordinates(field: str) -> jax.Array:
            return jnp.asarray(np.concatenate([np.zeros(0), *(b.coordinates[field] for b in self._bodies)]), dtype)

        return Model(
            joints=tuple(jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), joint) for joint in joints),
            position=rows(np.zeros(3), lambda body: body.position),
            orientation=rows([1.0, 0.0, 0.0, 0.0], lambda body: body.orientation),
            mass=rows(0.0, lambda body: body.inertia[0]),
            com=rows(np.zeros(3), lambda body: body.inertia[1]),
            inertia=rows(np.zeros((3, 3)), lambda body: body.inertia[2]),
            **{field: coordinates(field) for field in (*_PER_VELOCITY, *_PER_COORDINATE)},
            gravity=jnp.asarray(self.gravity, dtype),
            topology=topology,
        )

    def _names(self) -> list[str]:
        return ["world", *(body.name for body in self._bodies)]

    def _parent_index(self, name: str, parent: int | str) -> int:
        names = self._names()
        if isinstance(parent, str):
            if parent not in names:
                raise ValueError(f"The parent of {name!r} is {parent!r}, which has not been added; add it first.")
            return names.index(parent)
        if not 0 <= parent < len(names):
            raise ValueError(f"The parent of {name!r} is body {parent}, but only bodies 0 to {len(names) - 1} exist.")
        return int(parent)

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


def _placement(placement) -> Placement:
    if isinstance(placement, Placement):
        return placement
    return Placement() if placement is None else Placement(tuple(placement))


def _vector(value, size: int, what: str) -> np.ndarray:
    vector = np.asarray(value, dtype=float)
    if vector.shape != (size,) or not np.all(np.isfinite(vector)):
        raise ValueError(f"{what[0].upper() + what[1:]} is {value!r}; it must be {size} finite numbers.")
    return vector


def _quaternion(rotation, name: str) -> np.ndarray:
    array = np.asarray(rotation, dtype=float)
    if array.shape == (3, 3):
        if not np.allclose(array @ array.T, np.eye(3), atol=1e-6) or np.linalg.det(array) < 0:
            raise ValueError(f"The rotation of {name!r} is not a rotation matrix: {rotation!r}.")
        return _quaternion_from_matrix(array)
    length = np.linalg.norm(array) if array.shape == (4,) else 0.0
    if not np.isfinite(length) or length == 0.0:
        raise ValueError(f"The rotation of {name!r} is {rotation!r}; give a quaternion wxyz or a 3×3 rotation matrix.")
    return array / length


def _quaternion_from_matrix(R: np.ndarray) -> np.ndarray:
    """The eigenvector of the largest eigenvalue of Bar-Itzhack's matrix (2000, eq. 2), sharp at every angle."""
    K = np.array(
        [
            [np.trace(R), R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [0, R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [0, 0, R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]],
            [0, 0, 0, R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    )
    quaternion = np.linalg.eigh(K, UPLO="U")[1][:, -1]
    return quaternion if quaternion[0] >= 0 else -quaternion


def _check_inertia(name: str, inertia: BodyInertia | None) -> tuple[float, np.ndarray, np.ndarray]:
    if inertia is None:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    mass = float(inertia.mass)
    if not np.isfinite(mass) or mass <= 0.0:
        raise ValueError(f"The mass of {name!r} is {mass}; it must be positive (inertia=None makes a massless link).")
    com = _vector(inertia.com, 3, f"the centre of mass of {name!r}")
    matrix = np.asarray(inertia.inertia, dtype=float)
    matrix = np.diag(matrix) if matrix.shape == (3,) else matrix
    if matrix.shape != (3, 3) or not np.all(np.isfinite(matrix)):
        raise ValueError(f"The inertia of {name!r} is {inertia.inertia!r}; give a finite 3×3 matrix or three moments.")
    scale = max(np.abs(matrix).max(), 1e-300)
    if np.abs(matrix - matrix.T).max() > 1e-9 * scale:
        raise ValueError(f"The inertia of {name!r} is not symmetric: {matrix.tolist()}.")
    moments = np.linalg.eigvalsh(matrix)
    if moments[0] < -1e-9 * scale:
        raise ValueError(f"The inertia of {name!r} has a negative principal moment: {moments.tolist()}.")
    if moments[2] > (moments[0] + moments[1]) * (1 + 1e-6):
        raise ValueError(
            f"The principal moments {moments.tolist()} of {name!r} violate the triangle inequality: the largest must "
            "not exceed the sum of the others; check the inertia's frame and its signs."
        )
    return mass, com, 0.5 * (matrix + matrix.T)


def _check_coordinates(name: str, joint: AbstractJoint, given: dict) -> dict[str, np.ndarray]:
    unknown = sorted(set(given) - set(_PER_VELOCITY) - set(_PER_COORDINATE))
    if unknown:
        known = ", ".join(sorted((*_PER_VELOCITY, *_PER_COORDINATE)))
        raise ValueError(f"add_body({name!r}) does not know {', '.join(unknown)}; it takes {known}.")
    result = {}
    for field, default in (*_PER_VELOCITY.items(), *_PER_COORDINATE.items()):
        size = joint.nv if field in _PER_VELOCITY else joint.nq
        default = np.asarray([float(c) for c in joint.neutral()]) if default is None else default
        value = np.asarray(given.get(field, default), dtype=float)
        if value.shape not in ((), (size,)) or np.any(np.isnan(value)):
            raise ValueError(f"{field} of {name!r} is {given[field]!r}; give one number or {size}, none of them NaN.")
        if field in _PER_VELOCITY and np.any(value < 0):
            raise ValueError(f"{field} of {name!r} is {given[field]!r}; it must not be negative.")
        result[field] = np.broadcast_to(value, (size,))
    if np.any(result["lower"] > result["upper"]):
        raise ValueError(f"The lower limit of {name!r} exceeds the upper one: {result['lower']} > {result['upper']}.")
    return result
