"""Graph LDU against dense LU on the graphs of Brüdigam et al. 2023, Fig. 9 and on n-link pendulums.

    python benchmarks/maximal_complexity.py

Prints, for every graph and size, the time to factorise and solve once, the same with a dense solver, and their ratio;
then the time of a step of n-link pendulums and the exponent of its growth.
"""

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from jaxsim.integrators import MaximalVariational
from jaxsim.maximal import WORLD, BlockMatrix, GraphLDU, MaximalState, MechanismBuilder
from jaxsim.maximal.elimination import minimum_degree_order


def best_time(f, *args, repeats=20):
    jax.block_until_ready(f(*args))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        jax.block_until_ready(f(*args))
        times.append(time.perf_counter() - start)
    return min(times)


def grid(*shape):
    index = np.arange(np.prod(shape)).reshape(shape)
    edges = []
    for axis in range(len(shape)):
        a = np.moveaxis(index, axis, 0)
        edges += list(zip(a[:-1].ravel().tolist(), a[1:].ravel().tolist(), strict=True))
    return int(np.prod(shape)), edges


def random_matrix(graph, b=6):
    rng = np.random.default_rng(0)
    n, E = graph.num_nodes, len(graph.edges)
    blocks = BlockMatrix(
        jnp.asarray(rng.normal(size=(n, b, b)) + 20 * np.eye(b)),
        jnp.asarray(rng.normal(size=(E, b, b))),
        jnp.asarray(rng.normal(size=(E, b, b))),
    )
    return blocks, jnp.asarray(rng.normal(size=(n, b)))


def compare(name, n, edges):
    graph = GraphLDU(n, edges, order=minimum_degree_order(n, edges))
    matrix, rhs = random_matrix(graph)
    sparse = best_time(jax.jit(lambda m, r: graph.backsubstitute(graph.factor(m), r)), matrix, rhs)
    dense = best_time(jax.jit(jnp.linalg.solve), graph.to_dense(matrix), rhs.ravel())
    print(
        f"{name:10s} {n:5d} nodes: sparse {sparse * 1e3:8.3f} ms, dense {dense * 1e3:9.3f} ms, {dense / sparse:7.1f}×"
    )


def pendulum(n, kind):
    builder = MechanismBuilder()
    q = []
    for i in range(n):
        builder.add_body(1.0, (1 / 12 + 1e-3, 1 / 12 + 1e-3, 2e-3))
        top = (0, 0, 0) if i == 0 else (0, 0, -0.5)
        builder.add_joint(kind, i - 1 if i else WORLD, i, anchor_parent=top, anchor_child=(0, 0, 0.5), axis="x")
        q.append([0, 0.5 + i, 0, np.sqrt(0.5), np.sqrt(0.5), 0, 0])
    return builder.build(), MaximalState(jnp.asarray(q), jnp.zeros((n, 6)), jnp.zeros(()), jnp.zeros((n, 6)))


def time_steps(n, kind, steps=20):
    mechanism, state = pendulum(n, kind)
    integrator = MaximalVariational(0.01)

    @eqx.filter_jit
    def run(mechanism, state):
        def step(state, _):
            state, info = integrator.step(mechanism, state)
            return state, info.converged

        return jax.lax.scan(step, state, None, length=steps)

    seconds = best_time(run, mechanism, state, repeats=5) / steps
    print(
        f"{kind:10s} {n:5d} links: {seconds * 1e3:8.3f} ms a step, converged: {bool(jnp.all(run(mechanism, state)[1]))}"
    )
    return seconds


def main():
    jax.config.update("jax_enable_x64", True)
    print(f"jax {jax.__version__}, {jax.devices()[0].device_kind}")
    for n in (10, 100):
        compare("chain", n, [(i, i + 1) for i in range(n - 1)])
        compare("ladder", *grid(2, n // 2))
    for k in (4, 8):
        compare("net", *grid(k, k))
    for k in (3, 4):
        compare("crystal", *grid(k, k, k))
    sizes = (10, 30, 100)
    for kind in ("revolute", "spherical"):
        times = [time_steps(n, kind) for n in sizes]
        exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        print(f"{kind:10s} time grows like n^{exponent:.2f}")


if __name__ == "__main__":
    main()
