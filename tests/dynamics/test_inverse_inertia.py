import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from tests.samples import relative_error, small_tree, state

product = jax.jit(jaxsim.inverse_mass_product)


@pytest.fixture(scope="module")
def case():
    """The tree, a state, its mass matrix, and the dense Jacobian of all body twists."""
    model = small_tree()
    s = state(model)
    M = np.asarray(jax.jit(jaxsim.mass_matrix)(model, s.q))
    J = jax.jit(jax.vmap(jaxsim.jacobian_product, (None, None, 0), -1))(model, s.q, jnp.eye(model.nv))
    return model, s, M, np.asarray(J)


def test_it_solves_with_the_mass_matrix(case):
    model, s, M, _ = case
    assert relative_error(product(model, s.q, s.v), np.linalg.solve(M, s.v)) < 1e-12


def test_columns_make_a_symmetric_inverse(case):
    model, s, M, _ = case
    inverse = jax.jit(jax.vmap(jaxsim.inverse_mass_product, (None, None, 0)))(model, s.q, jnp.eye(model.nv))
    assert relative_error(inverse, inverse.T) < 1e-13
    assert relative_error(inverse @ M, np.eye(model.nv)) < 1e-11


def test_joint_matrix_is_added_to_the_diagonal(case):
    model, s, M, _ = case
    extra = jnp.abs(s.tau)
    got = product(model, s.q, s.v, None, extra)
    assert relative_error(got, np.linalg.solve(M + np.diag(extra), s.v)) < 1e-12


@pytest.mark.parametrize("symmetric", [True, False])
def test_preconditioner_against_the_dense_matrix(case, symmetric):
    """(M + Jᵀ blkdiag(P_m) J + diag(P_r))⁻¹ x (Sueda, Alg. 10)."""
    model, s, M, J = case
    rng = np.random.default_rng(1)
    P = rng.normal(size=(model.num_bodies, 6, 6))
    P = P @ P.transpose(0, 2, 1) * 0.3 if symmetric else P * 0.2 + 0.5 * np.eye(6)
    extra = jnp.abs(s.tau)
    dense = M + np.einsum("bki,bkl,blj->ij", J, P, J) + np.diag(extra)
    if not symmetric:
        assert relative_error(dense, dense.T) > 1e-2
    assert relative_error(product(model, s.q, s.v, jnp.asarray(P), extra), np.linalg.solve(dense, s.v)) < 1e-11


def test_the_world_row_of_the_body_matrices_is_not_used(case):
    model, s, _, _ = case
    P = jnp.zeros((model.num_bodies, 6, 6)).at[0].set(jnp.nan)
    assert relative_error(product(model, s.q, s.v, P), product(model, s.q, s.v)) < 1e-12
