import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from tests.integrators.order import errors, slope
from tests.samples import small_tree, state


def test_one_step_of_an_oscillator_is_the_series_of_the_exponential():
    """For a linear system the step is 1 + hA + … + (hA)⁴/24."""
    h, k = 0.1, 4.0
    builder = jaxsim.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    ball = jaxsim.BodyInertia.sphere(1.0, 0.1)
    builder.add_body("mass", 0, jaxsim.Prismatic("x"), None, ball, stiffness=k, damping=0.3)
    model, method = builder.build(), jaxsim.RungeKutta4(h)
    after, _ = jax.jit(method.step)(model, method.init(model, [0.3], [-0.2]))
    A = h * np.array([[0.0, 1.0], [-k, -0.3]])
    x = sum(np.linalg.matrix_power(A, n) / f for n, f in enumerate((1, 1, 2, 6, 24))) @ np.array([0.3, -0.2])
    np.testing.assert_allclose([after.q[0], after.v[0]], x, rtol=1e-14)


@pytest.mark.parametrize(
    ("build", "counts"),
    [(lambda: jaxsim.robots.pendulum(3), [40, 80]), (small_tree, [20, 40])],
    ids=["flat joints", "floating tree with a ball joint"],
)
def test_order_four(build, counts):
    model = build()
    s = state(model, seed=2)
    measured = errors(jaxsim.RungeKutta4, model, s.q, s.v, 0.4, counts, 16 * counts[-1])
    assert measured[-1] > 1e-12, "rounding would hide the order"
    assert abs(slope(measured, counts) - 4.0) < 0.25


def test_a_constant_twist_is_integrated_exactly():
    """A body that turns about a principal axis without forces follows T(0) exp(t v), of which no order is lost."""
    builder = jaxsim.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("disc", 0, jaxsim.Free(), None, jaxsim.BodyInertia(1.0, (0, 0, 0), (1.0, 1.0, 2.0)))
    model, method = builder.build(), jaxsim.RungeKutta4(0.5)
    v = jnp.array([0.0, 0.0, 2.0, 0.0, 0.0, 0.3])
    after, _ = jax.jit(method.step)(model, method.init(model, model.neutral(), v))
    np.testing.assert_allclose(after.q, [0, 0, 0.15, np.cos(0.5), 0, 0, np.sin(0.5)], atol=1e-14)
    np.testing.assert_allclose(after.v, v, atol=1e-15)
