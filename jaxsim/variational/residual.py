"""The discrete Euler–Lagrange (DEL) equations in linear time (Fan et al. 2018, prop. 1 and Alg. 1)."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics.elements import per_velocity
from ..dynamics.passive import passive_forces
from ..solvers.newton import max_norm
from . import ball
from .chart import ball_parts
from .nodes import Nodes, StepProblem, stacked


def residual(problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"]) -> Float[Array, "s nv"]:
    """r^0 … r^{s−1}, zero for the motion that the principle of Lagrange and d'Alembert selects (eqs. 7a, 7b)."""
    return balance(problem, nodes, z)[0]


def end_momentum(problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"]) -> Float[Array, " nv"]:
    """p^{k+1} = ρ^s (eq. 7c), in the dual of v."""
    return balance(problem, nodes, z)[1]


def balance(
    problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"]
) -> tuple[Float[Array, "s nv"], Float[Array, " nv"]]:
    """The residual and the momentum at the end.

    r⁰ = p + ρ⁰ and r^α = ρ^α; quaternion joints have a start row of their own, see ``ball.py``.
    """
    first, *inner, momentum = _joint_rows(problem, nodes)
    rows = jnp.stack([first + problem.p, *inner])
    for part in ball_parts(problem.model):
        of_part, end = ball.rows(problem, part, stacked(nodes), z)
        rows, momentum = rows.at[:, part.v_rows].set(of_part), momentum.at[part.v_rows].set(end)
    return rows, momentum


def joint_rows(problem: StepProblem, nodes: Nodes) -> Float[Array, "s1 nv"]:
    """ρ^α = S̄^αᵀΩ̄^α + Σ_β a^{αβ} S̄^βᵀμ̄^β + Q^α for screw joints, with Ω̄ = w Δt ad_v̄ᵀ μ̄ + Γ̄.

    Rotors add a^{αβ} times their own momentum. Columns of quaternion joints are to be overwritten.
    """
    return jnp.stack(_joint_rows(problem, nodes))


def _joint_rows(problem: StepProblem, nodes: Nodes) -> list[Array]:
    model, rule = problem.model, problem.rule
    momenta = [per_velocity(model, node.along) + model.armature * node.v for node in nodes]
    rows = []
    for alpha, node in enumerate(nodes):
        weight = float(rule.weights[alpha]) * problem.h
        bent = node.turned * weight + node.pushed
        force = passive_forces(model, node.q, node.v) + problem.tau[alpha]
        from_rates = sum(float(a) * momentum for a, momentum in zip(rule.a[alpha], momenta, strict=True))
        rows.append(per_velocity(model, bent) + weight * force + from_rates)
    return rows


def scale(problem: StepProblem, nodes: Nodes) -> Float[Array, ""]:
    """The largest of the momenta and impulses that the DEL equations balance, the unit of their residual."""
    largest = jnp.maximum(max_norm(problem.p), jnp.finfo(problem.p.dtype).tiny)
    for weight, tau, node in zip(problem.rule.weights, problem.tau, nodes, strict=True):
        terms = node.along, node.pushed, tau * (float(weight) * problem.h)
        largest = jnp.maximum(largest, max_norm(terms))
    return largest
