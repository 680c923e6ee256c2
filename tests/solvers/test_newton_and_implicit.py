"""Newton's method converges, reports failure as data, and its root is differentiated without unrolling."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.solvers import implicit_root, newton


def residual(w, theta):
    """A coupled cubic in two unknowns with parameters (A, b)."""
    A, b = theta
    return A @ w["x"] + w["x"] ** 3 - b


def newton_root(theta):
    A, _ = theta

    def direction(w, r):
        return {"x": -jnp.linalg.solve(A + jnp.diag(3 * w["x"] ** 2), r)}

    guess = {"x": jnp.zeros_like(theta[1])}
    return newton(lambda w: residual(w, theta), direction, guess, tolerance=1e-12)


def root(theta):
    def linearise(w, theta):
        inverse = jnp.linalg.inv(theta[0] + jnp.diag(3 * w["x"] ** 2))
        return lambda r: {"x": inverse @ r}, lambda w: inverse.T @ w["x"]

    w, info = implicit_root(residual, newton_root, linearise, theta)
    return w["x"], info


THETA = (jnp.array([[3.0, 1.0], [-0.5, 2.0]]), jnp.array([1.0, 4.0]))


def test_converges_quadratically_and_reports_it():
    x, info = jax.jit(root)(THETA)
    assert info.converged
    assert info.iterations <= 7
    np.testing.assert_allclose(residual({"x": x}, THETA), 0.0, atol=1e-12)


def test_gradient_is_that_of_the_implicit_function_in_both_modes():
    forward = jax.jacfwd(lambda t: root(t)[0])(THETA)
    reverse = jax.jacrev(lambda t: root(t)[0])(THETA)
    h = 1e-5
    for i in range(2):
        e = jnp.zeros(2).at[i].set(h)
        slope = (root((THETA[0], THETA[1] + e))[0] - root((THETA[0], THETA[1] - e))[0]) / (2 * h)
        np.testing.assert_allclose(forward[1][:, i], slope, rtol=1e-8)
    for a, b in zip(forward, reverse, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-15)


def test_second_derivatives():
    def f(b):
        return root((THETA[0], b))[0][0]

    hessian = jax.hessian(f)(THETA[1])
    h = 1e-4
    e = jnp.array([h, 0.0])
    slope = (jax.grad(f)(THETA[1] + e) - jax.grad(f)(THETA[1] - e)) / (2 * h)
    np.testing.assert_allclose(hessian[0], slope, rtol=1e-6)
    np.testing.assert_allclose(jax.jacrev(jax.grad(f))(THETA[1]), hessian, atol=1e-14)


def test_a_failing_world_leaves_the_others_untouched():
    def solve(b):
        def direction(w, r):
            return -r / (2 * w)

        return newton(lambda w: w**2 - b, direction, jnp.ones(()), tolerance=1e-12, max_iterations=20)

    w, info = jax.jit(jax.vmap(solve))(jnp.array([4.0, -1.0, jnp.nan, 9.0]))
    np.testing.assert_array_equal(info.converged, [True, False, False, True])
    np.testing.assert_allclose(w[jnp.array([0, 3])], [2.0, 3.0], atol=1e-12)
    assert jnp.all(jnp.isfinite(w))
    assert info.residual[1] > 0.9
    assert info.iterations[0] < 8


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_line_search_tames_an_overshooting_step(dtype):
    # Newton on atan diverges from |w| > 1.39 without a line search.
    w, info = newton(
        jnp.arctan, lambda w, r: -r * (1 + w**2), jnp.asarray(3.0, dtype), tolerance=1e-6, max_iterations=20
    )
    assert info.converged
    assert w.dtype == dtype
    np.testing.assert_allclose(w, 0.0, atol=1e-6)
