"""Mechanisms with constraints in minimal coordinates: no drift, the order of the method, known forces and motions."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim.integrators.maximal_variational import MaximalVariational
from jaxsim.integrators.variational import Variational
from jaxsim.maximal import mechanism_from_model, to_maximal
from tests.variational.mechanisms import assembled, four_bar, runner, value

LOOP = (jaxsim.LoopClosures(),)
V0 = jnp.array([1.0, 0.0, 0.0])
DURATION = 0.5
STEPS = {2: (40, 80), 4: (20, 40), 6: (10, 20)}


@functools.cache
def start():
    model = four_bar()
    return model, assembled(model, LOOP, jnp.array([0.3, -1.7, -1.6]))


@functools.cache
def linkage(order):
    model, q0 = start()
    return runner(model, lambda dt: Variational(dt, order, tolerance=1e-13, constraints=LOOP), q0, V0)


@pytest.mark.parametrize("order", [2, pytest.param(4, marks=pytest.mark.slow), pytest.param(6, marks=pytest.mark.slow)])
def test_order_of_a_four_bar_is_twice_the_degree(order):
    (first, second), finest = STEPS[order], {2: 1280, 4: 320, 6: 160}[order]
    fine, ok, _ = linkage(order)(DURATION / finest, finest)
    assert ok
    errors = []
    for steps in (first, second):
        state, ok, violation = linkage(order)(DURATION / steps, steps)
        assert ok
        assert violation < 1e-14
        errors.append(np.abs(np.concatenate([state.q - fine.q, state.v - fine.v])).max())
    assert order - 0.1 < np.log2(errors[0] / errors[1]) < order + 0.1, errors


def crank_energy(model, state):
    return float(jaxsim.energy(model, state.q, state.v).total)


@pytest.mark.slow
def test_a_four_bar_neither_drifts_apart_nor_loses_energy_in_1e5_steps():
    model, q0 = start()
    state, ok, violation = linkage(2)(0.005, 100_000)
    before, _, _ = linkage(2)(0.005, 1)
    assert ok
    assert violation < 1e-11
    assert float(np.abs(value(model, LOOP, state.q)).max()) < 1e-11
    assert np.abs(np.asarray(state.q - q0)).max() > 0.1
    assert abs(crank_energy(model, state) - crank_energy(model, before)) < 1e-3


@pytest.mark.slow
def test_a_four_bar_moves_as_it_does_in_maximal_coordinates():
    model, q0 = start()
    loop = {"kind": "revolute", "parent": 0, "child": "bar2", "axis": "y"}
    loop |= {"anchor_parent": (1.4, 0.0, 0.0), "anchor_child": (0.0, 0.0, -1.2)}
    mechanism = mechanism_from_model(model, loops=[loop])
    v0 = Variational(0.01, constraints=LOOP).init(model, q0, V0).v

    @jax.jit
    def maximal(dt, steps):
        integrator = MaximalVariational(dt)
        begin = integrator.init(mechanism, *to_maximal(model, q0, v0))
        step = lambda _, state: integrator.step(mechanism, state)[0]  # noqa: E731
        return jax.lax.fori_loop(0, steps, step, begin).q[:, :3]

    apart = []
    for steps in (50, 100):
        ours, ok, _ = linkage(2)(DURATION / steps, steps)
        assert ok
        centres = to_maximal(model, ours.q, ours.v)[0][:, :3]
        apart.append(np.abs(maximal(DURATION / steps, steps) - centres).max())
    assert apart[1] < 1e-4
    assert 1.8 < np.log2(apart[0] / apart[1]) < 2.2, apart


def skate():
    """A knife edge on a plane that falls along x."""
    builder = jaxsim.ModelBuilder(gravity=(3.0, 0.0, -9.0))
    joint = jaxsim.Composite(jaxsim.Planar(("x", "y")), jaxsim.Revolute("z"))
    builder.add_body(
        "skate", parent=0, joint=joint, inertia=jaxsim.BodyInertia(2.0, (0, 0, 0), np.diag([0.1, 0.1, 0.2]))
    )
    return builder.build()


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4, 6])
def test_order_of_a_knife_edge_on_a_slope(order):
    """It turns at a constant rate and runs along a cycloid across the slope (Bloch 2003, §1.6)."""
    g, w, t = 3.0, 2.0, 1.0
    cycloid = g / (4 * w**2) * np.array([1 - np.cos(2 * w * t), 2 * w * t - np.sin(2 * w * t), 4 * w**3 * t / g])
    knife = (jaxsim.NoSlip("skate", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)),)
    method = lambda dt: Variational(dt, order, tolerance=1e-13, constraints=knife)  # noqa: E731
    run = runner(skate(), method, jnp.zeros(3), jnp.array([0.0, 0.0, w]))
    errors = []
    for steps in STEPS[order]:
        state, ok, _ = run(t / steps, steps)
        assert ok
        sideways = -np.sin(state.q[2]) * state.v[0] + np.cos(state.q[2]) * state.v[1]
        assert abs(sideways) < 1e-13
        errors.append(np.abs(np.asarray(state.q) - cycloid).max())
    assert order - 0.2 < np.log2(errors[0] / errors[1]) < order + 0.3, errors


@pytest.mark.slow
def test_a_ball_rolls_down_a_slope_at_five_sevenths_of_the_slope():
    radius, mass, slope = 0.3, 2.0, 3.0
    builder = jaxsim.ModelBuilder(gravity=(slope, 0.0, -9.0))
    moment = 0.4 * mass * radius**2
    builder.add_body(
        "ball", parent=0, joint=jaxsim.Free(), inertia=jaxsim.BodyInertia(mass, (0, 0, 0), np.eye(3) * moment)
    )
    model = builder.build()
    plane = jaxsim.PinnedPoints("ball", (0.0, 0.0, 0.0), 0, (0.0, 0.0, radius), axes="z")
    roll = jaxsim.RollingSphere("ball", (0.0, 0.0, 0.0), radius)
    method = lambda dt: Variational(dt, 2, constraints=(plane, roll))  # noqa: E731
    q0 = jnp.array([0.0, 0.0, radius, 1.0, 0.0, 0.0, 0.0])
    state, ok, violation = runner(model, method, q0, jnp.zeros(6))(0.01, 50)
    acceleration, t = 5 / 7 * slope, 0.5
    assert ok
    assert violation < 1e-14
    np.testing.assert_allclose(state.q[0], acceleration * t**2 / 2, rtol=1e-3)
    np.testing.assert_allclose(state.v[1], acceleration * t / radius, rtol=1e-3)
    friction = -2 / 7 * mass * slope
    # at the two control points friction differs by a part of Δt²; what it does over the step is their mean
    np.testing.assert_allclose(state.multipliers.mean(axis=0), [mass * 9.0, friction, 0.0], atol=1e-5)
