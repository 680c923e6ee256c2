"""Direct transcription: counts, structure, derivatives; agreement of Ipopt, DDP and shooting."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim import Dynamics, optimal
from jaxsim.optimal import HermiteSimpsonScheme, ImplicitEulerScheme, VariationalScheme

N, n = 5, 2


def pendulum(steps=N, **options) -> optimal.Problem:
    """Two links, both driven, from hanging to a quarter turn."""
    f = Dynamics(jaxsim.robots.pendulum(n), jaxsim.SemiImplicitEuler(0.1))
    goal = f.state([0.8, -0.4])
    return optimal.Problem(
        f, f.state(), steps, optimal.Tracking(f, goal, 0.1, 0.01), optimal.Tracking(f, goal, 10.0), **options
    )


@pytest.mark.parametrize(
    ("scheme", "variables", "constraints"),
    [
        (VariationalScheme(order=4, hold="linear"), (4 * N + 3) * n, 3 * N * n),
        (HermiteSimpsonScheme(hold="linear"), (6 * N + 3) * n, 4 * N * n),
        (HermiteSimpsonScheme(hold="linear", implicit=True), (8 * N + 4) * n, (6 * N + 1) * n),
    ],
    ids=["variational", "explicit", "implicit"],
)
def test_counts_of_fan_et_al_table_1(scheme, variables, constraints):
    program = optimal.transcribe(pendulum(), scheme)
    assert program.num_variables == variables
    assert program.num_constraints == constraints


@pytest.mark.slow
def test_structure_and_derivatives():
    """The sparse derivatives, put in their places, are those of the plain functions."""
    problem = pendulum(inequality=lambda x, u, k: x[:1] * u[0], terminal_equality=lambda x: x[2:], upper=7.0)
    program = optimal.transcribe(problem, ImplicitEulerScheme())
    rng = np.random.default_rng(0)
    w = jnp.asarray(rng.normal(size=program.num_variables))
    y = jnp.asarray(rng.normal(size=program.num_constraints))

    @jax.jit
    def all_of(w, y):
        c = jax.jacrev(program.constraints)(w)
        lagrangian = jax.jacfwd(jax.grad(lambda w: 0.3 * program.objective(w) + y @ program.constraints(w)))(w)
        mine = program.jacobian(w), program.hessian(w, y, 0.3), program.gradient(w)
        return mine, (c, lagrangian, jax.grad(program.objective)(w))

    (jacobian, hessian, gradient), dense = all_of(w, y)
    full = np.zeros((y.size, w.size))
    full[program.jacobian_structure()] = jacobian
    np.testing.assert_allclose(full, dense[0], atol=1e-12)
    upper = np.zeros((w.size, w.size))
    upper[program.hessian_structure()] = hessian
    np.testing.assert_allclose(upper, np.triu(dense[1]), atol=1e-11)
    np.testing.assert_allclose(gradient, dense[2], atol=1e-13)
    low, high = program.bounds()
    assert np.sum(low == high) == 4
    assert np.sum(high == 7.0) == N * n
    assert np.sum(np.isinf(program.constraint_bounds()[0])) == N


@pytest.mark.slow
def test_ilqr_transcription_and_shooting_find_the_same_optimum():
    pytest.importorskip("casadi")
    problem = pendulum(10)
    by_ilqr = optimal.ilqr(problem, tolerance=1e-10)
    by_ipopt = optimal.collocate(problem, scheme=optimal.StepScheme(), tolerance=1e-10)
    by_shooting = optimal.shoot(problem, tolerance=1e-8)
    assert bool(by_ilqr.converged & by_ipopt.converged & by_shooting.converged)
    for other in (by_ipopt, by_shooting):
        np.testing.assert_allclose(other.cost, by_ilqr.cost, rtol=1e-10)
        np.testing.assert_allclose(other.controls, by_ilqr.controls, atol=1e-6)


@pytest.mark.slow
def test_the_solution_of_the_variational_program_is_a_simulation():
    """The knots that Ipopt finds are those that the integrator steps through, and the bounds hold."""
    pytest.importorskip("casadi")
    problem = pendulum(8, lower=-4.0, upper=4.0)
    found = optimal.collocate(problem, scheme=VariationalScheme(order=4), tolerance=1e-10)
    assert bool(found.converged)
    assert np.max(np.abs(found.controls)) < 4.0 + 1e-7
    integrator = jaxsim.Variational(0.1, order=4)
    run = jaxsim.simulate(problem.dynamics.model, jnp.zeros(n), integrator=integrator, control=found.controls)
    np.testing.assert_allclose(jnp.concatenate([run.q, run.v], axis=1), found.states, atol=1e-7)


def test_what_transcription_refuses():
    f = Dynamics(jaxsim.robots.quadruped(), jaxsim.SemiImplicitEuler(0.01))
    problem = optimal.Problem(f, f.state(), 3, optimal.Tracking(f, f.state()))
    with pytest.raises(ValueError, match="needs flat coordinates"):
        optimal.transcribe(problem)
    with pytest.raises(ValueError, match="There is no hold 'cubic'"):
        VariationalScheme(hold="cubic")
    with pytest.raises(ValueError, match="shoot knows no constraints"):
        optimal.shoot(pendulum(terminal_equality=lambda x: x))


@pytest.mark.slow
def test_a_block_lands_and_slides_to_rest():
    """Where contact begins and slipping ends is found by the solver; the times are those of the closed form."""
    pytest.importorskip("casadi")
    builder = jaxsim.ModelBuilder()
    slide = builder.add_body("slide", 0, jaxsim.Prismatic("x"), None, jaxsim.BodyInertia.sphere(1e-3, 0.01))
    builder.add_body("block", slide, jaxsim.Prismatic("z"), None, jaxsim.BodyInertia.sphere(1.0, 0.1))
    f = Dynamics(builder.build(), jaxsim.SemiImplicitEuler(0.02), driven=["slide"])
    start, steps = f.state([0.0, 0.05], [1.0, 0.0]), 25
    problem = optimal.Problem(f, start, steps, lambda x, u, k: 0.5 * u[0] ** 2)
    scheme = optimal.ContactScheme(bodies=(2,), points=jnp.zeros((1, 3)), friction=0.5, relaxation=1e-7)
    found = optimal.collocate(problem, scheme=scheme, tolerance=1e-9)
    assert bool(found.converged)
    q, v = f.split(found.states)
    assert np.min(q[:, 1]) > -1e-7
    np.testing.assert_allclose(q[-1, 1], 0.0, atol=1e-4)
    landing = int(np.argmax(q[:, 1] < 1e-4))
    assert abs(landing * 0.02 - (2 * 0.05 / 9.81) ** 0.5) < 0.03
    # the impact takes 1 m/s of fall, and with it 0.5 m/s of slip; then friction stops the rest at 0.5 g
    np.testing.assert_allclose(v[landing - 1, 0], 1.0, atol=1e-3)
    np.testing.assert_allclose(v[-1], 0.0, atol=1e-2)
