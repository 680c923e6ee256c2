"""Backward Euler."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..forces import AbstractForce
from ..model import Model, integrate
from ..reduced.solve import Options, check_solver, solve_stage
from ..reduced.stage import Stage
from .base import AbstractIntegrator, Info, State, initial_state, joint_forces


class BDF1(AbstractIntegrator):
    """v⁺ = v + h a⁺ and q⁺ = q ⊕ h v⁺ with the acceleration at the end of the step: first order, stable, damping.

    Sueda, §3.4.1. The residual is inverse dynamics; the Newton direction takes linear time where the forces respect the
    tree; a step is differentiated by the implicit function theorem.

    Attributes:
        dt: the time step.
        forces: what acts beside gravity, the model's own springs and τ, see ``AbstractForce``.
        solver: "recursive" for the Newton direction in linear time, "dense" for a matrix, "auto" to choose.
        tolerance: the residual of a solved step relative to the forces in it; by default 1e-11, or what the
            floating-point type allows.
        max_iterations: how many times a step may factorise the Newton matrix.
    """

    dt: float | Array
    forces: tuple[AbstractForce, ...] = ()
    solver: str = eqx.field(default="auto", static=True)
    tolerance: float | None = eqx.field(default=None, static=True)
    max_iterations: int = eqx.field(default=20, static=True)

    def __check_init__(self):
        check_solver(self.solver)

    def init(self, model: Model, q: Array, v: Array, t: float = 0.0) -> State:
        return initial_state(model, q, v, t)

    def step(self, model: Model, state: State, tau: Array | None = None) -> tuple[State, Info]:
        h, force = jnp.asarray(self.dt, state.v.dtype), joint_forces(model, state, tau)
        stage = Stage(model, self.forces, state.q, jnp.zeros_like(state.v), state.v, h, force)
        options = Options(self.solver, self.tolerance, self.max_iterations)
        psi, info = solve_stage(stage, h * state.v, options)
        after = State(integrate(model, state.q, psi), psi / h, state.t + h)
        kept = jax.tree.map(lambda new, old: jnp.where(info.converged, new, old), after, state)
        return kept, Info(info.converged, info.residual, info.iterations)
