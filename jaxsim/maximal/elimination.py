"""The symbolic half of block elimination: order, fill-in and a schedule, computed once from the graph.

Nodes are block rows, edges are pairs of coupled blocks. Eliminating a node couples all its remaining neighbours with
each other; its neighbours at that moment are its *parents* (Brüdigam et al. 2023, §4.2, calls them direct and
loop-opening parents). In a tree eliminated leaf to root every node has one parent and there is no fill-in.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

Edge = tuple[int, int]


def depth_first_order(num_nodes: int, edges: Iterable[Edge], root: int | None = None) -> tuple[int, ...]:
    """Depth-first post-order with ``root`` last (default: the last node); other components are put before it."""
    neighbours = _adjacency(num_nodes, edges)
    root = num_nodes - 1 if root is None else root
    seen, components = set(), []
    for start in [root, *range(num_nodes)]:
        if start not in seen:
            components.append(_post_order(start, neighbours, seen))
    return tuple(node for component in reversed(components) for node in component)


def minimum_degree_order(num_nodes: int, edges: Iterable[Edge]) -> tuple[int, ...]:
    """The greedy order that always eliminates a node with the fewest remaining neighbours: little fill-in in nets."""
    neighbours = [set(n) for n in _adjacency(num_nodes, edges)]
    remaining, order = set(range(num_nodes)), []
    while remaining:
        node = min(remaining, key=lambda i: (len(neighbours[i]), i))
        _eliminate(node, neighbours)
        remaining.remove(node)
        order.append(node)
    return tuple(order)


@dataclasses.dataclass(frozen=True)
class Stage:
    """A run of levels that are eliminated by one scan; axis 0 is the level, axis 1 the nodes in it.

    ``nodes`` (T,W) are the eliminated nodes, ``parents`` (T,W,K) their parents, ``lower``/``upper`` (T,W,K) the slots
    of the blocks F[parent,node] and F[node,parent], ``targets`` (T,W,K,K) the slots of F[parent k,parent l]. Padding
    points to the dummy node n, whose diagonal block is the identity, and to the zero block in slot n + 1.
    """

    nodes: np.ndarray
    parents: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    targets: np.ndarray


@dataclasses.dataclass(frozen=True)
class Plan:
    """Where every block lives, and in which order and grouping the nodes are eliminated.

    The block array holds the n diagonal blocks, an identity and a zero block for padding, then F[i,j] and F[j,i] for
    each filled edge. ``slots[e]`` are the two slots of the e-th edge as the user gave it.
    """

    num_slots: int
    slots: np.ndarray
    stages: tuple[Stage, ...]
    fill: int


def plan_elimination(num_nodes: int, edges: Sequence[Edge], order: Sequence[int]) -> Plan:
    """Fill-in, block slots and the staged schedule for eliminating the nodes in ``order``."""
    rank = np.empty(num_nodes, int)
    rank[np.asarray(order, int)] = np.arange(num_nodes)
    parents = _filled_parents(num_nodes, edges, order, rank)
    slot: dict[Edge, int] = {(i, i): i for i in range(num_nodes)}
    for node in order:
        for parent in parents[node]:
            slot[parent, node] = len(slot) + 2
            slot[node, parent] = len(slot) + 2
    levels = _levels(order, parents)
    stages = tuple(_stage(run, parents, slot, num_nodes) for run in _runs(levels, parents))
    given = {frozenset(edge) for edge in edges}
    return Plan(
        num_slots=len(slot) + 2,
        slots=np.array([(slot[i, j], slot[j, i]) for i, j in edges], int).reshape(-1, 2),
        stages=stages,
        fill=sum(len(p) for p in parents) - len(given),
    )


def _adjacency(num_nodes, edges):
    neighbours = [[] for _ in range(num_nodes)]
    for i, j in edges:
        neighbours[i].append(j)
        neighbours[j].append(i)
    return neighbours


def _post_order(start, neighbours, seen):
    order, stack = [], [(start, iter(neighbours[start]))]
    seen.add(start)
    while stack:
        node, rest = stack[-1]
        child = next((j for j in rest if j not in seen), None)
        if child is None:
            order.append(node)
            stack.pop()
        else:
            seen.add(child)
            stack.append((child, iter(neighbours[child])))
    return order


def _eliminate(node, neighbours):
    for i in neighbours[node]:
        neighbours[i] |= neighbours[node]
        neighbours[i] -= {i, node}


def _filled_parents(num_nodes, edges, order, rank):
    neighbours = [set(n) for n in _adjacency(num_nodes, edges)]
    parents: list[list[int]] = [[] for _ in range(num_nodes)]
    for node in order:
        parents[node] = sorted(neighbours[node], key=lambda i: rank[i])
        _eliminate(node, neighbours)
    return parents


def _levels(order, parents):
    """Nodes by their height in the elimination tree; nodes of one level are not coupled with each other."""
    height = dict.fromkeys(order, 0)
    for node in order:
        if parents[node]:
            first = parents[node][0]
            height[first] = max(height[first], height[node] + 1)
    levels = [[] for _ in range(max(height.values(), default=-1) + 1)]
    for node in order:
        levels[height[node]].append(node)
    return levels


def _runs(levels, parents):
    """Cut the levels into runs whose padding to common shape at most doubles the block products."""
    runs, run, work, width, reach = [], [], 0, 0, 0
    for level in levels:
        w, k = len(level), max(len(parents[node]) for node in level)
        cost = sum(1 + len(parents[node]) ** 2 for node in level)
        new_width, new_reach = max(width, w), max(reach, k)
        padded = (len(run) + 1) * new_width * (1 + new_reach**2)
        if run and padded > 2 * (work + cost) + 256:
            runs.append(run)
            run, work, new_width, new_reach = [], 0, w, k
        run.append(level)
        work, width, reach = work + cost, new_width, new_reach
    return [*runs, run] if run else runs


def _stage(run, parents, slot, num_nodes):
    zero = num_nodes + 1
    T, W = len(run), max(map(len, run))
    K = max(len(parents[node]) for level in run for node in level)
    stage = Stage(
        nodes=np.full((T, W), num_nodes),
        parents=np.full((T, W, K), num_nodes),
        lower=np.full((T, W, K), zero),
        upper=np.full((T, W, K), zero),
        targets=np.full((T, W, K, K), zero),
    )
    for t, level in enumerate(run):
        for w, node in enumerate(level):
            up = parents[node]
            stage.nodes[t, w] = node
            stage.parents[t, w, : len(up)] = up
            for k, p in enumerate(up):
                stage.lower[t, w, k], stage.upper[t, w, k] = slot[p, node], slot[node, p]
                stage.targets[t, w, k, : len(up)] = [slot[p, r] for r in up]
    return stage
