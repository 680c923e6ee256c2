"""The problem to second order along a trajectory, all steps at once."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .augmented import Multipliers, constrained, running_cost, terminal_cost
from .costs import AbstractLeastSquares
from .problem import Problem, inward


class Expansion(eqx.Module):
    """Derivatives in the tangent spaces of the states, with z = (δx, δu).

    Attributes:
        jacobian: [A B] of δx_{k+1} = A δx_k + B δu_k + gap_{k+1}.
        gap: f(x_k, u_k) ⊖ x_{k+1}, after the gap of the start, x_0 ⊖ (its guess).
        gradient: ∂l/∂z, and
        hessian: ∂²l/∂z².
        end_gradient: ∂l_N/∂x, and
        end_hessian: ∂²l_N/∂x².
        costate: λ_k with λ_N = ∂l_N/∂x and λ_k = ∂l/∂x + Aᵀ λ_{k+1}.
        curvature: λ_{k+1}ᵀ ∂²f/∂z², or zeros if it was not asked for.
    """

    jacobian: Float[Array, "N ndx nz"]
    gap: Float[Array, "N1 ndx"]
    gradient: Float[Array, "N nz"]
    hessian: Float[Array, "N nz nz"]
    end_gradient: Float[Array, " ndx"]
    end_hessian: Float[Array, "ndx ndx"]
    costate: Float[Array, "N1 ndx"]
    curvature: Float[Array, "N nz nz"]


def gaps(problem: Problem, states: Array, controls: Array) -> Float[Array, "N1 ndx"]:
    """How far each state is from where the step before it leads."""
    f = problem.dynamics
    first = f.difference(states[0], problem.x0)
    rest = jax.vmap(lambda x, u, y: f.difference(y, f(x, u)))(states[:-1], controls, states[1:])
    return jnp.concatenate([first[None], rest])


def expand(
    problem: Problem,
    states: Float[Array, "N1 nx"],
    controls: Float[Array, "N nu"],
    gap: Float[Array, "N1 ndx"],
    multipliers: Multipliers,
    second: bool,
) -> Expansion:
    """All derivatives at a trajectory with known gaps; ``second`` asks for those of the dynamics to second order.

    The second derivatives are contracted with the costates of the trajectory (Dunn and Bertsekas 1989), which all are
    known beforehand, so that no step waits for the next.
    """
    f, n = problem.dynamics, problem.dynamics.ndx
    zero = jnp.zeros(n + f.nu, states.dtype)

    def moved(z, x, u, after):
        return f.difference(after, f(f.integrate(x, z[:n]), u + z[n:]))

    at = states[:-1], controls, states[1:]
    jacobian = jax.vmap(lambda *at: jax.jacfwd(moved)(zero, *at))(*at)
    gradient, hessian, end_gradient, end_hessian = _costs(problem, states, controls, multipliers, not second)
    costate = _costates(jacobian[..., :n], gradient[:, :n], end_gradient)
    curvature = jnp.zeros_like(hessian)
    if second:
        curvature = jax.vmap(f.curvature)(*at, costate[1:])
    return Expansion(jacobian, gap, gradient, hessian, end_gradient, end_hessian, costate, curvature)


def _costs(problem: Problem, states: Array, controls: Array, multipliers: Multipliers, gauss_newton: bool):
    """Gradients and Hessians of the costs; sums of squares by JᵀJ if ``gauss_newton``, everything else exactly."""
    f, n = problem.dynamics, problem.dynamics.ndx
    zero, rho = jnp.zeros(n + f.nu, states.dtype), multipliers.penalty
    plain = gauss_newton and not constrained(problem)

    def at(z, x, u):
        return f.integrate(x, z[:n]), u + z[n:]

    def cost(z, x, u, k, m):
        return running_cost(problem, *at(z, x, u), k, m, rho)

    def end(dx, x):
        return terminal_cost(problem, f.integrate(x, dx), multipliers.terminal, rho)

    squares, end_squares = problem.running, problem.terminal
    of_stage, of_end = jax.hessian(cost), jax.hessian(end)
    if plain and isinstance(squares, AbstractLeastSquares):
        of_stage = _gauss_newton(lambda z, x, u, k, _: squares.residual(*at(z, x, u), k))
    if plain and isinstance(end_squares, AbstractLeastSquares):
        of_end = _gauss_newton(lambda dx, x: end_squares.residual(f.integrate(x, dx)))
    stages = states[:-1], controls, jnp.arange(problem.steps), multipliers.path
    return (
        jax.vmap(lambda *s: jax.grad(cost)(zero, *s))(*stages),
        jax.vmap(lambda *s: of_stage(zero, *s))(*stages),
        jax.grad(end)(zero[:n], states[-1]),
        of_end(zero[:n], states[-1]),
    )


def _gauss_newton(residual: Callable[..., Array]) -> Callable[..., Array]:
    """JᵀJ of a residual with respect to its first argument."""

    def hessian(*arguments):
        J = jax.jacfwd(residual)(*arguments)
        return J.T @ J

    return hessian


def _costates(A: Array, lx: Array, end: Array) -> Array:
    def step(after, x):
        A, lx = x
        before = lx + A.T @ after
        return before, before

    return jnp.concatenate([jax.lax.scan(step, end, (A, lx), reverse=True)[1], end[None]])


def stationarity(expansion: Expansion, controls: Array, bounds: tuple[Array, Array] | None) -> Array:
    """max |∂J/∂u|, where at a bound only what points inward counts."""
    n = expansion.costate.shape[-1]
    B = expansion.jacobian[..., n:]
    gradient = expansion.gradient[:, n:] + jnp.einsum("kiu,ki->ku", B, expansion.costate[1:])
    return jnp.max(jnp.abs(inward(controls, gradient, bounds)))
