import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim.integrators.variational import Variational
from jaxsim.variational import bordered
from jaxsim.variational.chart import retract
from jaxsim.variational.constraints.constraint_set import ConstraintSet
from jaxsim.variational.nodes import evaluate
from jaxsim.variational.residual import end_momentum, residual
from jaxsim.variational.step import equations

from . import systems
from .mechanisms import assembled, floating_bar, four_bar, value
from .step_derivatives import step_derivatives
from .systems import BALLS, SCREWS, problem, tree

G = 9.81


def constraints_on(model):
    """One of each kind, on bodies all over the tree."""
    last = model.num_bodies - 1
    return (
        jaxsim.PinnedPoints(last, (0.1, 0.2, -0.3), 1, (0.5, -0.2, 0.1), axes="xz"),
        jaxsim.Rod(2, (0.3, 0.1, 0.2), last, (-0.2, 0.4, 0.0), 1.3),
        jaxsim.NoSlip(last - 1, (0.1, 0.0, 0.3), (0.6, 0.0, 0.8)),
    )


def constrained_problem(joints, n, s):
    model = tree(n, 3, joints)
    step, z = problem(model, s, 5)
    step = dataclasses.replace(step, constraints=ConstraintSet(constraints_on(model)))
    m = step.constraints.size(model)
    return step, (z, jnp.asarray(np.random.default_rng(1).normal(size=(s, m))))


@pytest.mark.slow
@pytest.mark.parametrize(("joints", "n", "s"), [(SCREWS, 6, 2), pytest.param(BALLS, 4, 2, marks=pytest.mark.slow)])
def test_direction_solves_the_true_jacobian_and_its_transpose(joints, n, s):
    step, at = constrained_problem(joints, n, s)
    b = jax.tree.map(lambda a: jnp.asarray(np.random.default_rng(2).normal(size=a.shape)), at)

    @jax.jit
    def there_and_back(step, at, b):
        factors = bordered.factorise(step, evaluate(step, *at), *at)

        def inverse(b):
            return bordered.solve(factors, b)

        direction, transposed = inverse(b), jax.linear_transpose(inverse, b)(b)[0]

        def rows(at):
            return equations(at, step)

        return jax.jvp(rows, (at,), (direction,))[1], jax.vjp(rows, at)[1](transposed)[0], direction

    forward, backward, direction = there_and_back(step, at, b)
    assert np.abs(direction[0]).max() > 1e-3
    for got in (forward, backward):
        for a, expected in zip(got, b, strict=True):
            np.testing.assert_allclose(a, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("joints", "n", "s"), [(SCREWS, 5, 2), (BALLS, 3, 2)])
def test_multipliers_enter_as_the_work_of_the_constraints(joints, n, s):
    """The rows are those of the action with Σ w Δt λ·h(q^α) added, for all control points but the last."""
    step, (z, multipliers) = constrained_problem(joints, n, s)
    model = step.model
    constraints = step.constraints.items[:2]
    multipliers = multipliers[:, :3]
    step = dataclasses.replace(step, constraints=ConstraintSet(constraints))

    def action(problem, xi):
        weights = problem.h * problem.rule.weights[:-1]
        work = jax.vmap(lambda x, l: value(model, constraints, retract(model, problem.q0, x)) @ l)
        return systems.discrete_lagrangian(problem, xi) + weights @ work(xi[:-1], multipliers)

    rows, p_end = jax.jit(lambda step, z: systems.rows_of_action(action, step, z))(step, z)

    @jax.jit
    def ours(step, z):
        nodes = evaluate(step, z, multipliers)
        return residual(step, nodes, z), end_momentum(step, nodes, z)

    got_rows, got_end = ours(step, z)
    np.testing.assert_allclose(got_rows, rows, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(got_end, p_end, rtol=1e-10, atol=1e-11)


def beam(supports):
    """A horizontal bar of 1 m and 2 kg at rest on supports at its ends."""
    model = floating_bar()
    integrator = Variational(0.01, 2, constraints=supports)
    state = integrator.init(model, jnp.array([0.3, 0.7, -np.pi / 2]), jnp.zeros(3))
    return jax.jit(lambda state: integrator.step(model, state))(state)


def support(place, axes):
    """A point of the bar, ``place`` metres along it, held where it is."""
    return jaxsim.PinnedPoints("bar", (0.0, 0.0, -place), 0, (0.3 + place, 0.0, 0.7), axes=axes)


def test_supports_of_a_beam_share_its_weight_by_the_lever_rule():
    state, info = beam((support(0.0, "xz"), support(0.8, "z")))
    right = 2.0 * G * 0.5 / 0.8
    expected = np.array([0.0, 2.0 * G - right, right])
    assert info.converged
    assert info.redundant == 0
    np.testing.assert_allclose(state.multipliers, np.broadcast_to(expected, (2, 3)), atol=1e-10)
    np.testing.assert_allclose(state.v, 0.0, atol=1e-12)


@pytest.mark.slow
def test_redundant_supports_are_counted_and_share_what_is_not_determined():
    state, info = beam((support(0.0, "xyz"), support(1.0, "xyz")))
    assert info.converged
    assert info.redundant == 3
    expected = np.tile([0.0, 0.0, G], 2)
    np.testing.assert_allclose(state.multipliers, np.broadcast_to(expected, (2, 6)), atol=1e-9)


def test_constraints_that_cannot_hold_are_reported_and_leave_the_state_alone():
    pins = support(0.0, "xz"), jaxsim.Rod("bar", (0.0, 0.0, 0.0), 0, (0.0, 0.0, 0.0), 0.1)
    state, info = beam(pins)
    assert not info.converged
    assert info.residual > 1e-3
    np.testing.assert_allclose(state.q, [0.3, 0.7, -np.pi / 2])
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(state))


@pytest.fixture(scope="module")
def linkage():
    """A four-bar with a spring, driven, with the last bar on a rod: one step as a function of all it depends on."""
    model = eqx.tree_at(lambda m: m.stiffness, four_bar(), jnp.array([3.0, 0.0, 1.0]))
    rods = (jaxsim.Rod("bar2", (0.0, 0.0, -1.2), 0, (1.4, 0.0, 0.3), 0.3),)
    q = assembled(model, rods, jnp.array([0.3, -1.7, -1.6]))
    v, tau = jnp.array([1.0, -0.5, 0.3]), jnp.array([2.0, -1.0, 0.5])

    def outcome(arguments):
        model, rods, dt, q, v, tau = arguments
        integrator = Variational(dt, 2, tolerance=1e-13, constraints=rods)
        state, _ = integrator.step(model, integrator.init(model, q, v), tau)
        return jnp.concatenate([state.q, state.v, 1e-2 * state.multipliers[1]])

    return outcome, (model, rods, jnp.asarray(0.05), q, v, tau)


@pytest.mark.slow
def test_derivatives_of_a_constrained_step(linkage):
    outcome, at = linkage
    taken = step_derivatives(outcome, at)
    assert np.abs(taken.forward).min() > 1e-2
    np.testing.assert_allclose(taken.forward, taken.difference, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(taken.pairing(), taken.forward @ taken.weights, rtol=1e-9)


@pytest.mark.slow
def test_linearisation_of_a_constrained_step(linkage):
    _, (model, rods, dt, q, v, tau) = linkage
    integrator = Variational(dt, 4, tolerance=1e-13, constraints=rods)

    @jax.jit
    def both(q, v, tau):
        state = integrator.init(model, q, v)

        def moved(x):
            dq, dp, u = jnp.split(x, 3)
            start = eqx.tree_at(lambda s: (s.q, s.momentum), state, (state.q + dq, state.momentum + dp))
            end, _ = integrator.step(model, start, tau + u)
            return jnp.concatenate([end.q, end.momentum, end.multipliers.reshape(-1)])

        return integrator.linearise(model, state, tau), jax.jacfwd(moved)(jnp.zeros(9))

    linear, true = both(q, v, tau)
    np.testing.assert_allclose(jnp.hstack([linear.A, linear.B]), true[:6], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(jnp.hstack([linear.L, linear.U]), true[6:], rtol=1e-9, atol=1e-7)
    # with the multipliers held the forces of the constraints derive from the potential −λ·h, so the step is symplectic
    held = linear.A - linear.C @ linear.L
    J = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])
    assert np.abs(held - linear.A).max() > 0.1
    np.testing.assert_allclose(held.T @ J @ held, J, atol=1e-10)


def test_wrong_constraints_are_refused():
    with pytest.raises(ValueError, match="axes of pinned points are 'xw'"):
        jaxsim.PinnedPoints(1, (0.0, 0.0, 0.0), axes="xw")
    model = four_bar()
    integrator = Variational(0.1, solver="quasi-newton", constraints=(jaxsim.LoopClosures(),))
    with pytest.raises(ValueError, match="knows no constraints"):
        integrator.init(model, jnp.zeros(3), jnp.zeros(3))
    integrator = Variational(0.1, constraints=(jaxsim.PinnedPoints("nobody", (0.0, 0.0, 0.0)),))
    with pytest.raises(ValueError, match="no body 'nobody'"):
        integrator.init(model, jnp.zeros(3), jnp.zeros(3))
