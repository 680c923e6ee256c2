"""Recursions against automatic differentiation: figure 2 of Fan, Schultz and Murphey (2018).

    python -m benchmarks.variational_scaling               # pendulums of 4 to 128 links, Simpson's rule
    python -m benchmarks.variational_scaling direction     # one of residual, direction and linearisation alone
    python -m benchmarks.variational_scaling --quick       # small sizes, to see that it runs

Residual, Newton direction and second derivatives of the discrete Lagrangian of one step, for one world. Automatic
differentiation starts from the discrete Lagrangian: reverse mode for the residual, forward over reverse for its
Jacobian. The model is a constant of the compiled functions: as an argument its leaves would take about 80 µs a call to
pass. Goals: exponents at most 1.1, 1.1 and 2.1; at 64 links, 20 times faster for the direction and 5 times for the
linearisation.
"""

from __future__ import annotations

import argparse
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from benchmarks.record import exponent, merged, panels, record
from benchmarks.timing import measure
from jaxsim.variational.dense import del_derivatives
from jaxsim.variational.newton_direction import factorise, solve
from jaxsim.variational.nodes import StepProblem, evaluate
from jaxsim.variational.residual import joint_rows, residual

S = 2
TASKS = ("residual", "direction", "linearisation")


def step_of(links: int) -> tuple[StepProblem, jax.Array]:
    model = jaxsim.robots.pendulum(links)
    rng = np.random.default_rng(links)
    q, v = rng.uniform(-np.pi / 2, np.pi / 2, (2, links))
    integrator = jaxsim.Variational(0.01, 2 * S)
    problem = integrator.problem(model, integrator.init(model, jnp.asarray(q), jnp.asarray(v)))
    return problem, jnp.asarray(0.01 * v * problem.rule.nodes[1:, None])


def lagrangian(problem: StepProblem, points: jax.Array) -> jax.Array:
    """L_d(q^0 … q^s)."""
    rates = jnp.asarray(problem.rule.b) @ points / problem.h

    def at(q, v):
        energy = jaxsim.energy(problem.model, q, v)
        return energy.kinetic - energy.potential

    return problem.h * jnp.asarray(problem.rule.weights) @ jax.vmap(at)(points, rates)


def rows_by_ad(problem: StepProblem, points: jax.Array) -> jax.Array:
    return jax.grad(lambda points: lagrangian(problem, points))(points)


def ours(task: str):
    def run(problem, z):
        nodes = evaluate(problem, z)
        if task == "residual":
            return joint_rows(problem, nodes)
        if task == "direction":
            return solve(factorise(problem, nodes, z), residual(problem, nodes, z))
        return del_derivatives(problem, nodes, z)

    return run


def by_ad(task: str):
    def run(problem, z):
        points = jnp.concatenate([problem.q0[None], problem.q0 + z])
        if task == "residual":
            return rows_by_ad(problem, points)
        rows = lambda points: rows_by_ad(problem, points)  # noqa: E731
        if task == "linearisation":
            return jax.jacfwd(rows)(points)

        def inner(z):
            return rows(jnp.concatenate([problem.q0[None], problem.q0 + z]))[:-1].at[0].add(problem.p)

        return jnp.linalg.solve(jax.jacfwd(inner)(z).reshape(z.size, z.size), inner(z).reshape(-1))

    return run


def with_model(function, problem: StepProblem):
    """The function of what changes from step to step; all else is constant."""
    return lambda q0, p, z: function(dataclasses.replace(problem, q0=q0, p=p), z)


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=TASKS, choices=TASKS)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    quick, sizes = options.quick, (4, 8) if options.quick else (4, 8, 16, 32, 64, 128)
    data: dict = {"links": sizes}
    for task in options.tasks:
        rows: dict[str, list[float]] = {"ours": [], "automatic": []}
        for links in sizes:
            problem, z = step_of(links)
            for name, function in (("ours", ours(task)), ("automatic", by_ad(task))):
                rows[name].append(measure(with_model(function, problem), problem.q0, problem.p, z).run)
            ratio = rows["automatic"][-1] / rows["ours"][-1]
            print(f"{task:13s} n {links:4d}  {rows['ours'][-1] * 1e6:9.1f} µs  automatic {ratio:6.1f} times that")
        half = len(sizes) // 2  # overheads hide the growth of small problems
        slopes = {name: exponent(sizes[half:], times[half:]) for name, times in rows.items()}
        print(f"{task:13s} exponents: ours {slopes['ours']:.2f}, automatic {slopes['automatic']:.2f}")
        data[task] = {**rows, "exponents": slopes}
    if not quick:
        data = merged("variational_scaling", data)
        record("variational_scaling", data)
        if all(task in data for task in TASKS):
            draw(data)


def draw(data: dict) -> None:
    def panel(task: str):
        def on(axis):
            for name in ("ours", "automatic"):
                label = f"{name}, exponent {data[task]['exponents'][name]:.2f}"
                axis.loglog(data["links"], data[task][name], "o-", label=label)
            axis.set(xlabel="links", ylabel="time [s]", title=task)

        return on

    panels("variational_scaling", [panel(task) for task in TASKS])


if __name__ == "__main__":
    main()
