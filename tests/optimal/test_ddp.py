"""Differential dynamic programming on swing-ups: convergence, bounds, gaps, constraints, batches."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim import Dynamics, SemiImplicitEuler, optimal
from jaxsim.optimal.box import box_qp


def cartpole(**options) -> optimal.Problem:
    f = Dynamics(jaxsim.robots.cartpole(), SemiImplicitEuler(0.05), driven=["cart"])
    goal = f.state([0.0, jnp.pi])
    running = optimal.Tracking(f, goal, 0.005, 0.005)
    return optimal.Problem(f, f.state(), 50, running, optimal.Tracking(f, goal, 100.0), **options)


def last_gradients(solution) -> np.ndarray:
    n = int(solution.iterations)
    return np.asarray(solution.history.gradient)[n - 5 : n]


@pytest.fixture(scope="module")
def problem():
    return cartpole()


@pytest.fixture(scope="module")
def solution(problem):
    return optimal.ddp(problem, tolerance=1e-10)


@pytest.mark.slow
def test_ddp_swings_the_cartpole_up_and_ends_quadratically(problem, solution, capsys):
    assert bool(solution.converged)
    np.testing.assert_allclose(solution.states[-1], problem.terminal.goal, atol=0.05)
    np.testing.assert_allclose(solution.states[1:], problem.rollout(solution.controls)[1:], atol=1e-10)
    gradient = last_gradients(solution)
    with capsys.disabled():
        print("\nddp, the last |dJ/du|:", " ".join(f"{g:.1e}" for g in gradient))
    # quadratic: the factors themselves fall
    factors = gradient[1:] / gradient[:-1]
    assert factors[-1] < 1e-2
    assert factors[-1] * factors[-2] < 1e-4
    assert gradient[-1] < 1e-9


@pytest.mark.slow
def test_ilqr_finds_the_same_but_only_linearly(problem, solution, capsys):
    nearby = solution.controls + 0.05 * jnp.cos(jnp.arange(50.0))[:, None]
    slow, quick = optimal.ilqr(problem, nearby, tolerance=1e-9), optimal.ddp(problem, nearby, tolerance=1e-9)
    gradient = last_gradients(slow)
    with capsys.disabled():
        print("\nilqr, the last |dJ/du|:", " ".join(f"{g:.1e}" for g in gradient))
    assert bool(slow.converged)
    assert np.all(gradient[1:] > 0.02 * gradient[:-1])
    np.testing.assert_allclose(slow.cost, solution.cost, rtol=1e-10)
    np.testing.assert_allclose(slow.controls, solution.controls, atol=1e-6)
    assert int(slow.iterations) > 1.5 * int(quick.iterations)


def test_many_problems_at_once(problem):
    """Swing-ups from hanging and from half-way, in one batch; each trajectory obeys the dynamics and ends upright."""
    starts = jnp.stack([problem.x0, problem.x0.at[1].set(2.5)])
    batch = jax.vmap(lambda x0: optimal.ilqr(dataclasses.replace(problem, x0=x0), tolerance=1e-5))(starts)
    assert batch.states.shape == (2, 51, 4)
    assert np.all(batch.converged)
    np.testing.assert_allclose(batch.states[:, 0], starts)
    np.testing.assert_allclose(batch.states[:, -1], np.broadcast_to(problem.terminal.goal, (2, 4)), atol=0.05)
    assert not np.isclose(batch.cost[0], batch.cost[1])
    assert batch.iterations[0] != batch.iterations[1]


@pytest.mark.slow
def test_bounds_gaps_and_constraints_together():
    """A guess that does not fit, a weak motor, a wall beside the track, and an end that must be met exactly."""
    goal = jnp.array([0.0, jnp.pi, 0.0, 0.0])
    problem = dataclasses.replace(
        cartpole(lower=-6.0, upper=6.0),
        terminal=None,
        inequality=lambda x, u, k: jnp.array([x[0] - 0.35]),
        terminal_equality=lambda x: x - goal,
    )
    line = problem.x0 + jnp.linspace(0.0, 1.0, 51)[:, None] * (goal - problem.x0)
    found = optimal.ddp(problem, (line, jnp.zeros((50, 1))), max_iterations=400)
    assert bool(found.converged)
    assert float(found.history.gap[0]) > 0.05
    np.testing.assert_allclose(found.states, problem.rollout(found.controls), atol=1e-8)
    np.testing.assert_allclose(found.states[-1], goal, atol=1e-6)
    assert np.max(np.abs(found.controls)) <= 6.0
    assert np.any(np.abs(found.controls) == 6.0)
    np.testing.assert_allclose(np.max(found.states[:-1, 0]), 0.35, atol=1e-5)


def test_quadratic_programs_in_a_box():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(8, 5, 5))
    H, g = root @ root.transpose(0, 2, 1) + 0.1 * np.eye(5), 3.0 * rng.normal(size=(8, 5))
    low, high = -rng.uniform(0.1, 1.0, (8, 5)), rng.uniform(0.1, 1.0, (8, 5))
    x, free = jax.jit(jax.vmap(box_qp))(*map(jnp.asarray, (H, g, low, high)))
    slope = g + np.einsum("bij,bj->bi", H, x)
    assert np.all((x >= low) & (x <= high))
    np.testing.assert_allclose(np.where(free, slope, 0.0), 0.0, atol=1e-11)
    assert np.all(np.where(free, True, np.where(x == low, slope > 0, slope < 0)))
    assert 0 < np.sum(free) < free.size


def test_what_a_problem_refuses(problem):
    with pytest.raises(ValueError, match="steps is 0"):
        dataclasses.replace(problem, steps=0)
    with pytest.raises(ValueError, match=r"x0 must have shape \(4,\)"):
        dataclasses.replace(problem, x0=jnp.zeros(3))
    with pytest.raises(ValueError, match=r"controls must have shape \(50, 1\)"):
        optimal.ddp(problem, jnp.zeros((49, 1)))


@pytest.mark.slow
def test_the_acrobot_swings_up_from_nothing():
    f = Dynamics(jaxsim.robots.acrobot(), jaxsim.RungeKutta4(0.05), driven=["lower"])
    goal = f.state([jnp.pi, 0.0])
    problem = optimal.Problem(f, f.state(), 80, optimal.Tracking(f, goal, 0.0, 0.01), optimal.Tracking(f, goal, 200.0))
    for method in (optimal.ddp, optimal.ilqr):
        found = method(problem, tolerance=1e-4, max_iterations=400)
        assert bool(found.converged)
        np.testing.assert_allclose(found.states[-1], goal, atol=0.1)
