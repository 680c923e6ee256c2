"""Inertial parameters, external wrenches and gravity."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

import jaxsim
from tests.dynamics.derivative_samples import assert_close, plain_forward_dynamics, plain_inverse_dynamics, sample, slow


@pytest.mark.parametrize("name", ["legs", *slow("charts")])
def test_regressor_times_parameters_is_inverse_dynamics(name):
    model, q, v, a, _ = sample(name)
    Y = jax.jit(jaxsim.inverse_dynamics_regressor)(model, q, v, a)
    bare = eqx.tree_at(lambda m: (m.stiffness, m.damping, m.armature), model, replace_fn=jnp.zeros_like)
    tau = jax.jit(jaxsim.inverse_dynamics)(bare, q, v, a)
    assert_close(jnp.einsum("ibp,bp->i", Y, jaxsim.inertial_parameters(model)), tau, 1e-12)


def with_parameters(model, d):
    """The model with the inertial parameters changed by d, a row of ten for each body."""
    m, h = model.mass + d[:, 0], model.mass[:, None] * model.com + d[:, 1:4]
    c = h / jnp.where(m > 0, m, 1.0)[:, None]
    xx, yy, zz, xy, xz, yz = d[:, 4:].T
    rows = jnp.stack([jnp.stack([xx, xy, xz]), jnp.stack([xy, yy, yz]), jnp.stack([xz, yz, zz])])

    def about_origin(m, c):
        return m[:, None, None] * (jnp.sum(c**2, -1)[:, None, None] * jnp.eye(3) - c[:, :, None] * c[:, None, :])

    J = model.inertia + about_origin(model.mass, model.com) + rows.transpose(2, 0, 1)
    return eqx.tree_at(lambda x: (x.mass, x.com, x.inertia), model, (m, c, J - about_origin(m, c)))


@pytest.mark.parametrize("which", ["inverse", *slow("forward")])
def test_against_differentiation(which):
    model, q, v, x, f_ext = sample("legs")
    plain = plain_inverse_dynamics if which == "inverse" else plain_forward_dynamics
    if which == "inverse":
        d = jax.jit(jaxsim.inverse_dynamics_parameter_derivatives)(model, q, v, x)
    else:
        d = jax.jit(jaxsim.forward_dynamics_parameter_derivatives)(model, q, v, x, f_ext)

    def moved(change, f_ext, gravity):
        heavier = eqx.tree_at(lambda m: m.gravity, with_parameters(model, change), gravity)
        return plain(heavier, q, v, x, f_ext)

    zero = jnp.zeros((model.num_bodies, 10))
    inertial, wrench, gravity = jax.jit(jax.jacrev(moved, argnums=(0, 1, 2)))(zero, f_ext, model.gravity)
    assert_close(d.inertial[:, 1:], inertial[:, 1:], 1e-10)
    assert_close(d.f_ext, wrench, 1e-11)
    assert_close(d.gravity, gravity, 1e-11)
