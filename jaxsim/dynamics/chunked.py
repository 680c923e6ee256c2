"""Doing the same work differently for one world and for a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
from jax.custom_batching import custom_vmap

CACHED_BYTES = 16384
"""How large one component of all worlds of a chunk may be in a sweep that keeps some hundred components per body."""


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
    """``function(*arguments)``, which under ``jax.vmap`` on a CPU takes ``chunk`` worlds of the batch at a time.

    What one chunk needs stays in the caches of a core. The value is that of plain ``vmap``, which is what accelerators
    run; only the order of the work differs. A derivative is that of ``function``.
    """

    @custom_vmap
    def batched(*arguments):
        return function(*arguments)

    @batched.def_vmap
    def _rule(axis_size, in_batched, *arguments):
        leaves, structure = jax.tree.flatten(arguments)
        flags = jax.tree.leaves(in_batched)
        if not any(flags):
            out = function(*arguments)
            return out, jax.tree.map(lambda _: False, out)
        moving = [x for x, is_batched in zip(leaves, flags, strict=True) if is_batched]

        def one(moving):
            rest = iter(moving)
            world = [next(rest) if is_batched else x for x, is_batched in zip(leaves, flags, strict=True)]
            return function(*structure.unflatten(world))

        if axis_size <= chunk:
            out = jax.vmap(one)(moving)
        else:
            in_turn = functools.partial(jax.lax.map, one, batch_size=chunk)
            out = jax.lax.platform_dependent(moving, cpu=in_turn, default=jax.vmap(one))
        return out, jax.tree.map(lambda _: True, out)

    return _differentiated(batched, function, arguments)


def _differentiated(function: Callable, plain: Callable, arguments: tuple):
    """``function(*arguments)``, with the derivatives of ``plain``: ``custom_vmap`` itself has no reverse mode.

    The rule has its value from there as well. JAX wants the batch along the same axis of both values where it
    batches a loop first and differentiates it then, and ``custom_vmap`` always puts it first.
    """

    @jax.custom_jvp
    def evaluate(*arguments):
        return function(*arguments)

    @evaluate.defjvp
    def _derivative(primals, tangents):
        return evaluate(*primals), jax.jvp(plain, primals, tangents)[1]

    return evaluate(*arguments)
