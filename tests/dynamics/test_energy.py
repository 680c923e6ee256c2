import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from tests.samples import relative_error, small_tree, state

energy, momentum, com = jax.jit(jaxsim.energy), jax.jit(jaxsim.momentum), jax.jit(jaxsim.center_of_mass)


@pytest.fixture(scope="module")
def case():
    model = small_tree()
    return model, state(model)


def free_body(**coordinates):
    builder = jaxsim.ModelBuilder()
    inertia = jaxsim.BodyInertia(2.0, (0.1, -0.2, 0.3), (1.0, 1.2, 1.5))
    builder.add_body("body", 0, jaxsim.Free(), None, inertia, **coordinates)
    return builder.build()


def test_kinetic_energy_is_half_v_M_v(case):
    model, s = case
    M = jax.jit(jaxsim.mass_matrix)(model, s.q)
    np.testing.assert_allclose(energy(model, s.q, s.v).kinetic, 0.5 * s.v @ M @ s.v, rtol=1e-13)


def test_potential_energy_is_the_height_of_the_centre_of_mass_and_the_springs(case):
    model, s = case
    deflection = np.asarray(jaxsim.difference(model, model.spring_reference, s.q))
    springs = 0.5 * np.sum(np.asarray(model.stiffness) * deflection**2)
    height = -np.sum(model.mass) * np.asarray(model.gravity) @ np.asarray(com(model, s.q))
    got = energy(model, s.q, s.v)
    np.testing.assert_allclose(got.potential, springs + height, rtol=1e-13)
    np.testing.assert_allclose(got.total, got.kinetic + got.potential, rtol=1e-15)


def test_a_free_body_by_hand():
    """T = ½ m |v_c|² + ½ ωᵀ J ω, p = m v_c, L = c×p + R J ω."""
    model = free_body()
    s = state(model)
    R = np.asarray(jaxsim.forward_kinematics(model, s.q).rotation[1])
    w, u = np.asarray(s.v[:3]), np.asarray(s.v[3:])
    offset, J = np.asarray(model.com[1]), np.diag([1.0, 1.2, 1.5])
    v_c = R @ (u + np.cross(w, offset))
    c = np.asarray(s.q[:3]) + R @ offset
    got = energy(model, s.q, s.v)
    np.testing.assert_allclose(got.kinetic, v_c @ v_c + 0.5 * w @ J @ w, rtol=1e-13)
    np.testing.assert_allclose(got.potential, 2.0 * 9.81 * c[2], rtol=1e-13)
    expected = np.concatenate([np.cross(c, 2.0 * v_c) + R @ J @ w, 2.0 * v_c])
    np.testing.assert_allclose(momentum(model, s.q, s.v), expected, rtol=1e-12)
    np.testing.assert_allclose(com(model, s.q), c, rtol=1e-13)


def test_linear_momentum_moves_the_centre_of_mass(case):
    model, s = case

    def moved(dv):
        return jaxsim.center_of_mass(model, jaxsim.integrate(model, s.q, dv))

    rate = jax.jit(lambda v: jax.jvp(moved, (jnp.zeros_like(v),), (v,))[1])(s.v)
    assert relative_error(momentum(model, s.q, s.v)[3:], np.sum(model.mass) * rate) < 1e-13


def test_rotors_have_energy_and_no_momentum(case):
    """The armature is the inertia seen by the joint alone; where the rotor's momentum goes is not modelled."""
    model, s = case
    bare = dataclasses.replace(model, armature=jnp.zeros(model.nv))
    gained = energy(model, s.q, s.v).kinetic - energy(bare, s.q, s.v).kinetic
    np.testing.assert_allclose(gained, 0.5 * np.sum(model.armature * s.v**2), rtol=1e-12)
    np.testing.assert_array_equal(momentum(model, s.q, s.v), momentum(bare, s.q, s.v))


def test_springs_on_a_free_joint_pull_it_to_its_rest_pose():
    """U = ½ Σ k (q ⊖ q_rest)², and the forces are its negative gradient along the manifold."""
    rest = np.array([0.1, 0.2, 0.3, np.cos(0.2), 0.0, np.sin(0.2), 0.0])
    stiffness = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    model = free_body(stiffness=stiffness, spring_reference=rest, damping=0.5)
    assert model.topology.ball_springs
    passive = jax.jit(jaxsim.passive_forces)
    np.testing.assert_allclose(passive(model, rest, jnp.zeros(6)), 0.0, atol=1e-15)
    s = state(model)
    np.testing.assert_allclose(passive(model, s.q, s.v) - passive(model, s.q, 0 * s.v), -0.5 * s.v, rtol=1e-12)
    deflection = np.asarray(jaxsim.difference(model, rest, s.q))
    height = 2.0 * 9.81 * com(model, s.q)[2]
    np.testing.assert_allclose(energy(model, s.q, s.v).potential - height, 0.5 * stiffness @ deflection**2, rtol=1e-12)
    # close to rest the spring is that of the tangent space
    near = jaxsim.integrate(model, rest, 1e-6 * s.v)
    np.testing.assert_allclose(passive(model, near, 0 * s.v), -1e-6 * stiffness * s.v, rtol=1e-5)


def test_a_model_without_mass_has_its_centre_at_the_origin():
    builder = jaxsim.ModelBuilder()
    builder.add_body("mark", 0, None, (1.0, 2.0, 3.0))
    np.testing.assert_array_equal(jaxsim.center_of_mass(builder.build(), jnp.zeros(0)), np.zeros(3))
