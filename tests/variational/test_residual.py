import jax
import numpy as np
import pytest

from jaxsim.variational.nodes import evaluate
from jaxsim.variational.residual import end_momentum, residual

from .systems import BALLS, SCREWS, UNIVERSALS, body_forces, problem, tree, true_rows


@pytest.mark.parametrize(
    ("joints", "n", "s"),
    [
        (SCREWS, 6, 2),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in ((SCREWS, 5, 3), (UNIVERSALS, 4, 2))),
        *(pytest.param(BALLS, *case, marks=pytest.mark.slow) for case in ((4, 1), (4, 2), (3, 3))),
    ],
)
def test_residual_and_end_momentum_are_gradients_of_the_discrete_action(joints, n, s):
    model = tree(n, 3, joints)
    step, z = problem(model, s, 5, forces=body_forces(model, 7))

    @jax.jit
    def both(step, z):
        nodes = evaluate(step, z)
        return residual(step, nodes, z), end_momentum(step, nodes, z)

    rows, p_end = both(step, z)
    expected_rows, expected_end = jax.jit(true_rows)(step, z)
    np.testing.assert_allclose(rows, expected_rows, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(p_end, expected_end, rtol=1e-11, atol=1e-12)
