"""Galerkin variational integrators of any even order (Fan, Schultz and Murphey 2018)."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..dynamics import mass_matrix
from ..forces import AbstractBodyForce
from ..model import Model
from ..solvers.implicit import implicit_root
from ..variational.chart import ball_parts, rate_at_start, retract
from ..variational.constrained_rows import constraint_jacobian
from ..variational.constraints import AbstractConstraint
from ..variational.constraints.constraint_set import ConstraintSet
from ..variational.guess import extrapolate, steady
from ..variational.linearisation import Linearisation, linearise_by_columns, linearise_screws
from ..variational.nodes import StepProblem
from ..variational.projection import project
from ..variational.step import Found, Unknowns, check_supported, equations, find, finish, inverses
from .base import AbstractIntegrator, Info, initial_state

_SOLVERS = "auto", "recursive", "dense", "quasi-newton"


class VariationalState(eqx.Module):
    """A point of the trajectory with what the next step needs.

    Attributes:
        q: the configuration.
        v: the velocity M(q)⁻¹ p.
        t: the time.
        momentum: p, the discrete momentum, in the dual of v.
        last: the displacements of the last step at its control points, from which the next first guess is made.
        multipliers: the forces of the constraints at the control points of the last step, (s + 1, m).
    """

    q: Float[Array, " nq"]
    v: Float[Array, " nv"]
    t: Float[Array, ""]
    momentum: Float[Array, " nv"]
    last: Float[Array, "s nv"]
    multipliers: Float[Array, "s1 m"]


class ConstrainedInfo(eqx.Module):
    """How a step with constraints went.

    Attributes:
        converged: whether the step was solved; if not, the state has kept its last good value.
        residual: how far from solved, in the units of the method's tolerance.
        iterations: how many Newton iterations it took.
        violation: the largest violation of a constraint on positions at the end of the step.
        redundant: how many equations of the constraints say nothing new there; their multipliers are the smallest that
            do the work.
    """

    converged: Bool[Array, ""]
    residual: Float[Array, ""]
    iterations: Int[Array, ""]
    violation: Float[Array, ""]
    redundant: Int[Array, ""]


class Variational(AbstractIntegrator):
    """The variational integrator of order 2s with s + 1 Lobatto control points, in time linear in the number of joints.

    Symplectic, momentum preserving and of order 2s for every joint; forces that do not derive from a potential enter by
    the discrete principle of Lagrange and d'Alembert. Each step solves the DEL equations by Newton's method with the
    exact direction and is differentiated by the implicit function theorem. Constraints hold at the control points, with
    multipliers there; m equations cost m more solves in linear time.

    Attributes:
        dt: the time step.
        order: 2 (trapezoidal), 4 (Simpson), 6, …
        forces: wrenches on bodies beside gravity, see ``AbstractBodyForce``.
        constraints: what the motion has to fulfil, see ``AbstractConstraint``; ``LoopClosures()`` closes the loops of
            the model. The configuration at the start must fulfil those on positions.
        tolerance: the residual of a solved step relative to the momenta and impulses in it; by default 1e-11, or what
            the floating-point type allows.
        max_iterations: how many Newton iterations a step may take.
        solver: "recursive" for the Newton direction in linear time, "dense" for a matrix inverse, "auto" for the one
            that is faster by measurement (``benchmarks/variational_crossover.py``), or "quasi-newton" for the
            approximate direction of Lee et al., for comparisons.
    """

    dt: float | Array
    order: int = eqx.field(default=2, static=True)
    forces: tuple[AbstractBodyForce, ...] = ()
    tolerance: float | None = eqx.field(default=None, static=True)
    max_iterations: int = eqx.field(default=20, static=True)
    solver: str = eqx.field(default="auto", static=True)
    constraints: tuple[AbstractConstraint, ...] = ()

    def __check_init__(self):
        if self.solver not in _SOLVERS:
            raise ValueError(f"There is no solver {self.solver!r}; use one of {', '.join(map(repr, _SOLVERS))}.")
        if self.order < 2 or self.order % 2:
            raise ValueError(f"The order of a variational integrator is {self.order}; it must be even: 2, 4, 6, …")

    def init(self, model: Model, q: Array, v: Array, t: float = 0.0) -> VariationalState:
        """The state at q and v; p = M(q) v is the discrete Legendre transform to the order of the method.

        Where there are constraints, v is replaced by the nearest velocity that they allow, nearest in kinetic energy.
        """
        check_supported(model, bool(self.constraints), self.solver)
        start = initial_state(model, q, v, t)
        constraints, s = ConstraintSet(self.constraints), self.order // 2
        q = retract(model, start.q, jnp.zeros_like(start.v))
        v, p = start.v, mass_matrix(model, q) @ start.v
        if self.constraints:
            C, c = constraint_jacobian(model, constraints, q)
            p, v, _, _ = project(model, q, p, C, c, jnp.ones_like(start.t))
        last = steady(s, self.dt * rate_at_start(model, q, v))
        return VariationalState(q, v, start.t, p, last, jnp.zeros((s + 1, constraints.size(model)), q.dtype))

    def step(
        self, model: Model, state: VariationalState, tau: Array | None = None
    ) -> tuple[VariationalState, Info | ConstrainedInfo]:
        """One step under the joint forces τ: (nv,), held over the step, or (s + 1, nv), one row a control point."""
        problem = self.problem(model, state, tau)
        theta = problem, self._guess(model, state)
        unknowns, (info, momentum) = implicit_root(_equations, self._find, _inverses, theta)
        end = finish(problem, unknowns, momentum)
        multipliers = jnp.concatenate([unknowns[1], end.multipliers[None]])
        after = VariationalState(end.q, end.v, state.t + problem.h, end.p, unknowns[0], multipliers)
        kept = jax.tree.map(lambda new, old: jnp.where(info.converged, new, old), after, state)
        report = info.converged, info.residual, info.iterations
        if not self.constraints:
            return kept, Info(*report)
        return kept, ConstrainedInfo(*report, end.violation, end.redundant)

    def problem(self, model: Model, state: VariationalState, tau: Array | None = None) -> StepProblem:
        """The equations of the step from a state."""
        s, dtype = self.order // 2, state.v.dtype
        tau = jnp.zeros(model.nv, dtype) if tau is None else jnp.asarray(tau, dtype)
        if tau.shape not in ((model.nv,), (s + 1, model.nv)):
            raise ValueError(
                f"tau must have shape {(model.nv,)}, or {(s + 1, model.nv)} with one row a control point, but it has "
                f"shape {tau.shape}."
            )
        tau, h = jnp.broadcast_to(tau, (s + 1, model.nv)), jnp.asarray(self.dt, dtype)
        constraints = ConstraintSet(self.constraints)
        return StepProblem(model, state.q, state.momentum, tau, h, self.forces, s, constraints)

    def linearise(self, model: Model, state: VariationalState, tau: Array | None = None) -> Linearisation:
        """The exact derivatives of one step in the coordinates (δq, δp), where q moves by ``integrate``."""
        problem = self.problem(model, state, tau)
        unknowns, found = self._find((problem, self._guess(model, state)))
        if self.constraints or ball_parts(model):
            return linearise_by_columns(problem, unknowns, found.momentum)
        return linearise_screws(problem, unknowns[0])

    def _guess(self, model: Model, state: VariationalState) -> Unknowns:
        displacement = jnp.asarray(self.dt, state.v.dtype) * rate_at_start(model, state.q, state.v)
        # the multipliers at the start of a step are those at the end of the last one
        multipliers = jnp.roll(state.multipliers, 1, axis=0)[:-1]
        return jax.lax.stop_gradient((extrapolate(state.last, displacement), multipliers))

    def _find(self, theta: tuple[StepProblem, Unknowns]) -> tuple[Unknowns, Found]:
        problem, guess = theta
        return find(problem, guess, self.solver, self.tolerance, self.max_iterations)


def _equations(unknowns: Unknowns, theta: tuple[StepProblem, Unknowns]) -> Unknowns:
    return equations(unknowns, theta[0])


def _inverses(unknowns: Unknowns, theta: tuple[StepProblem, Unknowns]):
    return inverses(unknowns, theta[0])
