"""Laws of rigid contact with friction: nothing overlaps, Coulomb's cone decides, gradients are those of the step."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.integrators.maximal_variational import MaximalVariational
from jaxsim.maximal import WORLD, Controls, LinearCone, MaximalState, MechanismBuilder, SecondOrderCone, Terrain
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
def fall(mechanism, state, symmetric=False):
    return rollout(mechanism, MaximalVariational(DT, symmetric=symmetric), state, steps=120)


@eqx.filter_jit
def on_slopes(mechanism, angles, frictions):
    def one(angle, friction):
        there = on_slope(mechanism, angle, friction)
        return rollout(there, MaximalVariational(DT, kappa=0.0), state_of((0, 0, SIDE / 2, 1, 0, 0, 0)), steps=30)

    return jax.vmap(one)(angles, frictions)


@pytest.mark.parametrize(
    ("cone", "symmetric"),
    [
        pytest.param(SecondOrderCone(), False, id="second order"),
        pytest.param(LinearCone(4), False, id="linear"),
        pytest.param(SecondOrderCone(), True, id="symmetric", marks=pytest.mark.slow),
    ],
)
def test_a_dropped_cube_comes_to_rest_just_above_the_ground(cone, symmetric):
    mechanism = cube(cone)
    trajectory = fall(mechanism, state_of((0, 0, SIDE / 2 + 0.4, 1, 0, 0, 0)), symmetric)
    assert trajectory.converged
    gaps = jax.vmap(mechanism.gaps)(trajectory.q)
    assert jnp.all(gaps > 0.0)
    assert jnp.all(trajectory.info.penetration == 0.0)
    # Each of the four corners carries a quarter of the weight: gap = κ/(mg/4), or twice that for half kicks.
    np.testing.assert_allclose(jnp.min(gaps[-1]), (8e-6 if symmetric else 4e-6) / G, rtol=1e-3)
    np.testing.assert_allclose(trajectory.v[-1], 0.0, atol=1e-9)
    np.testing.assert_allclose(trajectory.info.gap, 1e-6, rtol=1e-3)


@pytest.mark.slow
def test_single_precision_comes_to_rest_too():
    # Eight cubes: one falls flat, the others tumble.
    v = np.random.default_rng(0).normal(size=(8, 6)) * (np.arange(8) > 0)[:, None]
    mechanism = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), cube(SecondOrderCone()))
    start = jnp.array((0, 0, SIDE / 2 + 0.4, 1, 0, 0, 0), jnp.float32)

    @jax.jit
    @jax.vmap
    def run(v):
        state = MaximalState(start[None], v[None], jnp.zeros((), jnp.float32), jnp.zeros((0, 6), jnp.float32))
        return rollout(mechanism, MaximalVariational(DT), state, steps=120)

    trajectory = run(jnp.asarray(v, jnp.float32))
    assert trajectory.q.dtype == jnp.float32
    assert jnp.all(trajectory.converged)
    assert jnp.max(trajectory.info.penetration) < 1e-5
    np.testing.assert_allclose(trajectory.q[0, -1, 0, 2], SIDE / 2, atol=1e-4)


def test_sticks_below_the_friction_angle_slides_above_it_and_tips_when_friction_is_high():
    # The last world has no friction coefficient: it must fail alone.
    angles = jnp.deg2rad(jnp.array([30.0, 30.0, 35.0, 55.0, 55.0, 35.0]))
    frictions = jnp.array([1.01 * np.sqrt(1 / 3), 0.99 * np.sqrt(1 / 3), 0.5, 1.2, 3.0, jnp.nan])
    trajectory = on_slopes(cube(SecondOrderCone()), angles, frictions)
    np.testing.assert_array_equal(trajectory.converged, [True, True, True, True, True, False])
    assert jnp.all(jnp.isfinite(trajectory.q))
    assert jnp.all(trajectory.q[-1] == trajectory.q[-1, 0])
    speed, spin = trajectory.v[:, -1, 0, 3], trajectory.v[:, -1, 0, 1]
    t = 30 * DT
    # One percent above and below tan θ; the central path lets a sticking contact creep with κ/(μγ).
    assert abs(speed[0]) < 1e-5
    expected = G * (jnp.sin(angles[1:3]) - frictions[1:3] * jnp.cos(angles[1:3]))
    np.testing.assert_allclose(speed[1:3] / t, expected, rtol=1e-3)
    # Tipping over an edge: θ̈ = (g a/I)·sin(θ) with the arm a = l/√2 and the inertia I = ⅔ml² about the edge.
    arm, inertia = SIDE / np.sqrt(2.0), 2.0 / 3.0 * SIDE**2
    angle, rate, h = np.deg2rad(10.0), 0.0, t / 3000
    for _ in range(3000):
        rate += h * G * arm / inertia * np.sin(angle)
        angle += h * rate
    np.testing.assert_allclose(spin[3:5], rate, rtol=2e-2)


@pytest.mark.slow
def test_a_linear_cone_is_as_wide_as_its_facets():
    # A block that slides along a facet of six, and between two of them, where the cone is narrower by cos(π/6).
    builder = MechanismBuilder()
    builder.add_sphere_on_plane(builder.add_body(1.0, (0.1,) * 3), friction=0.5, cone=LinearCone(6))
    mechanism, integrator, steps = builder.build(), MaximalVariational(DT, kappa=0.0), 10
    azimuth, theta = jnp.array([0.0, np.pi / 6]), np.deg2rad(40.0)
    way = jnp.stack([jnp.cos(azimuth), jnp.sin(azimuth), 0.0 * azimuth], axis=1)
    gravity = G * (np.sin(theta) * way - np.cos(theta) * jnp.array([0.0, 0.0, 1.0]))

    @jax.jit
    @jax.vmap
    def run(gravity):
        there = eqx.tree_at(lambda m: m.gravity, mechanism, gravity)
        return rollout(there, integrator, state_of((0, 0, 1e-9, 1, 0, 0, 0)), steps=steps)

    trajectory = run(gravity)
    assert jnp.all(trajectory.converged)
    rate = G * (np.sin(theta) - 0.5 * np.array([1.0, np.cos(np.pi / 6)]) * np.cos(theta))
    np.testing.assert_allclose(trajectory.v[:, -1, 0, 3:], steps * DT * rate[:, None] * way, atol=1e-5)


REGIMES = {
    "flight": ((0, 0, 1.0, 1, 0, 0, 0), (0.3, -0.2, 0.1, 1.0, 0.2, 0.0), (0.0, 0.0, 0.0)),
    "rest": ((0, 0, SIDE / 2 + 1e-4, 1, 0, 0, 0), (0,) * 6, (0.0, 0.0, 0.0)),
    "stick": ((0, 0, SIDE / 2 + 1e-4, 1, 0, 0, 0), (0,) * 6, (2.0, 0.5, 0.0)),
    "slip": ((0, 0, SIDE / 2 + 1e-4, 1, 0, 0, 0), (0, 0, 0, 1.0, 0.3, 0), (8.0, 0.0, 0.0)),
    "impact": ((0, 0, SIDE / 2 + 0.03, 0.99, 0.1, 0.05, 0), (0, 0.1, 0, 0.4, 0, -2.0), (0.0, 0.0, 0.0)),
}


@pytest.fixture(scope="module")
def gradients():
    """Final states after three steps and their derivatives in force, velocity, friction, mass, inertia and size."""
    mechanism = cube(SecondOrderCone())
    names = list(REGIMES)
    q, v, f = (jnp.asarray([REGIMES[name][i] for name in names], float) for i in range(3))

    def final(theta, q, v, f):
        changed = eqx.tree_at(lambda m: m.contacts[0].friction, mechanism, jnp.full(8, 0.5) + theta[6])
        changed = eqx.tree_at(lambda m: m.mass, changed, mechanism.mass + theta[7])
        changed = eqx.tree_at(lambda m: m.inertia, changed, mechanism.inertia * (1.0 + theta[8]))
        corners = mechanism.contacts[0].center * (1.0 + 0.01 * theta[9])
        changed = eqx.tree_at(lambda m: m.contacts[0].center, changed, corners)
        wrench = jnp.concatenate([jnp.zeros(3), f + theta[:3]])[None]
        state = state_of(q, v)
        state = eqx.tree_at(lambda s: s.v, state, state.v.at[0, 3:].add(theta[3:6]))
        integrator = MaximalVariational(DT, kappa=1e-4, tolerance=1e-12)

        def step(state, _):
            state, info = integrator.step(changed, state, Controls(wrench=wrench))
            return state, info.converged

        state, converged = jax.lax.scan(step, state, None, length=3)
        return jnp.concatenate([state.q[0], state.v[0]]), jnp.all(converged)

    @jax.jit
    @partial(jax.vmap, in_axes=(None, 0, 0, 0))
    def everything(theta, q, v, f):
        value, push, good = jax.linearize(lambda theta: final(theta, q, v, f), theta, has_aux=True)
        pull = jax.linear_transpose(push, theta)
        forward = jax.vmap(push, out_axes=-1)(jnp.eye(len(theta)))
        return value, forward, jax.vmap(lambda e: pull(e)[0])(jnp.eye(len(value))), good

    zero, h = jnp.zeros(10), 1e-5
    _, forward, reverse, good = everything(zero, q, v, f)
    assert jnp.all(good)

    def value(i, h):
        return everything(zero.at[i].set(h), q, v, f)[0]

    differences = jnp.stack([(value(i, h) - value(i, -h)) / (2 * h) for i in range(10)], axis=-1)
    return names, forward, reverse, differences


@pytest.mark.slow
@pytest.mark.parametrize("name", REGIMES)
def test_gradients_through_contact_are_those_of_central_differences(gradients, name):
    names, forward, reverse, differences = gradients
    i = names.index(name)
    scale = jnp.max(jnp.abs(differences[i]))
    assert scale > 1e-3
    np.testing.assert_allclose(forward[i], differences[i], atol=1e-5 * scale)
    np.testing.assert_allclose(reverse[i], forward[i], atol=1e-9 * scale)


@pytest.fixture(scope="module")
def bounce():
    """Height and speed of a ball after 0.8 s as a function of x₀, v₀, restitution, gravity and κ, for any dt."""
    builder = MechanismBuilder(gravity=(0.0, 0.0, 0.0))
    ball = builder.add_body(1.3, (0.01,) * 3)
    builder.add_sphere_on_plane(ball, radius=0.1, restitution=1.0)
    empty = builder.build()

    def final(x, restitution, gravity, steps):
        mechanism = eqx.tree_at(
            lambda m: (m.gravity, m.contacts[0].restitution), empty, (empty.gravity.at[2].set(-gravity), restitution)
        )
        integrator = MaximalVariational(0.8 / steps, kappa=0.0)

        def body(_, carry):
            state, good, overlap = carry
            state, info = integrator.step(mechanism, state)
            return state, good & info.converged, jnp.maximum(overlap, info.penetration)

        q = jnp.zeros((1, 7)).at[0, 2].set(x[0]).at[0, 3].set(1.0)
        v = jnp.zeros((1, 6)).at[0, 5].set(x[1] - 0.4 / steps * gravity)  # in the middle of the first interval
        state = MaximalState(q, v, jnp.zeros(()), jnp.zeros((0, 6)), travel=v)
        state, good, overlap = jax.lax.fori_loop(0, steps, body, (state, jnp.asarray(True), jnp.zeros(())))
        value = jnp.stack([state.q[0, 2], state.v[0, 5]])
        return value, (value, good & (overlap == 0.0))

    return jax.jit(jax.jacfwd(final, has_aux=True))


@pytest.mark.parametrize("e", [1.0, 0.5])
@pytest.mark.parametrize("x0", [0.6437, pytest.param(0.54, marks=pytest.mark.slow)])
def test_a_ball_reflected_by_a_wall_has_the_derivatives_of_the_reflection(bounce, e, x0):
    # x_final = r − e(x₀ − r + v₀ t): an impact held at the start of a step would give +1 for ∂x/∂x₀, not −e. From 0.54
    # the impact falls on the end of a step.
    v0, t = -1.1, 0.8
    derivative, (value, good) = bounce(jnp.array([x0, v0]), jnp.array([e]), 0.0, 20)
    assert good
    np.testing.assert_allclose(value, [0.1 - e * (x0 - 0.1 + v0 * t), -e * v0], rtol=1e-7)
    np.testing.assert_allclose(derivative, [[-e, -e * t], [0.0, -e]], atol=1e-7)


def test_a_ball_bouncing_off_the_floor_has_the_derivatives_of_its_closed_form(bounce):
    def exact(x):
        speed = jnp.sqrt(x[1] ** 2 + 2 * G * (x[0] - 0.1))
        left = 0.8 - (x[1] + speed) / G
        return 0.1 + speed * left - 0.5 * G * left**2

    x = jnp.array([1.1, 0.3])
    derivative, (value, good) = bounce(x, jnp.array([1.0]), G, 20)
    assert good
    np.testing.assert_allclose(value[0], exact(x), rtol=1e-7)
    np.testing.assert_allclose(derivative[0], jax.grad(exact)(x), rtol=1e-7)


@pytest.mark.slow
def test_a_ball_rolls_down_a_tilted_terrain():
    slope, radius, steps = np.tan(0.2), 0.1, 50
    builder = MechanismBuilder()
    ball = builder.add_body(1.0, (0.4 * radius**2,) * 3)
    terrain = Terrain(-slope * np.arange(-2.0, 3.0)[:, None] * np.ones(5), origin=(-2.0, -2.0))
    builder.add_sphere_on_terrain(ball, terrain, radius=radius, friction=0.5)
    mechanism, integrator = builder.build(), MaximalVariational(DT, kappa=0.0)
    down, normal = np.array([np.cos(0.2), 0, -np.sin(0.2)]), np.array([np.sin(0.2), 0, np.cos(0.2)])
    state = state_of((*(radius * normal), 1.0, 0, 0, 0))
    trajectory = eqx.filter_jit(lambda m, s: rollout(m, integrator, s, steps=steps))(mechanism, state)
    assert trajectory.converged
    # Rolling without slip: (1 + 2/5) v̇ = g sin θ, where the scheme has 2/5·√(1 − (ωΔt/2)²) for 2/5.
    speed = trajectory.v[-1, 0, 3:] @ down
    moment = 1.0 + 0.4 * np.sqrt(1.0 - (0.5 * DT * speed / radius) ** 2)
    np.testing.assert_allclose(moment * speed, G * np.sin(0.2) * steps * DT, rtol=1e-5)
    np.testing.assert_allclose(trajectory.v[-1, 0, 1] * radius, speed, rtol=1e-5)
    np.testing.assert_allclose(trajectory.v[-1, 0, 3:] @ normal, 0.0, atol=1e-6)


@pytest.mark.slow
def test_a_stack_of_five_boxes_rests_for_ten_seconds():
    half, count = 0.25, 5
    builder = MechanismBuilder()
    for i in range(count):
        box = builder.add_body(1.0, (2 / 3 * half**2,) * 3)
        for x, y in ((-half, -half), (-half, half), (half, -half), (half, half)):
            builder.add_sphere_on_plane(
                box, (x, y, -half), friction=0.5, offset=half if i else 0.0, plane_body=i - 1 if i else WORLD
            )
    mechanism, integrator = builder.build(), MaximalVariational(DT)
    q = jnp.asarray([[0, 0, half + (2 * half + 1e-3) * i, 1.0, 0, 0, 0] for i in range(count)])

    state = MaximalState(q, jnp.zeros((count, 6)), jnp.zeros(()), jnp.zeros((0, 6)))

    @eqx.filter_jit
    def run(mechanism, state):
        def step(state, _):
            state, info = integrator.step(mechanism, state)
            return state, (info.converged, info.penetration)

        return jax.lax.scan(step, state, None, length=1000)

    state, (converged, penetration) = run(mechanism, state)
    assert jnp.all(converged)
    assert jnp.max(penetration) == 0.0
    np.testing.assert_allclose(state.v, 0.0, atol=1e-8)
    np.testing.assert_allclose(state.q[:, :2], 0.0, atol=1e-8)
    # Four corners carry all the boxes above them: gap = κ/(n m g/4).
    gaps = mechanism.gaps(state.q).reshape(count, 4)
    np.testing.assert_allclose(gaps, (4e-6 / (G * np.arange(count, 0, -1)))[:, None] * np.ones(4), rtol=1e-3)
