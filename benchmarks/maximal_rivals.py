"""The methods that the experiments in maximal coordinates compare with."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxsim.maximal import Mechanism
from jaxsim.maximal.forces import conservative_wrench
from jaxsim.maximal.joint_jacobian import constraint_jacobian
from jaxsim.maximal.state import BodyPose

G = 9.81


def constraint_matrix(mechanism: Mechanism, q) -> jax.Array:
    """All constrained rows of G (rows, 6nb) as a dense matrix."""
    joints, nb = mechanism.joints, mechanism.num_bodies
    full = jnp.zeros((mechanism.num_joints, 6, nb + 1, 6))
    sides = constraint_jacobian(joints, *mechanism.pair(q, joints.bodies))
    for side, bodies in zip(sides, joints.bodies, strict=True):
        full = full.at[np.arange(mechanism.num_joints), :, bodies].add(side)
    return full[:, :, :nb].reshape(-1, 6 * nb)[np.flatnonzero(joints.rows.ravel())]


def mass_matrix(mechanism: Mechanism) -> jax.Array:
    """The block-diagonal mass matrix (6nb, 6nb)."""
    nb = mechanism.num_bodies
    M = jnp.zeros((nb, 6, nb, 6)).at[np.arange(nb), :3, np.arange(nb), :3].set(mechanism.inertia)
    M = M.at[np.arange(nb), 3:, np.arange(nb), 3:].set(mechanism.mass[:, None, None] * jnp.eye(3))
    return M.reshape(6 * nb, 6 * nb)


def forces(mechanism: Mechanism, q, v) -> jax.Array:
    """Applied and gyroscopic forces (6nb,)."""
    gyro = jnp.cross(v[:, :3], jnp.einsum("bij,bj->bi", mechanism.inertia, v[:, :3]))
    return (conservative_wrench(mechanism, q) - jnp.concatenate([gyro, jnp.zeros_like(gyro)], axis=-1)).ravel()


def saddle_point(M, G_, top, bottom) -> jax.Array:
    """x of [[M, −Gᵀ], [G, 0]](x, λ) = (top, bottom), also for redundant rows (by a pseudo-inverse)."""
    Minv_top, Minv_GT = jnp.linalg.solve(M, top), jnp.linalg.solve(M, G_.T)
    multipliers = jnp.linalg.pinv(G_ @ Minv_GT, rtol=1e-10, hermitian=True) @ (bottom - G_ @ Minv_top)
    return Minv_top + Minv_GT @ multipliers


def moved(q, v, h):
    """Configurations after the displacement h·v with normalised quaternions."""
    pose = BodyPose.from_array(q).displaced(h * v)
    return BodyPose(pose.position, pose.orientation.normalised()).to_array()


def acceleration_level_drift(mechanism: Mechanism, q, dt: float, steps: int) -> jax.Array:
    """The violation after each step of RK4 on M a = f + Gᵀλ, G a = −Ġ v, without stabilisation."""
    M, nb = mass_matrix(mechanism), mechanism.num_bodies

    def rate(y):
        q, v = y
        pose = BodyPose.from_array(q)
        G_, dG = jax.jvp(lambda h: constraint_matrix(mechanism, pose.displaced(h * v).to_array()), (0.0,), (1.0,))
        a = saddle_point(M, G_, forces(mechanism, q, v), -dG @ v.ravel()).reshape(nb, 6)
        return jax.jvp(lambda h: pose.displaced(h * v).to_array(), (0.0,), (1.0,))[1], a

    def step(y, _):
        def ahead(k, h):
            return jax.tree.map(lambda a, b: a + h * b, y, k)

        k1 = rate(y)
        k2 = rate(ahead(k1, dt / 2))
        k3 = rate(ahead(k2, dt / 2))
        k4 = rate(ahead(k3, dt))
        y = jax.tree.map(lambda a, b, c, d, e: a + dt / 6 * (b + 2 * c + 2 * d + e), y, k1, k2, k3, k4)
        return y, jnp.max(jnp.abs(mechanism.violation(y[0])))

    return jax.jit(lambda q: jax.lax.scan(step, (q, jnp.zeros((nb, 6))), None, length=steps)[1])(q)


def stabilised_index_two(mechanism: Mechanism, q, v, dt: float, steps: int):
    """Half-explicit Euler on the index-2 equations of Gear, Gupta and Leimkuhler (1985).

    M (v₁ − v₀) = h (f + Gᵀλ) with G(q₁) v₁ = 0, and q₁ = q₀ + h v₀ + M⁻¹Gᵀμ with g(q₁) = 0 by two Newton steps. Returns
    energy and violation after each step.
    """
    M, nb, rows = mass_matrix(mechanism), mechanism.num_bodies, np.flatnonzero(mechanism.joints.rows.ravel())

    def project(q, _):
        G_ = constraint_matrix(mechanism, q)
        x = saddle_point(M, G_, jnp.zeros(6 * nb), -mechanism.violation(q).ravel()[rows])
        return moved(q, x.reshape(nb, 6), 1.0), None

    def step(y, _):
        q, v = y
        q, _ = jax.lax.scan(project, moved(q, v, dt), None, length=2)
        momentum = M @ v.ravel() + dt * forces(mechanism, q, v)
        G_ = constraint_matrix(mechanism, q)
        v = saddle_point(M, G_, momentum, jnp.zeros(len(G_))).reshape(nb, 6)
        energy = mechanism.kinetic_energy(v) + mechanism.potential_energy(q)
        return (q, v), (energy, jnp.max(jnp.abs(mechanism.violation(q))))

    return jax.jit(lambda q, v: jax.lax.scan(step, (q, v), None, length=steps)[1])(q, v)


def heun_double_pendulum(dt: float, steps: int) -> jax.Array:
    """The energy error of Heun's method for two slender rods of 1 m and 1 kg from the horizontal, in joint angles."""
    moment = 1 / 12 + 1e-3

    def lagrangian(q, v):
        absolute, spin = jnp.cumsum(q), jnp.cumsum(v)
        tip = jnp.stack([jnp.sin(absolute), -jnp.cos(absolute)])
        rate = jnp.stack([jnp.cos(absolute), jnp.sin(absolute)]) * spin
        centers = jnp.cumsum(tip, axis=1) - 0.5 * tip
        speeds = jnp.cumsum(rate, axis=1) - 0.5 * rate
        return 0.5 * jnp.sum(speeds**2) + 0.5 * moment * jnp.sum(spin**2), G * jnp.sum(centers[1])

    def acceleration(q, v):
        kinetic = lambda q, v: lagrangian(q, v)[0]  # noqa: E731
        M = jax.hessian(kinetic, 1)(q, v)
        bias = jax.jvp(lambda q: jax.grad(kinetic, 1)(q, v), (q,), (v,))[1] - jax.grad(kinetic)(q, v)
        return jnp.linalg.solve(M, -bias - jax.grad(lambda q: lagrangian(q, v)[1])(q))

    def step(y, _):
        q, v = y
        a = acceleration(q, v)
        b = acceleration(q + dt * v, v + dt * a)
        q, v = q + dt * v + 0.5 * dt**2 * a, v + 0.5 * dt * (a + b)
        return (q, v), sum(lagrangian(q, v))

    start = (jnp.array([np.pi / 2, 0.0]), jnp.zeros(2))
    return jax.jit(lambda y: jax.lax.scan(step, y, None, length=steps)[1])(start)


def explicit_pendulum(dt: float, steps: int) -> np.ndarray:
    """The angles of explicit Euler for a rod of 1 m and 1 kg with damping 0.2, from the horizontal."""
    angle, rate, angles = np.pi / 2, 0.0, []
    for _ in range(steps):
        angle, rate = angle + dt * rate, rate - dt * (0.5 * G * np.sin(angle) + 0.2 * rate) * 3.0
        angles.append(angle)
    return np.asarray(angles)
