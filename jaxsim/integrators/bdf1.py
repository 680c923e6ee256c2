"""Backward Euler."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array

from ..model import Model, integrate
from ..reduced.solve import solve_stage
from ..reduced.stage import Stage
from .base import Info, State, initial_state, joint_forces
from .implicit import AbstractImplicitIntegrator, keep_if_converged


class BDF1(AbstractImplicitIntegrator):
    """v⁺ = v + h a⁺ and q⁺ = q ⊕ h v⁺ with the acceleration at the end of the step: first order, stable, damping.

    Sueda, §3.4.1. The residual is inverse dynamics; the Newton direction takes linear time where the forces respect the
    tree; a step is differentiated by the implicit function theorem.

    Its settings are those of ``AbstractImplicitIntegrator``.
    """

    def init(self, model: Model, q: Array, v: Array, t: float = 0.0) -> State:
        return initial_state(model, q, v, t)

    def step(self, model: Model, state: State, tau: Array | None = None) -> tuple[State, Info]:
        h, force = jnp.asarray(self.dt, state.v.dtype), joint_forces(model, state, tau)
        stage = Stage(model, self.forces, state.q, jnp.zeros_like(state.v), state.v, h, force)
        psi, info = solve_stage(stage, h * state.v, self.options)
        after = State(integrate(model, state.q, psi), psi / h, state.t + h)
        kept = keep_if_converged(info.converged, after, state)
        return kept, Info(info.converged, info.residual, info.iterations)
