"""The variational integrator in maximal coordinates."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..maximal.blocks import rates
from ..maximal.body import end_momentum
from ..maximal.forces import Controls, applied_wrench
from ..maximal.joint_jacobian import constraint_jacobian, motion_jacobian
from ..maximal.mechanism import Mechanism
from ..maximal.newton_matrix import StepProblem
from ..maximal.state import BodyPose, MaximalState, drift, with_world
from ..maximal.system import Known, KnownContact, Unknowns, velocity_norm
from ..solvers import SolverInfo, implicit_root, interior_point, newton
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
    overlap at z_{k+1} already. Started with ``init`` the positions are of second order in Δt: the velocities are those
    of the middle of the interval.

    Attributes:
        dt: the time step. Angular velocities must stay below 2/dt.
        kappa: the central-path parameter of contacts: gap rate times normal impulse. Zero is as hard as the arithmetic
            allows; 1e-4 to 1e-5 gives smoothed gradients through contact.
        tolerance: the largest residual accepted, in m/s and rad/s; never below what rounding allows.
        max_iterations: the most iterations in a step.
        bounce_speed: contacts that close more slowly do not bounce; only for contacts with restitution.
    """

    dt: float | Array
    kappa: float | Array = 1e-6
    tolerance: float | Array = 1e-10
    max_iterations: int = eqx.field(static=True, default=50)
    bounce_speed: float | Array = 0.1

    def init(self, model: Mechanism, q: Array, v: Array | None = None, t: float = 0.0) -> MaximalState:
        """The state at configuration q (nb,7) and velocity v (nb,6), angular in the body frame; at rest by default.

        The discrete Legendre transform: the momentum at q and half a step of force give the velocity of the first
        interval, which already keeps the constraints.
        """
        mechanism = model
        q, v = _bodies(mechanism, q, v)
        angular = jnp.einsum("nij,nj->ni", mechanism.inertia, v[:, :3])
        momentum = jnp.concatenate([angular, mechanism.mass[:, None] * v[:, 3:]], axis=-1)
        known = self._known(mechanism, q, v, momentum, None, 0.5)
        w, _ = self._solve(mechanism, known, v, jnp.zeros((mechanism.num_joints, 6), q.dtype))
        return MaximalState(q, w.v, jnp.asarray(t, q.dtype), w.impulses)

    def step(
        self, model: Mechanism, state: MaximalState, tau: Array | Controls | None = None
    ) -> tuple[MaximalState, MaximalInfo]:
        """Drift to z₁, then solve for the velocity over the interval that follows."""
        mechanism = model
        q = drift(state.q, state.v, self.dt)
        momentum = end_momentum(mechanism.mass, mechanism.inertia, state.v, self.dt)
        known = self._known(mechanism, q, state.v, momentum, tau, 1.0)
        w, solver = self._solve(mechanism, known, state.v, state.impulses)
        new = MaximalState(q, w.v, state.t + self.dt, w.impulses)
        kept = jax.tree.map(lambda a, b: jnp.where(solver.converged, a, b), new, state)
        return kept, self._info(mechanism, known, w, solver)

    def _known(self, mechanism, q, v, momentum, u, share) -> Known:
        """Everything at z₁, with ``share`` of a step's force added to the momentum."""
        dt = jnp.asarray(self.dt, q.dtype)
        momentum = momentum + share * dt * applied_wrench(mechanism, q, u)
        contacts = []
        for group in mechanism.contacts:
            pair = mechanism.pair(q, group.bodies)
            N = group.rows(mechanism.joints, *pair)
            speed = rates(N, group.bodies, with_world(v))[:, 0]
            reach = group.gap(mechanism.joints, *pair) + dt * speed
            bounces = (group.restitution > 0.0) & (reach < 0.0) & (speed < -self.bounce_speed)
            contacts.append(KnownContact(N, bounces, -group.restitution * speed))
        hinges = mechanism.pair(q, mechanism.joints.bodies)
        J = motion_jacobian(mechanism.joints, *hinges) if mechanism.joints.has_dampers else None
        return Known(momentum, q, constraint_jacobian(mechanism.joints, *hinges), J, tuple(contacts), dt)

    def _solve(self, mechanism, known, v, impulses) -> tuple[Unknowns, SolverInfo]:
        rates_now = [
            group.gap(mechanism.joints, *mechanism.pair(known.q, group.bodies)) / known.dt
            for group in mechanism.contacts
        ]
        guesses = [g.cone.guess(rate, g.friction) for g, rate in zip(mechanism.contacts, rates_now, strict=True)]
        guess = Unknowns(v, impulses, tuple(guesses))
        eps = jnp.finfo(v.dtype).eps
        kappa = jnp.maximum(jnp.asarray(self.kappa, v.dtype), 1e-2 * jnp.sqrt(eps))
        size = jnp.max(jnp.abs(known.q[:, :3]), initial=1.0) / known.dt + jnp.max(jnp.abs(v), initial=0.0)
        tolerance = jnp.maximum(jnp.asarray(self.tolerance, v.dtype), 20.0 * eps * size)
        theta = (StepProblem(mechanism, known), kappa, jax.lax.stop_gradient((guess, tolerance)))
        return implicit_root(
            lambda w, theta: _on_central_path(*theta[:2], w),
            lambda theta: _find_root(*theta, self.max_iterations),
            lambda w, theta: _inverses(theta[0], w),
            theta,
        )

    def _info(self, mechanism, known, w, solver) -> MaximalInfo:
        ahead = drift(known.q, w.v, known.dt)
        overlap = jnp.max(-mechanism.gaps(ahead), initial=0.0)
        problem = StepProblem(mechanism, known)
        return MaximalInfo(
            solver.converged,
            solver.residual,
            solver.iterations,
            violation=jnp.max(jnp.abs(mechanism.violation(ahead)), initial=0.0),
            penetration=overlap,
            gap=problem.mean_gap(w) if mechanism.contacts else jnp.zeros((), w.v.dtype),
        )


def _on_central_path(problem: StepProblem, kappa, w: Unknowns) -> Unknowns:
    r = problem.residual(w)
    return jax.tree.map(lambda a, e: a - kappa * e, r, problem.unit(r))


def _inverses(problem: StepProblem, w: Unknowns):
    factorised = problem.factorise(w)
    return factorised.solve, factorised.solve_transposed


def _find_root(problem: StepProblem, kappa, start, max_iterations: int) -> tuple[Unknowns, SolverInfo]:
    guess, tolerance = start

    def norm(r):
        return velocity_norm(problem.mechanism, r)

    if problem.mechanism.contacts:
        return interior_point(
            problem, guess, kappa=kappa, tolerance=tolerance, max_iterations=max_iterations, norm=norm
        )

    def direction(w, r):
        return problem.linearise(w)(jax.tree.map(jnp.negative, r))

    return newton(problem.residual, direction, guess, tolerance=tolerance, max_iterations=max_iterations, norm=norm)


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
