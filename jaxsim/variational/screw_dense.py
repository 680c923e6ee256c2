"""The dense Newton matrix of ``dense.py`` for models whose joints are all screws, and its inverse, in components.

In a batch of worlds every operation is one loop over the worlds; a world alone uses the inverse of LAPACK.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..model.rows import take_rows
from ..solvers.batch_last import batch_last
from ..spatial import Force, Inertia, Scalar
from ..spatial.vector import add, is_zero, multiply
from ..sweep import leaf_to_root
from .blocks import Shape, newton_shape
from .elimination import wrench_response
from .nodes import Nodes, StepProblem
from .screw_blocks import screw_blocks

Grid = tuple[tuple[Array, ...], ...]
"""A matrix in blocks: entry [α][γ] holds its entries for all pairs of joints."""


def matrix(problem: StepProblem, nodes: Nodes) -> Grid:
    """J = ∂r/∂ξ: [α][γ] is (nv, nv), for the control points α = 0 … s − 1 and γ = 1 … s."""
    sizes, moving = newton_shape(problem), problem.model.topology.moving
    c = screw_blocks(problem, nodes, sizes)
    D = _Composites(problem, nodes, sizes)
    up = [[a + b for a, b in zip(D.above(W), theta, strict=True)] for W, theta in zip(c.W, c.theta, strict=True)]
    down = [[a - b for a, b in zip(D.below(V), shift, strict=True)] for V, shift in zip(c.V, c.shift, strict=True)]
    data = jax.tree.map(lambda leaf: leaf if isinstance(leaf, float) else take_rows(leaf, moving), (up, c.V, c.W, down))
    leaves = [[jax.tree.leaves(parts) for parts in outer] for outer in data]
    Lambda0 = jax.tree.map(lambda leaf: take_rows(leaf, moving), c.Lambda0)
    above = problem.model.topology.ancestors[moving][:, moving]
    return batch_last(lambda *data: _assembled(above, *data), *leaves, Lambda0)


def factorise(problem: StepProblem, nodes: Nodes) -> Grid:
    """J⁻¹, without pivoting in a batch: the blocks on the diagonal are invertible as they are in the recursion."""
    return batch_last(_inverse, matrix(problem, nodes), one=_inverse_by_lapack)


def solve(inverse: Grid, b: Float[Array, "s nv"]) -> Float[Array, "s nv"]:
    """J⁻¹ b."""
    return jnp.stack(batch_last(_product, inverse, tuple(b)))


class _Composites:
    """What each subtree answers to a rigid change of its root: 𝓜, and the responses of its wrenches."""

    def __init__(self, problem: StepProblem, nodes: Nodes, sizes: Shape):
        self.sizes = sizes
        responses = {alpha: wrench_response(problem, nodes[alpha], alpha) for alpha in sizes.impulses}
        kept = [
            (by_pose if alpha in sizes.poses else None, by_twist) for alpha, (by_pose, by_twist) in responses.items()
        ]
        own = tuple(node.inertia for node in nodes), kept
        self.inertia, self.responses = _subtree_sums(problem, own, nodes[0].q.dtype)

    def above(self, W: Sequence) -> list[Force]:
        """W D, part by part of x."""
        points = len(self.inertia)
        on_v = [inertia.apply(part) for inertia, part in zip(self.inertia, W, strict=False)]
        on_eta = {alpha: Force.zero() for alpha in self.sizes.poses}
        for alpha, part, (by_pose, by_twist) in zip(self.sizes.impulses, W[points:], self.responses, strict=True):
            on_v[alpha] = on_v[alpha] if by_twist is None else on_v[alpha] + by_twist.T.apply(part)
            if by_pose is not None:
                on_eta[alpha] = by_pose.T.apply(part)
        return [*on_v, *on_eta.values()]

    def below(self, V: Sequence) -> list[Force]:
        """D V, part by part of f."""
        points = len(self.inertia)
        on_mu = [inertia.apply(part) for inertia, part in zip(self.inertia, V, strict=False)]
        on_gamma = []
        for alpha, (by_pose, by_twist) in zip(self.sizes.impulses, self.responses, strict=True):
            total = Force.zero() if by_twist is None else by_twist.apply(V[alpha])
            if by_pose is not None:
                total = total + by_pose.apply(V[points + self.sizes.poses.index(alpha)])
            on_gamma.append(total)
        return [*on_mu, *on_gamma]


def _subtree_sums(problem: StepProblem, own: Any, dtype) -> tuple[tuple[Inertia, ...], list]:
    """The sums over subtrees of a pytree of arrays with an entry an element; zeros that are Python numbers stay."""
    leaves, structure = jax.tree.flatten(own)
    arrays = [leaf for leaf in leaves if not isinstance(leaf, float)]

    def step(children, own):
        total = [a + b for a, b in zip(children, own, strict=True)]
        return total, total

    _, sums = leaf_to_root(problem.model.topology, step, arrays, [0.0] * len(arrays), dtype)
    rest = iter(sums)
    return structure.unflatten(leaf if isinstance(leaf, float) else next(rest) for leaf in leaves)


def _assembled(above: np.ndarray, up, V, W, down, Lambda0) -> Grid:
    """up V where the column's joint is above the row's, W down where it is below; Λ₀ on the diagonal."""
    n, axes = len(above), (1,) * (jnp.ndim(Lambda0[0][0]) - 1)
    diagonal = np.eye(n, dtype=bool)
    masks = above & ~diagonal, above.T, diagonal
    strictly, below, own = (jnp.asarray(mask).reshape(n, n, *axes) for mask in masks)

    def block(alpha: int, gamma: int) -> Array:
        from_above, from_below = _outer(up[alpha], V[gamma]), _outer(W[alpha], down[gamma])
        entries = jnp.where(strictly, from_above, jnp.where(below, from_below, 0))
        return entries + jnp.where(own, Lambda0[alpha][gamma][:, None], 0)

    s = range(len(Lambda0))
    return tuple(tuple(block(alpha, gamma) for gamma in s) for alpha in s)


def _outer(left: Sequence[Scalar], right: Sequence[Scalar]) -> Scalar:
    """Σ left_i right_j over the components, for all pairs (i, j) of joints."""
    total = 0.0
    for a, b in zip(left, right, strict=True):
        if not (is_zero(a) or is_zero(b)):
            total = add(total, multiply(jnp.asarray(a)[:, None], jnp.asarray(b)[None]))
    return total


def _inverse(A: Grid) -> Grid:
    """A⁻¹ by Gauss and Jordan, one joint after the other, in place of A."""
    s, n, batch = range(len(A)), A[0][0].shape[0], jnp.ndim(A[0][0]) - 2
    index = jnp.arange(n).reshape(n, *(1,) * batch)

    def at(k, grid, axis):
        return [[jax.lax.dynamic_index_in_dim(x, k, axis, keepdims=False) for x in line] for line in grid]

    def sweep(k, A):
        row, column = at(k, A, 0), at(k, A, 1)
        pivot = _small_inverse(at(k, row, 0))
        row, left = _grid_product(pivot, row), _grid_product(column, pivot)
        here, there = (index == k)[:, None], (index == k)[None]

        def entry(a: int, c: int) -> Array:
            rest = A[a][c] - sum(column[a][b][:, None] * row[b][c][None] for b in s)
            others = jnp.where(there, -left[a][c][:, None], rest)
            return jnp.where(here, jnp.where(there, pivot[a][c], row[a][c][None]), others)

        return tuple(tuple(entry(a, c) for c in s) for a in s)

    return jax.lax.fori_loop(0, n, sweep, A)


def _inverse_by_lapack(A: Grid) -> Grid:
    s, n = len(A), len(A[0][0])
    inverse = jnp.linalg.inv(jnp.block([list(line) for line in A])).reshape(s, n, s, n)
    return tuple(tuple(inverse[a, :, c] for c in range(s)) for a in range(s))


def _small_inverse(A: Sequence[Sequence[Array]]) -> list[list[Array]]:
    """A⁻¹ of a small matrix by components, without pivoting."""
    s, A = range(len(A)), [list(line) for line in A]
    for k in s:
        pivot = 1.0 / A[k][k]
        row = [pivot if c == k else pivot * A[k][c] for c in s]
        for a in s:
            if a != k:
                A[a] = [(0.0 if c == k else A[a][c]) - A[a][k] * row[c] for c in s]
        A[k] = row
    return A


def _grid_product(A: Sequence[Sequence[Array]], B: Sequence[Sequence[Array]]) -> list[list[Array]]:
    s = range(len(A))
    return [[functools.reduce(operator.add, [A[a][b] * B[b][c] for b in s]) for c in s] for a in s]


def _product(A: Grid, b: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(
        functools.reduce(operator.add, [jnp.sum(x * y[None], axis=1) for x, y in zip(line, b, strict=True)])
        for line in A
    )
