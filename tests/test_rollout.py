import dataclasses
import inspect
from dataclasses import MISSING, fields

import equinox as eqx
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
        ({"controls": (np.zeros((5, 2)), np.zeros((4, 2)))}, r"The arrays of controls have \[4, 5\] rows"),
        ({"steps": 3, "checkpoint": -2}, "checkpoint is -2"),
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


def final_integrators():
    """Every integrator of the package that needs nothing but a time step, so that a new one is tested too."""
    kinds = [kind for kind in vars(jaxsim).values() if inspect.isclass(kind)]
    kinds = [kind for kind in kinds if issubclass(kind, jaxsim.AbstractIntegrator) and not inspect.isabstract(kind)]
    kinds = [kind for kind in kinds if all(f.name == "dt" or f.default is not MISSING for f in fields(kind))]
    quick = {jaxsim.Variational, jaxsim.MaximalVariational}
    return [pytest.param(kind, id=kind.__name__, marks=[] if kind in quick else pytest.mark.slow) for kind in kinds]


class Policy(eqx.Module):
    """A linear feedback law with parameters; on a mechanism it sees the joint coordinates."""

    gain: jax.Array
    mechanism: jaxsim.Mechanism | None = None

    def __call__(self, t, state):
        q = state.q if self.mechanism is None else self.mechanism.coordinates(state.q)
        return self.gain @ q + t


@pytest.fixture(scope="module")
def exact(model):
    policy = Policy(jnp.array([[0.0, 0.0], [2.0, 3.0]]))
    return jaxsim.simulate(model, [0.5, -0.3], [0.4, 0.2], 0.02, RungeKutta4(0.002), policy, energy=True)


@pytest.mark.parametrize("kind", final_integrators())
def test_every_integrator_takes_a_policy_and_reports_energy(model, exact, kind):
    """A policy's parameters are leaves, energies are those of the states, and all methods agree over a short time."""
    if kind is jaxsim.Diffrax:
        pytest.importorskip("diffrax")
    method, mechanism = kind(dt=0.002), None
    system, q, v = model, exact.q[0], exact.v[0]
    if kind is jaxsim.MaximalVariational:
        system = mechanism = jaxsim.Mechanism.from_model(model)
        q, v = jaxsim.to_maximal(model, q, v)
    policy = Policy(jnp.array([[0.0, 0.0], [2.0, 3.0]]), mechanism)
    trajectory = jaxsim.simulate(system, q, v, duration=0.02, integrator=method, control=policy, energy=True)
    assert trajectory.q.shape[0] == trajectory.energy.total.shape[0] == 11
    q, v = trajectory.q[-1], trajectory.v[-1]
    if mechanism is not None:
        np.testing.assert_allclose(trajectory.energy.kinetic[-1], mechanism.kinetic_energy(v), rtol=1e-13)
        q, v = jaxsim.to_minimal(model, q, v)
    else:
        np.testing.assert_allclose(trajectory.energy.total[-1], jaxsim.energy(model, q, v).total, rtol=1e-12)
    np.testing.assert_allclose(q, exact.q[-1], atol=5e-3)
    np.testing.assert_allclose(trajectory.energy.total, exact.energy.total, atol=0.2)


class Toy(jaxsim.AbstractIntegrator):
    """A pendulum that compiles at once, for what is true of rollouts whatever they roll; the model is its gravity."""

    dt: float = 0.01

    def init(self, model, q, v, t=0.0):
        return jaxsim.State(jnp.asarray(q), jnp.asarray(v), jnp.asarray(t))

    def step(self, model, state, tau=None):
        push = 0.0 if tau is None else tau
        v = state.v + self.dt * (push - model * jnp.sin(state.q) * jnp.exp(jnp.cos(state.q)))
        good = jnp.all(jnp.isfinite(v))
        after = jaxsim.State(state.q + self.dt * v, v, state.t + self.dt)
        return after, jaxsim.Info(good, jnp.max(v), jnp.zeros((), jnp.int32))


@pytest.mark.parametrize("checkpoint", [True, 30])
def test_a_checkpointed_rollout_has_the_same_gradient_in_less_memory(checkpoint):
    def compiled(checkpoint):
        def loss(v):
            return jnp.sum(jaxsim.rollout(9.8, Toy(), Toy().init(9.8, v, v), steps=2500, checkpoint=checkpoint).q ** 2)

        return jax.jit(jax.value_and_grad(loss)).lower(jnp.ones(3)).compile()

    plain, spare = compiled(False), compiled(checkpoint)
    for a, b in zip(plain(jnp.ones(3)), spare(jnp.ones(3)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)
    needs = [c.memory_analysis().temp_size_in_bytes for c in (plain, spare)]
    assert needs[1] < 0.6 * needs[0]


def test_a_batch_over_states_controls_and_models():
    """vmap over everything at once equals one world after another."""
    rng = np.random.default_rng(1)
    worlds = jnp.asarray(rng.uniform(5.0, 9.0, 3)), jnp.asarray(rng.normal(size=(3, 2))), rng.normal(size=(3, 4, 2))

    def run(gravity, q, u):
        return jaxsim.rollout(gravity, Toy(), Toy().init(gravity, q, jnp.zeros(2)), u)

    batch = jax.jit(jax.vmap(run))(*worlds)
    for i in range(3):
        np.testing.assert_allclose(batch.q[i], run(*(jnp.asarray(x[i]) for x in worlds)).q, rtol=1e-12)


def test_a_progress_bar_does_not_change_the_result(capsys):
    controls = jnp.asarray(np.random.default_rng(2).normal(size=(107, 2)))
    plain, shown = (
        jaxsim.simulate(9.8, jnp.ones(2), jnp.ones(2), integrator=Toy(), control=controls, progress=progress)
        for progress in (False, True)
    )
    for a, b in zip(jax.tree.leaves(plain), jax.tree.leaves(shown), strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-12)
    written = capsys.readouterr().err
    assert "100% |" in written
    assert "107/107 steps" in written
    broken = controls.at[40].set(jnp.nan)
    with pytest.raises(RuntimeError, match=r"Step 40 at t = 0.4 s did not converge"):
        jaxsim.simulate(9.8, jnp.ones(2), jnp.ones(2), integrator=Toy(), control=broken, progress=True)


def test_a_trajectory_survives_a_file(tmp_path):
    saved = jaxsim.simulate(9.8, jnp.ones(2), jnp.ones(2), 0.03, Toy(), control=jnp.ones((3, 2)))
    saved = dataclasses.replace(saved, energy=jaxsim.Energy(saved.t, saved.t))
    saved.save(tmp_path / "run.npz")
    loaded = jaxsim.Trajectory.load(tmp_path / "run.npz")
    assert jax.tree.structure(loaded) == jax.tree.structure(saved)
    for a, b in zip(jax.tree.leaves(saved), jax.tree.leaves(loaded), strict=True):
        np.testing.assert_array_equal(a, b)
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    with pytest.raises(ValueError, match=r"other.npz is not a saved trajectory"):
        jaxsim.Trajectory.load(tmp_path / "other.npz")
