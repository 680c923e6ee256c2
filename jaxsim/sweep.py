"""The two loops over the tree, from the root to the leaves and back.

All recursions of the engine are one of these. They scan over the elements of a topology in depth-first order, so the
parent's state is the previous carry; at branches it comes from a slot (see ``model/topology.py``).

States and contributions are pytrees of scalars. What is scanned over may contain Python numbers and ``Shared`` data:
they are the same for every element, are not stored, and reach the step function as they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .model.topology import Topology
from .spatial.vector import add, choose

Tree = Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Shared:
    """Data that is the same for every element: it is not scanned over, but reaches every step as it is."""

    value: Tree


def root_to_leaf(
    topology: Topology, step: Callable[[Tree, Tree], tuple[Tree, Tree]], xs: Tree, root: Tree, dtype
) -> Tree:
    """Visit every element after its parent.

    Args:
        topology: the tree.
        step: ``step(parent_state, x) -> (state, out)`` for one element.
        xs: the data of the elements, each leaf with a leading axis of elements.
        root: the state of the world.
        dtype: the floating-point type of states and outputs.

    Returns:
        The outputs of all elements, stacked.
    """
    elements = topology.elements
    arrays, rebuild = _split_literals(xs)
    root = _as_arrays(root, dtype)

    def body(carry, inputs):
        parent, slots = carry
        x, taken, kept, _ = inputs
        for take, slot in zip(taken, slots, strict=True):
            parent = _select(take, slot, parent)
        state, out = step(parent, rebuild(x))
        state = _as_arrays(state, dtype)
        slots = tuple(_select(keep, state, slot) for keep, slot in zip(kept, slots, strict=True))
        return (state, slots), _as_arrays(out, dtype)

    slots = tuple(root for _ in range(elements.slots))
    _, outs = jax.lax.scan(body, (root, slots), (arrays, *_slot_inputs(elements)), length=elements.count)
    return outs


def leaf_to_root(
    topology: Topology, step: Callable[[Tree, Tree], tuple[Tree, Tree]], xs: Tree, zero: Tree, dtype
) -> tuple[Tree, Tree]:
    """Visit every element after its children.

    Args:
        topology: the tree.
        step: ``step(sum_of_children, x) -> (contribution_to_parent, out)`` for one element.
        xs: the data of the elements, each leaf with a leading axis of elements.
        zero: the sum over no children.
        dtype: the floating-point type of sums and outputs.

    Returns:
        What reaches the world, and the outputs of all elements, stacked.
    """
    elements = topology.elements
    arrays, rebuild = _split_literals(xs)
    zero = _as_arrays(zero, dtype)

    def body(carry, inputs):
        children, slots = carry
        x, taken, kept, to_previous = inputs
        for keep, slot in zip(kept, slots, strict=True):
            children = _add_where(keep, children, slot)
        contribution, out = step(children, rebuild(x))
        contribution = _as_arrays(contribution, dtype)
        # an element may open the slot that its own children have just closed
        slots = tuple(_select(keep, zero, slot) for keep, slot in zip(kept, slots, strict=True))
        slots = tuple(_add_where(take, slot, contribution) for take, slot in zip(taken, slots, strict=True))
        pending = _select(to_previous, contribution, zero) if slots else contribution
        return (pending, slots), _as_arrays(out, dtype)

    slots = tuple(zero for _ in range(elements.slots))
    inputs = (arrays, *_slot_inputs(elements))
    (pending, slots), outs = jax.lax.scan(body, (zero, slots), inputs, length=elements.count, reverse=True)
    total = pending if elements.root_slot < 0 else jax.tree.map(jnp.add, pending, slots[elements.root_slot])
    return total, outs


def element_by_element(topology: Topology, step: Callable[[Tree], Tree], xs: Tree, dtype) -> Tree:
    """Visit every element on its own, and stack the outputs.

    The same as arithmetic on stacked arrays, save that in a batch the worlds stay contiguous. A loop of its own also
    keeps XLA from repeating the arithmetic in every kernel that uses its results.
    """
    return root_to_leaf(topology, lambda _, x: (None, step(x)), xs, None, dtype)


def _slot_inputs(elements) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray | None]:
    """For each slot, which elements take their parent from it and which keep their state in it; who needs no slot.

    They are compared here and not in the loop: a comparison of constants would become a loop of its own in derivatives.
    """
    slots = range(elements.slots)
    to_previous = elements.take < 0 if elements.slots else None
    return [elements.take == k for k in slots], [elements.keep == k for k in slots], to_previous


def element_at(tree: Tree, index: int) -> Tree:
    """The data of one element."""
    return jax.tree.map(lambda x: x if isinstance(x, float | Shared) else x[index], tree, is_leaf=_is_shared)


def _is_shared(node) -> bool:
    return isinstance(node, Shared)


def _select(condition, a: Tree, b: Tree) -> Tree:
    return jax.tree.map(lambda x, y: choose(condition, x, y), a, b)


def _add_where(condition, a: Tree, b: Tree) -> Tree:
    return jax.tree.map(lambda x, y: add(x, choose(condition, y, lax.full_like(y, 0))), a, b)


def _as_arrays(tree: Tree, dtype) -> Tree:
    def as_array(leaf):
        return leaf if isinstance(leaf, jax.Array) and leaf.dtype == dtype else jnp.asarray(leaf, dtype)

    return jax.tree.map(as_array, tree)


def _split_literals(tree: Tree) -> tuple[list, Callable[[list], Tree]]:
    """The array leaves of a tree, and the function that puts the Python numbers and shared data back around them."""
    leaves, structure = jax.tree.flatten(tree, is_leaf=_is_shared)
    is_literal = [isinstance(leaf, float | Shared) for leaf in leaves]
    arrays = [leaf for leaf, literal in zip(leaves, is_literal, strict=True) if not literal]

    def rebuild(scanned: list) -> Tree:
        rest = iter(scanned)
        return structure.unflatten(
            leaf if literal else next(rest) for leaf, literal in zip(leaves, is_literal, strict=True)
        )

    return arrays, rebuild
