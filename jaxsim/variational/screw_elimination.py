"""The elimination of ``elimination.py`` for screw joints, row by row.

The same equations with every row of D one array along x, and everything else in components: in a batch of worlds all
operations are long loops, and the graph stays small for every order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics.elements import per_element, per_velocity
from ..model import Model
from ..spatial import Force, Mat3, Motion, Scalar, Vec3
from ..spatial.operator import SpatialMatrix
from ..spatial.vector import stack_last
from ..sweep import leaf_to_root, root_to_leaf
from .blocks import newton_shape
from .elimination import small_inverse
from .nodes import Nodes, StepProblem
from .screw_blocks import Forces, Motions, own_response, screw_blocks


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
    sizes, model, dtype = newton_shape(problem), problem.model, nodes[0].q.dtype
    W, theta, V, shift, Lambda0 = screw_blocks(problem, nodes, sizes)
    theta, V = (tuple(_joined(parts, jnp.shape(nodes[0].mu.linear.x)[0]) for parts in rows) for rows in (theta, V))
    answers = own_response(problem, nodes, sizes)
    places = [[place for place, _ in parts] for parts in answers]
    own = tuple(tuple(_block_rows(matrix) for _, matrix in parts) for parts in answers)
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


def _joined(parts: Sequence[Motion | Force], n: int) -> Array:
    """The motions or forces of n elements one after the other along a new last axis."""
    return jnp.concatenate([jnp.broadcast_to(part.to_array(), (n, 6)) for part in parts], axis=-1)


def _dot(motions: Sequence[Motion], forces: Sequence[Force]) -> Scalar:
    return sum(m.dot(f) for m, f in zip(motions, forces, strict=True))


def _contract(rows: Force, column: Array) -> Force:
    return jax.tree.map(lambda row: jnp.sum(row * column), rows)


def _inverse(A: Sequence[Sequence[Scalar]]) -> tuple[tuple[Scalar, ...], ...]:
    """A⁻¹ of a small matrix of scalars."""
    inverse = small_inverse(jnp.stack([jnp.stack(row) for row in A]))
    return tuple(tuple(row) for row in inverse)
