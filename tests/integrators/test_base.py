import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim.integrators.base import keep_if_finite

INTEGRATORS = {"semi-implicit Euler": jaxsim.SemiImplicitEuler(0.1), "Runge–Kutta": jaxsim.RungeKutta4(0.1)}


@pytest.fixture(params=INTEGRATORS)
def integrator(request):
    return INTEGRATORS[request.param]


@pytest.fixture(scope="module")
def model():
    return jaxsim.robots.pendulum(2)


def test_the_state_holds_what_it_was_given_in_the_models_type(integrator, model):
    state = integrator.init(model, [0.1, 0.2], np.array([1.0, 2.0]), t=3.0)
    np.testing.assert_array_equal(state.q, [0.1, 0.2])
    np.testing.assert_array_equal(state.v, [1.0, 2.0])
    assert float(state.t) == 3.0
    single = integrator.init(model.astype(jnp.float32), np.zeros(2, np.float32), np.ones(2, np.float32))
    for leaf in jax.tree.leaves(single):
        assert leaf.dtype == jnp.float32
        assert not leaf.weak_type


@pytest.mark.parametrize(("q", "v", "name"), [(np.zeros(3), np.zeros(2), "q"), (np.zeros(2), np.zeros((1, 2)), "v")])
def test_a_state_of_the_wrong_shape_is_refused(integrator, model, q, v, name):
    with pytest.raises(ValueError, match=rf"^{name} is .* must have shape \(2,\)"):
        integrator.init(model, q, v)


def test_joint_forces_of_the_wrong_shape_are_refused(integrator, model):
    state = integrator.init(model, np.zeros(2), np.zeros(2))
    with pytest.raises(ValueError, match=r"^tau is .* must have shape \(2,\)"):
        jax.eval_shape(integrator.step, model, state, jnp.zeros(1))


def test_no_joint_forces_are_zero_joint_forces(integrator, model):
    state = integrator.init(model, [0.4, -0.2], [1.0, 0.5])
    without, info = jax.jit(integrator.step)(model, state)
    with_zero, _ = jax.jit(integrator.step)(model, state, jnp.zeros(2))
    for a, b in zip(jax.tree.leaves(without), jax.tree.leaves(with_zero), strict=True):
        np.testing.assert_array_equal(a, b)
    assert bool(info.converged)
    assert float(info.residual) == 0.0
    assert int(info.iterations) == 0


def test_a_step_keeps_shapes_and_types(integrator, model):
    """Otherwise it could not be scanned; with single precision in, single precision comes out."""
    single = model.astype(jnp.float32)
    state = integrator.init(single, np.zeros(2, np.float32), np.zeros(2, np.float32))
    after, _ = jax.eval_shape(integrator.step, single, state)
    before = jax.eval_shape(lambda x: x, state)
    assert jax.tree.leaves(after) == jax.tree.leaves(before)


def test_a_step_that_is_not_finite_leaves_the_state_as_it_was(integrator, model):
    state = integrator.init(model, [0.4, -0.2], [1.0, 0.5])
    after, info = jax.jit(integrator.step)(model, state, jnp.array([jnp.nan, 0.0]))
    assert not bool(info.converged)
    assert np.isinf(info.residual)
    for a, b in zip(jax.tree.leaves(after), jax.tree.leaves(state), strict=True):
        np.testing.assert_array_equal(a, b)


def test_keep_if_finite_looks_at_every_leaf():
    old = {"a": jnp.zeros(2), "b": jnp.zeros(())}
    new = {"a": jnp.ones(2), "b": jnp.asarray(jnp.inf)}
    kept, info = keep_if_finite(old, new)
    np.testing.assert_array_equal(kept["a"], [0, 0])
    assert not bool(info.converged)
    kept, info = keep_if_finite(old, {"a": jnp.ones(2), "b": jnp.ones(())})
    np.testing.assert_array_equal(kept["a"], [1, 1])
    assert bool(info.converged)
