"""Semi-implicit (symplectic) Euler."""

from __future__ import annotations

from jaxtyping import Array

from ..forces import AbstractForce
from ..model import Model, integrate
from .base import AbstractIntegrator, Info, State, initial_state, joint_forces, keep_if_finite
from .vector_field import accelerations


class SemiImplicitEuler(AbstractIntegrator):
    """v⁺ = v + h FD(q, v, τ), then q⁺ = q ⊕ h v⁺: first order, the usual choice of game engines.

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
        v = state.v + self.dt * a
        return keep_if_finite(state, State(integrate(model, state.q, self.dt * v), v, state.t + self.dt))
