"""Exact Newton against quasi-Newton: figure 1 of Fan, Schultz and Murphey (2018).

    python -m benchmarks.variational_newton               # 32 links, 1000 initial conditions, nine time steps
    python -m benchmarks.variational_newton Newton        # one of Newton and quasi-Newton alone
    python -m benchmarks.variational_newton --quick       # small sizes, to see that it runs

One trapezoidal step from random angles and velocities in [−π/2, π/2]. Success rates are over all initial conditions,
iterations are means over those that a method solves, and times are means over the first hundred of these, one world
after the other. Iterations of Newton's method count the steps taken, each with a correction by the same factors.
"""

from __future__ import annotations

import argparse
import functools

import jax
import numpy as np

import jaxsim
from benchmarks.record import merged, panels, record
from benchmarks.timing import best

STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06)
TIMED = 100
METHODS = {"Newton": ("recursive", 30), "quasi-Newton": ("quasi-newton", 300)}


def solved(model, solver: str, limit: int):
    def step(dt, q, v):
        integrator = jaxsim.Variational(dt, 2, solver=solver, max_iterations=limit)
        return integrator.step(model, integrator.init(model, q, v))[1]

    return step


def one_after_the_other(step):
    return lambda dt, q, v: jax.lax.map(lambda x: step(dt, *x), (q, v))


def finished(run, *args):
    return jax.block_until_ready(run(*args))


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", default=tuple(METHODS), choices=tuple(METHODS))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    quick = options.quick
    links, count, steps = (8, 20, (0.005, 0.02)) if quick else (32, 1000, STEPS)
    model = jaxsim.robots.pendulum(links)
    q, v = np.random.default_rng(0).uniform(-np.pi / 2, np.pi / 2, (2, count, links))
    data = {"links": links, "conditions": count, "steps": steps}
    for name in options.methods:
        solver, limit = METHODS[name]
        in_turn = jax.jit(one_after_the_other(solved(model, solver, limit)))
        rows = []
        for dt in steps:
            info = in_turn(dt, q, v)
            good = np.flatnonzero(info.converged)
            if len(good) == 0:
                rows.append((np.nan, np.nan, 0.0))
                continue
            # as many for all time steps, so that one compilation serves them
            timed = np.resize(good, TIMED)
            seconds = best(functools.partial(finished, in_turn, dt, q[timed], v[timed])) / TIMED
            rows.append((seconds, float(np.asarray(info.iterations)[good].mean()), len(good) / count))
            micro, iterations, solved_share = rows[-1][0] * 1e6, *rows[-1][1:]
            print(f"{name:13s} Δt {dt:5.3f}  {micro:8.1f} µs  {iterations:6.2f} its  {solved_share:6.1%} solved")
        data[name] = [list(column) for column in zip(*rows, strict=True)]
    if not quick:
        data = merged("variational_newton", data)
        record("variational_newton", data)
        if all(name in data for name in METHODS):
            draw(data)


def draw(data: dict) -> None:
    def panel(row: int, label: str):
        def on(axis):
            for name in METHODS:
                axis.plot(data["steps"], data[name][row], "o-", label=name)
            axis.set(xlabel="time step [s]", ylabel=label)

        return on

    panels("variational_newton", [panel(0, "time [s]"), panel(1, "iterations"), panel(2, "success rate")])


if __name__ == "__main__":
    main()
