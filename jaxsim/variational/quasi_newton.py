"""The linear-time quasi-Newton method of Lee et al. (2016), which takes −M/Δt for the Jacobian of the DEL equations."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..dynamics import inverse_mass_product
from .chart import ball_parts
from .nodes import Nodes, StepProblem


def factorise(problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"]) -> StepProblem:
    """Nothing: the approximate Jacobian is that at the start of the step."""
    if ball_parts(problem.model):
        raise ValueError("The quasi-Newton method knows screw joints only; use solver='recursive' for this model.")
    return problem


def solve(problem: StepProblem, b: Float[Array, "s nv"]) -> Float[Array, "s nv"]:
    """(K ⊗ M/Δt)⁻¹ b with K = a b, what is left of J when all but the acceleration terms are dropped; −M/Δt for s = 1."""
    rule = problem.rule
    inverse = np.linalg.inv(rule.a[:-1] @ rule.b[:, 1:])
    product = jax.vmap(lambda row: inverse_mass_product(problem.model, problem.q0, row))(b)
    return problem.h * (jnp.asarray(inverse, b.dtype) @ product)
