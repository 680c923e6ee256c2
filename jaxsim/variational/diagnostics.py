"""The energy and the momentum of a discrete trajectory, as functions of its configuration and discrete momentum."""

from __future__ import annotations

from typing import Protocol

from jaxtyping import Array, Float

from ..dynamics import Energy, energy, inverse_mass_product, momentum
from ..model import Model


class DiscreteState(Protocol):
    """What the diagnostics read of a state."""

    @property
    def q(self) -> Array: ...
    @property
    def momentum(self) -> Array: ...


def discrete_energy(model: Model, state: DiscreteState) -> Energy:
    """H(q, p) = ½ pᵀ M(q)⁻¹ p + V(q), which a symplectic step keeps near its start without drift."""
    return energy(model, state.q, inverse_mass_product(model, state.q, state.momentum))


def discrete_momentum(model: Model, state: DiscreteState) -> Float[Array, " 6"]:
    """``momentum`` at v = M(q)⁻¹ p (angular about the world's origin, linear), conserved where symmetry says so."""
    return momentum(model, state.q, inverse_mass_product(model, state.q, state.momentum))
