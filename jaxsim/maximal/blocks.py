"""Arithmetic of joints and contacts with the two bodies that each connects.

A pair of arrays (n,d,6) holds the Jacobians of n joints or contacts with respect to their bodies A and B; velocities
carry the world as their last row.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from ..spatial import Mat3, Quaternion, Vec3

PairOf = tuple[jax.Array, jax.Array]
Bodies = tuple[np.ndarray, np.ndarray]


def block_jacobian(f: Callable[[jax.Array], jax.Array], x: jax.Array) -> jax.Array:
    """∂f_i/∂x_i (n,m,k) of a function (n,k) → (n,m) whose row i depends on row i of x alone."""

    def column(e):
        return jax.jvp(f, (x,), (jnp.broadcast_to(e, x.shape),))[1]

    return jax.vmap(column, out_axes=-1)(jnp.eye(x.shape[-1], dtype=x.dtype))


def rates(J: PairOf, bodies: Bodies, v: jax.Array) -> jax.Array:
    """J v (n,d): what the joints or contacts see of the velocities v (nb+1,6)."""
    on_a, on_b = (jnp.einsum("nki,ni->nk", side, v[index]) for side, index in zip(J, bodies, strict=True))
    return on_a + on_b


def push(r: jax.Array, J: PairOf, bodies: Bodies, f: jax.Array) -> jax.Array:
    """r + Jᵀ f (nb+1,6): the effect on the bodies of efforts f (n,d) along the rows of J."""
    for side, index in zip(J, bodies, strict=True):
        r = r.at[index].add(jnp.einsum("nki,nk->ni", side, f))
    return r


def skew(a: jax.Array) -> jax.Array:
    """[a]× (n,3,3) of vectors (n,3)."""
    return Mat3.skew(Vec3.from_array(a)).to_array()


def rotation(q: jax.Array) -> jax.Array:
    """Rotation matrices (n,3,3) of quaternions (n,4)."""
    return Quaternion.from_array(q).to_matrix().to_array()
