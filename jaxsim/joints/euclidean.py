"""The answers shared by joints whose configuration space is flat."""

from __future__ import annotations

import jax

from ..spatial import Motion, Scalar
from .base import Components


def add(q: Components, dv: Components) -> tuple[Scalar, ...]:
    """q + dv, component by component."""
    return tuple(a + b for a, b in zip(q, dv, strict=True))


def subtract(q0: Components, q1: Components) -> tuple[Scalar, ...]:
    """q1 − q0, component by component."""
    return tuple(b - a for a, b in zip(q0, q1, strict=True))


def uniform(key: jax.Array, count: int, bound: float) -> tuple[Scalar, ...]:
    """``count`` coordinates drawn uniformly from [−bound, bound]."""
    return tuple(jax.random.uniform(key, (count,), minval=-bound, maxval=bound))


def constant_subspace(nv: int) -> tuple[tuple[Motion, ...], ...]:
    """The derivative of a subspace that does not depend on q: all zero."""
    return tuple(tuple(Motion.zero() for _ in range(nv)) for _ in range(nv))
