"""The loops of a model, closed."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jaxtyping import Array, Float

from ...model import Model
from ...spatial import Quaternion
from .base import AbstractHolonomicConstraint, Anchor


class LoopClosures(AbstractHolonomicConstraint):
    """All loops of ``model.loops``: the origins of the two frames coincide, and for a weld their axes too.

    With the axes a_i and b_i of the two frames, a weld asks for ½ Σ a_i × b_i = 0, which for small turns is the vector
    of the rotation between them. Multipliers are the force and, for a weld, the moment on body a.
    """

    def anchors(self, model: Model) -> Sequence[Anchor]:
        loops, found = model.loops, []
        for i, loop in enumerate(loops.loops):
            for body, position, orientation in (
                (loop.body_a, loops.position_a, loops.orientation_a),
                (loop.body_b, loops.position_b, loops.orientation_b),
            ):
                origin = jnp.asarray(position)[i]
                found.append((body, origin))
                if loop.kind == "weld":
                    axes = Quaternion.from_array(jnp.asarray(orientation)[i]).to_matrix().to_array().T
                    found.extend((body, origin + axis) for axis in axes)
        return found

    def size(self, model: Model) -> int:
        return sum(6 if loop.kind == "weld" else 3 for loop in model.loops.loops)

    def value(self, model: Model, y: Float[Array, "k 3"]) -> Float[Array, " m"]:
        rows, place = [jnp.zeros(0, y.dtype)], 0
        for loop in model.loops.loops:
            k = 4 if loop.kind == "weld" else 1
            a, b = y[place : place + k], y[place + k : place + 2 * k]
            rows.append(a[0] - b[0])
            if k == 4:
                rows.append(0.5 * jnp.cross(a[1:] - a[0], b[1:] - b[0]).sum(axis=0))
            place += 2 * k
        return jnp.concatenate(rows)

    def force_is_constant(self, model: Model) -> bool:
        return all(loop.kind == "connect" for loop in model.loops.loops)
