"""The forward pass: all step lengths tried at once, the longest that is good enough taken."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from .augmented import Multipliers, total_cost
from .problem import Problem
from .riccati import Policy

LENGTHS = 10
"""How many step lengths 1, ½, ¼, … are tried."""

_ARMIJO = 1e-4


def roll(problem: Problem, states: Array, controls: Array, gap: Array, policy: Policy, alpha: Array):
    """The trajectory of û = u + α k + K (x̂ ⊖ x) with gaps (1 − α) times the old ones; and whether all steps converged.

    x̂_{k+1} = f(x̂_k, û_k) ⊕ −(1 − α) gap_{k+1} (Mastalli et al. 2020, eq. 13), so that a full step closes all gaps.
    """
    f, bounds = problem.dynamics, problem.bounds

    def step(x, stage):
        before, u, k, K, gap = stage
        u = u + alpha * k + K @ f.difference(before, x)
        if bounds is not None:
            u = jnp.clip(u, *bounds)
        after, info = f.step(x, u)
        after = f.integrate(after, -(1.0 - alpha) * gap)
        return after, (after, u, info.converged)

    first = f.integrate(states[0], alpha * gap[0])
    _, (rest, used, converged) = jax.lax.scan(
        step, first, (states[:-1], controls, policy.feedforward, policy.gains, gap[1:])
    )
    return jnp.concatenate([first[None], rest]), used, jnp.all(converged)


def line_search(
    problem: Problem,
    states: Float[Array, "N1 nx"],
    controls: Float[Array, "N nu"],
    multipliers: Multipliers,
    gap: Float[Array, "N1 ndx"],
    policy: Policy,
    slope: Float[Array, ""],
    weight: Float[Array, ""],
) -> tuple[Array, Array, Float[Array, ""], Bool[Array, ""]]:
    """States, controls, α and whether any α lowers the merit J + ν Σ|gap| by Armijo's rule, slope being its derivative."""
    size = jnp.sum(jnp.abs(gap))
    merit = total_cost(problem, states, controls, multipliers) + weight * size
    alphas = 0.5 ** jnp.arange(LENGTHS, dtype=states.dtype)

    def trial(alpha):
        x, u, converged = roll(problem, states, controls, gap, policy, alpha)
        reached = total_cost(problem, x, u, multipliers) + weight * (1.0 - alpha) * size
        return x, u, jnp.where(converged, reached, jnp.nan)

    xs, us, merits = jax.vmap(trial)(alphas)
    rounding = 10.0 * jnp.finfo(states.dtype).eps * jnp.abs(merit)
    good = merits <= merit + _ARMIJO * alphas * jnp.minimum(slope, 0.0) + rounding
    best = jnp.argmax(good)
    return xs[best], us[best], alphas[best], jnp.any(good)
