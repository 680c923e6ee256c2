import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim import RungeKutta4, SemiImplicitEuler


@pytest.fixture(scope="module")
def model():
    return jaxsim.robots.acrobot()


@pytest.fixture(scope="module")
def method():
    return SemiImplicitEuler(0.01)


@pytest.fixture(scope="module")
def start(model, method):
    return method.init(model, [0.5, -0.3], [0.1, 0.2], t=2.0)


def stepped(model, method, state, controls):
    """The same by a plain loop."""
    states = [state]
    step = jax.jit(method.step)
    for u in controls:
        states.append(step(model, states[-1], u)[0])
    return states


def test_a_rollout_is_a_loop_over_steps(model, method, start):
    controls = jnp.asarray(np.random.default_rng(0).normal(size=(7, 2)))
    trajectory = jax.jit(jaxsim.rollout)(model, method, start, controls)
    states = stepped(model, method, start, controls)
    np.testing.assert_allclose(trajectory.q, [x.q for x in states], rtol=1e-14)
    np.testing.assert_allclose(trajectory.v, [x.v for x in states], rtol=1e-14)
    np.testing.assert_allclose(trajectory.t, 2.0 + 0.01 * np.arange(8), rtol=1e-14)
    np.testing.assert_array_equal(trajectory.controls, controls)
    np.testing.assert_array_equal(trajectory.final.q, trajectory.q[-1])
    assert trajectory.info.converged.shape == (7,)
    assert bool(trajectory.converged)


def test_a_rollout_goes_on_where_another_ended(model, method, start):
    run = jax.jit(lambda m, s, n: jaxsim.rollout(m, method, s, steps=n), static_argnums=2)
    whole, half = run(model, start, 10), run(model, start, 5)
    np.testing.assert_allclose(run(model, half.final, 5).q, whole.q[5:], rtol=1e-14)
    assert whole.controls is None


def test_feedback_sees_time_and_state(model, method, start):
    def control(t, state):
        return jnp.array([jnp.sin(t), -2.0 * state.v[1]])

    trajectory = jax.jit(lambda m, s: jaxsim.rollout(m, method, s, control, steps=4))(model, start)
    expected = [[np.sin(t), -2 * v[1]] for t, v in zip(trajectory.t[:-1], trajectory.v[:-1], strict=True)]
    np.testing.assert_allclose(trajectory.controls, expected, rtol=1e-14)
    open_loop = jax.jit(jaxsim.rollout)(model, method, start, trajectory.controls)
    np.testing.assert_allclose(open_loop.q, trajectory.q, rtol=1e-13)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "needs the number of steps"),
        ({"controls": np.zeros((5, 2)), "steps": 4}, "steps is 4, but controls has 5 rows"),
        ({"controls": np.zeros((5, 3))}, r"tau is .* must have shape \(2,\)"),
        ({"steps": -1}, "steps is -1"),
    ],
)
def test_what_a_rollout_refuses(model, method, start, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        jaxsim.rollout(model, method, start, **arguments)


def test_one_failed_world_leaves_the_others_alone(model, method, start):
    """The broken world stands still from the failed step on and says so; its neighbours do not notice."""
    controls = jnp.zeros((3, 6, 2)).at[1, 2].set(jnp.nan)
    batch = jax.jit(jax.vmap(lambda u: jaxsim.rollout(model, method, start, u)))(controls)
    np.testing.assert_array_equal(batch.converged, [True, False, True])
    np.testing.assert_array_equal(batch.info.converged[1], [True, True, False, True, True, True])
    np.testing.assert_array_equal(batch.q[0], batch.q[2])
    np.testing.assert_array_equal(batch.q[1, :3], batch.q[0, :3])
    np.testing.assert_array_equal(batch.q[1, 3], batch.q[1, 2])
    assert np.all(np.isfinite(batch.q))


def test_simulate_by_default(model):
    trajectory = jaxsim.simulate(model, jnp.array([0.5, -0.3]), duration=0.3)
    assert trajectory.q.shape == (31, 2)
    np.testing.assert_allclose(trajectory.t[-1], 0.3, rtol=1e-13)
    energies = [float(jaxsim.energy(model, q, v).total) for q, v in zip(trajectory.q, trajectory.v, strict=True)]
    np.testing.assert_allclose(energies, energies[0], rtol=1e-8)


def test_simulate_takes_an_integrator_and_a_control(model):
    controls = jnp.ones((5, 2))
    trajectory = jaxsim.simulate(model, jnp.zeros(2), jnp.zeros(2), integrator=RungeKutta4(0.02), control=controls)
    np.testing.assert_allclose(trajectory.t, 0.02 * np.arange(6), rtol=1e-13)
    feedback = jaxsim.simulate(
        model, jnp.zeros(2), duration=0.1, integrator=RungeKutta4(0.02), control=lambda t, state: jnp.ones(2)
    )
    np.testing.assert_allclose(feedback.q, trajectory.q, rtol=1e-13)


def test_simulate_raises_when_a_step_failed_unless_told_not_to(model):
    controls = jnp.zeros((5, 2)).at[3].set(jnp.nan)
    with pytest.raises(RuntimeError, match=r"Step 3 at t = 0.03 s did not converge \(residual inf\)"):
        jaxsim.simulate(model, jnp.ones(2), control=controls)
    kept = jaxsim.simulate(model, jnp.ones(2), control=controls, check=False)
    assert not bool(kept.converged)
    assert np.all(np.isfinite(kept.q))


@pytest.mark.parametrize(("duration", "dt"), [(-1.0, 0.01), (1.0, -0.01), (1.0, 0.0), (np.nan, 0.01), (np.inf, 0.01)])
def test_simulate_refuses_a_duration_that_is_no_number_of_steps(model, duration, dt):
    with pytest.raises(ValueError, match=r"duration .* cannot be divided into steps of"):
        jaxsim.simulate(model, jnp.zeros(2), duration=duration, integrator=RungeKutta4(dt))


def test_a_simulation_of_no_time_is_its_start(model):
    trajectory = jaxsim.simulate(model, jnp.ones(2), duration=0.0)
    np.testing.assert_array_equal(trajectory.q, [[1.0, 1.0]])


def test_gradients_through_a_rollout_in_both_modes(model, start):
    """The derivative of the end with respect to the start and the model, against differences."""
    method = RungeKutta4(0.01)

    def end(mass, v):
        heavier = dataclasses.replace(model, mass=mass)
        return jaxsim.rollout(heavier, method, method.init(model, start.q, v), steps=20).q[-1]

    forward = jax.jit(jax.jacfwd(end, argnums=(0, 1)))(model.mass, start.v)
    backward = jax.jit(jax.jacrev(end, argnums=(0, 1)))(model.mass, start.v)
    for a, b in zip(forward, backward, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-13)
    h, d = 1e-5, np.array([0.0, 0.4, -0.7])
    run = jax.jit(end)
    central = (run(model.mass + h * d, start.v) - run(model.mass - h * d, start.v)) / (2 * h)
    np.testing.assert_allclose(forward[0] @ d, central, atol=1e-9)
