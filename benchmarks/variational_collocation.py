"""Simpson's variational integrator against Hermite–Simpson collocation: figure 3 and table 1 of Fan et al. (2018).

    python -m benchmarks.variational_collocation                # 12 links, 10 s, 100 initial conditions
    python -m benchmarks.variational_collocation variational    # one of variational and collocation alone
    python -m benchmarks.variational_collocation --quick        # small sizes, to see that it runs

From rest at random angles in [−π/12, π/12]. The error is the mean over time and initial conditions of ‖q − q_d‖, where
q_d is by the explicit method of Runge and Kutta with a step of 5e-4 s, whose error is far below all others; times are
those of one trajectory alone, means over the first two initial conditions.
"""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from benchmarks.record import merged, panels, record
from benchmarks.timing import best

METHODS = {"variational": lambda dt: jaxsim.Variational(dt, 4), "collocation": lambda dt: jaxsim.HermiteSimpson(dt)}
FINE = 5e-4
TIMED = 2


def trajectory(model, integrator, duration: float):
    """q at all steps, and whether all were solved."""
    steps = round(duration / integrator.dt)

    def run(q):
        state = integrator.init(model, q, jnp.zeros_like(q))
        result = jaxsim.rollout(model, integrator, state, steps=steps)
        return result.q, result.converged

    return run


def counts(N: int, n: int, m: int) -> dict[str, tuple[int, int]]:
    """Table 1: variables and constraints of N stages for n joints with as many inputs and m constraints."""
    points = 2 * N + 1
    return {
        "variational": ((4 * N + 3) * n + points * m, 3 * N * n + points * m),
        "collocation, explicit": (3 * points * n + points * m, 4 * N * n + 3 * points * m),
        "collocation, implicit": (4 * points * n + points * m, (6 * N + 1) * n + 3 * points * m),
    }


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", default=tuple(METHODS), choices=tuple(METHODS))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    quick = options.quick
    links, count, duration, fine = (3, 2, 0.4, 5e-3) if quick else (12, 100, 10.0, FINE)
    steps = (0.02, 0.04) if quick else (0.005, 0.01, 0.02, 0.04)
    model = jaxsim.robots.pendulum(links)
    q0 = jnp.asarray(np.random.default_rng(0).uniform(-np.pi / 12, np.pi / 12, (count, links)))
    in_turn = lambda integrator: lambda q0: jax.lax.map(trajectory(model, integrator, duration), q0)  # noqa: E731
    truth = jax.jit(jax.vmap(trajectory(model, jaxsim.RungeKutta4(fine), duration)))(q0)[0]
    data: dict = {"links": links, "conditions": count, "steps": steps, "table 1": counts(10, links, 0)}
    for name in options.methods:
        rows = []
        for dt in steps:
            integrator = METHODS[name](dt)
            q, ok = jax.jit(jax.vmap(trajectory(model, integrator, duration)))(q0)
            error = np.linalg.norm(np.asarray(q - truth[:, :: round(dt / fine)]), axis=-1).mean(axis=1)
            run = jax.jit(in_turn(integrator))
            seconds = best(lambda run=run: jax.block_until_ready(run(q0[:TIMED])), seconds=0.0) / TIMED
            rows.append((float(error[np.asarray(ok)].mean()), seconds, float(np.mean(ok))))
            print(f"{name:12s} Δt {dt:5.3f}  error {rows[-1][0]:9.2e}  {rows[-1][1]:8.4f} s  {rows[-1][2]:6.1%} solved")
        data[name] = [list(column) for column in zip(*rows, strict=True)]
    for name, (variables, constraints) in data["table 1"].items():
        print(f"{name:22s} {variables} variables, {constraints} constraints for 10 stages")
    if not quick:
        data = merged("variational_collocation", data)
        record("variational_collocation", data)
        if all(name in data for name in METHODS):
            draw(data)


def draw(data: dict) -> None:
    def against(column: int, label: str):
        def on(axis):
            for name in METHODS:
                axis.loglog(data["steps"], data[name][column], "o-", label=name)
            axis.set(xlabel="time step [s]", ylabel=label)

        return on

    def efficiency(axis):
        for name in METHODS:
            axis.loglog(data[name][1], data[name][0], "o-", label=name)
        axis.set(xlabel="time [s]", ylabel="error")

    panels("variational_collocation", [against(0, "error"), against(1, "time [s]"), efficiency])


if __name__ == "__main__":
    main()
