"""The elimination of ``elimination.py`` for screw joints, component by component.

The same equations with every 6×6 block a ``SpatialMatrix`` and every coefficient a ``Motion`` or a ``Force``, so that in a batch
of worlds each operation is one contiguous loop. The graph grows with s³, hence only for few control points.
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
from ..spatial import Force, Motion, Scalar
from ..spatial.operator import SpatialMatrix
from ..sweep import leaf_to_root, root_to_leaf
from .blocks import Shape, newton_shape
from .elimination import wrench_response
from .nodes import Nodes, StepProblem

Rows = tuple[tuple[Motion, ...], ...]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ScrewFactors:
    """What a right-hand side needs of every element; outer tuples run over the s unknowns of a joint.

    Attributes:
        W: motions that multiply the parts of f.
        V: motions that the unknowns add to the parts of x.
        H: forces that the unknowns add to the parts of f.
        X: forces that multiply the parts of x.
        inverse: Λ⁻¹, row by row.
    """

    W: Rows
    V: Rows
    H: tuple[tuple[Force, ...], ...]
    X: tuple[tuple[Force, ...], ...]
    inverse: tuple[tuple[Scalar, ...], ...]
    model: Model


def factorise(problem: StepProblem, nodes: Nodes) -> ScrewFactors:
    """Eliminate all joints, from the leaves to the root."""
    sizes, model = newton_shape(problem), problem.model
    W, theta = _rows(problem, nodes, sizes)
    V, shift = _columns(problem, nodes, sizes)
    own = _answers(problem, nodes, sizes)
    Lambda0 = _joint_terms(problem, sizes)

    def step(D, x):
        own, W, theta, V, shift, Lambda0 = x
        D = tuple(tuple(a + b for a, b in zip(row, more, strict=True)) for row, more in zip(D, own, strict=True))
        H = tuple(_sub(_apply(D, column), turn) for column, turn in zip(V, shift, strict=True))
        Lambda = [[a + _dot(row, h) for a, h in zip(line, H, strict=True)] for line, row in zip(Lambda0, W, strict=True)]
        Theta = [_add(_apply_transposed(D, row), more) for row, more in zip(W, theta, strict=True)]
        inverse = _inverse(Lambda)
        X = tuple(_combine(line, Theta, -1.0) for line in inverse)
        for h, answer in zip(H, X, strict=True):
            D = tuple(tuple(a + SpatialMatrix.outer(f, g) for a, g in zip(row, answer, strict=True)) for row, f in zip(D, h, strict=True))
        return D, (H, X, inverse)

    points = problem.s + 1
    zero = tuple(
        tuple(SpatialMatrix.zero() for _ in range(points + len(sizes.poses))) for _ in range(points + len(sizes.impulses))
    )
    data = own, W, theta, V, shift, Lambda0
    _, (H, X, inverse) = leaf_to_root(model.topology, step, data, zero, nodes.q.dtype)
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
        y = tuple(value + _dot(x_parent, answer) for value, answer in zip(y, X, strict=True))
        moved = x_parent
        for value, column in zip(y, V, strict=True):
            moved = tuple(m + part * value for m, part in zip(moved, column, strict=True))
        return moved, y

    no_force, no_motion = tuple(Force.zero() for _ in factors.W[0]), tuple(Motion.zero() for _ in factors.V[0])
    _, y = leaf_to_root(model.topology, inward, (per_row, factors.W, factors.H, factors.inverse), no_force, b.dtype)
    y = root_to_leaf(model.topology, outward, (y, factors.X, factors.V), no_motion, b.dtype)
    return jnp.stack([per_velocity(model, row) for row in y])


def _rows(problem: StepProblem, nodes: Nodes, sizes: Shape) -> tuple[Rows, tuple]:
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
        theta.append((*(turn if beta == alpha else Force.zero() for beta in points), *(Force.zero() for _ in sizes.poses)))
        W.append((*on_mu, *on_gamma))
    return tuple(W), tuple(theta)


def _columns(problem: StepProblem, nodes: Nodes, sizes: Shape) -> tuple[Rows, tuple]:
    """V^{·γ}: b^{ργ}/Δt S̄^ρ + [ρ = γ] Ṡ^γ in δ̄v^ρ and S̄^γ in η^γ; the shift −S̄^γ ×* f^γ in δ̄μ^γ and δ̄Γ^γ."""
    b, h, points = problem.rule.b, problem.h, range(problem.s + 1)
    V, shift = [], []
    for gamma in sizes.unknowns:
        S = _at(nodes.S, gamma)
        in_v = [_at(nodes.S, rho) * (float(b[rho, gamma]) / h) for rho in points]
        in_v[gamma] = in_v[gamma] + _at(nodes.twist, gamma).cross(S)
        in_eta = [S if nu == gamma else Motion.zero() for nu in sizes.poses]
        in_mu = [-S.cross_force(_at(nodes.mu, gamma)) if alpha == gamma else Force.zero() for alpha in points]
        in_gamma = [
            -S.cross_force(_at(nodes.gamma, gamma)) if alpha == gamma else Force.zero() for alpha in sizes.impulses
        ]
        V.append((*in_v, *in_eta))
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

    return tuple(
        tuple(entry(k, alpha, gamma) for gamma in sizes.unknowns) for k, alpha in enumerate(sizes.equations)
    )


def _answers(problem: StepProblem, nodes: Nodes, sizes: Shape) -> tuple:
    """What each element itself answers, as blocks [part of f][part of x]."""
    points, zero = range(problem.s + 1), SpatialMatrix.zero()
    rows = []
    for alpha in points:
        inertia = SpatialMatrix.from_inertia(_at(nodes.inertia, alpha))
        rows.append((*(inertia if rho == alpha else zero for rho in points), *(zero for _ in sizes.poses)))
    if sizes.impulses:
        by_pose, by_twist = wrench_response(problem, nodes)
        for alpha in sizes.impulses:
            pose = _at(by_pose, alpha)
            twist = zero if by_twist is None else _at(by_twist, alpha)
            rows.append(
                (
                    *(twist if rho == alpha else zero for rho in points),
                    *(pose if nu == alpha else zero for nu in sizes.poses),
                )
            )
    return tuple(rows)


def _at(tree, point: int):
    """One control point of a pytree with leaves (s + 1, n); literal numbers stay as they are."""
    return jax.tree.map(lambda leaf: leaf if isinstance(leaf, float) or np.ndim(leaf) == 0 else leaf[point], tree)


def _dot(motions: Sequence[Motion], forces: Sequence[Force]) -> Scalar:
    return sum(m.dot(f) for m, f in zip(motions, forces, strict=True))


def _apply(D, motions: Sequence[Motion]) -> tuple[Force, ...]:
    return tuple(_total([block.apply(m) for block, m in zip(row, motions, strict=True)]) for row in D)


def _apply_transposed(D, motions: Sequence[Motion]) -> tuple[Force, ...]:
    return tuple(_total([row[k].T.apply(m) for row, m in zip(D, motions, strict=True)]) for k in range(len(D[0])))


def _total(forces: Sequence[Force]) -> Force:
    total = forces[0]
    for force in forces[1:]:
        total = total + force
    return total


def _add(a: Sequence[Force], b: Sequence[Force]) -> tuple[Force, ...]:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _sub(a: Sequence[Force], b: Sequence[Force]) -> tuple[Force, ...]:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def _combine(weights: Sequence[Scalar], rows: Sequence[Sequence[Force]], sign: float) -> tuple[Force, ...]:
    """sign · Σ weight · row."""
    scaled = [[f * (sign * weight) for f in row] for weight, row in zip(weights, rows, strict=True)]
    return tuple(_total(parts) for parts in zip(*scaled, strict=True))


def _inverse(A: Sequence[Sequence[Scalar]]) -> tuple[tuple[Scalar, ...], ...]:
    """A⁻¹ of a 1×1 or 2×2 matrix of scalars."""
    if len(A) == 1:
        return ((1.0 / A[0][0],),)
    (a, b), (c, d) = A
    scale = 1.0 / (a * d - b * c)
    return (d * scale, -b * scale), (-c * scale, a * scale)
