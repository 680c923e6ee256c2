import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from tests.samples import relative_error, small_tree, state

POINT = (0.3, -0.2, 0.5)
jacobian = jax.jit(jaxsim.jacobian, static_argnames=("body", "point"))
derivative = jax.jit(jaxsim.jacobian_derivative, static_argnames=("body", "point"))


@pytest.fixture(scope="module")
def case():
    model = small_tree()
    return model, state(model)


def along(model, q, v, function):
    """The value and the time derivative of a function of the configuration."""
    return jax.jvp(lambda dv: function(jaxsim.integrate(model, q, dv)), (jnp.zeros_like(v),), (v,))


@pytest.mark.parametrize("body", ["ball", "hand"])
def test_it_gives_the_velocity_of_the_point_and_of_the_body(case, body):
    model, s = case
    index = model.body_index(body)

    def frame(q):
        poses = jaxsim.forward_kinematics(model, q)
        return poses.rotation[index], poses.position[index] + poses.rotation[index] @ jnp.array(POINT)

    (R, _), (dR, dp) = jax.jit(lambda q, v: along(model, q, v, frame))(s.q, s.v)
    spin = dR @ R.T
    omega = 0.5 * np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]])
    assert relative_error(jacobian(model, s.q, body, POINT) @ s.v, np.concatenate([omega, dp])) < 1e-13


def test_only_the_path_to_the_root_moves_the_body(case):
    model, s = case
    J = jacobian(model, s.q, "hand", POINT)
    on_path = np.zeros(model.nv, bool)
    for name in ("base", "hand"):
        on_path[model.coordinates_of(name)[1]] = True
    assert np.all(np.abs(J[:, on_path]).max(axis=0) > 0)
    assert np.all(J[:, ~on_path] == 0.0)


def test_the_world_does_not_move(case):
    model, s = case
    np.testing.assert_array_equal(jacobian(model, s.q, "world", POINT), np.zeros((6, model.nv)))
    np.testing.assert_array_equal(derivative(model, s.q, s.v, "world", POINT), np.zeros((6, model.nv)))


def test_its_derivative_gives_the_acceleration_of_the_point(case):
    """J̇ is the derivative of J along v, and p̈ = J v̇ + J̇ v, here with v̇ = 0 by differentiating twice."""
    model, s = case
    Jdot = derivative(model, s.q, s.v, "ball", POINT)
    h = 1e-5
    ahead, behind = (jaxsim.integrate(model, s.q, step * s.v) for step in (h, -h))
    central = (jacobian(model, ahead, "ball", POINT) - jacobian(model, behind, "ball", POINT)) / (2 * h)
    # the truncation of a central difference of 1e-5 is about 1e-10
    assert relative_error(Jdot, central) < 1e-8


def test_products_with_all_body_twists(case):
    """y = J x, z = J̇ x and x = Jᵀ y against dense Jacobians made of unit vectors (Sueda, Alg. 5 and 6)."""
    model, s = case
    unit = jnp.eye(model.nv)
    product = jax.jit(jaxsim.jacobian_product)
    J = jax.jit(jax.vmap(jaxsim.jacobian_product, (None, None, 0), -1))(model, s.q, unit)
    np.testing.assert_allclose(product(model, s.q, s.a), J @ s.a, atol=1e-13)
    transposed = jax.jit(jaxsim.jacobian_transpose_product)(model, s.q, s.f_ext)
    np.testing.assert_allclose(transposed, jnp.einsum("bki,bk->i", J, s.f_ext), atol=1e-13)
    h = 1e-5
    ahead, behind = (product(model, jaxsim.integrate(model, s.q, step * s.v), s.a) for step in (h, -h))
    rate = jax.jit(jaxsim.jacobian_rate_product)(model, s.q, s.v, s.a)
    assert relative_error(rate, (ahead - behind) / (2 * h)) < 1e-8


def test_names_and_indices_mean_the_same(case):
    model, s = case
    np.testing.assert_array_equal(jacobian(model, s.q, "ball", POINT), jacobian(model, s.q, 3, POINT))


def test_a_point_at_the_end_of_a_pendulum():
    model = jaxsim.robots.pendulum(links=1, length=2.0)
    angle = 0.4
    J = jacobian(model, jnp.array([angle]), 1, (0.0, 0.0, -2.0))
    np.testing.assert_allclose(J[:, 0], [0, 1, 0, -2 * np.cos(angle), 0, 2 * np.sin(angle)], atol=1e-15)
