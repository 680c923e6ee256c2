import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.variational import screw_dense
from jaxsim.variational.dense import del_derivatives, newton_matrix
from jaxsim.variational.nodes import evaluate
from jaxsim.variational.residual import joint_rows, residual

from .systems import BALLS, SCREWS, body_forces, problem, tree


@pytest.mark.parametrize(("joints", "s"), [(SCREWS, 2), pytest.param(BALLS, 1, marks=pytest.mark.slow)])
def test_newton_matrix_is_the_jacobian_of_the_residual(joints, s):
    model = tree(6, 3, joints)
    step, z = problem(model, s, 5, forces=body_forces(model, 7))

    def r(z):
        return residual(step, evaluate(step, z), z)

    dense, true = jax.jit(lambda z: (newton_matrix(step, evaluate(step, z), z), jax.jacfwd(r)(z)))(z)
    np.testing.assert_allclose(dense, true, rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize("s", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_components_give_the_same_matrix_and_its_inverse_for_one_world_and_in_a_batch(s):
    model = tree(6, 3, SCREWS)
    step, z = problem(model, s, 5, forces=body_forces(model, 7))
    batch = z + 0.1 * jnp.arange(3.0)[:, None, None]
    eye = jnp.eye(z.size).reshape(z.size, *z.shape)

    def both(z):
        nodes = evaluate(step, z)
        inverse = screw_dense.factorise(step, nodes)
        columns = jax.vmap(lambda b: screw_dense.solve(inverse, b))(eye).reshape(z.size, z.size).T
        return newton_matrix(step, nodes, z).reshape(z.size, z.size), screw_dense.matrix(step, nodes), columns

    true, grid, inverse = jax.jit(both)(z)
    np.testing.assert_allclose(jnp.block([list(line) for line in grid]), true, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(inverse @ true, np.eye(z.size), atol=1e-10)
    true, _, inverse = jax.jit(jax.vmap(both))(batch)
    np.testing.assert_allclose(inverse @ true, np.broadcast_to(np.eye(z.size), true.shape), atol=1e-10)


@pytest.mark.parametrize("s", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_del_derivatives_vary_the_start_and_the_end_too(s):
    model = tree(6, 3, SCREWS)
    step, z = problem(model, s, 5, forces=body_forces(model, 7))

    def rho(points):
        """All rows as a function of q^0 … q^s, where moving q^0 leaves the other control points where they are."""
        start = points[0] - step.q0
        moved = type(step)(step.model, points[0], step.p, step.tau, step.h, step.forces, step.s)
        return joint_rows(moved, evaluate(moved, z + points[1:] - (step.q0 + z) - start))

    points = jnp.concatenate([step.q0[None], step.q0 + z])
    dense, true = jax.jit(lambda x: (del_derivatives(step, evaluate(step, z), z), jax.jacfwd(rho)(x)))(points)
    np.testing.assert_allclose(dense, true, rtol=1e-11, atol=1e-10)
