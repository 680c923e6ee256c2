import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from tests.samples import relative_error, small_tree, state, with_joint_elements

rnea = jax.jit(jaxsim.inverse_dynamics)


@pytest.fixture(scope="module")
def case():
    """A tree with a state and its inverse dynamics, external wrenches included."""
    model = small_tree()
    sample = state(model)
    return model, sample, rnea(model, sample.q, sample.v, sample.a, sample.f_ext)


def flat_tree():
    """A branched tree of flat joints, for which the Lagrange equations hold in the plain form."""
    kinds = (jaxsim.Revolute((0.3, -0.5, 0.8)), jaxsim.Prismatic("y"), jaxsim.Helical("x", 0.3), jaxsim.Universal())
    return with_joint_elements(jaxsim.robots.random_tree(4, 2, joints=kinds))


def test_lagrange_equations():
    """d/dt ∂L/∂v − ∂L/∂q = τ − D v with L = T − V, all by automatic differentiation of ``energy``."""
    model = flat_tree()
    q, v, a, _, _ = state(model)

    def lagrange(model, q, v, a):
        def lagrangian(q, v):
            energy = jaxsim.energy(model, q, v)
            return energy.kinetic - energy.potential

        momentum = jax.grad(lagrangian, argnums=1)
        rate = jax.jvp(momentum, (q, v), (v, a))[1]
        return rate - jax.grad(lagrangian)(q, v) + model.damping * v

    assert relative_error(rnea(model, q, v, a), jax.jit(lagrange)(model, q, v, a)) < 1e-13


def test_external_wrenches_enter_by_the_transposed_jacobian(case):
    model, s, tau = case
    without = rnea(model, s.q, s.v, s.a)
    load = jax.jit(jaxsim.jacobian_transpose_product)(model, s.q, s.f_ext)
    assert relative_error(without - tau, load) < 1e-13


def test_a_wrench_on_the_world_does_nothing(case):
    model, s, tau = case
    np.testing.assert_array_equal(rnea(model, s.q, s.v, s.a, s.f_ext.at[0].set(100.0)), tau)


def test_bias_and_gravity_forces_are_parts_of_it(case):
    """ID(q, v, 0) = bias − passive, and gravity = bias at rest."""
    model, s, _ = case
    zero = jnp.zeros(model.nv)
    bias = jax.jit(jaxsim.bias_forces)
    passive = jax.jit(jaxsim.passive_forces)(model, s.q, s.v)
    expected = bias(model, s.q, s.v) - passive
    assert relative_error(rnea(model, s.q, s.v, zero), expected) < 1e-14
    gravity = jax.jit(jaxsim.gravity_forces)(model, s.q)
    np.testing.assert_array_equal(gravity, bias(model, s.q, zero))


def test_gravity_is_an_acceleration_of_the_ground():
    """A free body that accelerates with gravity needs no force, wherever its centre of mass is."""
    builder = jaxsim.ModelBuilder(gravity=(1.0, 2.0, -9.0))
    inertia = jaxsim.BodyInertia(2.0, (0.1, 0.2, 0.3), (1.0, 1.0, 1.5))
    builder.add_body("stone", 0, jaxsim.Free(), None, inertia)
    model = builder.build()
    a = jnp.concatenate([jnp.zeros(3), model.gravity])
    tau = rnea(model, model.neutral(), jnp.zeros(6), a)
    np.testing.assert_allclose(tau, 0.0, atol=1e-14)


def test_rotors_and_dampers_act_on_their_own_joint(case):
    model, s, tau = case
    bare = dataclasses.replace(model, armature=jnp.zeros(model.nv), damping=jnp.zeros(model.nv))
    own = rnea(bare, s.q, s.v, s.a, s.f_ext) + model.armature * s.a + model.damping * s.v
    assert relative_error(tau, own) < 1e-14


def test_a_rotating_rod_pulls_at_its_joint():
    """A rod of mass m and length l that turns at ω pulls with m ω² l/2, seen by a slide along the rod."""
    builder = jaxsim.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    hub = builder.add_body("hub", 0, jaxsim.Revolute("z"), None, jaxsim.BodyInertia.sphere(1.0, 0.1))
    builder.add_body("rod", hub, jaxsim.Prismatic("x"), None, jaxsim.BodyInertia.rod(3.0, (2.0, 0.0, 0.0), 0.1))
    tau = rnea(builder.build(), jnp.array([0.4, 0.0]), jnp.array([5.0, 0.0]), jnp.zeros(2))
    np.testing.assert_allclose(tau, [0.0, -3.0 * 25.0 * 1.0], atol=1e-13)


def test_single_precision_agrees_with_double(case):
    model, s, tau = case
    single = jax.tree.map(lambda x: x.astype(jnp.float32), (model, s.q, s.v, s.a, s.f_ext))
    got = rnea(*single)
    assert got.dtype == jnp.float32
    assert relative_error(got, tau) < 1e-5


def test_both_names_are_the_same_function():
    assert jaxsim.rnea is jaxsim.inverse_dynamics
