"""The linear-time quasi-Newton method of Lee et al. (2016), which takes −M/Δt for the Jacobian of the DEL equations."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..dynamics import inverse_mass_product
from .chart import ball_parts
from .nodes import StepProblem


def approximate_direction(problem: StepProblem, r: Float[Array, "s nv"]) -> Float[Array, "s nv"]:
    """−(K ⊗ M(q₀)/Δt)⁻¹ r with K = a b, what is left of J without all but accelerations; K = −1 for s = 1."""
    if ball_parts(problem.model):
        raise ValueError("The quasi-Newton method knows screw joints only; use solver='recursive' for this model.")
    rule = problem.rule
    inverse = np.linalg.inv(rule.a[:-1] @ rule.b[:, 1:])
    product = jax.vmap(lambda row: inverse_mass_product(problem.model, problem.q0, row))(r)
    return -problem.h * (jnp.asarray(inverse, r.dtype) @ product)
