"""Heun's method, the explicit trapezoidal rule."""

from __future__ import annotations

from jaxtyping import Array

from ..forces import AbstractForce
from ..model import Model, integrate
from .base import AbstractIntegrator, Info, State, initial_state, joint_forces, keep_if_finite
from .vector_field import accelerations


class Heun(AbstractIntegrator):
    """The mean of the rates at the start and after a step of explicit Euler: second order, explicit.

    With a₀ at the start and a₁ at (q ⊕ h v, v + h a₀): q⁺ = q ⊕ (h v + h²/2 a₀), v⁺ = v + h/2 (a₀ + a₁); the order
    holds on quaternion joints too, where the brackets of velocities are of third order.

    Attributes:
        dt: the time step.
        forces: what acts beside gravity, the model's own springs and τ, see ``AbstractForce``.
    """

    dt: float | Array
    forces: tuple[AbstractForce, ...] = ()

    def init(self, model: Model, q: Array, v: Array, t: float = 0.0) -> State:
        return initial_state(model, q, v, t)

    def step(self, model: Model, state: State, tau: Array | None = None) -> tuple[State, Info]:
        h, force = self.dt, joint_forces(model, state, tau)
        a0 = accelerations(model, self.forces, state.q, state.v, force)
        ahead = integrate(model, state.q, h * state.v), state.v + h * a0
        a1 = accelerations(model, self.forces, *ahead, force)
        q = integrate(model, state.q, h * state.v + 0.5 * h**2 * a0)
        return keep_if_finite(state, State(q, state.v + 0.5 * h * (a0 + a1), state.t + h))
