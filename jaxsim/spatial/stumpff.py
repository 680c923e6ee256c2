"""The functions of a rotation angle that stay smooth where the angle vanishes."""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp

from .vector import Scalar


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def stumpff(last: int, x: Scalar) -> tuple[jax.Array, ...]:
    """The Stumpff functions c₀(x) … c_last(x), c_k = Σ_j (−x)^j / (k + 2j)!, for x = θ² ≥ 0 and last ≥ 1.

    c₀ = cos θ, c₁ = sin θ/θ, c₂ = (1 − cos θ)/θ², c₃ = (θ − sin θ)/θ³, and so on by c_k = 1/k! − x c_{k+2}.
    All exponential maps and their differentials are polynomials in these functions (Stumpff 1959, §V.41).

    Rounding errors shrink upwards in k where x > k(k − 1) and downwards elsewhere. So there the recurrence starts from
    sine and cosine, and elsewhere from the series of the last two.
    """
    x = jnp.asarray(x)
    fractions = _upwards(last, jnp.maximum(x, _bound(0)))
    values: list[jax.Array] = []
    for k in reversed(range(last + 1)):
        near = x < _bound(k)
        below = _series(k, x) if k > last - 2 else 1.0 / math.factorial(k) - x * values[-2]
        numerator, denominator = fractions[k]
        # the division comes last: XLA never repeats a division, but would repeat a series in every use of its value
        values.append(jnp.where(near, below, numerator) / jnp.where(near, 1.0, denominator))
    return tuple(reversed(values))


@stumpff.defjvp
def _stumpff_jvp(last, primals, tangents):
    """dc_k/dx = ½ (k c_{k+2} − c_{k+1}), so that derivatives of every order are as accurate as the value."""
    (x,), (dx,) = primals, tangents
    c = stumpff(last + 2, x)
    slopes = tuple(0.5 * (k * c[k + 2] - c[k + 1]) * dx for k in range(last + 1))
    return c[: last + 1], slopes


def _bound(k: int) -> float:
    """Where the recurrence for c_k changes its direction."""
    return max(4.0, float(k * (k - 1)))


def _series(k: int, x: jax.Array) -> jax.Array:
    """The series of c_k by Horner's rule, as long as it takes to leave less than a rounding error below the bound."""
    terms, remainder = 0, 1.0
    while remainder > 1e-17:
        remainder *= _bound(k) / ((k + 2 * terms + 1) * (k + 2 * terms + 2))
        terms += 1
    total = jnp.zeros_like(x)
    for j in reversed(range(terms)):
        total = 1.0 / math.factorial(k + 2 * j) - x * total
    return total


def _upwards(last: int, x: jax.Array) -> list[tuple[jax.Array, jax.Array]]:
    """Fractions for c₀ … c_last: cos θ, sin θ/θ, and c_{k+2} = (1/k! − c_k)/x."""
    theta = jnp.sqrt(x)
    fractions = [(jnp.cos(theta), jnp.ones_like(x)), (jnp.sin(theta), theta)]
    for k in range(last - 1):
        numerator, denominator = fractions[k]
        fractions.append((1.0 / math.factorial(k) - numerator / denominator, x))
    return fractions
