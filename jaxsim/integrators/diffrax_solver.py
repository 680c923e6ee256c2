"""Adaptive explicit integration by diffrax, between the time steps of a rollout."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from ..forces import AbstractForce
from ..model import Model, integrate
from .base import AbstractIntegrator, Info, State, initial_state, joint_forces
from .runge_kutta4 import coordinate_rate
from .vector_field import accelerations


class Diffrax(AbstractIntegrator):
    """A solver of diffrax with adaptive steps inside each time step, for q = q₀ ⊕ σ in the coordinates σ and v.

    Needs the extra ``diffrax``. The joint forces are constant over a time step; the order of the solver holds for every
    joint, since σ̇ takes the derivative of the exponential map into account.

    Attributes:
        dt: the time between two points of the trajectory.
        forces: what acts beside gravity, the model's own springs and τ, see ``AbstractForce``.
        solver: a solver of diffrax; by default ``diffrax.Dopri8()``.
        rtol: the relative tolerance of a step, and
        atol: the absolute one.
        max_steps: how many steps a time step may take.
    """

    dt: float | Array
    forces: tuple[AbstractForce, ...] = ()
    solver: Any = None
    rtol: float = 1e-8
    atol: float = 1e-8
    max_steps: int = eqx.field(default=1024, static=True)

    def init(self, model: Model, q: Array, v: Array, t: float = 0.0) -> State:
        return initial_state(model, q, v, t)

    def step(self, model: Model, state: State, tau: Array | None = None) -> tuple[State, Info]:
        import diffrax

        force, h = joint_forces(model, state, tau), jnp.asarray(self.dt, state.v.dtype)

        def field(t, y, args):
            sigma, v = y
            q = integrate(model, state.q, sigma)
            return coordinate_rate(model, state.q, q, v), accelerations(model, self.forces, q, v, force)

        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            diffrax.Dopri8() if self.solver is None else self.solver,
            t0=jnp.zeros_like(h),
            t1=h,
            dt0=None,
            y0=(jnp.zeros_like(state.v), state.v),
            stepsize_controller=diffrax.PIDController(rtol=self.rtol, atol=self.atol),
            max_steps=self.max_steps,
            throw=False,
        )
        assert solution.ys is not None
        sigma, v = (y[-1] for y in solution.ys)
        good = (solution.result == diffrax.RESULTS.successful) & jnp.all(jnp.isfinite(v)) & jnp.all(jnp.isfinite(sigma))
        q = jnp.where(good, integrate(model, state.q, sigma), state.q)
        kept = State(q, jnp.where(good, v, state.v), jnp.where(good, state.t + h, state.t))
        count = jnp.asarray(solution.stats["num_steps"], jnp.int32)
        return kept, Info(good, jnp.where(good, 0.0, jnp.inf).astype(v.dtype), count)
