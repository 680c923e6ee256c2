"""Named frames on bodies: links that were merged into their parents, sites, tool points."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .placement import Placement


class Frames(eqx.Module):
    """The named frames of a model that are not themselves bodies; the i-th row belongs to the i-th name.

    A frame may have the name of a body: it is then what the model file calls so, where the engine's body frame stands
    elsewhere (on the axis of the joint).

    Attributes:
        position: where each frame stands in the frame of its body, and
        orientation: how it is turned there, as a quaternion wxyz.
        names: the names.
        bodies: the bodies that carry them.
    """

    position: Float[Array, "n 3"] | tuple[()] = ()
    orientation: Float[Array, "n 4"] | tuple[()] = ()
    names: tuple[str, ...] = eqx.field(default=(), static=True)
    bodies: tuple[int, ...] = eqx.field(default=(), static=True)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names


def stack_frames(items: Sequence[tuple[str, int, Placement]], dtype) -> Frames:
    """Frames from (name, body, placement in the body's frame)."""
    if not items:
        return Frames()
    return Frames(
        jnp.asarray([placement.position for _, _, placement in items], dtype),
        jnp.asarray([placement.quaternion for _, _, placement in items], dtype),
        tuple(name for name, _, _ in items),
        tuple(body for _, body, _ in items),
    )
