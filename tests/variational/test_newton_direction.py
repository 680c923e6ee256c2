import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.variational import elimination, newton_direction
from jaxsim.variational.elimination import small_inverse
from jaxsim.variational.nodes import evaluate
from jaxsim.variational.residual import residual

from .systems import BALLS, SCREWS, UNIVERSALS, body_forces, problem, tree


@pytest.mark.slow
@pytest.mark.parametrize(
    ("joints", "n", "s", "drag"),
    [
        (SCREWS, 7, 2, True),
        pytest.param(SCREWS, 7, 1, False, marks=pytest.mark.slow),
        pytest.param(UNIVERSALS, 5, 1, True, marks=pytest.mark.slow),
        pytest.param(SCREWS, 7, 3, False, marks=pytest.mark.slow),
        pytest.param(BALLS, 5, 1, True, marks=pytest.mark.slow),
        pytest.param(BALLS, 5, 2, False, marks=pytest.mark.slow),
    ],
)
def test_direction_solves_the_system_of_the_true_jacobian_and_its_transpose(joints, n, s, drag):
    model = tree(n, 3, joints, dissipation=drag)
    step, z = problem(model, s, 5, forces=body_forces(model, 7, dissipation=drag))
    b = jnp.asarray(np.random.default_rng(0).normal(size=z.shape))

    @jax.jit
    def there_and_back(step, z, b):
        factors = newton_direction.factorise(step, evaluate(step, z), z)

        def inverse(b):
            return newton_direction.solve(factors, b)

        direction, transposed = inverse(b), jax.linear_transpose(inverse, b)(b)[0]

        def r(z):
            return residual(step, evaluate(step, z), z)

        return jax.jvp(r, (z,), (direction,))[1], jax.vjp(r, z)[1](transposed)[0], direction

    forward, backward, direction = there_and_back(step, z, b)
    assert np.abs(direction).max() > 1e-3
    np.testing.assert_allclose(forward, b, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(backward, b, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("s", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_elimination_by_components_is_that_by_matrices(s):
    model = tree(7, 3, SCREWS)
    step, z = problem(model, s, 5, forces=body_forces(model, 7))

    @jax.jit
    def both(z):
        nodes = evaluate(step, z)
        matrices = elimination.factorise(step, nodes, z)
        return newton_direction.solve(newton_direction.factorise(step, nodes, z), z), elimination.solve(matrices, z)

    components, matrices = both(z)
    np.testing.assert_allclose(components, matrices, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_small_inverse(k):
    A = np.random.default_rng(k).normal(size=(k, k))
    np.testing.assert_allclose(small_inverse(jnp.asarray(A)) @ A, np.eye(k), atol=1e-12)
