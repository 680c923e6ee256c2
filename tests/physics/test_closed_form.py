"""Motions that have a formula."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from jaxsim import BodyInertia, ModelBuilder, RungeKutta4


def single_body(joint, inertia, gravity=(0.0, 0.0, 0.0), **coordinates):
    builder = ModelBuilder(gravity=gravity)
    builder.add_body("body", 0, joint, None, inertia, **coordinates)
    return builder.build()


def rotation(axis, angle):
    """Rodrigues' formula."""
    a = np.asarray(axis) / np.linalg.norm(axis)
    K = np.cross(np.eye(3), a)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def elliptic_k(modulus):
    """The complete elliptic integral of the first kind, by the arithmetic–geometric mean."""
    a, b = 1.0, np.sqrt(1.0 - modulus**2)
    for _ in range(20):
        a, b = 0.5 * (a + b), np.sqrt(a * b)
    return np.pi / (2 * a)


def test_period_of_a_pendulum_at_a_large_amplitude():
    """T = 4 √(I / (m g c)) K(sin(θ₀/2)): after it the pendulum is back where it was let go."""
    amplitude, m, length, g = 2.5, 1.3, 0.8, 9.81
    model = jaxsim.robots.pendulum(links=1, length=length, mass=m)
    about_pivot = m * (length**2 / 3 + (0.05 * length) ** 2 / 4)
    period = 4 * np.sqrt(about_pivot / (m * g * length / 2)) * elliptic_k(np.sin(amplitude / 2))
    steps = 1000
    integrator = RungeKutta4(period / steps)
    trajectory = jaxsim.simulate(model, jnp.array([amplitude]), duration=period, integrator=integrator)
    assert trajectory.q.shape == (steps + 1, 1)
    np.testing.assert_allclose(trajectory.q[-1], amplitude, rtol=1e-9)
    np.testing.assert_allclose(trajectory.v[-1], 0.0, atol=1e-8)
    np.testing.assert_allclose(trajectory.q[steps // 2], -amplitude, rtol=1e-9)
    np.testing.assert_allclose(trajectory.q[steps // 4], 0.0, atol=1e-8)


def test_a_spinning_projectile():
    """The centre of mass follows p + v t + g t²/2 while a ball turns about it at a constant rate."""
    com = np.array([0.2, -0.1, 0.3])
    gravity = np.array([0.0, 1.0, -9.81])
    model = single_body(jaxsim.Free(), BodyInertia.sphere(2.0, 0.3, tuple(com)), gravity)
    w, u, t = np.array([0.5, 1.0, -0.7]), np.array([3.0, -1.0, 4.0]), 0.6
    v0 = jnp.concatenate([w, u - np.cross(w, com)])
    trajectory = jaxsim.simulate(model, model.neutral(), v0, duration=t, integrator=RungeKutta4(0.005))
    R = rotation(w, np.linalg.norm(w) * t)
    centre = com + u * t + 0.5 * gravity * t**2
    end = jaxsim.forward_kinematics(model, trajectory.q[-1])
    np.testing.assert_allclose(end.rotation[1], R, atol=1e-9)
    np.testing.assert_allclose(end.position[1], centre - R @ com, atol=1e-9)
    np.testing.assert_allclose(trajectory.v[-1, :3], w, atol=1e-9)


def test_a_symmetric_top_without_torque():
    """R(t) = exp(t L/I₁) R₀ exp(t κ e₃) with κ = ω₃ (1 − I₃/I₁): steady precession about the angular momentum."""
    I1, I3 = 1.0, 1.7
    model = single_body(jaxsim.Spherical(), BodyInertia(1.0, (0, 0, 0), (I1, I1, I3)))
    w, t = np.array([0.8, -0.3, 2.0]), 2.0
    trajectory = jaxsim.simulate(model, model.neutral(), jnp.asarray(w), duration=t, integrator=RungeKutta4(0.005))
    L = np.array([I1, I1, I3]) * w
    kappa = w[2] * (1 - I3 / I1)
    R = rotation(L, t * np.linalg.norm(L) / I1) @ rotation((0, 0, 1), kappa * t)
    end = jaxsim.forward_kinematics(model, trajectory.q[-1])
    np.testing.assert_allclose(end.rotation[1], R, atol=1e-9)
    # seen from the body, the angular velocity turns about the axis of symmetry the other way
    np.testing.assert_allclose(trajectory.v[-1], rotation((0, 0, 1), -kappa * t) @ w, atol=1e-9)


def test_a_damped_oscillator_with_a_rotor():
    """(I + armature) q̈ + d q̇ + k (q − q₀) = τ, below critical damping."""
    I, armature, d, k, rest, tau = 0.4 * 2.0 * 0.5**2, 0.05, 0.1, 3.0, 0.2, 0.6
    ball = BodyInertia.sphere(2.0, 0.5)
    springs = {"stiffness": k, "damping": d, "armature": armature, "spring_reference": rest}
    model = single_body(jaxsim.Revolute("y"), ball, (0.0, 0.0, -9.81), **springs)
    q0, v0, steps, dt = 1.0, -0.5, 400, 0.005
    controls = jnp.full((steps, 1), tau)
    trajectory = jaxsim.simulate(model, jnp.array([q0]), jnp.array([v0]), integrator=RungeKutta4(dt), control=controls)
    m, settled = I + armature, rest + tau / k
    decay = d / (2 * m)
    rate = np.sqrt(k / m - decay**2)
    t = np.asarray(trajectory.t)
    A, B = q0 - settled, (v0 + decay * (q0 - settled)) / rate
    expected = settled + np.exp(-decay * t) * (A * np.cos(rate * t) + B * np.sin(rate * t))
    np.testing.assert_allclose(trajectory.q[:, 0], expected, atol=1e-8)


def test_a_screw_turns_force_into_rotation():
    """A nut of pitch h that falls along its screw: (I + m h²) q̈ = −m g h."""
    m, radius, h = 2.0, 0.3, 0.1
    model = single_body(jaxsim.Helical("z", h), BodyInertia.sphere(m, radius), (0.0, 0.0, -9.81))
    a = jax.jit(jaxsim.forward_dynamics)(model, jnp.zeros(1), jnp.zeros(1), jnp.zeros(1))
    np.testing.assert_allclose(a, -m * 9.81 * h / (0.4 * m * radius**2 + m * h**2), rtol=1e-14)


def test_a_bead_on_a_straight_curve_falls_freely():
    """A spline with equally spaced control points on a vertical line is a slide of unit speed."""
    line = jaxsim.SplineCurve([(0.0, 0.0, float(z)) for z in range(6)])
    model = single_body(line, BodyInertia.sphere(1.0, 0.1), (0.0, 0.0, -9.81))
    trajectory = jaxsim.simulate(model, jnp.array([2.5]), duration=0.5, integrator=RungeKutta4(0.01))
    np.testing.assert_allclose(trajectory.q[:, 0], 2.5 - 0.5 * 9.81 * trajectory.t**2, atol=1e-12)
