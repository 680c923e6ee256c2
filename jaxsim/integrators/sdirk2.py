"""A singly diagonally implicit Runge–Kutta method of order two."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..model import Model, integrate
from ..reduced.solve import solve_stage
from ..reduced.stage import Stage
from .base import Info, State, initial_state, joint_forces
from .implicit import AbstractImplicitIntegrator, keep_if_converged

ALPHA = 1.0 - 0.5 * 2.0**0.5


class SDIRK2(AbstractImplicitIntegrator):
    """Two implicit stages with the same coefficient α = 1 − √2/2: second order, L-stable (Sueda, §3.4.3).

    v_α = v + αh a_α, ψ_α = αh v_α;   v⁺ = v + (1−α)h a_α + αh a⁺, ψ = (1−α)h v_α + αh v⁺, q⁺ = q ⊕ ψ.

    Its settings are those of ``AbstractImplicitIntegrator``.
    """

    def init(self, model: Model, q: Array, v: Array, t: float = 0.0) -> State:
        return initial_state(model, q, v, t)

    def step(self, model: Model, state: State, tau: Array | None = None) -> tuple[State, Info]:
        h, force = jnp.asarray(self.dt, state.v.dtype), joint_forces(model, state, tau)

        # both stages are the same equation, compiled once
        def stage(carry, _):
            psi_known, v_known = carry
            problem = Stage(model, self.forces, state.q, psi_known, v_known, ALPHA * h, force)
            psi, info = solve_stage(problem, psi_known + ALPHA * h * state.v, self.options)
            v, a = problem.velocity(psi), problem.acceleration(psi)
            return ((1.0 - ALPHA) * h * v, state.v + (1.0 - ALPHA) * h * a), (psi, v, info)

        _, (psi, v, info) = jax.lax.scan(stage, (jnp.zeros_like(state.v), state.v), None, length=2)
        after = State(integrate(model, state.q, psi[1]), v[1], state.t + h)
        converged = jnp.all(info.converged)
        kept = keep_if_converged(converged, after, state)
        return kept, Info(converged, jnp.max(info.residual), jnp.sum(info.iterations))
