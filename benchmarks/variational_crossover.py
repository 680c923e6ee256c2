"""Where the Newton direction in linear time overtakes the dense inverse, for one world and in a batch.

    python -m benchmarks.variational_crossover               # 4 to 32 links
    python -m benchmarks.variational_crossover --worlds 1    # one of 1 and 1024 worlds alone
    python -m benchmarks.variational_crossover --quick       # small sizes, to see that it runs

Time of one converged step of a pendulum with each solver. ``solver="auto"`` chooses by s · nv.
"""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from benchmarks.record import merged, panels, record
from benchmarks.timing import measure

DT = 0.01
CASES = ((1, 1), (2, 1), (1, 1024), (2, 1024))
SOLVERS = "dense", "recursive"


def seconds_of_a_step(links: int, order: int, worlds: int, solver: str) -> float:
    """Time of a step in one world."""
    model = jaxsim.robots.pendulum(links)
    integrator = jaxsim.Variational(DT, order, solver=solver)
    step = jax.vmap(lambda state: integrator.step(model, state))
    q, v = jnp.asarray(np.random.default_rng(0).uniform(-0.5, 0.5, (2, worlds, links)))
    state = jax.vmap(lambda q, v: integrator.init(model, q, v))(q, v)
    if worlds == 1:
        state, step = jax.tree.map(lambda leaf: leaf[0], state), lambda state: integrator.step(model, state)
    # the second step starts from the guess that all later ones have
    state, _ = jax.jit(step)(state)
    return measure(step, state, seconds=0.5).run / worlds


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, choices=(1, 1024))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    quick = options.quick
    sizes, cases = ((2, 4), CASES[:1]) if quick else ((4, 8, 16, 32), CASES)
    cases = [case for case in cases if options.worlds in (None, case[1])]
    data: dict = {"links": sizes}
    for s, worlds in cases:
        rows: dict[str, list[float]] = {solver: [] for solver in SOLVERS}
        for links in sizes:
            for solver in SOLVERS:
                rows[solver].append(seconds_of_a_step(links, 2 * s, worlds, solver))
            dense, recursive = (rows[solver][-1] * 1e6 for solver in SOLVERS)
            print(f"s = {s}, {worlds:4d} worlds, n {links:3d}: dense {dense:8.1f} µs, recursive {recursive:8.1f} µs")
        data[f"s = {s}, {worlds} worlds"] = rows
    if not quick:
        data = merged("variational_crossover", data)
        record("variational_crossover", data)
        if len(data) > len(CASES):
            draw(data)


def draw(data: dict) -> None:
    def panel(title: str):
        def on(axis):
            for solver in SOLVERS:
                axis.loglog(data["links"], np.array(data[title][solver]) * 1e6, "o-", label=solver)
            axis.set(xlabel="links", ylabel="time of a step in one world [µs]", title=title)

        return on

    panels("variational_crossover", [panel(f"s = {s}, {worlds} worlds") for s, worlds in CASES])


if __name__ == "__main__":
    main()
