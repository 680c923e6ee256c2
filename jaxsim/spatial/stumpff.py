"""The functions of a rotation angle that stay smooth where the angle vanishes."""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp

from .vector import Scalar

_SERIES_BELOW = 4.0
_TERMS = 12  # the first term left out is below 3e-17 for every x < 4


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def stumpff(k: int, x: Scalar) -> jax.Array:
    """The Stumpff function c_k(x) = Σ_j (−x)^j / (k + 2j)! for x = θ² ≥ 0.

    c₀ = cos θ, c₁ = sin θ/θ, c₂ = (1 − cos θ)/θ², c₃ = (θ − sin θ)/θ³, and so on by c_k = 1/k! − x c_{k+2}.
    All exponential maps and their differentials are polynomials in these functions (Stumpff 1959, §V.41).
    """
    x = jnp.asarray(x)
    if k == 0:
        return jnp.cos(jnp.sqrt(x))
    near = x < _SERIES_BELOW
    return jnp.where(near, _series(k, x), _closed_form(k, jnp.where(near, _SERIES_BELOW, x)))


@stumpff.defjvp
def _stumpff_jvp(k, primals, tangents):
    """dc_k/dx = ½ (k c_{k+2} − c_{k+1}), so that derivatives of every order are as accurate as the value."""
    (x,), (dx,) = primals, tangents
    return stumpff(k, x), 0.5 * (k * stumpff(k + 2, x) - stumpff(k + 1, x)) * dx


def _series(k: int, x: jax.Array) -> jax.Array:
    """The truncated series, by Horner's rule."""
    total = jnp.zeros_like(x)
    for j in reversed(range(_TERMS)):
        total = 1.0 / math.factorial(k + 2 * j) - x * total
    return total


def _closed_form(k: int, x: jax.Array) -> jax.Array:
    """The recurrence c_{n+2} = (1/n! − c_n)/x upwards from c₀ or c₁."""
    theta = jnp.sqrt(x)
    c = jnp.sin(theta) / theta if k % 2 else jnp.cos(theta)
    for n in range(k % 2, k, 2):
        c = (1.0 / math.factorial(n) - c) / x
    return c
