"""The exact derivatives of one step, A and B (Fan et al. 2018, §4)."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .dense import del_derivatives
from .newton_direction import factorise, solve
from .nodes import StepProblem, evaluate


class Linearisation(eqx.Module):
    """(δq', δp') = A (δq, δp) + B δu, with δq in the tangent space, p the discrete momentum and u the joint forces.

    Attributes:
        A: (2 nv, 2 nv).
        B: (2 nv, nv), for joint forces held over the step.
    """

    A: Float[Array, "2nv 2nv"]
    B: Float[Array, "2nv nv"]


def linearise_screws(problem: StepProblem, z: Float[Array, "s nv"]) -> Linearisation:
    """A and B at a solved step of a model of screw joints.

    With M = ∂ρ/∂q, dz = −J⁻¹(∂r/∂q⁰ dq⁰ + dp + ∂r/∂u du), dq' = dz^s and dp' = ∂ρ^s (dq⁰, dz, du); a right-hand side
    costs two light sweeps, so all of them O(s² n²).
    """
    nodes = evaluate(problem, z)
    s, nv = problem.s, problem.model.nv
    M = del_derivatives(problem, nodes, z)
    factors = factorise(problem, nodes, z)
    weights = jnp.asarray(problem.rule.weights, z.dtype) * problem.h
    eye = jnp.eye(nv, dtype=z.dtype)
    first = jnp.zeros((s, nv, nv), z.dtype).at[0].set(eye)
    by_u = weights[:s, None, None] * eye
    right = jnp.concatenate([M[:s, :, 0], first, by_u], axis=2)
    dz = -jax.vmap(lambda b: solve(factors, b), in_axes=2, out_axes=2)(right)
    dp = jnp.einsum("igj,gjc->ic", M[s, :, 1:], dz)
    dp = dp + jnp.concatenate([M[s, :, 0], jnp.zeros_like(eye), weights[s] * eye], axis=1)
    both = jnp.concatenate([dz[-1], dp])
    return Linearisation(both[:, : 2 * nv], both[:, 2 * nv :])
