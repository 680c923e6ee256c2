import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from tests.samples import relative_error, small_tree, state

aba, rnea = jax.jit(jaxsim.forward_dynamics), jax.jit(jaxsim.inverse_dynamics)


@pytest.fixture(scope="module")
def case():
    model = small_tree()
    sample = state(model)
    return model, sample, aba(model, sample.q, sample.v, sample.tau, sample.f_ext)


def test_it_is_the_inverse_of_inverse_dynamics(case):
    model, s, a = case
    assert relative_error(rnea(model, s.q, s.v, a, s.f_ext), s.tau) < 1e-12


def test_acrobot_against_the_textbook():
    """Two rods, by the Lagrange equations of a double pendulum with angles from the vertical."""
    model = jaxsim.robots.acrobot(lengths=(1.0, 0.7), masses=(1.2, 0.8))
    g, (m1, m2), (l1, l2) = 9.81, (1.2, 0.8), (1.0, 0.7)
    q, v, tau = np.array([0.3, -0.8]), np.array([1.1, -0.4]), np.array([0.2, 0.5])
    I1, I2 = (m * (l**2 / 12 + 0.05**2 / 4) for m, l in ((m1, l1), (m2, l2)))
    c1, c2 = l1 / 2, l2 / 2
    h = m2 * l1 * c2 * np.sin(q[1])
    off = I2 + m2 * (c2**2 + l1 * c2 * np.cos(q[1]))
    M = np.array(
        [[I1 + I2 + m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * np.cos(q[1])), off], [off, I2 + m2 * c2**2]]
    )
    coriolis = np.array([-h * (2 * v[0] * v[1] + v[1] ** 2), h * v[0] ** 2])
    outer = m2 * g * c2 * np.sin(q[0] + q[1])
    gravity = np.array([(m1 * c1 + m2 * l1) * g * np.sin(q[0]) + outer, outer])
    expected = np.linalg.solve(M, tau - coriolis - gravity)
    np.testing.assert_allclose(aba(model, q, v, tau), expected, rtol=1e-12)


def test_cart_pole_against_the_textbook():
    model = jaxsim.robots.cartpole(cart_mass=1.5, pole_mass=0.3, pole_length=0.8)
    x, angle, speed, rate, push = 0.2, 0.7, -0.5, 1.3, 2.0
    M, m, c, g = 1.5, 0.3, 0.4, 9.81
    # a positive angle about y takes a pole that hangs along −z towards −x
    I = m * (0.8**2 / 12 + 0.02**2 / 4) + m * c**2
    A = np.array([[M + m, -m * c * np.cos(angle)], [-m * c * np.cos(angle), I]])
    b = np.array([push - m * c * rate**2 * np.sin(angle), -m * g * c * np.sin(angle)])
    got = aba(model, jnp.array([x, angle]), jnp.array([speed, rate]), jnp.array([push, 0.0]))
    np.testing.assert_allclose(got, np.linalg.solve(A, b), rtol=1e-12)


def test_a_free_body_obeys_newton_and_euler():
    builder = jaxsim.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    moments = np.array([1.0, 1.2, 1.5])
    builder.add_body("body", 0, jaxsim.Free(), None, jaxsim.BodyInertia(2.0, (0.0, 0.0, 0.0), moments))
    model = builder.build()
    w, u = np.array([0.3, -0.7, 0.5]), np.array([1.0, 2.0, -1.0])
    moment, force = np.array([0.1, 0.2, 0.3]), np.array([3.0, -1.0, 2.0])
    wrench = jnp.zeros((2, 6)).at[1].set(np.concatenate([moment, force]))
    a = aba(model, model.neutral(), jnp.concatenate([w, u]), jnp.zeros(6), wrench)
    np.testing.assert_allclose(a[:3], (moment - np.cross(w, moments * w)) / moments, rtol=1e-13)
    # the velocity is written in the turning body frame
    np.testing.assert_allclose(a[3:], force / 2.0 - np.cross(w, u), rtol=1e-13)


def test_joint_forces_and_wrenches_on_a_free_body_are_the_same(case):
    """The force of a free joint is the wrench on its body, in the body's frame."""
    model, s, _ = case
    wrenches = jnp.zeros_like(s.f_ext).at[1].set(s.f_ext[1])
    pushed = aba(model, s.q, s.v, s.tau, wrenches)
    assert relative_error(aba(model, s.q, s.v, s.tau.at[:6].add(s.f_ext[1])), pushed) < 1e-12


def test_a_heavy_rotor_hardly_moves(case):
    model, s, _ = case
    heavy = dataclasses.replace(model, armature=model.armature.at[6].set(1e9))
    assert abs(aba(heavy, s.q, s.v, s.tau)[6]) < 1e-7


def test_single_precision_agrees_with_double(case):
    model, s, a = case
    single = jax.tree.map(lambda x: x.astype(jnp.float32), (model, s.q, s.v, s.tau, s.f_ext))
    got = aba(*single)
    assert got.dtype == jnp.float32
    assert relative_error(got, a) < 1e-4


def test_both_names_are_the_same_function():
    assert jaxsim.aba is jaxsim.forward_dynamics
