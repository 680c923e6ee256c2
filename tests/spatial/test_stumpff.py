"""The Stumpff functions against exact rational arithmetic, with derivatives of every order."""

import functools
from fractions import Fraction
from math import factorial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.spatial import stumpff

close_to = functools.partial(np.testing.assert_allclose, rtol=0)

ANGLES_SQUARED = (0.0, 1e-30, 1e-12, 1e-3, 0.7, 3.999999, 4.0, 4.000001, np.pi**2, 20.0, (2 * np.pi) ** 2, 60.0)


def c(k, x, last=8):
    return stumpff(last, x)[k]


def exact(k, x, order=0):
    """The order-th derivative of Σ_j (−x)^j/(k + 2j)!, summed exactly."""
    x = Fraction(x)
    terms = (
        Fraction((-1) ** j * factorial(j), factorial(j - order) * factorial(k + 2 * j)) * x ** (j - order)
        for j in range(order, 60)
    )
    return float(sum(terms))


@pytest.mark.parametrize("k", range(7))
@pytest.mark.parametrize("order", range(4))
def test_value_and_derivatives(k, order):
    function = lambda x: c(k, x)  # noqa: E731
    for _ in range(order):
        function = jax.grad(function)
    values = jax.vmap(function)(jnp.array(ANGLES_SQUARED))
    reference = np.array([exact(k, x, order) for x in ANGLES_SQUARED])
    # relative to the largest value nearby: the functions themselves pass through zero
    # each derivative is a difference of two functions, which may double the rounding error
    np.testing.assert_allclose(values, reference, rtol=0, atol=4e-15 * 2**order * np.abs(reference).max())


@pytest.mark.parametrize("k", range(7))
def test_single_precision(k):
    x = jnp.array(ANGLES_SQUARED, jnp.float32)
    values, slopes = jax.vmap(jax.value_and_grad(lambda x: c(k, x)))(x)
    assert values.dtype == slopes.dtype == jnp.float32
    reference = np.array([exact(k, x) for x in np.array(x, float)])
    np.testing.assert_allclose(values, reference, rtol=0, atol=4e-7 * np.abs(reference).max())
    slope = np.array([exact(k, x, 1) for x in np.array(x, float)])
    np.testing.assert_allclose(slopes, slope, rtol=0, atol=2e-6 * np.abs(slope).max())


@pytest.mark.parametrize("k", range(5))
def test_recurrence(k):
    """c_k = 1/k! − x c_{k+2}."""
    x = jnp.linspace(0.0, 50.0, 101)
    close_to(c(k, x), 1.0 / factorial(k) - x * c(k + 2, x), atol=2e-14)


def test_forward_and_reverse_mode_agree():
    x = jnp.array(ANGLES_SQUARED)
    forward = jax.vmap(jax.jacfwd(jax.jacfwd(lambda x: c(2, x))))(x)
    reverse = jax.vmap(jax.jacrev(jax.jacrev(lambda x: c(2, x))))(x)
    np.testing.assert_array_equal(forward, reverse)
