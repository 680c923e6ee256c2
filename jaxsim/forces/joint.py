"""Forces on the joints, as functions of the coordinates."""

from __future__ import annotations

import abc

import numpy as np
from jaxtyping import Array, Float

from ..model import Model
from .base import AbstractForce


class AbstractJointForce(AbstractForce):
    """Joint forces as a function of the coordinates."""

    @abc.abstractmethod
    def force(self, model: Model, q: Array, v: Array) -> Float[Array, " nv"]:
        """The force on each degree of freedom."""

    @property
    def is_diagonal(self) -> bool:
        """Whether each force depends on its own degree of freedom only; saying so keeps implicit steps linear-time."""
        return False

    def applied(self, model: Model, q: Array, v: Array) -> tuple[None, Float[Array, " nv"]]:
        return None, self.force(model, q, v)


def flat_coordinates(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """For each degree of freedom, the place of its coordinate in q, and whether it has one of its own."""
    topology = model.topology
    place, flat = np.zeros(topology.nv, np.int32), np.zeros(topology.nv, bool)
    for joint, q_rows, v_rows in zip(model.joints, topology.q_rows, topology.v_rows, strict=True):
        if joint.is_euclidean:
            place[v_rows], flat[v_rows] = q_rows, True
    if model.coupling is None:
        return place, flat
    at = {int(q): k for k, q in enumerate(model.coupling.own_q)}
    own = model.coupling.own_v
    return np.array([at[int(p)] if f else 0 for p, f in zip(place[own], flat[own], strict=True)], np.int32), flat[own]
