"""Array code whose own axes come first and those of a batch last, so that in a batch all operations are long loops.

Under plain ``jax.vmap`` the axis of the batch comes first, and operations on small matrices become many short loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap


def batch_last(many: Callable, *arguments: Any, one: Callable | None = None) -> Any:
    """``many(*arguments)``, where under ``jax.vmap`` the axes of the batch follow all others of every array.

    Args:
        many: a function of pytrees that leaves trailing axes alone. Python numbers in its arguments reach it as they
            are; arrays that do not belong to the batch have a trailing axis of one.
        *arguments: its arguments.
        one: what to do for one world alone, if something else is faster; the same values in the same shapes.
    """
    leaves, structure = jax.tree.flatten(arguments)
    literal = [isinstance(leaf, float) for leaf in leaves]

    def on_arrays(function: Callable) -> Callable:
        def call(*arrays):
            rest = iter(arrays)
            merged = [leaf if fixed else next(rest) for leaf, fixed in zip(leaves, literal, strict=True)]
            return function(*structure.unflatten(merged))

        return call

    arrays = [leaf for leaf, fixed in zip(leaves, literal, strict=True) if not fixed]
    return _batched(on_arrays(many if one is None else one), on_arrays(many))(*arrays)


def _batched(here: Callable, further: Callable) -> Callable:
    call = custom_vmap(here)

    @call.def_vmap
    def _rule(axis_size, in_batched, *arrays):
        del axis_size
        moved = [
            jnp.moveaxis(array, 0, -1) if batched else array[..., None]
            for array, batched in zip(arrays, in_batched, strict=True)
        ]
        out = _batched(further, further)(*moved)
        return jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -1, 0), out), jax.tree.map(lambda _: True, out)

    return call
