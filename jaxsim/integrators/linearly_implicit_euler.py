"""Backward Euler with one linear solve a step."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..forces import AbstractForce
from ..model import Model, integrate
from ..reduced.solve import check_solver, inverses, is_recursive
from ..reduced.stage import Stage, residual
from .base import AbstractIntegrator, Info, State, initial_state, joint_forces, keep_if_finite


class LinearlyImplicitEuler(AbstractIntegrator):
    """(M − hD − h²K)(v⁺ − v) = h(f + hK v), q⁺ = q ⊕ h v⁺: first order, as stable as backward Euler on linear systems.

    Sueda, §2.6 (eq. 2.84), with D and K the derivatives of all forces, those of inertia included: it is one Newton step
    of ``BDF1``, without an iteration that could fail. In linear time where the forces respect the tree.

    Attributes:
        dt: the time step.
        forces: what acts beside gravity, the model's own springs and τ, see ``AbstractForce``.
        solver: "recursive", "dense" or "auto", as for ``BDF1``.
    """

    dt: float | Array
    forces: tuple[AbstractForce, ...] = ()
    solver: str = eqx.field(default="auto", static=True)

    def __check_init__(self):
        check_solver(self.solver)

    def init(self, model: Model, q: Array, v: Array, t: float = 0.0) -> State:
        return initial_state(model, q, v, t)

    def step(self, model: Model, state: State, tau: Array | None = None) -> tuple[State, Info]:
        h, force = jnp.asarray(self.dt, state.v.dtype), joint_forces(model, state, tau)
        zero = jnp.zeros_like(state.v)
        # the state at the start as a stage with ψ = 0: v⁺ = v and a⁺ = 0
        stage = Stage(model, self.forces, state.q, -h * state.v, state.v, h, force)
        still, ahead = jax.jvp(lambda q: residual(zero, eqx.tree_at(lambda s: s.q, stage, q)), *self._drift(stage))
        inverse, _ = inverses(zero, stage, is_recursive(model, self.forces, self.solver))
        v = state.v - inverse(still + h * ahead) / h
        return keep_if_finite(state, State(integrate(model, state.q, h * v), v, state.t + h))

    @staticmethod
    def _drift(stage: Stage) -> tuple[tuple[Array], tuple[Array]]:
        """q and q̇ = d(q ⊕ εv)/dε."""
        zero = jnp.zeros_like(stage.v_known)
        q, q_dot = jax.jvp(lambda dv: integrate(stage.model, stage.q, dv), (zero,), (stage.v_known,))
        return (q,), (q_dot,)
