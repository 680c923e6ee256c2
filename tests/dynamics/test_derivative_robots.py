"""First and second derivatives of real robots against differentiation of the plain recursion and Pinocchio."""

import functools
import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from tests.dynamics.derivative_samples import (
    assert_close,
    assert_second_derivatives_along,
    first_by_differentiation,
    plain_inverse_dynamics,
    second_along,
)
from tests.oracles.pinocchio_comparison import load_pinocchio, robots_directory

pin = pytest.importorskip("pinocchio")
ROBOTS = {
    "UR3": ("ur_description/urdf/ur3_robot.urdf", False),
    "HyQ": ("hyq_description/robots/hyq_no_sensors.urdf", True),
    "Talos": ("talos_data/robots/talos_reduced.urdf", True),
}
NAMES = ["UR3", "HyQ", pytest.param("Talos", marks=pytest.mark.slow)]


@functools.cache
def robot(name):
    """The robot without rotors and dampers, which Pinocchio leaves out, and a state."""
    file, floating = ROBOTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = jaxsim.load(robots_directory() / file, floating=floating)
    model = eqx.tree_at(lambda m: (m.armature, m.damping), model, replace_fn=jnp.zeros_like)
    q = jaxsim.random_configuration(model, jax.random.key(0))
    v, a = jax.random.normal(jax.random.key(1), (2, model.nv))
    return model, q, v, a, load_pinocchio(robots_directory() / file, floating)


@functools.cache
def inverse(name):
    model, q, v, a, _ = robot(name)
    return jax.jit(jaxsim.inverse_dynamics_derivatives)(model, q, v, a)


@pytest.mark.parametrize("name", NAMES)
def test_first_derivatives(name):
    model, q, v, a, _ = robot(name)
    wanted = jax.jit(first_by_differentiation, static_argnums=0)(plain_inverse_dynamics, model, q, v, a, None)
    d = inverse(name)
    for actual, expected in zip((d.dq, d.dv, d.da), wanted, strict=True):
        assert_close(actual, expected, 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_inverse_dynamics_of_pinocchio(name):
    model, q, v, a, theirs = robot(name)
    conversion = jaxsim.interop.pinocchio(model, theirs)
    T = conversion.matrix(q)
    state = [np.asarray(x) for x in (conversion.configuration(q), T @ v, T @ a)]
    data = theirs.createData()  # the results are views of it
    dq, dv, da = pin.computeRNEADerivatives(theirs, data, *state)
    da = np.triu(da) + np.triu(da, 1).T
    d = inverse(name)
    for actual, wanted in zip((d.dq, d.dv, d.da), (dq, dv, da), strict=True):
        assert_close(T @ actual @ T.T, wanted, 1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_forward_dynamics_of_pinocchio(name):
    model, q, v, tau, theirs = robot(name)
    conversion = jaxsim.interop.pinocchio(model, theirs)
    T = conversion.matrix(q)
    state = [np.asarray(x) for x in (conversion.configuration(q), T @ v, T @ tau)]
    data = theirs.createData()  # the results are views of it
    dq, dv, dtau = pin.computeABADerivatives(theirs, data, *state)
    dtau = np.triu(dtau) + np.triu(dtau, 1).T
    d = jax.jit(jaxsim.forward_dynamics_derivatives)(model, q, v, tau)
    for actual, wanted in zip((d.dq, d.dv, d.dtau), (dq, dv, dtau), strict=True):
        assert_close(T @ actual @ T.T, wanted, 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["HyQ", "Talos"])
def test_second_derivatives(name):
    """Along a random direction, in which every entry takes part."""
    model, q, v, a, _ = robot(name)
    dq, dv = jax.random.normal(jax.random.key(2), (2, model.nv))
    d = jax.jit(jaxsim.inverse_dynamics_second_derivatives)(model, q, v, a)
    run = jax.jit(second_along, static_argnums=0)
    along = run(plain_inverse_dynamics, model, q, v, a, None, dq, dv)
    assert_second_derivatives_along(d, along, dq, dv, 1e-11)
