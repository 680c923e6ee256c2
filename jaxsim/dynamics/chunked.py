"""Assembling large outputs in chunks that stay in the cache."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap


def in_chunks(function: Callable, arguments: tuple, chunk: int):
    """``function(*arguments)``, which under ``jax.vmap`` takes ``chunk`` worlds of the batch at a time.

    The value is that of plain ``vmap``; only the order of the work differs. A derivative is that of ``function``.
    """

    @custom_vmap
    def batched(*arguments):
        return function(*arguments)

    @batched.def_vmap
    def _rule(axis_size, in_batched, *arguments):
        full = [
            x if is_batched else jnp.broadcast_to(x, (axis_size, *jnp.shape(x)))
            for x, is_batched in zip(arguments, in_batched, strict=True)
        ]
        if axis_size <= chunk:
            out = jax.vmap(function)(*full)
        else:
            out = jax.lax.map(lambda x: function(*x), full, batch_size=chunk)
        return out, jax.tree.map(lambda _: True, out)

    # custom_vmap has no transpose: derivatives of every mode go around it
    @jax.custom_jvp
    def evaluate(*arguments):
        return batched(*arguments)

    @evaluate.defjvp
    def _derivative(primals, tangents):
        return jax.jvp(function, primals, tangents)

    return evaluate(*arguments)
