"""The two-step backward differentiation formula."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..model import Model, integrate
from ..reduced.solve import solve_stage
from ..reduced.stage import Stage
from .base import Info, initial_state, joint_forces
from .implicit import AbstractImplicitIntegrator, keep_if_converged
from .sdirk2 import ALPHA


class BDF2State(eqx.Module):
    """A point of the trajectory with what the next step needs.

    Attributes:
        q: the configuration.
        v: the velocity.
        t: the time.
        increment: the displacement of the last step, which needs no chart.
        v_before: the velocity at its start.
        steps: how many steps were tried; the first is one of ``SDIRK2``.
    """

    q: Float[Array, " nq"]
    v: Float[Array, " nv"]
    t: Float[Array, ""]
    increment: Float[Array, " nv"]
    v_before: Float[Array, " nv"]
    steps: Int[Array, ""]


class BDF2(AbstractImplicitIntegrator):
    """v⁺ = (4v − v₋ + 2h a⁺)/3 and ψ⁺ = (ψ + 2h v⁺)/3, q⁺ = q ⊕ ψ⁺: second order, L-stable (Sueda, §3.4.2).

    One implicit stage a step; the first step is one of ``SDIRK2``. On quaternion joints the history is the last
    increment ψ in the body's frame, which keeps the order.

    Its settings are those of ``AbstractImplicitIntegrator``.
    """

    def init(self, model: Model, q: Array, v: Array, t: float = 0.0) -> BDF2State:
        start = initial_state(model, q, v, t)
        last = jnp.asarray(self.dt, start.v.dtype) * start.v
        return BDF2State(start.q, start.v, start.t, last, start.v, jnp.zeros((), jnp.int32))

    def step(self, model: Model, state: BDF2State, tau: Array | None = None) -> tuple[BDF2State, Info]:
        h, force = jnp.asarray(self.dt, state.v.dtype), joint_forces(model, state, tau)
        first = state.steps == 0

        def half_way():
            """The first stage of SDIRK2, and the coefficients of its second."""
            zero, c = jnp.zeros_like(state.v), ALPHA * h
            stage = Stage(model, self.forces, state.q, zero, state.v, c, force)
            psi, info = solve_stage(stage, c * state.v, self.options)
            rest = (1.0 - ALPHA) * h
            return rest * stage.velocity(psi), state.v + rest * stage.acceleration(psi), c, state.v, info

        def from_history():
            """The coefficients of BDF2."""
            v_known = (4.0 * state.v - state.v_before) / 3.0
            none = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(lambda: half_way()[-1]))
            none = eqx.tree_at(lambda info: info.converged, none, jnp.ones((), bool))
            return state.increment / 3.0, v_known, 2.0 / 3.0 * h, 2.0 * state.v - state.v_before, none

        psi_known, v_known, c, v_guess, before = jax.lax.cond(first, half_way, from_history)
        stage = Stage(model, self.forces, state.q, psi_known, v_known, c, force)
        psi, info = solve_stage(stage, psi_known + c * v_guess, self.options)
        v, converged = stage.velocity(psi), info.converged & before.converged
        after = BDF2State(integrate(model, state.q, psi), v, state.t + h, psi, state.v, state.steps)
        kept = keep_if_converged(converged, after, state)
        # an unconditional count keeps the choice of the formula out of a batch
        kept = eqx.tree_at(lambda s: s.steps, kept, state.steps + 1)
        report = jnp.maximum(info.residual, before.residual), info.iterations + before.iterations
        return kept, Info(converged, *report)
