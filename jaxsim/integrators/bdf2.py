"""The two-step backward differentiation formula."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..model import Model, integrate
from ..reduced.solve import solve_stage
from ..reduced.stage import Stage
from ..solvers.newton import SolverInfo
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
        rest = (1.0 - ALPHA) * h
        c = jnp.where(first, ALPHA * h, 2.0 / 3.0 * h)
        v_guess = jnp.where(first, state.v, 2.0 * state.v - state.v_before)
        history = state.increment / 3.0, (4.0 * state.v - state.v_before) / 3.0

        # all stages are the same equation, compiled once; only a first step has the first of the two
        def stage(known: tuple[Array, Array], needed: Array):
            problem = Stage(model, self.forces, state.q, *known, c, force)
            guess = problem.psi_known + c * v_guess
            psi, info = jax.lax.cond(needed, lambda: solve_stage(problem, guess, self.options), lambda: skipped(guess))
            v, a = problem.velocity(psi), problem.acceleration(psi)
            second = rest * v, state.v + rest * a
            return jax.tree.map(lambda start, later: jnp.where(first, start, later), second, history), (psi, v, info)

        start = jax.tree.map(lambda x, y: jnp.where(first, x, y), (jnp.zeros_like(state.v), state.v), history)
        _, (psi, v, info) = jax.lax.scan(stage, start, jnp.stack([first, jnp.ones((), bool)]))
        converged = jnp.all(info.converged)
        after = BDF2State(integrate(model, state.q, psi[1]), v[1], state.t + h, psi[1], state.v, state.steps)
        kept = keep_if_converged(converged, after, state)
        # an unconditional count keeps the choice of the formula out of a batch
        kept = eqx.tree_at(lambda s: s.steps, kept, state.steps + 1)
        return kept, Info(converged, jnp.max(info.residual), jnp.sum(info.iterations))


def skipped(guess: Float[Array, " nv"]) -> tuple[Array, SolverInfo]:
    """What a stage that is not needed returns."""
    return guess, SolverInfo(jnp.ones((), bool), jnp.zeros((), guess.dtype), jnp.zeros((), jnp.int32))
