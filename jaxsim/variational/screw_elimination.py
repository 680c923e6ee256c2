"""The elimination of ``elimination.py`` for screw joints, row by row.

The same equations with every row of D one array along x, and everything else in components: in a batch of worlds all
operations are long loops, and the graph stays small for every order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..dynamics.elements import per_element, per_velocity
from ..model import Model
from ..spatial import Force, Mat3, Motion, Scalar, Vec3
from ..spatial.operator import SpatialMatrix
from ..spatial.vector import stack_last
from ..sweep import leaf_to_root, root_to_leaf
from .blocks import Shape, newton_shape
from .elimination import small_inverse, wrench_response
from .nodes import Nodes, StepProblem

Motions = tuple[tuple[Motion, ...], ...]
Forces = tuple[tuple[Force, ...], ...]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ScrewFactors:
    """What a right-hand side needs of every element; outer tuples run over the s unknowns of a joint.

    Attributes:
        W: motions that multiply the parts of f.
        V: what the unknowns add to x, (n, C) each.
        H: forces that the unknowns add to the parts of f.
        X: what multiplies x, (n, C) each.
        inverse: Λ⁻¹, row by row.
    """

    W: Motions
    V: tuple[Array, ...]
    H: Forces
    X: tuple[Array, ...]
    inverse: tuple[tuple[Scalar, ...], ...]
    model: Model


def factorise(problem: StepProblem, nodes: Nodes) -> ScrewFactors:
    """Eliminate all joints, from the leaves to the root."""
    sizes, model, dtype = newton_shape(problem), problem.model, nodes.q.dtype
    W, theta = _rows(problem, nodes, sizes)
    V, shift = _columns(problem, nodes, sizes)
    places, own = _answers(problem, nodes, sizes)
    Lambda0 = _joint_terms(problem, sizes)
    C = 6 * (problem.s + 1 + len(sizes.poses))

    def step(D, x):
        own, W, theta, V, shift, Lambda0 = x
        D = tuple(_with_own(*rows, C) for rows in zip(D, places, own, strict=True))
        H = tuple(
            tuple(_contract(rows, column) - turn for rows, turn in zip(D, turns, strict=True))
            for column, turns in zip(V, shift, strict=True)
        )
        Lambda = [
            [a + _dot(row, h) for a, h in zip(line, H, strict=True)] for line, row in zip(Lambda0, W, strict=True)
        ]
        inverse = _inverse(Lambda)
        Theta = [_dot(row, D) + more for row, more in zip(W, theta, strict=True)]
        X = tuple(-sum(a * row for a, row in zip(line, Theta, strict=True)) for line in inverse)
        for h, answer in zip(H, X, strict=True):
            D = tuple(rows + f * answer for rows, f in zip(D, h, strict=True))
        return D, (H, X, inverse)

    zero = tuple(jax.tree.map(lambda _: jnp.zeros(C, dtype), Force.zero()) for _ in own)
    _, (H, X, inverse) = leaf_to_root(model.topology, step, (own, W, theta, V, shift, Lambda0), zero, dtype)
    return ScrewFactors(W, V, H, X, inverse, model)


def solve(factors: ScrewFactors, b: Float[Array, "s nv"]) -> Float[Array, "s nv"]:
    """J⁻¹ b; a linear function of b that JAX can transpose."""
    model = factors.model
    per_row = tuple(per_element(model, row) for row in b)

    def inward(l, x):
        b, W, H, inverse = x
        rest = [a - _dot(row, l) for a, row in zip(b, W, strict=True)]
        y = tuple(sum(a * c for a, c in zip(line, rest, strict=True)) for line in inverse)
        for value, h in zip(y, H, strict=True):
            l = tuple(f + part * value for f, part in zip(l, h, strict=True))
        return l, y

    def outward(x_parent, x):
        y, X, V = x
        y = tuple(value + jnp.sum(row * x_parent) for value, row in zip(y, X, strict=True))
        return x_parent + sum(column * value for column, value in zip(V, y, strict=True)), y

    still, unloaded = jnp.zeros_like(factors.V[0][0]), tuple(Force.zero() for _ in factors.W[0])
    _, y = leaf_to_root(model.topology, inward, (per_row, factors.W, factors.H, factors.inverse), unloaded, b.dtype)
    y = root_to_leaf(model.topology, outward, (y, factors.X, factors.V), still, b.dtype)
    return jnp.stack([per_velocity(model, row) for row in y])


def _rows(problem: StepProblem, nodes: Nodes, sizes: Shape) -> tuple[Motions, tuple[Array, ...]]:
    """W^{α·}: a^{αβ}S̄^β + [α = β] w Δt Ṡ^α on δ̄μ^β and S̄^α on δ̄Γ^α; θ^{α·}: w Δt S̄^α ×* μ̄^α on δ̄v^α."""
    rule, h, points = problem.rule, problem.h, range(problem.s + 1)
    W, theta = [], []
    for alpha in sizes.equations:
        S, mu = _at(nodes.S, alpha), _at(nodes.mu, alpha)
        weight = float(rule.weights[alpha]) * h
        on_mu = [_at(nodes.S, beta) * float(rule.a[alpha, beta]) for beta in points]
        on_mu[alpha] = on_mu[alpha] + _at(nodes.twist, alpha).cross(S) * weight
        on_gamma = [S if beta == alpha else Motion.zero() for beta in sizes.impulses]
        turn = S.cross_force(mu) * weight
        theta.append(_joined([turn if beta == alpha else None for beta in points] + [None for _ in sizes.poses], turn))
        W.append((*on_mu, *on_gamma))
    return tuple(W), tuple(theta)


def _columns(problem: StepProblem, nodes: Nodes, sizes: Shape) -> tuple[tuple[Array, ...], Forces]:
    """V^{·γ}: b^{ργ}/Δt S̄^ρ + [ρ = γ] Ṡ^γ in δ̄v^ρ and S̄^γ in η^γ; the shift −S̄^γ ×* f^γ in δ̄μ^γ and δ̄Γ^γ."""
    b, h, points = problem.rule.b, problem.h, range(problem.s + 1)
    V, shift = [], []
    for gamma in sizes.unknowns:
        S = _at(nodes.S, gamma)
        in_v = [_at(nodes.S, rho) * (float(b[rho, gamma]) / h) for rho in points]
        in_v[gamma] = in_v[gamma] + _at(nodes.twist, gamma).cross(S)
        in_eta = [S if nu == gamma else None for nu in sizes.poses]
        in_mu = [-S.cross_force(_at(nodes.mu, gamma)) if alpha == gamma else Force.zero() for alpha in points]
        in_gamma = [
            -S.cross_force(_at(nodes.gamma, gamma)) if alpha == gamma else Force.zero() for alpha in sizes.impulses
        ]
        V.append(_joined([*in_v, *in_eta], S))
        shift.append((*in_mu, *in_gamma))
    return tuple(V), tuple(shift)


def _joint_terms(problem: StepProblem, sizes: Shape) -> tuple[tuple[Scalar, ...], ...]:
    """Λ₀^{αγ}: springs, dampers and rotors; one where a fixed joint has no equation."""
    model, rule, h = problem.model, problem.rule, problem.h
    stiffness, damping, armature = (
        per_element(model, leaf) for leaf in (model.stiffness, model.damping, model.armature)
    )
    fixed = model.topology.elements.velocity == model.nv
    rotors = rule.a @ rule.b

    def entry(k: int, alpha: int, gamma: int) -> Array:
        w = float(rule.weights[alpha])
        value = (armature / h) * rotors[alpha, gamma] - damping * (w * rule.b[alpha, gamma])
        if alpha == gamma:
            value = value - stiffness * (w * h)
        return jnp.where(fixed, 1.0 if sizes.unknowns[k] == gamma else 0.0, value).astype(armature.dtype)

    return tuple(tuple(entry(k, alpha, gamma) for gamma in sizes.unknowns) for k, alpha in enumerate(sizes.equations))


def _answers(problem: StepProblem, nodes: Nodes, sizes: Shape) -> tuple[list[list[int]], Forces]:
    """What each element itself answers: for each part of f, places along x and the 6×6 blocks there, row by row."""
    points = range(problem.s + 1)
    places = [[alpha] for alpha in points]
    blocks: list[tuple[Force, ...]] = [
        (_block_rows(SpatialMatrix.from_inertia(_at(nodes.inertia, alpha))),) for alpha in points
    ]
    if not sizes.impulses:
        return places, tuple(blocks)
    by_pose, by_twist = wrench_response(problem, nodes)
    for alpha in sizes.impulses:
        parts = [] if by_twist is None else [(alpha, by_twist)]
        parts += [(len(points) + sizes.poses.index(alpha), by_pose)] if alpha in sizes.poses else []
        places.append([place for place, _ in parts])
        blocks.append(tuple(_block_rows(_at(matrix, alpha)) for _, matrix in parts))
    return places, tuple(blocks)


def _block_rows(matrix: SpatialMatrix) -> Force:
    """The six rows of a 6×6 matrix, each (n, 6), as the components of a force."""

    def rows(left: Mat3, right: Mat3) -> Vec3:
        both = zip(left.rows(), right.rows(), strict=True)
        return Vec3(*(stack_last(a.x, a.y, a.z, b.x, b.y, b.z) for a, b in both))

    return Force(rows(matrix.A, matrix.B), rows(matrix.C, matrix.D))


def _with_own(rows: Force, places: Sequence[int], blocks: Sequence[Force], C: int) -> Force:
    """Add 6×6 blocks to six rows of D, each at its place along x."""
    for place, block in zip(places, blocks, strict=True):
        around = 6 * place, C - 6 * place - 6
        rows = rows + jax.tree.map(lambda row, around=around: jnp.pad(row, around), block)
    return rows


def _joined(parts: Sequence[Motion | Force | None], like: Motion | Force) -> Array:
    """Motions or forces one after the other along a new last axis, zeros for ``None``."""
    zero = jnp.zeros_like(like.to_array())
    return jnp.concatenate([zero if part is None else part.to_array() for part in parts], axis=-1)


def _at(tree, point: int):
    """One control point of a pytree with leaves (s + 1, n); numbers that hold for all stay as they are."""
    return jax.tree.map(lambda leaf: leaf if np.ndim(leaf) == 0 else leaf[point], tree)


def _dot(motions: Sequence[Motion], forces: Sequence[Force]) -> Scalar:
    return sum(m.dot(f) for m, f in zip(motions, forces, strict=True))


def _contract(rows: Force, column: Array) -> Force:
    return jax.tree.map(lambda row: jnp.sum(row * column), rows)


def _inverse(A: Sequence[Sequence[Scalar]]) -> tuple[tuple[Scalar, ...], ...]:
    """A⁻¹ of a small matrix of scalars."""
    inverse = small_inverse(jnp.stack([jnp.stack(row) for row in A]))
    return tuple(tuple(row) for row in inverse)
