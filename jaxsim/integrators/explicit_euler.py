"""Explicit Euler."""

from __future__ import annotations

from jaxtyping import Array

from ..forces import AbstractForce
from ..model import Model, integrate
from .base import AbstractIntegrator, Info, State, initial_state, joint_forces, keep_if_finite
from .vector_field import accelerations


class ExplicitEuler(AbstractIntegrator):
    """v⁺ = v + h a and q⁺ = q ⊕ h v with the acceleration at the start: first order, gains energy; for comparisons.

    Attributes:
        dt: the time step.
        forces: what acts beside gravity, the model's own springs and τ, see ``AbstractForce``.
    """

    dt: float | Array
    forces: tuple[AbstractForce, ...] = ()

    def init(self, model: Model, q: Array, v: Array, t: float = 0.0) -> State:
        return initial_state(model, q, v, t)

    def step(self, model: Model, state: State, tau: Array | None = None) -> tuple[State, Info]:
        a = accelerations(model, self.forces, state.q, state.v, joint_forces(model, state, tau))
        after = State(integrate(model, state.q, self.dt * state.v), state.v + self.dt * a, state.t + self.dt)
        return keep_if_finite(state, after)
