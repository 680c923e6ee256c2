"""Joints whose configuration space is flat, so that configurations are moved by adding to them."""

from __future__ import annotations

import abc

import jax

from ..spatial import Scalar
from .base import AbstractJoint, Components


class AbstractEuclideanJoint(AbstractJoint):
    """A joint with v = q̇: as many coordinates as degrees of freedom, and q ⊕ dv = q + dv."""

    @property
    @abc.abstractmethod
    def nv(self) -> int: ...

    @property
    def nq(self) -> int:
        return self.nv

    def integrate(self, q: Components, dv: Components) -> tuple[Scalar, ...]:
        return tuple(a + b for a, b in zip(q, dv, strict=True))

    def difference(self, q0: Components, q1: Components) -> tuple[Scalar, ...]:
        return tuple(b - a for a, b in zip(q0, q1, strict=True))


def uniform(key: jax.Array, count: int, bound: float) -> tuple[Scalar, ...]:
    """``count`` coordinates drawn uniformly from [−bound, bound]."""
    return tuple(jax.random.uniform(key, (count,), minval=-bound, maxval=bound))
