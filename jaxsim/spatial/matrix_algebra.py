"""Spatial algebra of matrices whose columns are spatial vectors (Singh et al. 2022, §IV).

The cross products act on every column of a matrix and give tensors of third order, 6 × 6 × n, one page a column. The
closed-form derivatives are derived and stated with them; the recursions of the engine use their component-wise form.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def cross(U: Float[Array, "6 n"]) -> Float[Array, "6 6 n"]:
    """U×̃: page k is the matrix of the motion cross product with the k-th column (eq. 3)."""
    w, u = _skew(U[:3]), _skew(U[3:])
    return _blocks(w, jnp.zeros_like(w), u, w)


def cross_force(U: Float[Array, "6 n"]) -> Float[Array, "6 6 n"]:
    """U×̃*: page k is the matrix of the force cross product with the k-th column (eq. 4)."""
    w, u = _skew(U[:3]), _skew(U[3:])
    return _blocks(w, u, jnp.zeros_like(w), w)


def cross_swapped(F: Float[Array, "6 n"]) -> Float[Array, "6 6 n"]:
    """F×̄̃*: the force cross product with its arguments swapped, (f×̄*)v = v×*f, for every column."""
    m, f = _skew(F[:3]), _skew(F[3:])
    return _blocks(-m, -f, -f, jnp.zeros_like(m))


def coriolis(U: Float[Array, "6 n"], inertia: Float[Array, "6 6"]) -> Float[Array, "6 6 n"]:
    """ℬ[U] = ½ (U×̃* I − I U×̃ + (I U)×̄̃*), the Coriolis matrix of every column (eqs. 6 and 17)."""
    turned = tensor_times(cross_force(U), inertia) - times_tensor(inertia, cross(U))
    return 0.5 * (turned + cross_swapped(inertia @ U))


def tensor_times(A: Float[Array, "a b c"], B: Float[Array, "b d"]) -> Float[Array, "a d c"]:
    """𝒜B, page by page (eq. 11)."""
    return jnp.einsum("ijk,jl->ilk", A, B)


def times_tensor(B: Float[Array, "a b"], A: Float[Array, "b c d"]) -> Float[Array, "a c d"]:
    """B𝒜, page by page (eq. 12)."""
    return jnp.einsum("ij,jkl->ikl", B, A)


def transposed(A: Float[Array, "a b c"]) -> Float[Array, "b a c"]:
    """𝒜^⊤̃: the transpose of every page, the 1-2 rotation."""
    return A.transpose(1, 0, 2)


def rotated(A: Float[Array, "a b c"]) -> Float[Array, "a c b"]:
    """𝒜^R̃: columns and pages exchanged, the 2-3 rotation."""
    return A.transpose(0, 2, 1)


def _skew(x: jax.Array) -> jax.Array:
    """The cross-product matrix of every column."""
    o = jnp.zeros_like(x[0])
    return jnp.stack([jnp.stack([o, -x[2], x[1]]), jnp.stack([x[2], o, -x[0]]), jnp.stack([-x[1], x[0], o])])


def _blocks(a: jax.Array, b: jax.Array, c: jax.Array, d: jax.Array) -> jax.Array:
    return jnp.concatenate([jnp.concatenate([a, b], axis=1), jnp.concatenate([c, d], axis=1)])
