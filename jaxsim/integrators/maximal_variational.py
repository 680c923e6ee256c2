"""The variational integrator in maximal coordinates."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..maximal.body import carried_momentum, end_momentum, start_momentum
from ..maximal.forces import Controls, applied_wrench, damping_wrench
from ..maximal.known import known_at
from ..maximal.mechanism import Mechanism
from ..maximal.newton_matrix import StepProblem
from ..maximal.restitution import release_fast, solve_with_bounces
from ..maximal.state import BodyPose, MaximalState, drift
from ..maximal.step_solver import StepSolver, first_guess
from ..maximal.system import Known, Unknowns
from ..solvers import SolverInfo
from .base import AbstractIntegrator


class MaximalInfo(eqx.Module):
    """How a step of a mechanism went.

    Attributes:
        converged: whether the step was solved; if not, the state has kept its last good value.
        residual: the largest residual, as a velocity in m/s or rad/s.
        iterations: the number of Newton or interior-point iterations.
        violation: the largest joint constraint at the end of the coming interval, in metres or radians.
        penetration: the largest overlap of a contact there, in metres; zero if all are apart.
        gap: the mean complementarity product; equal to the central-path parameter when converged.
    """

    converged: Array
    residual: Array
    iterations: Array
    violation: Array
    penetration: Array
    gap: Array


class MaximalVariational(AbstractIntegrator):
    """Symplectic Euler in translation and its quaternion counterpart in rotation (Brüdigam et al. 2023, §3).

    A state holds z_k and the velocity with which the bodies travel to z_{k+1}, so that joints hold and contacts do not
    overlap at z_{k+1} already. Started with ``init`` the positions are of second order in Δt as long as there are
    neither dampers nor controls: the velocities are those of the middle of the interval.

    The symmetric variant splits every force into two half kicks, at the start and at the end of a step, and holds the
    velocity at z_k itself, made to agree with joints and contacts there (RATTLE; Hairer, Lubich & Wanner 2006, §VII.1).
    Positions and velocities are of second order, with dampers and controls too, for one more solve a step.

    Gradients are those of the smoothed problem with κ > 0. As κ → 0 they tend to the derivatives of hard contact inside
    a regime: flight, rest, stick, slip, impact. Between two regimes hard contact has no derivative.

    Attributes:
        dt: the time step. Angular velocities must stay below 2/dt.
        kappa: the central-path parameter of contacts: gap rate times normal impulse. Zero is as hard as the arithmetic
            allows, 1.5e-10 in double and 1e-4 in single precision; 1e-4 to 1e-5 smooths gradients through contact.
        tolerance: the largest residual accepted, in m/s and rad/s; never below what rounding allows.
        max_iterations: the most iterations in a step.
        bounce_speed: contacts that close more slowly do not bounce; only for contacts with restitution.
        symmetric: whether to use the symmetric variant of second order.
    """

    dt: float | Array
    kappa: float | Array = 1e-6
    tolerance: float | Array = 1e-10
    max_iterations: int = eqx.field(static=True, default=50)
    bounce_speed: float | Array = 0.1
    symmetric: bool = eqx.field(static=True, default=False)

    def init(self, model: Mechanism, q: Array, v: Array | None = None, t: float = 0.0) -> MaximalState:
        """The state at configuration q (nb,7) and velocity v (nb,6), angular in the body frame; at rest by default.

        The discrete Legendre transform: the momentum at q and half a step of force give the velocity of the first
        interval, which already keeps the constraints. The symmetric variant only makes v agree with them. Where there
        is no such velocity the state holds NaN, from which no step converges.
        """
        return _start(self, model, *_bodies(model, q, v), jnp.asarray(t))

    def step(
        self, model: Mechanism, state: MaximalState, tau: Array | Controls | None = None
    ) -> tuple[MaximalState, MaximalInfo]:
        """Drift to z₁, then solve for the velocity over the interval that follows; or half a kick, drift and half."""
        new, info = (self._symmetric_step if self.symmetric else self._step)(model, state, tau)
        return jax.tree.map(lambda a, b: jnp.where(info.converged, a, b), new, state), info

    def _step(self, mechanism: Mechanism, state: MaximalState, tau) -> tuple[MaximalState, MaximalInfo]:
        if mechanism.bounces != (state.travel is not None):
            raise ValueError("Only states of mechanisms with restitution have a mean velocity; make the state by init.")
        if state.travel is None:
            q = drift(state.q, state.v, self.dt)
            momentum = end_momentum(mechanism.mass, mechanism.inertia, state.v, self.dt)
        else:
            q = drift(state.q, state.travel, self.dt)
            momentum = carried_momentum(mechanism.mass, mechanism.inertia, state.v, self.dt, state.q, q)
        known = self._kicked(mechanism, q, momentum, tau, 1.0)
        w, travel, solver = self._solve(mechanism, known, state.v, state.impulses)
        new = MaximalState(q, w.v, state.t + self.dt, w.impulses, travel)
        ahead = drift(q, w.v if travel is None else travel, self.dt)
        return new, _info(mechanism, known, w, ahead, solver)

    def _symmetric_step(self, mechanism: Mechanism, state: MaximalState, tau) -> tuple[MaximalState, MaximalInfo]:
        dt = jnp.asarray(self.dt, state.q.dtype)
        momentum = start_momentum(mechanism.mass, mechanism.inertia, state.v, 0.0)
        known = self._kicked(mechanism, state.q, momentum, tau, 0.5)
        w, travel, solver = self._solve(mechanism, known, state.v, state.impulses)
        q = drift(state.q, w.v if travel is None else travel, dt)
        momentum = carried_momentum(mechanism.mass, mechanism.inertia, w.v, dt, state.q, q)
        momentum = momentum + 0.5 * dt * (applied_wrench(mechanism, q, tau) + damping_wrench(mechanism, q, w.v))
        v, closing = self._at_node(mechanism, q, w.v, momentum, w.impulses)
        solver = SolverInfo(
            solver.converged & closing.converged,
            jnp.maximum(solver.residual, closing.residual),
            solver.iterations + closing.iterations,
        )
        return MaximalState(q, v, state.t + dt, w.impulses), _info(mechanism, known, w, q, solver)

    def _kicked(self, mechanism: Mechanism, q, momentum, u, share: float) -> Known:
        """Everything at z₁, with ``share`` of a step's force added to the momentum."""
        dt = jnp.asarray(self.dt, q.dtype)
        momentum = momentum + share * dt * applied_wrench(mechanism, q, u)
        return known_at(mechanism, q, momentum, dt, share * dt)

    def _solve(self, mechanism: Mechanism, known: Known, v, impulses) -> tuple[Unknowns, Array | None, SolverInfo]:
        """The unknowns of an interval, its mean velocity where bodies may bounce, and how it went."""
        solver = self._solver
        if mechanism.bounces:
            return solve_with_bounces(
                mechanism, known, v, impulses, self.bounce_speed, lambda known, guess: solver(mechanism, known, guess)
            )
        w, info = solver(mechanism, known, first_guess(mechanism, known, v, impulses))
        return w, None, info

    def _at_node(self, mechanism: Mechanism, q, v, momentum, impulses) -> tuple[Array, SolverInfo]:
        """The velocity at q with the given momentum, joints and contacts adding what keeps G v = 0 and N v ≥ 0."""
        dt = jnp.asarray(self.dt, q.dtype)
        known = known_at(mechanism, q, momentum, dt, jnp.zeros_like(dt), at_node=True)
        if mechanism.bounces:
            known = release_fast(mechanism, known, v, self.bounce_speed)
        w, info = self._solver(mechanism, known, first_guess(mechanism, known, v, impulses))
        return w.v, info

    @property
    def _solver(self) -> StepSolver:
        return StepSolver(self.kappa, self.tolerance, self.max_iterations)


@eqx.filter_jit  # also for callers who are not under jit: operation by operation it would take seconds every time
def _start(method: MaximalVariational, mechanism: Mechanism, q, v, t) -> MaximalState:
    """The state of ``init``; all numbers of v are NaN if it was not solved."""
    impulses, time = jnp.zeros((mechanism.num_joints, 6), q.dtype), t.astype(q.dtype)
    momentum = start_momentum(mechanism.mass, mechanism.inertia, v, 0.0)
    if method.symmetric:
        v, info = method._at_node(mechanism, q, v, momentum, impulses)
        return MaximalState(q, jnp.where(info.converged, v, jnp.nan), time, impulses)
    known = method._kicked(mechanism, q, momentum, None, 0.5)
    w, travel, info = method._solve(mechanism, known, v, impulses)
    return MaximalState(q, jnp.where(info.converged, w.v, jnp.nan), time, w.impulses, travel)


def _info(mechanism: Mechanism, known: Known, w: Unknowns, ahead, solver: SolverInfo) -> MaximalInfo:
    return MaximalInfo(
        solver.converged,
        solver.residual,
        solver.iterations,
        violation=jnp.max(jnp.abs(mechanism.violation(ahead)), initial=0.0),
        penetration=jnp.max(-mechanism.gaps(ahead), initial=0.0),
        gap=StepProblem(mechanism, known).mean_gap(w) if mechanism.contacts else jnp.zeros((), w.v.dtype),
    )


def _bodies(mechanism: Mechanism, q: Any, v: Any) -> tuple[Array, Array]:
    """q as (nb,7) with unit quaternions and v as (nb,6), of the mechanism's floating-point type."""
    nb = mechanism.num_bodies
    q = jnp.asarray(q)
    if q.size != 7 * nb:
        raise ValueError(f"The configuration has shape {q.shape}; give 7 numbers for each of the {nb} bodies.")
    v = jnp.zeros((nb, 6), q.dtype) if v is None else jnp.asarray(v)
    if v.size != 6 * nb:
        raise ValueError(f"The velocity has shape {v.shape}; give 6 numbers for each of the {nb} bodies.")
    dtype = jnp.result_type(q, v, mechanism.mass)
    q, v = q.reshape(nb, 7).astype(dtype), v.reshape(nb, 6).astype(dtype)
    pose = BodyPose.from_array(q)
    return BodyPose(pose.position, pose.orientation.normalised()).to_array(), v
