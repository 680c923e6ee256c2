"""A model at a configuration, as the run of one-DoF elements that the sweeps visit.

Joint transforms, subspaces and biases are evaluated here, before any sweep, for all joints of one kind at once. Inside
a sweep an element only yields its pose in the parent's frame, ``placement.pose()``, and its column of the motion
subspace, ``S``.

A joint of several degrees of freedom whose columns share one frame is a run of elements: the first carries the pose,
the others coincide with it, the last carries the body's inertia. Velocities add up along the run, so the product
v×S q̇ of a sweep contains S_m×S_k q̇_m q̇_k for m < k, which the joint itself does not have; ``bias`` takes it away.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from ..joints import AbstractJoint
from ..model import Model
from ..model.rows import take_rows
from ..spatial import Inertia, Mat3, Motion, Pose, Scalar, Sym3, Vec3
from ..spatial.quaternion import Quaternion
from ..spatial.vector import choose, is_zero, multiply, subtract
from ..sweep import Shared, Tree
from .rule import vanishes

Row = TypeVar("Row")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ScrewPlacement:
    """The pose of an element that turns about and slides along a fixed axis, from its sine and cosine.

    With the placement (P, p) and the unit axis a, R = P (c𝟙 + s[a]× + (1−c) a aᵀ) = c A + s B + C, where the matrices
    A, B, C belong to the model, not to the configuration.
    """

    sin: Scalar
    cos: Scalar
    slide: Scalar
    A: Mat3
    B: Mat3
    C: Mat3
    offset: Vec3
    direction: Vec3

    @staticmethod
    def still(pose: Pose) -> ScrewPlacement:
        """An element that does not move."""
        return ScrewPlacement(0.0, 1.0, 0.0, pose.rotation, Mat3.zero(), Mat3.zero(), pose.position, Vec3.zero())

    def pose(self) -> Pose:
        """The pose in the parent element's frame."""
        rotation = self.A * self.cos + self.B * self.sin + self.C
        return Pose(rotation, self.offset + self.direction * self.slide)

    def displacement(self, d: ScrewPlacement, S: Motion) -> Motion:
        """The twist ε with dX = X ε× for the perturbation d of the components of an element with the screw S.

        With the model as it is, only q changes, and ε = S dq.
        """
        if vanishes((d.A, d.B, d.C, d.offset, d.direction)):
            turned = subtract(multiply(self.cos, d.sin), multiply(self.sin, d.cos))
            return Motion(S.angular * turned, S.linear * d.slide)
        turn = d.A * self.cos + self.A * d.cos + d.B * self.sin + self.B * d.sin + d.C
        return _twist(self.pose(), turn, d.offset + d.direction * self.slide + self.direction * d.slide)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class FramePlacement:
    """The pose of an element of any joint, computed before the sweep."""

    frame: Pose

    def pose(self) -> Pose:
        """The pose in the parent element's frame."""
        return self.frame

    def displacement(self, d: FramePlacement, S: Motion) -> Motion:
        """The twist ε with dX = X ε× for the perturbation d of the components, whatever the screw."""
        return _twist(self.frame, d.frame.rotation, d.frame.position)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class MixedPlacement:
    """The pose of an element where all are screws but one, the ``frame``: the free joint of a floating base, say."""

    screw: ScrewPlacement
    is_frame: Scalar
    frame: Shared

    def pose(self) -> Pose:
        """The pose in the parent element's frame."""
        return self._choose(self.frame.value, self.screw.pose())

    def displacement(self, d: MixedPlacement, S: Motion) -> Motion:
        """The twist ε with dX = X ε× for the perturbation d of the components of an element with the screw S."""
        frame, d_frame = self.frame.value, d.frame.value
        return self._choose(_twist(frame, d_frame.rotation, d_frame.position), self.screw.displacement(d.screw, S))

    def _choose(self, of_frame: Tree, of_screw: Tree) -> Tree:
        return jax.tree.map(lambda a, b: choose(self.is_frame > 0, a, b), of_frame, of_screw)


def _twist(pose: Pose, d_rotation: Mat3, d_position: Vec3) -> Motion:
    """X⁻¹ dX as a twist: the angular part are the entries zy, xz, yx of the skew matrix Rᵀ dR."""
    (x, y, z), (dx, dy, dz) = pose.rotation.columns(), d_rotation.columns()
    return Motion(Vec3(z.dot(dy), x.dot(dz), y.dot(dx)), pose.rotation.apply_transposed(d_position))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Element:
    """What a sweep needs of an element; stacked over all elements outside the sweep.

    Attributes:
        placement: where it stands in the parent element's frame.
        S: its column of the motion subspace, in its own frame.
        bias: the part of Ṡ q̇ that the joint adds on its own account.
    """

    placement: ScrewPlacement | FramePlacement | MixedPlacement
    S: Motion
    bias: Motion


def elements(model: Model, q: jax.Array, v: jax.Array | None = None) -> Element:
    """Evaluate all joints at q (and v, for the biases) and put their elements in sweep order."""
    if model.coupling is not None:
        raise ValueError("This function does not support models with joints that mimic others.")
    parts = parts_of(model, q, v)
    if not parts:
        nothing = Element(FramePlacement(Pose.identity()), Motion.zero(), Motion.zero())
        return jax.tree.map(lambda _: jnp.zeros(0, model.dtype), nothing)
    others = [part for part in parts if not (_is_screw(part) or part.joint.nv == 0)]
    if not others:
        return in_sweep_order(model, parts, [[_screw_element(part)] for part in parts])
    if sum(len(part.bodies) for part in others) > 1:
        return in_sweep_order(model, parts, [_frame_elements(part) for part in parts])
    return _mixed_elements(model, parts, others[0])


def inertias(model: Model) -> Inertia:
    """The inertia that each element carries: that of its body for the last element of a joint, else zero."""
    table = model.topology.elements
    carries = table.is_last.astype(model.dtype)
    body = table.body
    mass = take_rows(model.mass, body) * carries
    center = Vec3.from_array(take_rows(model.com, body))
    inertia = take_rows(model.inertia, body) * carries[:, None, None]
    return Inertia.from_center(mass, center, Sym3.from_array(inertia))


def per_element(model: Model, x: jax.Array) -> jax.Array:
    """The entries of a velocity-like vector in sweep order, with zeros for fixed joints."""
    index = model.topology.elements.velocity
    padded = jnp.concatenate([x, jnp.zeros(1, x.dtype)]) if np.any(index == model.nv) else x
    return take_rows(padded, index)


def rotors(model: Model) -> jax.Array:
    """The armature of each element."""
    # a fixed joint has S = 0: any positive number keeps its pivot invertible
    fixed = model.topology.elements.velocity == model.nv
    return jnp.where(fixed, 1.0, per_element(model, model.armature)).astype(model.dtype)


def per_velocity(model: Model, x: jax.Array) -> jax.Array:
    """The entries of an element-wise array, along its first axis, in the order of the velocity coordinates."""
    return take_rows(x, model.topology.moving)


def per_body(model: Model, x: jax.Array) -> jax.Array:
    """The rows of an element-wise array that belong to the bodies other than the world, in the order of bodies."""
    return take_rows(x, model.topology.elements.last_of_body[1:])


@dataclasses.dataclass(frozen=True)
class Part:
    """Stacked simple joints: one part of the joints of one group, with its coordinates and placement."""

    group: int
    index: int
    bodies: tuple[int, ...]
    joint: AbstractJoint
    q: list[jax.Array]
    v: list[jax.Array] | None
    placement: Pose


def parts_of(model: Model, q: jax.Array, v: jax.Array | None) -> list[Part]:
    """The joints at a configuration, as stacks of simple joints."""
    topology = model.topology
    result = []
    for group, (joint, bodies) in enumerate(zip(model.joints, topology.groups, strict=True)):
        q_rows, v_rows = topology.q_rows[group], topology.v_rows[group]
        rows = np.array(bodies)
        turn = Quaternion.from_array(take_rows(model.orientation, rows)).to_matrix()
        placement = Pose(turn, Vec3.from_array(take_rows(model.position, rows)))
        nq = nv = 0
        for index, part in enumerate(joint.parts()):
            part_q = [take_rows(q, r) for r in q_rows[nq : nq + part.nq]]
            part_v = None if v is None else [take_rows(v, r) for r in v_rows[nv : nv + part.nv]]
            result.append(Part(group, index, bodies, part, part_q, part_v, placement))
            placement = Pose.identity()
            nq, nv = nq + part.nq, nv + part.nv
    return result


def _is_screw(part: Part) -> bool:
    return part.joint.screw() is not None


def _mixed_elements(model: Model, parts: list[Part], other: Part) -> Element:
    """The elements of a model whose joints are all screws but one."""
    first, *rest = _frame_elements(other)
    frame = jax.tree.map(lambda leaf: leaf if isinstance(leaf, float) else leaf[0], first.placement.pose())
    still = ScrewPlacement.still(Pose.identity())
    run = [dataclasses.replace(element, placement=still) for element in (first, *rest)]
    rows = [run if part is other else [_screw_element(part)] for part in parts]
    element = in_sweep_order(model, parts, rows)
    assert isinstance(element.placement, ScrewPlacement)
    table = model.topology.elements
    is_frame = (table.body == other.bodies[0]) & (table.part == other.index) & (table.column == 0)
    placement = MixedPlacement(element.placement, is_frame.astype(model.dtype), Shared(frame))
    return dataclasses.replace(element, placement=placement)


def _screw_element(part: Part) -> Element:
    """The element of a screw or of a fixed joint."""
    P, p = part.placement.rotation, part.placement.position
    screw = part.joint.screw()
    if screw is None:
        return Element(ScrewPlacement.still(part.placement), Motion.zero(), Motion.zero())
    a, d = screw.angular, screw.linear
    turns = not all(map(is_zero, (a.x, a.y, a.z)))
    # XLA would recompute the sine and the cosine in every fusion of every sweep
    sin, cos = jax.lax.optimization_barrier((jnp.sin(part.q[0]), jnp.cos(part.q[0]))) if turns else (0.0, 1.0)
    C = P.matmul(Mat3.outer(a, a))
    placement = ScrewPlacement(sin, cos, part.q[0], P - C, P.matmul(Mat3.skew(a)), C, p, P.apply(d))
    return Element(placement, screw, Motion.zero())


def _frame_elements(part: Part) -> list[Element]:
    """The elements of any joint: the first carries its pose and its bias."""
    pose = part.placement @ part.joint.transform(part.q)
    columns = part.joint.subspace(part.q) or (Motion.zero(),)
    bias = Motion.zero() if part.v is None else _run_bias(part.joint, part.q, part.v, columns)
    first = Element(FramePlacement(jax.lax.optimization_barrier(pose)), columns[0], bias)
    rest = [Element(FramePlacement(Pose.identity()), column, Motion.zero()) for column in columns[1:]]
    return [first, *rest]


def _run_bias(joint: AbstractJoint, q, v, columns: Sequence[Motion]) -> Motion:
    """Ṡ q̇ − Σ_{m<k} S_m×S_k q̇_m q̇_k."""
    bias = joint.bias(q, v)
    before = Motion.zero()
    for column, rate in zip(columns, v, strict=False):
        bias = bias - before.cross(column * rate)
        before = before + column * rate
    return bias


def in_sweep_order(model: Model, parts: list[Part], rows: list[list[Row]]) -> Row:
    """Concatenate the elements of all parts, or whatever they have of their own, in the order of the sweeps."""
    table = model.topology.elements
    position = {key: i for i, key in enumerate(zip(table.body, table.part, table.column, strict=True))}
    order, flat, sizes = [], [], []
    for part, run in zip(parts, rows, strict=True):
        for column, element in enumerate(run):
            order.extend(position[body, part.index, column] for body in part.bodies)
            flat.append(element)
            sizes.append(len(part.bodies))
    permutation = np.argsort(order)

    def join(*leaves: Scalar) -> Scalar:
        first = leaves[0]
        if all(isinstance(leaf, float) and leaf == first for leaf in leaves):
            return first
        dtype = jnp.result_type(model.dtype, *leaves)
        whole = jnp.concatenate(
            [jnp.broadcast_to(jnp.asarray(leaf, dtype), (size,)) for leaf, size in zip(leaves, sizes, strict=True)]
        )
        return take_rows(whole, permutation)

    return jax.tree.map(join, *flat)
