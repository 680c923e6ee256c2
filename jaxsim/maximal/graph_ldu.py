"""Block-sparse LDU factorisation over a graph with symmetric pattern (Brüdigam et al. 2023, Alg. 1–4).

The order of elimination is static, so the whole factorisation is a few scans over levels of the elimination tree: the
cost is linear in the number of nodes for trees, and the compile time does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import equinox as eqx
import jax
import jax.numpy as jnp

from .elimination import Edge, Plan, depth_first_order, plan_elimination


class BlockMatrix(eqx.Module):
    """A block matrix on a graph: F[i,i] = diagonal[i], and F[i,j] = upper[e], F[j,i] = lower[e] for edge e = (i,j)."""

    diagonal: jax.Array
    upper: jax.Array
    lower: jax.Array


class Factors(eqx.Module):
    """What elimination leaves behind, one entry a stage: D⁻¹ (T,W,b,b), L and U (T,W,K,b,b)."""

    inverse: tuple[jax.Array, ...]
    lower: tuple[jax.Array, ...]
    upper: tuple[jax.Array, ...]


class GraphLDU(eqx.Module):
    """Factorise and solve F x = r for any F whose nonzero blocks lie on the diagonal and on the edges of a graph.

    All blocks have the same size b×b. ``order`` lists the nodes in the order of elimination; by default it is the
    depth-first post-order with ``root`` last. There is no pivoting across blocks: every diagonal block must be
    invertible at the moment its node is eliminated. ``inverse`` inverts a stack of pivots.
    """

    num_nodes: int = eqx.field(static=True)
    edges: tuple[Edge, ...] = eqx.field(static=True)
    order: tuple[int, ...] = eqx.field(static=True)
    inverse: Callable[[jax.Array], jax.Array] = eqx.field(static=True)

    def __init__(
        self,
        num_nodes: int,
        edges: Sequence[Edge],
        root: int | None = None,
        order: Sequence[int] | None = None,
        inverse: Callable[[jax.Array], jax.Array] = jnp.linalg.inv,
    ):
        self.num_nodes = num_nodes
        self.edges = tuple((int(i), int(j)) for i, j in edges)
        for i, j in self.edges:
            if i == j or not (0 <= i < num_nodes and 0 <= j < num_nodes):
                raise ValueError(f"The edge ({i}, {j}) does not join two of the {num_nodes} nodes; use 0 ≤ i ≠ j < n.")
        self.order = depth_first_order(num_nodes, self.edges, root) if order is None else tuple(map(int, order))
        if sorted(self.order) != list(range(num_nodes)):
            raise ValueError(f"The order {self.order} is not a permutation of 0…{num_nodes - 1}; name every node once.")
        self.inverse = inverse

    @cached_property
    def plan(self) -> Plan:
        """The static schedule: slots, stages and fill-in."""
        return plan_elimination(self.num_nodes, self.edges, self.order)

    def factor(self, matrix: BlockMatrix) -> Factors:
        """F = L D U, eliminating the nodes level by level (Alg. 3; Alg. 1 where the graph is a tree)."""
        blocks = self._gather(matrix)
        inverse, lower, upper = [], [], []
        for stage in self.plan.stages:
            indices = (stage.nodes, stage.lower, stage.upper, stage.targets)
            blocks, (Di, L, U) = jax.lax.scan(self._eliminate_level, blocks, indices)
            inverse.append(Di)
            lower.append(L)
            upper.append(U)
        return Factors(tuple(inverse), tuple(lower), tuple(upper))

    def backsubstitute(self, factors: Factors, rhs: jax.Array) -> jax.Array:
        """x with F x = r for r of shape (n, b) (Alg. 4)."""
        return self._sweep(factors.inverse, factors.lower, factors.upper, rhs, "ij,j->i")

    def backsubstitute_transposed(self, factors: Factors, rhs: jax.Array) -> jax.Array:
        """x with Fᵀ x = r: the same factors with the roles of L and U exchanged."""
        return self._sweep(factors.inverse, factors.upper, factors.lower, rhs, "ji,j->i")

    def solve(self, matrix: BlockMatrix, rhs: jax.Array) -> jax.Array:
        """x with F x = r, differentiable in F and r in both modes through one factorisation and its transpose."""
        factors = jax.lax.stop_gradient(self.factor(matrix))
        return jax.lax.custom_linear_solve(
            lambda x: self.matvec(matrix, x),
            rhs,
            lambda _, r: self.backsubstitute(factors, r),
            lambda _, r: self.backsubstitute_transposed(factors, r),
        )

    def matvec(self, matrix: BlockMatrix, x: jax.Array) -> jax.Array:
        """F x."""
        y = jnp.einsum("nij,nj->ni", matrix.diagonal, x)
        if not self.edges:
            return y
        i, j = map(jnp.asarray, zip(*self.edges, strict=True))
        y = y.at[i].add(jnp.einsum("eij,ej->ei", matrix.upper, x[j]))
        return y.at[j].add(jnp.einsum("eij,ej->ei", matrix.lower, x[i]))

    def to_dense(self, matrix: BlockMatrix) -> jax.Array:
        """F as an (nb, nb) array."""
        n, b = matrix.diagonal.shape[:2]
        dense = jnp.zeros((n, n, b, b), matrix.diagonal.dtype).at[jnp.arange(n), jnp.arange(n)].set(matrix.diagonal)
        if self.edges:
            i, j = map(jnp.asarray, zip(*self.edges, strict=True))
            dense = dense.at[i, j].add(matrix.upper).at[j, i].add(matrix.lower)
        return dense.transpose(0, 2, 1, 3).reshape(n * b, n * b)

    def _gather(self, matrix):
        n, b = matrix.diagonal.shape[:2]
        blocks = jnp.zeros((self.plan.num_slots, b, b), matrix.diagonal.dtype)
        blocks = blocks.at[:n].set(matrix.diagonal).at[n].set(jnp.eye(b, dtype=matrix.diagonal.dtype))
        if not self.edges:
            return blocks
        return blocks.at[self.plan.slots[:, 0]].add(matrix.upper).at[self.plan.slots[:, 1]].add(matrix.lower)

    def _eliminate_level(self, blocks, indices):
        """F[p,r] ← F[p,r] − F[p,c] F[c,c]⁻¹ F[c,r] for all nodes c of a level and all pairs p, r of their parents."""
        nodes, lower, upper, targets = indices
        Di = self.inverse(blocks[nodes])
        F_pc, F_cr = blocks[lower], blocks[upper]
        L = jnp.einsum("wkij,wjl->wkil", F_pc, Di)
        U = jnp.einsum("wij,wkjl->wkil", Di, F_cr)
        blocks = blocks.at[targets].add(-jnp.einsum("wkij,wrjl->wkril", L, F_cr))
        return blocks, (Di, L, U)

    def _sweep(self, inverse, lower, upper, rhs, product):
        """Leaf to root with ``lower``, then root to leaf with ``upper``; ``product`` transposes the blocks or not."""
        ij, j, i = product.replace("->", ",").split(",")
        spread, collect, local = f"wk{ij},w{j}->wk{i}", f"wk{ij},wk{j}->w{i}", f"w{ij},w{j}->w{i}"

        def up(r, stage):
            nodes, parents, L = stage
            y = r[nodes]
            return r.at[parents].add(-jnp.einsum(spread, L, y)), y

        def down(x, stage):
            nodes, parents, y, Di, U = stage
            here = jnp.einsum(local, Di, y) - jnp.einsum(collect, U, x[parents])
            return x.at[nodes].add(here), None

        r = jnp.concatenate([rhs, jnp.zeros_like(rhs[:1])])
        ys = []
        for stage, L in zip(self.plan.stages, lower, strict=True):
            r, y = jax.lax.scan(up, r, (stage.nodes, stage.parents, L))
            ys.append(y)
        x = jnp.zeros_like(r)
        for stage, y, Di, U in reversed(list(zip(self.plan.stages, ys, inverse, upper, strict=True))):
            x, _ = jax.lax.scan(down, x, (stage.nodes, stage.parents, y, Di, U), reverse=True)
        return x[:-1]
