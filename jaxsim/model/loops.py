"""Loop closures: what holds two bodies of the tree together besides the tree's own joints."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .placement import Placement

KINDS = ("connect", "weld")
"""``connect`` makes the origins of the two frames coincide, ``weld`` their axes too."""


@dataclasses.dataclass(frozen=True)
class Loop:
    """What is static about a loop closure: its name, its kind and the two bodies."""

    name: str
    kind: str
    body_a: int
    body_b: int


class Loops(eqx.Module):
    """The loop closures of a model, kept as data: the recursions on the tree do not enforce them.

    The i-th row of each array belongs to the i-th closure, which holds a frame of body a on a frame of body b.

    Attributes:
        position_a: the origin of the frame in body a, and
        orientation_a: its rotation there, as a quaternion wxyz.
        position_b: the same in body b.
        orientation_b: the same in body b.
        loops: the static side.
    """

    position_a: Float[Array, "n 3"] | tuple[()] = ()
    orientation_a: Float[Array, "n 4"] | tuple[()] = ()
    position_b: Float[Array, "n 3"] | tuple[()] = ()
    orientation_b: Float[Array, "n 4"] | tuple[()] = ()
    loops: tuple[Loop, ...] = eqx.field(default=(), static=True)

    def __len__(self) -> int:
        return len(self.loops)


def stack_loops(items: Sequence[tuple[Loop, Placement, Placement]], dtype) -> Loops:
    """Loop closures from (static side, frame in body a, frame in body b)."""
    if not items:
        return Loops()
    return Loops(
        jnp.asarray([a.position for _, a, _ in items], dtype),
        jnp.asarray([a.quaternion for _, a, _ in items], dtype),
        jnp.asarray([b.position for _, _, b in items], dtype),
        jnp.asarray([b.quaternion for _, _, b in items], dtype),
        tuple(loop for loop, _, _ in items),
    )
