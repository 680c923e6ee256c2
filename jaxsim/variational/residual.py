"""The discrete Euler–Lagrange (DEL) equations in linear time (Fan et al. 2018, prop. 1 and Alg. 1)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics.passive import passive_forces
from . import ball
from .chart import ball_parts
from .nodes import Nodes, StepProblem


def residual(problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"]) -> Float[Array, "s nv"]:
    """r^0 … r^{s−1}, zero for the motion that the discrete principle of Lagrange and d'Alembert selects (eqs. 7a, 7b).

    r⁰ = p + ρ⁰ and r^α = ρ^α; quaternion joints have a start row of their own, see ``ball.py``.
    """
    rho = joint_rows(problem, nodes)
    rows = rho[:-1].at[0].add(problem.p)
    for part in ball_parts(problem.model):
        rows = rows.at[:, part.v_rows].set(ball.rows(problem, part, nodes, z))
    return rows


def end_momentum(problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"]) -> Float[Array, " nv"]:
    """p^{k+1} = ρ^s (eq. 7c), in the dual of v."""
    momentum = joint_rows(problem, nodes)[-1]
    for part in ball_parts(problem.model):
        momentum = momentum.at[part.v_rows].set(ball.end_momentum(problem, part, nodes, z))
    return momentum


def joint_rows(problem: StepProblem, nodes: Nodes) -> Float[Array, "s1 nv"]:
    """ρ^α = S̄^αᵀΩ̄^α + Σ_β a^{αβ} S̄^βᵀμ̄^β + Q^α for screw joints, with Ω̄ = w Δt ad_v̄ᵀ μ̄ + Γ̄.

    Rotors add a^{αβ} times their own momentum. Columns of quaternion joints are to be overwritten.
    """
    model, rule = problem.model, problem.rule
    dtype = nodes.q.dtype
    weights = jnp.asarray(rule.weights, dtype)[:, None] * problem.h
    carried = jnp.asarray(nodes.S.dot(nodes.mu))
    turned = jnp.asarray(nodes.twist.cross(nodes.S).dot(nodes.mu))
    pushed = jnp.asarray(nodes.S.dot(nodes.gamma))
    per_v = model.topology.moving
    momentum = carried[:, per_v] + model.armature * nodes.v
    force = jax.vmap(lambda q, v: passive_forces(model, q, v))(nodes.q, nodes.v) + problem.tau
    rho = (weights * turned + pushed)[:, per_v] + weights * force
    for beta in range(rule.s + 1):
        rho = rho + jnp.asarray(rule.a[:, beta : beta + 1], dtype) * momentum[beta]
    return rho


def scale(problem: StepProblem, nodes: Nodes) -> Float[Array, ""]:
    """The largest of the momenta and impulses that the DEL equations balance, the unit of their residual."""
    weights = jnp.asarray(problem.rule.weights, nodes.q.dtype)[:, None] * problem.h
    terms = problem.p, nodes.S.dot(nodes.mu), nodes.S.dot(nodes.gamma), weights * problem.tau
    largest = jnp.stack([jnp.max(jnp.abs(jnp.asarray(term)), initial=0.0) for term in terms])
    return jnp.maximum(jnp.max(largest), jnp.finfo(nodes.q.dtype).tiny)
