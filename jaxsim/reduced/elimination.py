"""The Newton direction of a stage in linear time, by elimination from the leaves to the root.

In the ground frame the change of a body's motion is a sum along its path, y_i = y_λ + w_i δψ_i, where y holds the
displacement η and the changes of velocity β and acceleration γ that remain in a frame carried along with the body. In
the notation of Singh et al. (2022, eq. 5), with displacements s̃ = s J_r,

    η: s̃,    β: ψ̇̃ + s/c,    γ: ψ̈̃ + p/c + s/c².

The force that a body needs changes by P y with P = [−K, 2B − D, I], K and D from the wrenches on it, and the force that
element i transmits by P_i y_i + p_i, plus s̃×*f for what it carries turned. From the leaves to the root, for H δψ = b:

    Δ = s·P w + L,   δψ = Δ⁻¹(b − s·p − s·P y_λ),   P_λ += P − G Δ⁻¹ sᵀP,   p_λ += p + G Δ⁻¹(b − s·p),   G = P w + s̃×*f,

where L is what the joint itself adds. Elements of one block share a frame that moves with all of them: their rows do
not see s̃×*f of each other, which is carried beside P until the block ends.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..dynamics.elements import elements, per_element, per_velocity, rotors
from ..dynamics.ground_frame import GroundFrame, first_of_block, ground_frame
from ..dynamics.kinematics import world_poses
from ..dynamics.subspace_rates import varying
from ..forces.applied import Sorted, body_derivatives, body_wrenches, diagonal_derivatives, sort_forces
from ..forces.joint import flat_coordinates
from ..forces.link import own_derivatives
from ..forces.states import body_states
from ..model import Model
from ..spatial import Force, Mat3, Motion, Pose, Scalar, Vec3
from ..spatial.operator import SpatialMatrix
from ..sweep import leaf_to_root, root_to_leaf
from .stage import Stage, increment_columns, is_flat

Half = tuple[Mat3, Mat3]
"""Three columns of a matrix of six rows: the moments and the forces that answer a vector of three components."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Factors:
    """What a solve needs of every element: s, w, Δ⁻¹, sᵀP, P w and, where there are blocks, E w + s̃×*f."""

    s: Motion
    w: tuple[Vec3, ...]
    inverse: Scalar
    row: tuple[Vec3, ...]
    gain: Force
    shift: Force
    model: Model


def applies(model: Model, forces: Sorted) -> bool:
    """Whether the elimination serves this model and these forces; otherwise the matrix has to be formed."""
    if model.coupling is not None or model.topology.ball_springs or not forces.respect_tree or model.nv == 0:
        return False
    widths = (model.topology.block_members < model.topology.elements.count).sum(axis=1)
    return bool(np.all(widths[model.topology.moving[varying(model)]] == 1))


def factorise(stage: Stage, psi: Float[Array, " nv"]) -> Factors:
    """Eliminate all joints, from the leaves to the root."""
    model, dtype = stage.model, psi.dtype
    forces = sort_forces(model, stage.forces)
    q, v, a = stage.motion(psi)
    ground = ground_frame(model, q, v, a, body_wrenches(model, forces.every_body, forces.single, q, v))
    displacement, w = _columns(stage, psi, ground)
    P, w = _own(model, forces, ground, q, v, (displacement, *w))
    L = _joint_rows(stage, forces, ground, q, v, displacement)
    blocks = _has_blocks(model)

    def inward(from_children, x):
        (P, E), (own, s, w, turned, f, L, first) = from_children, x
        P = tuple(_add(a, b) for a, b in zip(P, own, strict=True))
        row = tuple(_row(s, part) for part in P)
        gain = _apply(P, w)
        shift = turned.cross_force(f) if E is None else _apply(E, w) + turned.cross_force(f)
        inverse = 1.0 / (s.dot(gain) + L)
        if E is None:
            up = _reduced(P, (gain + shift) * inverse, row), None
        else:
            P, E = _reduced(P, gain * inverse, row), _reduced(E, shift * inverse, row)
            merged = tuple(_add(a, _scaled(b, first)) for a, b in zip(P, E, strict=True))
            up = merged, tuple(_scaled(part, 1.0 - first) for part in E)
        return up, (inverse, row, gain, shift)

    zero = tuple((Mat3.zero(), Mat3.zero()) for _ in w)
    data = P, ground.columns.s, w, displacement, ground.composites.force, L, first_of_block(model)
    _, (inverse, row, gain, shift) = leaf_to_root(model.topology, inward, data, (zero, zero if blocks else None), dtype)
    return Factors(ground.columns.s, w, inverse, row, gain, shift, model)


def solve(factors: Factors, b: Float[Array, " nv"]) -> Float[Array, " nv"]:
    """H⁻¹ b: inward with the forces, outward with the motion; linear in b, so that JAX can transpose it."""
    model, dtype = factors.model, b.dtype
    blocks = _has_blocks(model)

    def inward(from_children, x):
        (p, e), (s, inverse, gain, shift, b, first) = from_children, x
        u = (b - s.dot(p)) * inverse
        if e is None:
            return (p + (gain + shift) * u, None), u
        p, e = p + gain * u, e + shift * u
        return (p + e * first, e * (1.0 - first)), u

    def outward(y, x):
        u, inverse, row, w = x
        rate = u - inverse * sum(r.dot(part) for r, part in zip(row, y, strict=True))
        return tuple(part + column * rate for part, column in zip(y, w, strict=True)), rate

    tree = model.topology
    data = factors.s, factors.inverse, factors.gain, factors.shift, per_element(model, b), first_of_block(model)
    zero = Force.zero(), Force.zero() if blocks else None
    _, u = leaf_to_root(tree, inward, data, zero, dtype)
    still = tuple(Vec3.zero() for _ in factors.w)
    return per_velocity(model, root_to_leaf(tree, outward, (u, factors.inverse, factors.row, factors.w), still, dtype))


def _has_blocks(model: Model) -> bool:
    return model.topology.block_members.shape[-1] > 1


def _columns(stage: Stage, psi: Array, ground: GroundFrame) -> tuple[Motion, tuple[Motion, Motion]]:
    """The displacement s̃ of every element, and its β and γ."""
    columns, c = ground.columns, stage.c
    moved = columns.s, columns.psi_dot, columns.psi_ddot
    if not is_flat(stage.model):
        moved = tuple(_turned(stage, psi, column) for column in moved)
    s, psi_dot, psi_ddot = moved
    return s, (psi_dot + columns.s * (1.0 / c), psi_ddot + columns.p * (1.0 / c) + columns.s * (1.0 / c**2))


def _turned(stage: Stage, psi: Array, column: Motion) -> Motion:
    """Σ_m column_m (J_r)_mk over the block of each element k."""
    topology = stage.model.topology
    table, members = topology.elements, topology.block_members
    width, nv = members.shape[-1], topology.nv
    directions = jnp.asarray(table.column[topology.moving] == np.arange(width)[:, None], psi.dtype)
    J = increment_columns(stage, psi, directions)
    J = jnp.concatenate([J, jnp.zeros((width, 1), psi.dtype)], axis=1)
    velocity = np.append(table.velocity, nv)
    weights = J[table.column[:, None], velocity[members]]

    def mixed(leaf: Scalar) -> Scalar:
        padded = jnp.concatenate([jnp.asarray(leaf), jnp.zeros(1, psi.dtype)])
        return jnp.sum(weights * padded[members], axis=-1)

    return jax.tree.map(mixed, column)


def _own(model: Model, forces: Sorted, ground: GroundFrame, q, v, w):
    """P of every element alone and the columns w, in halves of three columns.

    Without wrenches on bodies the answer depends on the angular part of β alone, and not on η.
    """
    B, I = ground.alone.coriolis, SpatialMatrix.from_inertia(ground.alone.inertia)
    beta, gamma = w[-2], w[-1]
    inertial = (I.A, I.C), (I.B, I.D)
    turning = B.K, Mat3.skew(B.l) * -2.0
    matrices = body_derivatives(model, forces, q, v)
    if matrices is None:
        return (turning, *inertial), (beta.angular, gamma.angular, gamma.linear)
    pose = _ground_poses(model, q)
    K, D = (_in_ground(model, pose, matrix) for matrix in matrices)
    answers = (
        (-K.A, -K.C),
        (-K.B, -K.D),
        (turning[0] - D.A, turning[1] - D.C),
        (-D.B, -D.D),
        *inertial,
    )
    displacement = w[0]
    parts = displacement, beta, gamma
    return answers, tuple(half for part in parts for half in (part.angular, part.linear))


def _ground_poses(model: Model, q) -> Pose:
    """The poses of the elements in the ground frame, whose origin is the first element."""
    pose = world_poses(model, elements(model, q), q.dtype)
    first = jax.tree.map(lambda leaf: leaf[0], pose.position)
    return Pose(pose.rotation, pose.position - first)


def _in_ground(model: Model, pose: Pose, matrices: Float[Array, "nb 6 6"]) -> SpatialMatrix:
    """Matrices of bodies, in their frames, as matrices of their last elements in the ground frame."""
    table = model.topology.elements
    return SpatialMatrix.from_array(matrices[table.body] * table.is_last[:, None, None]).transformed(pose)


def _joint_rows(stage: Stage, forces: Sorted, ground: GroundFrame, q, v, displacement: Motion) -> Array:
    """L: rotors, springs, dampers and other forces of the joint itself, and its axis turned where it moves."""
    model, c = stage.model, stage.c
    K, D = diagonal_derivatives(model, forces, q, v)
    spring = jnp.where(flat_coordinates(model)[1], model.stiffness, 0.0)
    L = rotors(model) * jnp.where(model.topology.elements.velocity == model.nv, 1.0, 1.0 / c**2)
    L = L + per_element(model, (model.damping - D) / c + spring - K)
    if ground.turned:
        L = L + ground.turned[0].dot(ground.composites.force)
    if not forces.hinged:
        return L
    pose = _ground_poses(model, q)
    stiff, slow = (_in_ground(model, pose, m) for m in own_derivatives(model, forces.hinged, body_states(model, q, v)))
    s = ground.columns.s
    answer = stiff.apply(displacement) + slow.apply(ground.columns.psi_dot + s * (1.0 / c))
    return L - jnp.asarray(s.dot(answer))


def _add(a: Half, b: Half) -> Half:
    return a[0] + b[0], a[1] + b[1]


def _scaled(a: Half, factor: Scalar) -> Half:
    return a[0] * factor, a[1] * factor


def _row(s: Motion, part: Half) -> Vec3:
    """sᵀP."""
    return part[0].apply_transposed(s.angular) + part[1].apply_transposed(s.linear)


def _apply(P: tuple[Half, ...], w: tuple[Vec3, ...]) -> Force:
    """P w."""
    total = Force.zero()
    for (top, bottom), part in zip(P, w, strict=True):
        total = total + Force(top.apply(part), bottom.apply(part))
    return total


def _reduced(P: tuple[Half, ...], f: Force, row: tuple[Vec3, ...]) -> tuple[Half, ...]:
    """P − f rowᵀ."""
    return tuple(
        (top - Mat3.outer(f.angular, r), bottom - Mat3.outer(f.linear, r))
        for (top, bottom), r in zip(P, row, strict=True)
    )
