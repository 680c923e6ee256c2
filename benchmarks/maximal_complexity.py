"""How the time of a step grows with the mechanism (Brüdigam et al. 2023, Fig. 8 and 9), sparse against dense.

    python -m benchmarks.maximal_complexity             # up to 64 bodies or loops, 1000 steps
    python -m benchmarks.maximal_complexity --quick     # up to 8, 20 steps

n-link pendulums with revolute and spherical joints, rows of spheres in contact and chains of four-link loops; then one
factorisation and solution of ladder, net and crystal graphs of 6×6 blocks against a dense solver. Exponents of trees
and contacts should not exceed 1.1.
"""

from __future__ import annotations

import argparse

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

from benchmarks.maximal_scenes import chain_of_loops, pendulum, row_of_spheres, save
from benchmarks.record import exponent
from benchmarks.timing import Table, best, machine, measure
from jaxsim.integrators import MaximalVariational
from jaxsim.maximal import BlockMatrix, GraphLDU
from jaxsim.maximal.elimination import minimum_degree_order

SCENES = {
    "revolute pendulum": lambda n: pendulum(n, "revolute"),
    "spherical pendulum": lambda n: pendulum(n, "spherical"),
    "spheres in contact": row_of_spheres,
    "four-link loops": chain_of_loops,
}


def seconds_per_step(scene, n: int, steps: int) -> float:
    mechanism, q = scene(n)
    integrator = MaximalVariational(0.01)

    @eqx.filter_jit
    def run(mechanism, q):
        def step(state, _):
            state, info = integrator.step(mechanism, state)
            return state, info.converged

        return jax.lax.scan(step, integrator.init(mechanism, q), None, length=steps)[1]

    if not bool(jnp.all(run(mechanism, q))):
        print(f"not all steps converged for n = {n}")
    return best(lambda: jax.block_until_ready(run(mechanism, q)), 0.5) / steps


def grid(*shape: int):
    index, edges = np.arange(np.prod(shape)).reshape(shape), []
    for axis in range(len(shape)):
        a = np.moveaxis(index, axis, 0)
        edges += list(zip(a[:-1].ravel().tolist(), a[1:].ravel().tolist(), strict=True))
    return int(np.prod(shape)), edges


def solve_times(n: int, edges, seconds: float) -> tuple[float, float]:
    """Seconds of one factorisation and solution, on the graph and dense."""
    graph = GraphLDU(n, edges, order=minimum_degree_order(n, edges))
    rng, b = np.random.default_rng(0), 6
    blocks = BlockMatrix(
        jnp.asarray(rng.normal(size=(n, b, b)) + 20 * np.eye(b)),
        jnp.asarray(rng.normal(size=(len(graph.edges), b, b))),
        jnp.asarray(rng.normal(size=(len(graph.edges), b, b))),
    )
    rhs = jnp.asarray(rng.normal(size=(n, b)))
    sparse = measure(lambda m, r: graph.backsubstitute(graph.factor(m), r), blocks, rhs, seconds=seconds).run
    dense = measure(jnp.linalg.solve, graph.to_dense(blocks), rhs.ravel(), seconds=seconds).run
    return sparse, dense


def mechanisms(axes, sizes, steps: int) -> None:
    table = Table("mechanism", *(f"n = {n}" for n in sizes), "exponent", widths=[20, *[9] * len(sizes), 9])
    for name, scene in SCENES.items():
        times = [seconds_per_step(scene, n, steps) for n in sizes]
        table.row(name, *(1e6 * t for t in times), exponent(sizes, times))
        axes.loglog(sizes, [1e3 * t * 1000 for t in times], "o-", label=name)
    axes.set(xlabel="n", ylabel="time of 1000 steps (ms)", title="mechanisms in maximal coordinates")


def graphs(axes, quick: bool) -> None:
    lines = (5, 10) if quick else (5, 10, 20, 50, 100)
    families = {
        "ladder": [grid(2, k) for k in lines],
        "net": [grid(k, k) for k in ((3, 4) if quick else (3, 5, 7, 10))],
        "crystal": [grid(k, k, k) for k in ((2,) if quick else (2, 3, 4, 5))],
    }
    table = Table("graph", "nodes", "sparse µs", "dense µs", "ratio")
    for i, (name, members) in enumerate(families.items()):
        nodes, sparse, dense = [], [], []
        for n, edges in members:
            times = solve_times(n, edges, 0.05 if quick else 0.3)
            table.row(name, n, 1e6 * times[0], 1e6 * times[1], times[1] / times[0])
            nodes, sparse, dense = [*nodes, n], [*sparse, 1e6 * times[0]], [*dense, 1e6 * times[1]]
        axes.loglog(nodes, sparse, "o-", color=f"C{i}", label=name)
        axes.loglog(nodes, dense, "s:", color=f"C{i}", label=f"{name}, dense")
    axes.set(xlabel="nodes of 6×6 blocks", ylabel="factorise and solve (µs)", title="graph LDU against dense LU")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, few steps")
    quick = parser.parse_args().quick
    jax.config.update("jax_enable_x64", True)
    print(machine())
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6))
    print("\nmicroseconds a step")
    mechanisms(left, (4, 8) if quick else (4, 16, 64), 20 if quick else 1000)
    print()
    graphs(right, quick)
    for axes in (left, right):
        axes.legend(loc="upper left", frameon=False, fontsize=8)
    if not quick:
        save(figure, "complexity")


if __name__ == "__main__":
    main()
