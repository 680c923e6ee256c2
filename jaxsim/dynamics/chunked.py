"""Doing the same work differently for one world and for a batch."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap


def one_or_many(one: Callable, many: Callable, arguments: tuple):
    """``one(*arguments)``, or, under ``jax.vmap``, the same value by ``many``. A derivative is that of ``one``."""

    @custom_vmap
    def chosen(*arguments):
        return one(*arguments)

    @chosen.def_vmap
    def _rule(axis_size, in_batched, *arguments):
        axes = jax.tree.map(lambda is_batched: 0 if is_batched else None, in_batched)
        out = jax.vmap(many, axes, axis_size=axis_size)(*arguments)
        return out, jax.tree.map(lambda _: True, out)

    return _differentiated(chosen, one, arguments)


def worlds_in_cache(size: int, megabytes: float) -> int:
    """How many worlds with results of ``size`` numbers are worked on at a time."""
    return max(1, int(megabytes * 2**17) // max(size, 1))


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

    return _differentiated(batched, function, arguments)


def _differentiated(function: Callable, plain: Callable, arguments: tuple):
    """``function(*arguments)``, with the derivatives of ``plain``: ``custom_vmap`` itself has no reverse mode."""

    @jax.custom_jvp
    def evaluate(*arguments):
        return function(*arguments)

    @evaluate.defjvp
    def _derivative(primals, tangents):
        return jax.jvp(plain, primals, tangents)

    return evaluate(*arguments)
