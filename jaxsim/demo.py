"""The demonstration behind ``python -m jaxsim demo``."""

from __future__ import annotations

import time

import jax
import jax.numpy as jnp

from .dynamics import energy
from .integrators import RungeKutta4
from .model import robots
from .rollout import simulate


def run_demo(links: int = 12, seconds: float = 10.0, dt: float = 0.002) -> int:
    """Let a pendulum fall from the horizontal and print its energy every second."""
    model = robots.pendulum(links)
    q = model.neutral().at[0].set(jnp.pi / 2)
    started = time.perf_counter()
    trajectory = simulate(model, q, duration=seconds, integrator=RungeKutta4(dt=dt))
    jax.block_until_ready(trajectory.q)
    took = time.perf_counter() - started
    total = jax.jit(jax.vmap(lambda q, v: energy(model, q, v)))(trajectory.q, trajectory.v)
    steps = len(trajectory.t) - 1
    print(f"A pendulum of {links} links falls from the horizontal: {steps} steps of {dt} s in {took:.1f} s, compiled.")
    print("   t [s]   kinetic [J]   potential [J]     total [J]")
    for i in range(0, steps + 1, max(round(1.0 / dt), 1)):
        t, kinetic, potential = float(trajectory.t[i]), float(total.kinetic[i]), float(total.potential[i])
        print(f"{t:8.2f} {kinetic:13.4f} {potential:15.4f} {kinetic + potential:13.4f}")
    change = float(jnp.max(jnp.abs(total.total - total.total[0])))
    print(f"The total energy stays within {change:.2g} J of where it started ({trajectory.q.dtype}).")
    return 0
