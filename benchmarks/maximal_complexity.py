"""How the time of a step grows with the mechanism (Brüdigam et al. 2023, Fig. 8 and 9), sparse against dense.

    python -m benchmarks.maximal_complexity mechanisms graphs     # up to 64 bodies or loops, 1000 steps; or one of both
    python -m benchmarks.maximal_complexity graphs --quick        # small sizes, no figure

n-link pendulums with revolute and spherical joints, rows of spheres in contact and chains of four-link loops; then one
factorisation and solution of the pendulums' and loops' systems and of ladder, net and crystal graphs of 6×6 blocks
against a dense solver. Exponents of trees and contacts should not exceed 1.1.
"""

from __future__ import annotations

import argparse

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

from benchmarks.maximal_scenes import chain_of_loops, pendulum, row_of_spheres, save
from benchmarks.record import exponent, record
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
    # Over ten seconds the ends of long chains whip faster than steps of 10 ms allow.
    integrator = MaximalVariational(0.001)

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


def solve_times(graph: GraphLDU, seconds: float) -> tuple[float, float]:
    """Microseconds of one factorisation and solution, on the graph and dense."""
    rng, n, b = np.random.default_rng(0), graph.num_nodes, 6
    blocks = BlockMatrix(
        jnp.asarray(rng.normal(size=(n, b, b)) + 20 * np.eye(b)),
        jnp.asarray(rng.normal(size=(len(graph.edges), b, b))),
        jnp.asarray(rng.normal(size=(len(graph.edges), b, b))),
    )
    rhs = jnp.asarray(rng.normal(size=(n, b)))
    sparse = measure(lambda m, r: graph.backsubstitute(graph.factor(m), r), blocks, rhs, seconds=seconds).run
    dense = measure(jnp.linalg.solve, graph.to_dense(blocks), rhs.ravel(), seconds=seconds).run
    return 1e6 * sparse, 1e6 * dense


def mechanisms(axes, sizes, steps: int) -> dict:
    print("\nmicroseconds a step")
    table = Table("mechanism", *(f"n = {n}" for n in sizes), "exponent", widths=[20, *[9] * len(sizes), 9])
    data = {}
    for name, scene in SCENES.items():
        times = [1e6 * seconds_per_step(scene, n, steps) for n in sizes]
        table.row(name, *times, exponent(sizes, times))
        axes.loglog(sizes, times, "o-", label=name)
        data[name] = {"sizes": list(sizes), "microseconds": times, "exponent": exponent(sizes, times)}
    axes.set(xlabel="n", ylabel="a step, or 1000 steps (µs, ms)", title="mechanisms in maximal coordinates")
    return data


def systems(quick: bool) -> dict[str, list[GraphLDU]]:
    """The graphs of Newton systems of mechanisms, and three others."""

    def ordered(n, edges):
        return GraphLDU(n, edges, order=minimum_degree_order(n, edges))

    return {
        "pendulum": [pendulum(n)[0].graph for n in ((4, 8) if quick else (4, 8, 16, 32, 64))],
        "four-link loops": [chain_of_loops(n)[0].graph for n in ((2,) if quick else (2, 4, 8, 16))],
        "ladder": [ordered(*grid(2, k)) for k in ((5, 10) if quick else (5, 10, 20, 50, 100))],
        "net": [ordered(*grid(k, k)) for k in ((3, 4) if quick else (3, 5, 7, 10))],
        "crystal": [ordered(*grid(k, k, k)) for k in ((2,) if quick else (2, 3, 4, 5))],
    }


def graphs(axes, quick: bool) -> dict:
    print("\none factorisation and solution")
    table = Table("graph", "nodes", "sparse µs", "dense µs", "ratio", widths=[15, 9, 9, 9, 9])
    data = {}
    for i, (name, members) in enumerate(systems(quick).items()):
        nodes = [graph.num_nodes for graph in members]
        times = [solve_times(graph, 0.05 if quick else 0.3) for graph in members]
        for n, (sparse, dense) in zip(nodes, times, strict=True):
            table.row(name, n, sparse, dense, dense / sparse)
        for values, style, label in zip(np.transpose(times), ("o-", "s:"), (name, f"{name}, dense"), strict=True):
            axes.loglog(nodes, values, style, color=f"C{i}", label=label)
        data[name] = {"nodes": nodes, "microseconds (sparse, dense)": times}
    axes.set(xlabel="nodes of 6×6 blocks", ylabel="factorise and solve (µs)", title="graph LDU against dense LU")
    return data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", default=["mechanisms", "graphs"], help="mechanisms, graphs or both")
    parser.add_argument("--quick", action="store_true", help="small sizes, few steps")
    arguments = parser.parse_args()
    quick = arguments.quick
    jax.config.update("jax_enable_x64", True)
    print(machine())
    sections = {
        "mechanisms": lambda axes: mechanisms(axes, (4, 8) if quick else (4, 16, 64), 20 if quick else 1000),
        "graphs": lambda axes: graphs(axes, quick),
    }
    for name in arguments.sections:
        figure, axes = plt.subplots(figsize=(6.5, 4.6))
        data = sections[name](axes)
        axes.legend(loc="upper left", frameon=False, fontsize=8)
        if not quick:
            record(f"maximal_{name}", data)
            save(figure, name)


if __name__ == "__main__":
    main()
