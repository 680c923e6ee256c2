"""Laws of rigid contact with friction: nothing overlaps, Coulomb's cone decides, gradients are those of the step."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.integrators.maximal_variational import MaximalVariational
from jaxsim.maximal import Controls, LinearCone, MaximalState, MechanismBuilder, SecondOrderCone
from jaxsim.rollout import rollout

DT = 0.01
SIDE = 0.5
G = 9.81


def cube(cone):
    builder = MechanismBuilder()
    body = builder.add_body(1.0, (SIDE**2 / 6,) * 3)
    builder.add_box_on_plane(body, (SIDE / 2,) * 3, friction=0.5, cone=cone)
    return builder.build()


def state_of(q, v=(0.0,) * 6):
    return MaximalState(jnp.asarray([q]), jnp.asarray([v]), jnp.zeros(()), jnp.zeros((0, 6)))


def on_slope(mechanism, angle, friction):
    """The same cube with the plane turned by ``angle``, seen in the frame of the plane."""
    gravity = jnp.array([G * jnp.sin(angle), 0.0, -G * jnp.cos(angle)])
    return eqx.tree_at(
        lambda m: (m.gravity, m.contacts[0].friction),
        mechanism,
        (gravity, jnp.full_like(mechanism.contacts[0].friction, friction)),
    )


@eqx.filter_jit
def fall(mechanism, state):
    return rollout(mechanism, MaximalVariational(DT), state, steps=120)


@eqx.filter_jit
def on_slopes(mechanism, angles, frictions):
    def one(angle, friction):
        there = on_slope(mechanism, angle, friction)
        return rollout(there, MaximalVariational(DT, kappa=1e-7), state_of((0, 0, SIDE / 2, 1, 0, 0, 0)), steps=30)

    return jax.vmap(one)(angles, frictions)


@pytest.mark.parametrize("cone", [SecondOrderCone(), LinearCone(4)], ids=["second order", "linear"])
def test_a_dropped_cube_comes_to_rest_just_above_the_ground(cone):
    mechanism = cube(cone)
    trajectory = fall(mechanism, state_of((0, 0, SIDE / 2 + 0.4, 1, 0, 0, 0)))
    assert trajectory.converged
    gaps = jax.vmap(mechanism.gaps)(trajectory.q)
    assert jnp.all(gaps > 0.0)
    assert jnp.all(trajectory.info.penetration == 0.0)
    # Each of the four corners carries a quarter of the weight: gap = κ/(mg/4).
    np.testing.assert_allclose(jnp.min(gaps[-1]), 4e-6 / G, rtol=1e-3)
    np.testing.assert_allclose(trajectory.v[-1], 0.0, atol=1e-9)
    np.testing.assert_allclose(trajectory.info.gap, 1e-6, rtol=1e-3)


@pytest.mark.slow
def test_single_precision_comes_to_rest_too():
    mechanism = cube(SecondOrderCone())
    state = state_of((0, 0, SIDE / 2 + 0.4, 1, 0, 0, 0))
    mechanism, state = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), (mechanism, state))
    trajectory = fall(mechanism, state)
    assert trajectory.q.dtype == jnp.float32
    assert trajectory.converged
    assert jnp.max(trajectory.info.penetration) < 1e-5
    np.testing.assert_allclose(trajectory.q[-1, 0, 2], SIDE / 2, atol=1e-4)


def test_sticks_below_the_friction_angle_slides_above_it_and_tips_when_friction_is_high():
    # The last world has no friction coefficient: it must fail alone.
    angles = jnp.deg2rad(jnp.array([26.0, 35.0, 55.0, 55.0, 35.0]))
    frictions = jnp.array([0.5, 0.5, 1.2, 3.0, jnp.nan])
    trajectory = on_slopes(cube(SecondOrderCone()), angles, frictions)
    np.testing.assert_array_equal(trajectory.converged, [True, True, True, True, False])
    assert jnp.all(jnp.isfinite(trajectory.q))
    assert jnp.all(trajectory.q[-1] == trajectory.q[-1, 0])
    speed, spin = trajectory.v[:, -1, 0, 3], trajectory.v[:, -1, 0, 1]
    t = 30 * DT
    assert abs(speed[0]) < 5e-4
    expected = G * (jnp.sin(angles[1]) - 0.5 * jnp.cos(angles[1]))
    np.testing.assert_allclose(speed[1] / t, expected, rtol=1e-2)
    # Tipping over an edge, linearised: ω̇ = α + k²θ with the inertia ⅔ml² about the edge.
    arm, inertia = SIDE / np.sqrt(2.0), 2.0 / 3.0 * SIDE**2
    alpha, k = G * arm * np.sin(np.deg2rad(10)) / inertia, np.sqrt(G * arm * np.cos(np.deg2rad(10)) / inertia)
    np.testing.assert_allclose(spin[2:4], alpha / k * np.sinh(k * t), rtol=2e-2)


REGIMES = {
    "flight": ((0, 0, 1.0, 1, 0, 0, 0), (0.3, -0.2, 0.1, 1.0, 0.2, 0.0), (0.0, 0.0, 0.0)),
    "rest": ((0, 0, SIDE / 2 + 1e-4, 1, 0, 0, 0), (0,) * 6, (0.0, 0.0, 0.0)),
    "stick": ((0, 0, SIDE / 2 + 1e-4, 1, 0, 0, 0), (0,) * 6, (2.0, 0.5, 0.0)),
    "slip": ((0, 0, SIDE / 2 + 1e-4, 1, 0, 0, 0), (0, 0, 0, 1.0, 0.3, 0), (8.0, 0.0, 0.0)),
    "impact": ((0, 0, SIDE / 2 + 0.03, 0.99, 0.1, 0.05, 0), (0, 0.1, 0, 0.4, 0, -2.0), (0.0, 0.0, 0.0)),
}


@pytest.fixture(scope="module")
def gradients():
    """Final positions after three steps as a function of (force, velocity, friction, mass), and their derivatives."""
    mechanism = cube(SecondOrderCone())
    names = list(REGIMES)
    q, v, f = (jnp.asarray([REGIMES[name][i] for name in names], float) for i in range(3))

    def final(theta, q, v, f):
        changed = eqx.tree_at(lambda m: m.contacts[0].friction, mechanism, jnp.full(8, 0.5) + theta[6])
        changed = eqx.tree_at(lambda m: m.mass, changed, mechanism.mass + theta[7])
        wrench = jnp.concatenate([jnp.zeros(3), f + theta[:3]])[None]
        state = state_of(q, v)
        state = eqx.tree_at(lambda s: s.v, state, state.v.at[0, 3:].add(theta[3:6]))
        integrator = MaximalVariational(DT, kappa=1e-4, tolerance=1e-12)

        def step(state, _):
            state, info = integrator.step(changed, state, Controls(wrench=wrench))
            return state, info.converged

        state, converged = jax.lax.scan(step, state, None, length=3)
        return jnp.concatenate([state.q[0], state.v[0]]), jnp.all(converged)

    zero = jnp.zeros(8)
    over_regimes = jax.vmap(final, in_axes=(None, 0, 0, 0))
    value = jax.jit(lambda theta: over_regimes(theta, q, v, f))
    forward = jax.jit(jax.vmap(jax.jacfwd(final, has_aux=True), in_axes=(None, 0, 0, 0)))(zero, q, v, f)
    reverse = jax.jit(jax.vmap(jax.jacrev(final, has_aux=True), in_axes=(None, 0, 0, 0)))(zero, q, v, f)
    h = 1e-5
    differences = jnp.stack([(value(zero.at[i].add(h))[0] - value(zero.at[i].add(-h))[0]) / (2 * h) for i in range(8)])
    assert jnp.all(forward[1])
    return names, forward[0], reverse[0], jnp.moveaxis(differences, 0, -1)


@pytest.mark.slow
@pytest.mark.parametrize("name", REGIMES)
def test_gradients_through_contact_are_those_of_central_differences(gradients, name):
    names, forward, reverse, differences = gradients
    i = names.index(name)
    scale = jnp.max(jnp.abs(differences[i]))
    assert scale > 1e-3
    np.testing.assert_allclose(forward[i], differences[i], atol=1e-5 * scale)
    np.testing.assert_allclose(reverse[i], forward[i], atol=1e-9 * scale)
