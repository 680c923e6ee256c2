"""The solution of the equations of one step, differentiated by the implicit function theorem."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp

from ..solvers import SolverInfo, implicit_root, interior_point, newton
from ..solvers.newton import add_scaled
from .mechanism import Mechanism
from .newton_matrix import StepProblem
from .system import RELEASED_RATE, Known, Unknowns, velocity_norm


class StepSolver(eqx.Module):
    """Newton's method, or an interior point where there are contacts.

    Attributes:
        kappa: the central-path parameter, raised to what the arithmetic can resolve, 4 ε^⅔: 1.5e-10 in double precision
            and 1e-4 in single, where contacts of some N s against slacks of κ/γ would outweigh all else.
        tolerance: the largest residual accepted, in m/s and rad/s, raised to what rounding allows.
        max_iterations: the most iterations.
    """

    kappa: float | jax.Array
    tolerance: float | jax.Array
    max_iterations: int = eqx.field(static=True)

    def __call__(self, mechanism: Mechanism, known: Known, guess: Unknowns) -> tuple[Unknowns, SolverInfo]:
        """The unknowns w on the central path, and how it went."""
        v = guess.v
        eps = jnp.finfo(v.dtype).eps
        kappa = jnp.maximum(jnp.asarray(self.kappa, v.dtype), 4.0 * eps ** (2 / 3))
        size = jnp.max(jnp.abs(known.q[:, :3]), initial=1.0) / known.dt + jnp.max(jnp.abs(v), initial=0.0)
        tolerance = jnp.maximum(jnp.asarray(self.tolerance, v.dtype), 20.0 * eps * size)
        theta = (StepProblem(mechanism, known), kappa, jax.lax.stop_gradient((guess, tolerance)))
        return implicit_root(
            lambda w, theta: _on_central_path(*theta[:2], w),
            lambda theta: _find_root(*theta, self.max_iterations),
            lambda w, theta: _inverses(theta[0], w),
            theta,
        )


def first_guess(mechanism: Mechanism, known: Known, v: jax.Array, impulses: jax.Array) -> Unknowns:
    """Velocities and joint impulses as given, contacts inside their cones at the gaps of z₁."""
    contacts = []
    for group, at in zip(mechanism.contacts, known.contacts, strict=True):
        rate = group.gap(mechanism.joints, *mechanism.pair(known.q, group.bodies)) / known.dt
        if at.bounce is not None:
            rate = jnp.where(at.bounce.released, RELEASED_RATE, rate)
        contacts.append(group.cone.guess(rate, group.friction))
    return Unknowns(v, impulses, tuple(contacts))


def _on_central_path(problem: StepProblem, kappa, w: Unknowns) -> Unknowns:
    r = problem.residual(w)
    return jax.tree.map(lambda a, e: a - kappa * e, r, problem.unit(r))


def _inverses(problem: StepProblem, w: Unknowns):
    """F⁻¹ and F⁻ᵀ with one step of iterative refinement.

    Condensing a contact with a small slack s loses as many digits of the derivative of its impulse as γ/s has; the
    matrix itself is well conditioned, and its residual brings them back.
    """
    factorised = problem.factorise(w)
    _, pull = jax.vjp(problem.residual, w)

    def refined(solve, product):
        def inverse(b):
            x = solve(b)
            return add_scaled(x, 1.0, solve(add_scaled(b, -1.0, product(x))))

        return inverse

    return (
        refined(factorised.solve, lambda x: jax.jvp(problem.residual, (w,), (x,))[1]),
        refined(factorised.solve_transposed, lambda y: pull(y)[0]),
    )


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
