"""A scan whose reverse pass keeps the states at the ends of segments alone and computes the rest a second time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


def segmented_scan(step: Callable, state: Any, xs: Any, length: int, segment: int) -> tuple[Any, Any]:
    """``lax.scan`` in segments, each under ``jax.checkpoint``.

    With T steps in segments of K, the reverse pass holds T/K states and what K steps leave behind, which is least at
    K ~ √T, at the cost of one more forward pass (Griewank and Walther 2008, §12.1).
    """
    count, rest = divmod(length, segment)

    def run(state, xs, length):
        return jax.checkpoint(lambda s, x: jax.lax.scan(step, s, x, length=length), prevent_cse=False)(state, xs)

    folded = jax.tree.map(lambda x: x[: count * segment].reshape(count, segment, *x.shape[1:]), xs)
    state, ys = jax.lax.scan(lambda s, x: run(s, x, segment), state, folded, length=count)
    ys = jax.tree.map(lambda y: y.reshape(count * segment, *y.shape[2:]), ys)
    if not rest:
        return state, ys
    state, tail = run(state, jax.tree.map(lambda x: x[count * segment :], xs), rest)
    return state, jax.tree.map(lambda a, b: jnp.concatenate([a, b]), ys, tail)


def segment_length(steps: int) -> int:
    """About √T: its nearest divisor of T if there is one within a factor of two, so that no rest is left over."""
    root = math.sqrt(max(steps, 1))
    near = [k for k in range(max(math.ceil(root / 2), 1), int(2 * root) + 1) if steps % k == 0]
    return min(near, key=lambda k: abs(math.log(k / root)), default=math.ceil(root))
