"""Every integrator on one double pendulum: order, error, energy and cost, in one table.

    python -m benchmarks.integrators [names …]

Energy: the largest |E − E₀| of the last ten of sixty seconds with steps of 0.02 s. Error: of the configuration after
one second with the same step, against order 6 with steps of 1/640 s. Order: from steps of 1/40 and 1/80 s. Cost: the
time of one step, alone and in a batch of 256, divided by that of semi-implicit Euler measured in the same run.
"""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from benchmarks.timing import Table, machine, measure

MODEL = jaxsim.robots.pendulum(links=2)
START = (2.0, -1.0)
BATCH = 256

METHODS = {
    "semi-implicit Euler": jaxsim.SemiImplicitEuler,
    "Runge–Kutta 4": jaxsim.RungeKutta4,
    "Hermite–Simpson": jaxsim.HermiteSimpson,
    "BDF1": jaxsim.BDF1,
    "BDF2": jaxsim.BDF2,
    "SDIRK2": jaxsim.SDIRK2,
    "variational, order 2": lambda dt: jaxsim.Variational(dt, order=2),
    "variational, order 4": lambda dt: jaxsim.Variational(dt, order=4),
    "variational, order 6": lambda dt: jaxsim.Variational(dt, order=6),
    "maximal variational": jaxsim.MaximalVariational,
}


def start(method, maximal):
    """The system that a method moves, and its state at the start."""
    q, v = jnp.array(START), jnp.zeros(2)
    if not maximal:
        return MODEL, method.init(MODEL, q, v)
    mechanism = jaxsim.Mechanism.from_model(MODEL)
    return mechanism, method.init(mechanism, *jaxsim.to_maximal(MODEL, q, v))


def runner(family, maximal):
    """The configuration in minimal coordinates after any number of steps of any length, compiled once."""

    @jax.jit
    def run(dt, steps):
        method = family(dt)
        system, state = start(method, maximal)
        end = jax.lax.fori_loop(0, steps, lambda _, s: method.step(system, s)[0], state)
        return jaxsim.to_minimal(MODEL, end.q, end.v)[0] if maximal else end.q

    return run


def energy_error(family, maximal) -> float:
    """The largest |E − E₀| in the last ten of sixty seconds."""
    method = family(0.02)
    system, state = start(method, maximal)
    trajectory = jax.jit(lambda s: jaxsim.rollout(system, method, s, steps=3000, energy=True))(state)
    total = np.asarray(trajectory.energy.total)
    return float(np.abs(total - total[0])[-500:].max())


def cost(family, maximal) -> tuple[float, float]:
    """Seconds of a step, alone and in a batch for each world."""
    method = family(0.02)
    system, state = start(method, maximal)
    batch = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (BATCH, *leaf.shape)), state)

    def ten(state):
        return jax.lax.fori_loop(0, 10, lambda _, s: method.step(system, s)[0], state)

    return measure(ten, state).run / 10, measure(jax.vmap(ten), batch).run / 10 / BATCH


def main(names) -> None:
    """Print a row for each of the named methods, or for all."""
    print(machine())
    exact = np.asarray(runner(METHODS["variational, order 6"], False)(1.0 / 640, 640))
    base = cost(METHODS["semi-implicit Euler"], False)
    print(f"semi-implicit Euler: {1e6 * base[0]:.1f} µs a step alone, {1e6 * base[1]:.2f} µs in a batch of {BATCH}")
    table = Table(
        "method", "order", "error [rad]", "energy [J]", "cost alone", "cost in batch", widths=[22, 9, 11, 11, 11, 13]
    )
    for name in names or METHODS:
        family, maximal = METHODS[name], name.startswith("maximal")
        run = runner(family, maximal)
        errors = [float(np.abs(np.asarray(run(1.0 / n, n)) - exact).max()) for n in (40, 50, 80)]
        order = float(np.log2(errors[0] / max(errors[2], 1e-16)))
        alone, together = base if name == "semi-implicit Euler" else cost(family, maximal)
        table.row(name, order, errors[1], energy_error(family, maximal), alone / base[0], together / base[1])


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    main(sys.argv[1:])
