"""Galerkin variational integrators of any even order (Fan, Schultz and Murphey 2018)."""

from __future__ import annotations

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics import inverse_mass_product, mass_matrix
from ..model import Model, difference, integrate
from ..solvers.implicit import implicit_root
from ..solvers.natural_newton import natural_newton
from ..solvers.newton import SolverInfo, max_norm, newton
from ..variational import dense, newton_direction
from ..variational.chart import ball_parts, rate_at_start, retract
from ..variational.forces import AbstractBodyForce
from ..variational.guess import extrapolate, steady
from ..variational.linearisation import Linearisation, linearise_screws
from ..variational.newton_direction import factorise, solve
from ..variational.nodes import StepProblem, evaluate
from ..variational.quasi_newton import approximate_direction
from ..variational.residual import end_momentum, residual, scale
from .base import AbstractIntegrator, Info, initial_state

_SOLVERS = "recursive", "dense", "quasi-newton"


class VariationalState(eqx.Module):
    """A point of the trajectory with what the next step needs.

    Attributes:
        q: the configuration.
        v: the velocity M(q)⁻¹ p.
        t: the time.
        momentum: p, the discrete momentum, in the dual of v.
        last: the displacements of the last step at its control points, from which the next first guess is made.
    """

    q: Float[Array, " nq"]
    v: Float[Array, " nv"]
    t: Float[Array, ""]
    momentum: Float[Array, " nv"]
    last: Float[Array, "s nv"]


class Variational(AbstractIntegrator):
    """The variational integrator of order 2s with s + 1 Lobatto control points, in time linear in the number of joints.

    Symplectic, momentum preserving and of order 2s for every joint; forces that do not derive from a potential enter by
    the discrete principle of Lagrange and d'Alembert. Each step solves the DEL equations by Newton's method with the
    exact direction and is differentiated by the implicit function theorem.

    Attributes:
        dt: the time step.
        order: 2 (trapezoidal), 4 (Simpson), 6, …
        forces: wrenches on bodies beside gravity, see ``AbstractBodyForce``.
        tolerance: the residual of a solved step relative to the momenta and impulses in it; by default 1e-11, or what
            the floating-point type allows.
        max_iterations: how many Newton iterations a step may take.
        solver: "recursive" for the Newton direction in linear time, "dense" for a matrix inverse, which can be faster
            for a few joints, or "quasi-newton" for the approximate direction of Lee et al., for comparisons.
    """

    dt: float | Array
    order: int = eqx.field(default=2, static=True)
    forces: tuple[AbstractBodyForce, ...] = ()
    tolerance: float | None = eqx.field(default=None, static=True)
    max_iterations: int = eqx.field(default=20, static=True)
    solver: str = eqx.field(default="recursive", static=True)

    def __check_init__(self):
        if self.solver not in _SOLVERS:
            raise ValueError(f"There is no solver {self.solver!r}; use one of {', '.join(map(repr, _SOLVERS))}.")
        if self.order < 2 or self.order % 2:
            raise ValueError(f"The order of a variational integrator is {self.order}; it must be even: 2, 4, 6, …")

    def init(self, model: Model, q: Array, v: Array, t: float = 0.0) -> VariationalState:
        """The state at q and v; p = M(q) v is the discrete Legendre transform to the order of the method."""
        start = initial_state(model, q, v, t)
        q = retract(model, start.q, jnp.zeros_like(start.v))
        last = steady(self.order // 2, self.dt * rate_at_start(model, q, start.v))
        return VariationalState(q, start.v, start.t, mass_matrix(model, q) @ start.v, last)

    def step(self, model: Model, state: VariationalState, tau: Array | None = None) -> tuple[VariationalState, Info]:
        """One step under the joint forces τ: (nv,), held over the step, or (s + 1, nv), one row a control point."""
        problem = self.problem(model, state, tau)
        z, info = implicit_root(_residual, self._solve, _linearise, (problem, self._guess(model, state)))
        q = retract(model, state.q, z[-1])
        p = end_momentum(problem, evaluate(problem, z), z)
        after = VariationalState(q, inverse_mass_product(model, q, p), state.t + problem.h, p, z)
        kept = jax.tree.map(lambda new, old: jnp.where(info.converged, new, old), after, state)
        return kept, Info(info.converged, info.residual, info.iterations)

    def problem(self, model: Model, state: VariationalState, tau: Array | None = None) -> StepProblem:
        """The equations of the step from a state."""
        s, dtype = self.order // 2, state.v.dtype
        tau = jnp.zeros(model.nv, dtype) if tau is None else jnp.asarray(tau, dtype)
        if tau.shape not in ((model.nv,), (s + 1, model.nv)):
            raise ValueError(
                f"tau must have shape {(model.nv,)}, or {(s + 1, model.nv)} with one row a control point, but it has "
                f"shape {tau.shape}."
            )
        tau = jnp.broadcast_to(tau, (s + 1, model.nv))
        return StepProblem(model, state.q, state.momentum, tau, jnp.asarray(self.dt, dtype), self.forces, s)

    def linearise(self, model: Model, state: VariationalState, tau: Array | None = None) -> Linearisation:
        """The exact derivatives of one step in the coordinates (δq, δp), where q moves by ``integrate``."""
        if not ball_parts(model):
            problem = self.problem(model, state, tau)
            z, _ = self._solve((problem, self._guess(model, state)))
            return linearise_screws(problem, z)
        tau = jnp.zeros(model.nv, state.v.dtype) if tau is None else jnp.asarray(tau, state.v.dtype)
        reached = self.step(model, state, tau)[0].q

        def moved(dq, dp, tau):
            start = dataclasses.replace(state, q=integrate(model, state.q, dq), momentum=state.momentum + dp)
            end = self.step(model, start, tau)[0]
            return jnp.concatenate([difference(model, reached, end.q), end.momentum])

        zero = jnp.zeros_like(state.v)
        by_q, by_p, by_tau = jax.jacfwd(moved, (0, 1, 2))(zero, zero, tau)
        return Linearisation(jnp.concatenate([by_q, by_p], axis=1), by_tau)

    def _guess(self, model: Model, state: VariationalState) -> Array:
        displacement = jnp.asarray(self.dt, state.v.dtype) * rate_at_start(model, state.q, state.v)
        return jax.lax.stop_gradient(extrapolate(state.last, displacement))

    def _solve(self, theta: tuple[StepProblem, Array]) -> tuple[Array, SolverInfo]:
        problem, guess = theta
        tolerance, step_tolerance = tolerances(self.tolerance, problem.model.nv, guess.dtype)
        if self.solver == "quasi-newton":
            return _quasi_newton(theta, tolerance, self.max_iterations)
        method = newton_direction if self.solver == "recursive" else dense

        def measured(z):
            nodes = evaluate(problem, z)
            r = residual(problem, nodes, z)
            return r, max_norm(r) / scale(problem, nodes)

        def factorised(z):
            nodes = evaluate(problem, z)
            return residual(problem, nodes, z), method.factorise(problem, nodes, z)

        return natural_newton(
            measured,
            factorised,
            method.solve,
            guess,
            tolerance=tolerance,
            step_tolerance=step_tolerance,
            max_iterations=self.max_iterations,
        )


def _quasi_newton(theta: tuple[StepProblem, Array], tolerance: float, max_iterations: int) -> tuple[Array, SolverInfo]:
    """Plain iteration with the approximate direction, as Lee et al. have it."""
    problem, guess = theta
    unit = scale(problem, evaluate(problem, guess))
    return newton(
        lambda z: _residual(z, theta) / unit,
        lambda z, r: approximate_direction(problem, r * unit),
        guess,
        tolerance=tolerance,
        max_iterations=max_iterations,
        max_halvings=0,
    )


def tolerances(asked: float | None, nv: int, dtype) -> tuple[float, float]:
    """The residual of a solved step relative to its unit, and the last correction of the unknowns.

    Rounding leaves a residual of about 100 ε, a little more for many degrees of freedom.
    """
    floor = 500.0 * float(jnp.finfo(dtype).eps) * max(nv, 1) ** 0.5
    return max(1e-11 if asked is None else asked, floor), max(1e-9, floor)


def _residual(z: Array, theta: tuple[StepProblem, Array]) -> Array:
    problem, _ = theta
    return residual(problem, evaluate(problem, z), z)


def _linearise(z: Array, theta: tuple[StepProblem, Array]):
    problem, _ = theta
    factors = factorise(problem, evaluate(problem, z), z)

    def inverse(b: Array) -> Array:
        return solve(factors, b)

    return inverse, lambda c: jax.linear_transpose(inverse, z)(c)[0]
