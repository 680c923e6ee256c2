import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from tests.samples import relative_error, small_tree, state

crba = jax.jit(jaxsim.mass_matrix)


@pytest.fixture(scope="module")
def case():
    model = small_tree()
    sample = state(model)
    return model, sample, np.asarray(crba(model, sample.q))


def test_it_is_symmetric_and_positive(case):
    _, _, M = case
    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0.0


def test_it_is_the_sum_over_bodies(case):
    """M = Σ Jᵢᵀ Iᵢ Jᵢ + diag(armature), with the Jacobians of all body twists."""
    model, s, M = case
    J = jax.jit(jax.vmap(jaxsim.jacobian_product, (None, None, 0), -1))(model, s.q, jnp.eye(model.nv))
    expected = np.diag(model.armature)
    for body in range(1, model.num_bodies):
        m, (x, y, z), Jc = model.mass[body], model.com[body], model.inertia[body]
        c = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        I = np.block([[Jc - m * c @ c, m * c], [-m * c, m * np.eye(3)]])
        expected = expected + np.asarray(J[body]).T @ I @ np.asarray(J[body])
    assert relative_error(M, expected) < 1e-14


def test_branches_do_not_feel_each_other(case):
    """Entries are zero exactly where neither joint carries the other (Featherstone 2008, §6.4)."""
    model, _, M = case
    at = {name: model.coordinates_of(name)[1] for name in model.body_names[1:]}
    assert np.all(M[at["ball"], at["hand"]] == 0.0)
    assert np.all(M[at["arm"], at["hand"]] == 0.0)
    assert np.all(M[at["mast"], : at["mast"].start] == 0.0)
    assert np.all(np.abs(M[at["base"], at["hand"]]).max() > 0.0)


def test_pendulum():
    model = jaxsim.robots.pendulum(links=1, length=2.0, mass=3.0)
    about_end = 3.0 * (2.0**2 / 3 + 0.1**2 / 4)
    np.testing.assert_allclose(crba(model, jnp.array([0.7])), [[about_end]], rtol=1e-14)


def test_a_free_body_has_its_own_inertia_wherever_it_is():
    builder = jaxsim.ModelBuilder()
    builder.add_body("body", 0, jaxsim.Free(), None, jaxsim.BodyInertia(2.0, (0.0, 0.0, 0.0), (1.0, 1.2, 1.5)))
    model = builder.build()
    q = state(model).q
    np.testing.assert_allclose(crba(model, q), np.diag([1.0, 1.2, 1.5, 2.0, 2.0, 2.0]), atol=1e-15)


def test_single_precision_agrees_with_double(case):
    model, s, M = case
    got = crba(model.astype(jnp.float32), s.q.astype(jnp.float32))
    assert got.dtype == jnp.float32
    assert relative_error(got, M) < 1e-6


def test_both_names_are_the_same_function():
    assert jaxsim.crba is jaxsim.mass_matrix
