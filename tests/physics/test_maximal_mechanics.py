"""Loops do not drift; springs, dampers, limits and collisions between bodies follow their laws."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.integrators.maximal_variational import MaximalVariational
from jaxsim.maximal import WORLD, Controls, MaximalState, MechanismBuilder
from jaxsim.rollout import rollout

G = 9.81


def rod(builder, length=1.0):
    moment = length**3 / 12 + 1e-3
    return builder.add_body(length, (moment, moment, 2e-3))


def hanging(angle, start=(0.0, 0.0), length=1.0):
    """The configuration of a rod in the yz-plane at an angle from the vertical, and where it ends."""
    way = np.array([np.sin(angle), -np.cos(angle)])
    y, z = np.asarray(start) + 0.5 * length * way
    return [0.0, y, z, np.cos(angle / 2), np.sin(angle / 2), 0.0, 0.0], np.asarray(start) + length * way


def three_link_loop(builder):
    """Rods of 1, √½ and 1 m between pivots 1 m apart (Brüdigam et al. 2023, Fig. 7a), all joints revolute."""
    lengths = (1.0, np.sqrt(0.5), 1.0)
    bodies = [rod(builder, length) for length in lengths]
    ends = [(0, 0, -length / 2) for length in lengths]
    tops = [(0, 0, length / 2) for length in lengths]
    builder.add_joint("revolute", WORLD, bodies[0], anchor_child=tops[0], axis="x")
    for i in (0, 1):
        builder.add_joint(
            "revolute", bodies[i], bodies[i + 1], anchor_parent=ends[i], anchor_child=tops[i + 1], axis="x"
        )
    builder.add_joint("revolute", WORLD, bodies[2], anchor_parent=(0, 1, 0), anchor_child=ends[2], axis="x")
    # With the first rod vertical, its end and the other pivot are √2 apart on the diagonal: the cosine rule gives the
    # angle between the second rod and that diagonal, which rises at 45°.
    q0, elbow = hanging(0.0)
    between = np.arccos((0.5 + 2.0 - 1.0) / (2.0 * np.sqrt(0.5) * np.sqrt(2.0)))
    q1, knee = hanging(0.75 * np.pi - between, elbow, lengths[1])
    to_pivot = np.array([1.0, 0.0]) - knee
    q2, _ = hanging(np.arctan2(to_pivot[0], -to_pivot[1]), knee)
    return [q0, q1, q2]


@pytest.fixture(scope="module")
def springs_and_loops():
    builder = MechanismBuilder()
    q = three_link_loop(builder)
    pendulum = rod(builder)
    builder.add_joint("revolute", WORLD, pendulum, anchor_child=(0, 0, 0.5), axis="x", damping=0.5)
    slider = builder.add_body(2.0, (1, 1, 1))
    builder.add_joint("prismatic", WORLD, slider, axis="z", stiffness=50.0)
    bob = builder.add_body(2.0, (1, 1, 1))
    builder.add_spring(WORLD, bob, stiffness=50.0, length=0.5)
    q += [hanging(1.0)[0], [0, 0, 0, 1, 0, 0, 0], [0, 0, -0.5, 1, 0, 0, 0]]
    mechanism, integrator = builder.build(), MaximalVariational(0.01)

    @eqx.filter_jit
    def run(mechanism, q):
        return rollout(mechanism, integrator, integrator.init(mechanism, q), steps=1000)

    q = jnp.asarray(q)
    assert jnp.max(jnp.abs(mechanism.violation(q))) < 1e-12
    return mechanism, run(mechanism, q)


def test_a_loop_with_redundant_joints_does_not_drift(springs_and_loops):
    mechanism, trajectory = springs_and_loops
    assert trajectory.converged
    assert jnp.max(trajectory.info.violation) < 1e-10
    assert jnp.max(jnp.abs(mechanism.violation(trajectory.q[-1]))) < 1e-10
    q, v = trajectory.q[:, :3], trajectory.v[:, :3]
    height = jnp.sum(mechanism.mass[:3] * q[:, :, 2], axis=-1)
    spin = jnp.einsum("tbi,bij,tbj->t", v[..., :3], mechanism.inertia[:3], v[..., :3])
    kinetic = 0.5 * (spin + jnp.sum(mechanism.mass[:3] * jnp.sum(v[..., 3:] ** 2, axis=-1), axis=-1))
    energy = kinetic[:-1] + G * 0.5 * (height[:-1] + height[1:])
    assert jnp.max(kinetic) > 0.1
    np.testing.assert_allclose(energy, energy[0], rtol=0.0, atol=2e-4)  # a ripple of second order in Δt


def test_a_damped_pendulum_follows_its_equation(springs_and_loops):
    _, trajectory = springs_and_loops
    q = trajectory.q[:, 3]
    angle = 2.0 * jnp.arctan2(q[:, 4], q[:, 3])
    inertia = 1.0 / 12 + 1e-3 + 0.25

    def rate(y):
        return np.array([y[1], -(0.5 * G * np.sin(y[0]) + 0.5 * y[1]) / inertia])

    y, h = np.array([1.0, 0.0]), 0.001
    for step in range(1, 3001):
        k1 = rate(y)
        k2 = rate(y + 0.5 * h * k1)
        k3 = rate(y + 0.5 * h * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3))
        if step in (1000, 2000, 3000):
            np.testing.assert_allclose(angle[step // 10], y[0], atol=1e-2)  # dampers are of first order here


def test_springs_oscillate_at_their_frequency(springs_and_loops):
    _, trajectory = springs_and_loops
    # The scheme's own closed form: cos(kθ) with 2 sin(θ/2) = ω Δt, of second order in the frequency.
    theta = 2.0 * np.arcsin(0.5 * 5.0 * 0.01)
    expected = -2.0 * G / 50.0 * (1.0 - jnp.cos(theta * jnp.arange(len(trajectory.t))))
    np.testing.assert_allclose(trajectory.q[:, 4, 2], expected, atol=1e-9)
    np.testing.assert_allclose(trajectory.q[:, 5, 2], expected - 0.5, atol=1e-9)


@pytest.fixture(scope="module")
def collisions():
    """A hinge that runs into its stop, two spheres, a sphere and a capsule, two capsules, and a ball on the ground."""
    builder = MechanismBuilder(gravity=(0, 0, 0))
    hinge = rod(builder)
    builder.add_joint("revolute", WORLD, hinge, anchor_child=(0, 0, 0.5), axis="x", limits=(-0.5, 0.3))
    q, v = [hanging(0.0)[0]], [[2.0, 0, 0, 0, 1.0, 0]]

    def body(position, velocity):
        q.append([*position, 1, 0, 0, 0])
        v.append([0, 0, 0, *velocity])
        return builder.add_body(1.0, (0.004, 0.004, 0.004))

    a, b = body((5, 0, 0), (0, 0, 0)), body((5.3, 0, 0), (-1, 0, 0))
    builder.add_capsule_on_capsule(a, b, 0.1, 0.1, restitution=1.0)
    c, d = body((10, 0, 0), (0, 0, 0)), body((10.3, 0.2, 0), (-1, 0, 0))
    builder.add_capsule_on_capsule(c, d, 0.1, 0.1, half_a=(0, 0.5, 0), restitution=0.0)
    e, f = body((15, 0, 0), (0, 0, 0)), body((15.3, 0, 0), (-1, 0, 0))
    builder.add_capsule_on_capsule(e, f, 0.1, 0.1, half_a=(0, 0.5, 0), half_b=(0, 0, 0.5))
    ball = body((20, 0, 0.1 + 1e-6), (1.0, 0, 0))
    builder.add_sphere_on_plane(ball, radius=0.1, friction=0.5)
    mechanism = builder.build()
    push = jnp.zeros((mechanism.num_bodies, 6)).at[ball, 5].set(-G)
    integrator = MaximalVariational(0.005, kappa=0.0)
    q, v = jnp.asarray(q), jnp.asarray(v)
    state = MaximalState(q, v, jnp.zeros(()), jnp.zeros((1, 6)), travel=v)

    @eqx.filter_jit
    def run(mechanism, state):
        def step(state, _):
            state, info = integrator.step(mechanism, state, Controls(wrench=push))
            return state, (state, info)

        return jax.lax.scan(step, state, None, length=80)[1]

    states, info = run(mechanism, state)
    assert jnp.all(info.converged)
    assert jnp.max(info.penetration) < 1e-12
    return mechanism, states


@pytest.mark.slow
def test_a_hinge_stops_at_its_limit(collisions):
    mechanism, states = collisions
    angle = jax.vmap(mechanism.coordinates)(states.q)[:, 0]
    assert jnp.max(angle) < 0.3
    np.testing.assert_allclose(angle[-1], 0.3, atol=3e-5)  # the barrier lets it leave with about √κ


@pytest.mark.slow
def test_equal_spheres_exchange_their_velocities(collisions):
    _, states = collisions
    np.testing.assert_allclose(states.v[-1, 1, 3:], [-1, 0, 0], atol=1e-8)
    np.testing.assert_allclose(states.v[-1, 2, 3:], [0, 0, 0], atol=1e-8)


@pytest.mark.slow
def test_capsules_collide_and_keep_momentum(collisions):
    _, states = collisions
    for first, second in ((3, 4), (5, 6)):
        total = states.v[:, first, 3:] + states.v[:, second, 3:]
        np.testing.assert_allclose(total, jnp.broadcast_to(jnp.array([-1.0, 0, 0]), total.shape), atol=1e-9)
        assert states.v[-1, first, 3] < -0.1
    # Hit off its centre, the first capsule turns about z; hit in the middle, the other does not.
    assert jnp.abs(states.v[-1, 3, 2]) > 0.1
    np.testing.assert_allclose(states.v[-1, 5, :3], 0.0, atol=1e-6)
    np.testing.assert_allclose(states.v[-1, 5, 3], -0.5, atol=1e-4)


@pytest.mark.slow
def test_a_sliding_ball_ends_up_rolling(collisions):
    _, states = collisions
    velocity, spin = states.v[-1, 7, 3], states.v[-1, 7, 1]
    # The angular momentum about the ground is kept; the scheme has 2/5·√(1 − (ωΔt/2)²) for the 2/5 of a ball.
    np.testing.assert_allclose((1.0 + 0.4 * np.sqrt(1.0 - (0.0025 * spin) ** 2)) * velocity, 1.0, atol=1e-5)
    np.testing.assert_allclose(spin * 0.1, velocity, atol=1e-5)
