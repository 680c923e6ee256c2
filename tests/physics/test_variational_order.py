"""The measured order of variational integrators: 2s, in positions and in momenta."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim.integrators.variational import Variational

TREE = (jaxsim.Revolute((0.3, -0.5, 0.8)), jaxsim.Prismatic((0.2, 0.9, -0.4)), jaxsim.Revolute("x"))
FLOATING = (jaxsim.Free(), jaxsim.Spherical())
SYSTEMS = {
    "chain": lambda: jaxsim.robots.pendulum(2),
    "branched tree": lambda: jaxsim.robots.random_tree(4, 2, TREE, branching=1.0),
    "floating body with a spherical joint": lambda: jaxsim.robots.random_tree(2, 1, FLOATING, branching=0.0),
}
DURATION = 0.8
STEPS = {2: (64, 128), 4: (16, 32), 6: (8, 16), 8: (6, 12)}
# a chain needs more steps to be in the range of its order; the errors of a floating body are soon those of rounding
OTHER_STEPS = {("chain", 6): (16, 32), ("floating body with a spherical joint", 8): (5, 10)}
# a double pendulum that turns over is too fast for the few steps of high orders
SWING = {"chain": 0.3}


def end_of(system, method, steps):
    model, swing = SYSTEMS[system](), SWING.get(system, 1.0)
    rest = model.neutral()
    away = jaxsim.difference(model, rest, jaxsim.random_configuration(model, jax.random.key(3)))
    q0 = jaxsim.integrate(model, rest, swing * away)
    v0 = swing * jnp.linspace(1.0, -1.0, model.nv)

    @jax.jit
    def run(h, steps):
        integrator = method(h)
        state = integrator.init(model, q0, v0)

        def step(_, carry):
            return (lambda s, i: (s, carry[1] & i.converged))(*integrator.step(model, carry[0]))

        return jax.lax.fori_loop(0, steps, step, (state, jnp.array(True)))

    for count in steps:
        state, ok = run(DURATION / count, count)
        assert ok
        yield state.q, state.v


@functools.cache
def truth(system):
    ((q, v),) = end_of(system, jaxsim.RungeKutta4, [20000])
    return SYSTEMS[system](), q, v


@pytest.mark.parametrize(
    ("system", "order"),
    [("chain", 4)]
    + [pytest.param("chain", order, marks=pytest.mark.slow) for order in (2, 6, 8)]
    + [pytest.param(system, order, marks=pytest.mark.slow) for system in list(SYSTEMS)[1:] for order in (2, 4, 6, 8)],
)
def test_order_is_twice_the_degree(system, order):
    model, q_true, v_true = truth(system)
    errors, steps = [], OTHER_STEPS.get((system, order), STEPS[order])
    for q, v in end_of(system, lambda h: Variational(h, order, tolerance=1e-13), steps):
        errors.append(float(jnp.abs(jnp.concatenate([jaxsim.difference(model, q_true, q), v - v_true])).max()))
    measured = np.log2(errors[0] / errors[1])
    assert order - 0.25 < measured < order + 1.0, (errors, measured)
