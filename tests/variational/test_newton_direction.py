import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.variational.newton_direction import factorise, small_inverse, solve
from jaxsim.variational.nodes import evaluate
from jaxsim.variational.residual import residual

from .systems import BALLS, SCREWS, UNIVERSALS, body_forces, problem, tree


@pytest.mark.parametrize(
    ("joints", "n", "s", "drag"),
    [
        (SCREWS, 7, 1, False),
        (SCREWS, 7, 2, True),
        (SCREWS, 7, 3, False),
        (UNIVERSALS, 5, 1, True),
        (BALLS, 5, 1, True),
        (BALLS, 5, 2, False),
    ],
)
def test_direction_solves_the_system_of_the_true_jacobian_and_its_transpose(joints, n, s, drag):
    model = tree(n, 3, joints, dissipation=drag)
    step, z = problem(model, s, 5, forces=body_forces(model, 7, dissipation=drag))
    b = jnp.asarray(np.random.default_rng(0).normal(size=z.shape))

    @jax.jit
    def there_and_back(step, z, b):
        factors = factorise(step, evaluate(step, z), z)
        direction, transpose = jax.linearize(lambda b: solve(factors, b), b)
        transposed = jax.linear_transpose(transpose, b)(b)[0]
        r = lambda z: residual(step, evaluate(step, z), z)
        return jax.jvp(r, (z,), (direction,))[1], jax.vjp(r, z)[1](transposed)[0], direction

    forward, backward, direction = there_and_back(step, z, b)
    assert np.abs(direction).max() > 1e-3
    np.testing.assert_allclose(forward, b, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(backward, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_small_inverse(k):
    A = np.random.default_rng(k).normal(size=(k, k))
    np.testing.assert_allclose(small_inverse(jnp.asarray(A)) @ A, np.eye(k), atol=1e-12)
