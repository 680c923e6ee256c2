"""Named states that come with a model: home poses, initial conditions."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float


class Keyframe(eqx.Module):
    """One named state: configuration, velocity and controls."""

    q: Float[Array, " nq"]
    v: Float[Array, " nv"]
    u: Float[Array, " nu"]


class Keyframes(eqx.Module):
    """The named states of a model; the i-th row belongs to the i-th name. ``keyframes["home"]`` is one of them."""

    q: Float[Array, "n nq"] | tuple[()] = ()
    v: Float[Array, "n nv"] | tuple[()] = ()
    u: Float[Array, "n nu"] | tuple[()] = ()
    names: tuple[str, ...] = eqx.field(default=(), static=True)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> Keyframe:
        if name not in self.names:
            known = ", ".join(self.names) or "none"
            raise ValueError(f"There is no keyframe {name!r}; the keyframes are: {known}.")
        index = self.names.index(name)
        return Keyframe(*(jnp.asarray(rows[index]) for rows in (self.q, self.v, self.u)))


def stack_keyframes(items: Sequence[tuple], dtype) -> Keyframes:
    """Keyframes from (name, q, v, u)."""
    if not items:
        return Keyframes()
    names, *rows = zip(*items, strict=True)
    return Keyframes(*(jnp.asarray(row, dtype) for row in rows), names=names)
