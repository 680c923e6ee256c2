"""The joint forces of springs and dampers."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..model import Model, difference, integrate
from ..model.on_tree import on_tree


@on_tree("forces")
def passive_forces(model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nv"]:
    """τ = −∂U/∂q − D v with the spring energy U = ½ Σ k (q ⊖ q_rest)² and the damping D."""
    return (
        -model.stiffness * _deflection(model, q) - model.damping * v
        if not model.topology.ball_springs
        else (
            -jax.grad(lambda dv: spring_energy(model, integrate(model, q, dv)))(jnp.zeros_like(v)) - model.damping * v
        )
    )


@on_tree("unchanged")
def spring_energy(model: Model, q: Float[Array, " nq"]) -> Float[Array, ""]:
    """U = ½ Σ k (q ⊖ q_rest)²."""
    return 0.5 * jnp.sum(model.stiffness * _deflection(model, q) ** 2)


def _deflection(model: Model, q: jax.Array) -> jax.Array:
    """q ⊖ q_rest, left at zero for quaternion joints when none of them has a spring."""
    if model.topology.ball_springs or all(joint.is_euclidean for joint in model.joints):
        return difference(model, model.spring_reference, q)
    topology = model.topology
    flat = [g for g, joint in enumerate(model.joints) if joint.is_euclidean]
    rows_q = np.concatenate([np.zeros(0, int), *(topology.q_rows[g].reshape(-1) for g in flat)])
    rows_v = np.concatenate([np.zeros(0, int), *(topology.v_rows[g].reshape(-1) for g in flat)])
    stretch = q[rows_q] - model.spring_reference[rows_q]
    return jnp.zeros(model.nv, stretch.dtype).at[rows_v].set(stretch)
