import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.solvers.batch_last import batch_last
from jaxsim.solvers.corrected_newton import corrected_newton
from jaxsim.solvers.implicit import known


def search(f, guess, **settings):
    """The root of a function of a vector, with what it hands through."""
    defaults = {"tolerance": 1e-10, "step_tolerance": 1e-9, "floor": 1e-14}

    def measured(z):
        return f(z), jnp.max(jnp.abs(f(z))), 2.0 * z

    def factorised(z):
        return f(z), jax.jacfwd(f)(z)

    return corrected_newton(measured, factorised, jnp.linalg.solve, guess, **{**defaults, **settings})


def bent(z):
    return jnp.stack([z[0] ** 2 + z[1] - 3.0, jnp.sin(z[1]) - 0.5 * z[0] + 0.3])


def test_root_is_found_to_rounding_with_what_else_was_wanted_there():
    (z, extra), info = jax.jit(lambda z: search(bent, z))(jnp.array([1.3, 0.8]))
    assert info.converged
    assert info.iterations <= 3
    assert info.residual < 1e-14
    np.testing.assert_allclose(bent(z), 0.0, atol=1e-14)
    np.testing.assert_array_equal(extra, 2.0 * z)


def test_one_iteration_has_order_three():
    root = search(bent, jnp.array([1.3, 0.8]))[0][0]
    direction = jnp.array([0.6, -0.8])

    def left(by):
        (z, _), _ = search(bent, root + by * direction, max_iterations=1)
        return float(jnp.max(jnp.abs(z - root)))

    errors = [left(by) for by in (0.04, 0.02)]
    assert 2.8 < np.log2(errors[0] / errors[1]) < 3.2, errors


def test_steps_that_are_too_long_are_shortened():
    """Newton's method alone diverges on the inverse tangent from beyond 1.39."""
    (z, _), info = jax.jit(lambda z: search(jnp.arctan, z))(jnp.array([3.0]))
    assert info.converged
    np.testing.assert_allclose(z, 0.0, atol=1e-10)


@pytest.mark.parametrize("f", [lambda z: z**2 + 1.0, lambda z: z * jnp.nan])
def test_failure_is_reported_and_leaves_the_others_of_a_batch_alone(f):
    both = jax.vmap(lambda kind, z: search(lambda z: jnp.where(kind, f(z), z - 1.0), z))
    (z, _), info = jax.jit(both)(jnp.array([True, False]), jnp.full((2, 1), 0.3))
    np.testing.assert_array_equal(info.converged, [False, True])
    assert np.isfinite(z).all()
    np.testing.assert_allclose(z[1], 1.0, rtol=1e-12)


def test_arrays_of_a_batch_get_their_axis_last():
    """In one world the matrix times the vector; in batches, nested too, the same with axes of all batches behind."""
    shapes = []

    def product(matrix, scale, vector):
        shapes.append((matrix.ndim, vector.ndim, type(scale)))
        return jnp.sum(matrix * vector[None], axis=1) * scale

    rng = np.random.default_rng(0)
    matrix, vectors = jnp.asarray(rng.normal(size=(2, 3))), jnp.asarray(rng.normal(size=(4, 5, 3)))
    got = jax.vmap(jax.vmap(lambda v: batch_last(product, matrix, 2.0, v)))(vectors)
    np.testing.assert_allclose(got, 2.0 * jnp.einsum("ij,abj->abi", matrix, vectors), rtol=1e-14)
    assert shapes[-1] == (4, 3, float)


def test_known_values_are_handed_through_and_differentiated_as_what_they_are():
    def f(x):
        return jnp.sin(x["a"]) * x["b"]

    x = {"a": jnp.array(0.3), "b": jnp.array(2.0)}
    gradient = jax.grad(lambda x: known(f, x, jnp.array(7.0)))(x)
    expected = jax.grad(f)(x)
    np.testing.assert_allclose(gradient["a"], expected["a"], rtol=1e-15)
    np.testing.assert_allclose(gradient["b"], expected["b"], rtol=1e-15)
    assert known(f, x, jnp.array(7.0)) == 7.0
    second = jax.grad(jax.grad(lambda a: known(f, {**x, "a": a}, jnp.array(7.0))))(x["a"])
    np.testing.assert_allclose(second, -f(x), rtol=1e-15)
