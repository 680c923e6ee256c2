"""The first guess for the unknowns of a step: the motion of the last step, continued."""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .quadrature import lobatto


def extrapolate(last: Float[Array, "s nv"], displacement: Float[Array, " nv"]) -> Float[Array, "s nv"]:
    """The polynomial of degree s + 1 through the last step's control points that leaves its end at the known velocity.

    Args:
        last: the displacements ξ^1 … ξ^s of the last step.
        displacement: Δt ξ̇ at the end of the last step.
    """
    by_point, by_velocity = (jnp.asarray(matrix, last.dtype) for matrix in _matrices(last.shape[0]))
    start = jnp.zeros_like(last[:1])
    points = jnp.concatenate([start, last[:-1]]) - last[-1]
    return by_point @ points + by_velocity[:, None] * displacement


def steady(s: int, displacement: Float[Array, " nv"]) -> Float[Array, "s nv"]:
    """The displacements of a step at constant rate, from which ``extrapolate`` continues at constant rate."""
    return jnp.asarray(lobatto(s).nodes[1:, None], displacement.dtype) * displacement


@functools.cache
def _matrices(s: int) -> tuple[np.ndarray, np.ndarray]:
    """P(τ) = τ P'(0) + Σ_{k=2}^{s+1} c_k τ^k with P(c^α − 1) given for α < s, evaluated at c^1 … c^s."""
    nodes = lobatto(s).nodes
    before, ahead = nodes[:-1] - 1.0, nodes[1:]
    powers = np.arange(2, s + 2)
    by_point = ahead[:, None] ** powers @ np.linalg.inv(before[:, None] ** powers)
    return by_point, ahead - by_point @ before
