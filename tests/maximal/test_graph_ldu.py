"""The graph LDU solves the same systems as a dense solver, transposes, batches and differentiates."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.maximal.elimination import minimum_degree_order
from jaxsim.maximal.graph_ldu import BlockMatrix, GraphLDU


def chain(n):
    return n, [(i, i + 1) for i in range(n - 1)]


def random_tree(n, seed=0):
    rng = np.random.default_rng(seed)
    return n, [(int(rng.integers(i)), i) for i in range(1, n)]


def random_cyclic(n, extra, seed=0):
    rng = np.random.default_rng(seed)
    edges = set(random_tree(n, seed)[1])
    while len(edges) < n - 1 + extra:
        i, j = sorted(rng.choice(n, 2, replace=False).tolist())
        edges.add((i, j))
    return n, sorted(edges)


def grid(*shape):
    """Ladder (2, k), net (k, k) and crystal (k, k, k) graphs (Brüdigam et al. 2023, Fig. 9)."""
    index = np.arange(np.prod(shape)).reshape(shape)
    edges = []
    for axis in range(len(shape)):
        a = np.moveaxis(index, axis, 0)
        edges += list(zip(a[:-1].ravel().tolist(), a[1:].ravel().tolist(), strict=True))
    return int(np.prod(shape)), edges


GRAPHS = {
    "one node": (1, []),
    "chain": chain(20),
    "tree": random_tree(30, 1),
    "forest": (7, [(0, 1), (1, 2), (4, 5)]),
    "cyclic": random_cyclic(20, 6, 2),
    "doubled edge": (3, [(0, 1), (1, 2), (1, 0)]),
    "ladder": grid(2, 8),
    "net": grid(5, 5),
    "crystal": grid(3, 3, 3),
}


def random_system(graph, b=4, seed=0, dtype=jnp.float64):
    rng = np.random.default_rng(seed)
    n, E = graph.num_nodes, len(graph.edges)
    diagonal = rng.normal(size=(n, b, b)) + 8 * np.eye(b)
    matrix = BlockMatrix(diagonal, rng.normal(size=(E, b, b)), rng.normal(size=(E, b, b)))
    return jax.tree.map(lambda a: jnp.asarray(a, dtype), matrix), jnp.asarray(rng.normal(size=(n, b)), dtype)


@pytest.mark.parametrize("name", GRAPHS)
def test_solves_like_a_dense_solver(name):
    graph = GraphLDU(*GRAPHS[name])
    matrix, rhs = random_system(graph)
    dense = graph.to_dense(matrix)

    @jax.jit
    def both(matrix, rhs):
        factors = graph.factor(matrix)
        return graph.backsubstitute(factors, rhs), graph.backsubstitute_transposed(factors, rhs)

    x, y = both(matrix, rhs)
    np.testing.assert_allclose(dense @ x.ravel(), rhs.ravel(), atol=2e-14)
    np.testing.assert_allclose(dense.T @ y.ravel(), rhs.ravel(), atol=2e-14)
    np.testing.assert_allclose(graph.matvec(matrix, x), rhs, atol=2e-14)


@pytest.mark.parametrize("n", [2, 5, 40])
def test_trees_have_no_fill_in(n):
    assert GraphLDU(*random_tree(n, seed=n)).plan.fill == 0


def test_only_nodes_of_the_cycle_fill_in():
    # A triangle of nodes 0, 1, 2 with a tail 3, 4 eliminated first: nothing to fill. A 4-cycle: one chord.
    assert GraphLDU(5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]).plan.fill == 0
    assert GraphLDU(4, [(0, 1), (1, 2), (2, 3), (3, 0)]).plan.fill == 1


def test_minimum_degree_fills_less_in_a_net():
    n, edges = grid(8, 8)
    reordered = GraphLDU(n, edges, order=minimum_degree_order(n, edges))
    assert reordered.plan.fill < 0.7 * GraphLDU(n, edges).plan.fill
    matrix, rhs = random_system(reordered)
    np.testing.assert_allclose(reordered.matvec(matrix, reordered.solve(matrix, rhs)), rhs, atol=2e-14)


def test_single_precision():
    graph = GraphLDU(*GRAPHS["cyclic"])
    matrix, rhs = random_system(graph, dtype=jnp.float32)
    x = graph.solve(matrix, rhs)
    assert x.dtype == jnp.float32
    np.testing.assert_allclose(graph.matvec(matrix, x), rhs, atol=1e-5)


def test_gradients_and_batches():
    graph = GraphLDU(*random_cyclic(6, 2, 3))
    matrix, rhs = random_system(graph, b=3)

    def loss(matrix, rhs, solve):
        return jnp.sum(jnp.sin(solve(matrix, rhs)))

    def dense_solve(matrix, rhs):
        return jnp.linalg.solve(graph.to_dense(matrix), rhs.ravel()).reshape(rhs.shape)

    ours = jax.jit(jax.grad(lambda m, r: loss(m, r, graph.solve), argnums=(0, 1)))(matrix, rhs)
    theirs = jax.grad(lambda m, r: loss(m, r, dense_solve), argnums=(0, 1))(matrix, rhs)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-14)

    rate = jax.jvp(lambda r: graph.solve(matrix, r), (rhs,), (rhs,))[1]
    np.testing.assert_allclose(rate, graph.solve(matrix, rhs), atol=1e-14)
    batch = jax.vmap(graph.solve, in_axes=(None, 0))(matrix, jnp.stack([rhs, 2 * rhs]))
    np.testing.assert_allclose(batch[1], 2 * batch[0], atol=1e-14)


def test_bad_graphs_are_named():
    with pytest.raises(ValueError, match=r"edge \(0, 3\)"):
        GraphLDU(3, [(0, 3)])
    with pytest.raises(ValueError, match="permutation"):
        GraphLDU(3, [(0, 1)], order=[0, 1, 1])
