"""The problem to second order along a trajectory, all steps at once."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .augmented import Multipliers, running_cost, terminal_cost
from .problem import Problem


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
    return jnp.concatenate([first[None], jax.vmap(lambda x, u, y: f.difference(y, f(x, u)))(states[:-1], controls, states[1:])])


def expand(
    problem: Problem, states: Float[Array, "N1 nx"], controls: Float[Array, "N nu"], multipliers: Multipliers, second: bool
) -> Expansion:
    """All derivatives; ``second`` asks for those of the dynamics to second order.

    The second derivatives are contracted with the costates of the trajectory (Dunn and Bertsekas 1989), which all are
    known beforehand, so that no step waits for the next.
    """
    f, n = problem.dynamics, problem.dynamics.ndx
    k, zero = jnp.arange(problem.steps), jnp.zeros(n + f.nu, states.dtype)

    def moved(z, x, u, after):
        return f.difference(after, f(f.integrate(x, z[:n]), u + z[n:]))

    def cost(z, x, u, k, m):
        return running_cost(problem, f.integrate(x, z[:n]), u + z[n:], k, m, multipliers.penalty)

    def end(dx):
        return terminal_cost(problem, f.integrate(states[-1], dx), multipliers.terminal, multipliers.penalty)

    at = states[:-1], controls
    jacobian = jax.vmap(lambda *at: jax.jacfwd(moved)(zero, *at))(*at, states[1:])
    gradient = jax.vmap(lambda *at: jax.grad(cost)(zero, *at))(*at, k, multipliers.path)
    hessian = jax.vmap(lambda *at: jax.hessian(cost)(zero, *at))(*at, k, multipliers.path)
    end_gradient, end_hessian = jax.grad(end)(zero[:n]), jax.hessian(end)(zero[:n])
    costate = _costates(jacobian[..., :n], gradient[:, :n], end_gradient)
    curvature = jnp.zeros_like(hessian)
    if second:
        along = jax.hessian(lambda z, y, *at: y @ moved(z, *at))
        curvature = jax.vmap(lambda y, *at: along(zero, y, *at))(costate[1:], *at, states[1:])
    return Expansion(
        jacobian, gaps(problem, states, controls), gradient, hessian, end_gradient, end_hessian, costate, curvature
    )


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
    if bounds is not None:
        low, high = bounds
        blocked = ((controls <= low) & (gradient > 0)) | ((controls >= high) & (gradient < 0))
        gradient = jnp.where(blocked, 0.0, gradient)
    return jnp.max(jnp.abs(gradient))
