"""What a rollout saw."""

from __future__ import annotations

from os import PathLike
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics import Energy
from . import storage


class Trajectory(eqx.Module):
    """What a rollout saw, along a leading axis of time.

    Attributes:
        q: the configurations, at T + 1 times; (T + 1, nb, 7) for a mechanism.
        v: the velocities, at T + 1 times; (T + 1, nb, 6) for a mechanism.
        t: the times.
        controls: the joint forces of each of the T steps, ``None`` where there were none.
        info: how each of the T steps went.
        final: the integrator's state at the end, from which a rollout can go on.
        energy: the energies at the T + 1 times, if they were asked for.
    """

    q: Float[Array, "..."]
    v: Float[Array, "..."]
    t: Float[Array, " T1"]
    controls: Any
    info: Any
    final: Any
    energy: Energy | None = None

    @property
    def converged(self) -> Array:
        """Whether all steps converged."""
        return jnp.all(self.info.converged, axis=-1)

    def save(self, path: str | PathLike) -> None:
        """Write the trajectory to an npz file, with nothing lost: arrays by name, and how they belong together."""
        storage.save(path, self)

    @staticmethod
    def load(path: str | PathLike) -> Trajectory:
        """The trajectory that ``save`` wrote."""
        loaded = storage.load(path)
        if not isinstance(loaded, Trajectory):
            raise ValueError(f"{path} holds a {type(loaded).__name__}, not a trajectory; load one that save wrote.")
        return loaded
