"""The static side of a model: who hangs on whom, where its coordinates lie, and in which order sweeps visit it.

Bodies keep the order in which they were added (parents before children; body 0 is the world). Sweeps visit the tree
depth first, one *element* at a time. An element is one degree of freedom; a joint with several is a run of elements
with massless links between, and a fixed joint is one element without motion.

Walking depth first, the parent of an element is nearly always the element before it. Where it is not, the parent's
state was kept in a *branch slot*. Children are visited in the order that needs the fewest slots: none for a chain, one
for a quadruped.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

INDEX = np.int32
"""The type of all indices: one that JAX takes as it is, with and without double precision."""


@dataclasses.dataclass(frozen=True)
class Topology:
    """The structure of a model, hashable, so that it can be a static argument.

    Attributes:
        parents: the parent of each body; −1 for the world, which is body 0.
        body_names: the names of the bodies, ``"world"`` first.
        joint_names: the name of the joint above each body, ``""`` for the world.
        joint_nq: the number of configuration coordinates of each body's joint.
        part_nv: for each body, the degrees of freedom of the simple joints that its joint is a chain of.
        groups: the bodies whose joints are of one kind and are stacked into one joint of the model.
        ball_springs: whether a spring acts on a joint with a quaternion.
    """

    parents: tuple[int, ...]
    body_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    joint_nq: tuple[int, ...]
    part_nv: tuple[tuple[int, ...], ...]
    groups: tuple[tuple[int, ...], ...]
    ball_springs: bool = False

    @property
    def num_bodies(self) -> int:
        """The number of bodies, the world included."""
        return len(self.parents)

    @functools.cached_property
    def joint_nv(self) -> tuple[int, ...]:
        """The degrees of freedom of each body's joint."""
        return tuple(sum(parts) for parts in self.part_nv)

    @functools.cached_property
    def q_start(self) -> np.ndarray:
        """Where each body's configuration begins in q; the last entry is nq."""
        return np.cumsum([0, *self.joint_nq], dtype=INDEX)

    @functools.cached_property
    def v_start(self) -> np.ndarray:
        """Where each body's velocity begins in v; the last entry is nv."""
        return np.cumsum([0, *self.joint_nv], dtype=INDEX)

    @property
    def nq(self) -> int:
        """The number of configuration coordinates."""
        return int(self.q_start[-1])

    @property
    def nv(self) -> int:
        """The number of degrees of freedom."""
        return int(self.v_start[-1])

    @functools.cached_property
    def q_rows(self) -> tuple[np.ndarray, ...]:
        """For each group of joints, the indices in q of its coordinates: an array (nq of the joint, bodies)."""
        return tuple(self.q_start[list(g)] + np.arange(self.joint_nq[g[0]], dtype=INDEX)[:, None] for g in self.groups)

    @functools.cached_property
    def v_rows(self) -> tuple[np.ndarray, ...]:
        """For each group of joints, the indices in v of its coordinates: an array (nv of the joint, bodies)."""
        return tuple(self.v_start[list(g)] + np.arange(self.joint_nv[g[0]], dtype=INDEX)[:, None] for g in self.groups)

    @functools.cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each body, in the order in which sweeps visit them.

        The subtree that needs most slots comes last, when its parent's own slot is free again.
        """
        children: list[list[int]] = [[] for _ in self.parents]
        slots = [0] * self.num_bodies
        for body in reversed(range(self.num_bodies)):
            children[body].sort(key=lambda child: (slots[child], child))
            needs = [slots[child] for child in children[body]]
            slots[body] = max([need + 1 for need in needs[:-1]] + needs[-1:], default=0)
            if body:
                children[self.parents[body]].append(body)
        return tuple(map(tuple, children))

    @functools.cached_property
    def visits(self) -> np.ndarray:
        """The bodies other than the world, depth first."""
        order, stack = [], [0]
        while stack:
            body = stack.pop()
            order.append(body)
            stack.extend(reversed(self.children[body]))
        return np.array(order[1:], dtype=INDEX)

    @functools.cached_property
    def elements(self) -> Elements:
        """The one-DoF elements in the order of the sweeps."""
        return _elements(self)

    @functools.cached_property
    def ancestors(self) -> np.ndarray:
        """Whether element j is on the path from the root to element i, i itself included: a mask (i, j)."""
        parent = self.elements.parent
        mask = np.eye(len(parent), dtype=bool)
        for i, p in enumerate(parent):
            if p >= 0:
                mask[i] |= mask[p]
        return mask

    @functools.cached_property
    def moving(self) -> np.ndarray:
        """The elements that move, in the order of the velocity coordinates."""
        return np.argsort(self.elements.velocity, kind="stable")[: self.nv].astype(INDEX)

    @functools.cached_property
    def block(self) -> np.ndarray:
        """The number of each element's *block*: the run of elements of one part of a joint, which share one frame."""
        table = self.elements
        starts = np.concatenate([[True], np.diff(table.body) != 0]) | (table.column == 0)
        return np.cumsum(starts[: table.count], dtype=INDEX) - 1

    @functools.cached_property
    def block_members(self) -> np.ndarray:
        """For each element, the elements of its block, padded with the number of elements to a common width."""
        rows = [np.flatnonzero(self.block == block) for block in self.block]
        width = max(map(len, rows), default=1)
        return np.array([np.pad(row, (0, width - len(row)), constant_values=len(rows)) for row in rows], dtype=INDEX)

    @functools.cached_property
    def precedes(self) -> np.ndarray:
        """Whether coordinate j moves the block of coordinate i: a mask (i, j) that holds within a block, j ⪯ i."""
        same = self.block[:, None] == self.block
        return (self.ancestors | same)[np.ix_(self.moving, self.moving)]

    @functools.cached_property
    def strictly_precedes(self) -> np.ndarray:
        """Whether coordinate j moves the parent of the block of coordinate i: a mask (i, j), j ≺ i."""
        same = self.block[:, None] == self.block
        return (self.ancestors & ~same)[np.ix_(self.moving, self.moving)]


@dataclasses.dataclass(frozen=True)
class Elements:
    """The one-DoF elements of a tree, in sweep order; every array has one entry an element.

    Attributes:
        body: the body whose joint the element belongs to.
        part: which part of that joint, and
        column: which column of that part's motion subspace it is (0 for a fixed joint).
        velocity: its index in v, or nv for a fixed joint.
        parent: the element before it on the path from the root, −1 for the world.
        is_first: whether it is the first element of its joint, which carries the joint's placement.
        is_last: whether it is the last element of its joint, which carries the body's inertia.
        take: the branch slot that holds its parent's state, −1 if the parent is the previous element.
        keep: the branch slot in which its own state is kept for later children, −1 if none.
        slots: how many slots there are.
        root_slot: the slot that holds the world's state from the start, −1 if none.
        last_of_body: for each body, its last element; −1 for the world.
    """

    body: np.ndarray
    part: np.ndarray
    column: np.ndarray
    velocity: np.ndarray
    parent: np.ndarray
    is_first: np.ndarray
    is_last: np.ndarray
    take: np.ndarray
    keep: np.ndarray
    slots: int
    root_slot: int
    last_of_body: np.ndarray

    @property
    def count(self) -> int:
        """The number of elements."""
        return len(self.body)


def _elements(topology: Topology) -> Elements:
    rows: list[tuple[int, ...]] = []
    last_of_body = np.full(topology.num_bodies, -1, dtype=INDEX)
    for body in topology.visits.tolist():
        parent, velocity = int(last_of_body[topology.parents[body]]), int(topology.v_start[body])
        pairs = [(part, column) for part, nv in enumerate(topology.part_nv[body]) for column in range(max(nv, 1))]
        for position, (part, column) in enumerate(pairs):
            moves = topology.part_nv[body][part] > 0
            index = velocity if moves else topology.nv
            rows.append((body, part, column, index, parent, position == 0, position == len(pairs) - 1))
            parent, velocity = len(rows) - 1, velocity + moves
        last_of_body[body] = parent
    body, part, column, index, parents, first, last = np.array(rows, dtype=INDEX).reshape(-1, 7).T
    take, keep, slots, root_slot = _assign_slots(parents)
    return Elements(
        body, part, column, index, parents, first == 1, last == 1, take, keep, slots, root_slot, last_of_body
    )


def _assign_slots(parent: np.ndarray) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Give a slot to every element (and to the world) that has a child which does not follow it directly."""
    count = len(parent)
    last_use = {}
    for i, p in enumerate(parent):
        if p != i - 1:
            last_use[int(p)] = i
    take, keep = np.full(count, -1, dtype=INDEX), np.full(count, -1, dtype=INDEX)
    held: dict[int, int] = {}
    free: list[int] = []
    slots = 0

    def hold(owner: int) -> int:
        nonlocal slots
        if free:
            held[owner] = free.pop()
        else:
            held[owner] = slots
            slots += 1
        return held[owner]

    root_slot = hold(-1) if -1 in last_use else -1
    for i, p in enumerate(parent):
        if p != i - 1:
            take[i] = held[int(p)]
            if last_use[int(p)] == i:
                free.append(held.pop(int(p)))
        if i in last_use:
            keep[i] = hold(i)
    return take, keep, slots, root_slot
