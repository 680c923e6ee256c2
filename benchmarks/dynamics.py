"""Inverse dynamics, forward dynamics and mass matrix against Pinocchio, in one table.

    python -m benchmarks.dynamics            # everything; a quiet machine and about six minutes
    python -m benchmarks.dynamics --quick    # two models and few worlds, to see that it runs

Times are microseconds for each world, the best of many repeats; ratios say how many times faster than Pinocchio we are,
measured in the same run on the same states. The model is a constant of our compiled functions, as it is Pinocchio's:
what follows from its leaves alone is computed once. Pinocchio computes in float64 in all rows. Its time on one core and
on two threads is that of ``rneaInParallel`` and ``abaInParallel`` over all worlds, which loop in C++. There is no such
function for the mass matrix: one core is a call from Python less the cost of a call on a one-link model, and two
threads are taken as half of that, which no real pair of threads would beat. The rows go to
benchmarks/figures/dynamics.json.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pinocchio as pin

import jaxsim
from benchmarks.record import record
from benchmarks.timing import Table, best, machine, measure
from tests.oracles.pinocchio_twin import Twin, twin

MODELS: dict[str, Callable[[], jaxsim.Model]] = {
    "chain 10": lambda: jaxsim.robots.chain(10),
    "chain 30": lambda: jaxsim.robots.chain(30),
    "chain 100": lambda: jaxsim.robots.chain(100),
    "quadruped": jaxsim.robots.quadruped,
    "humanoid": jaxsim.robots.humanoid,
}
FUNCTIONS = {
    "inverse dynamics": lambda m, q, v, x: jaxsim.inverse_dynamics(m, q, v, x),
    "forward dynamics": lambda m, q, v, x: jaxsim.forward_dynamics(m, q, v, x),
    "mass matrix": lambda m, q, v, x: jaxsim.mass_matrix(m, q),
}
GOALS = {
    # how many times faster than Pinocchio on two threads
    ("inverse dynamics", "float64"): 1.5,
    ("forward dynamics", "float64"): 1.0,
    ("mass matrix", "float64"): 0.5,
    ("inverse dynamics", "float32"): 2.5,
    ("forward dynamics", "float32"): 2.0,
    ("mass matrix", "float32"): 1.0,
}


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the table; times in microseconds for each world."""

    model: str
    function: str
    worlds: int
    dtype: str
    ours: float
    one_core: float
    two_threads: float
    compile: float

    @property
    def ratio(self) -> float:
        """How many times faster than Pinocchio on two threads."""
        return self.two_threads / self.ours


def states(model: jaxsim.Model, worlds: int):
    """Random configurations, velocities and accelerations or forces, with a leading axis of worlds."""
    keys = jax.random.split(jax.random.key(0), worlds)
    q = jax.jit(jax.vmap(lambda key: jaxsim.random_configuration(model, key)))(keys)
    v, x = jax.random.normal(jax.random.key(1), (2, worlds, model.nv))
    return q, v, x


def rival(t: Twin, function: str, args, seconds: float) -> tuple[float, float]:
    """Pinocchio's time for each world on one core and on two threads, in seconds."""
    worlds = len(args[0])
    if function == "mass matrix":
        q = t.q(args[0][0])
        one = best(lambda: pin.crba(t.model, t.data, q), seconds) - _overhead(seconds)
        return one, one / 2
    arrays = [np.asfortranarray(convert(x).T) for convert, x in zip((t.q, t.v, t.v), args, strict=True)]
    pool, out = pin.ModelPool(t.model, 2), np.zeros((t.model.nv, worlds), order="F")
    run = pin.rneaInParallel if function == "inverse dynamics" else pin.abaInParallel
    times = [best(lambda n=n: run(n, pool, *arrays, out), seconds) / worlds for n in (1, 2)]
    return times[0], times[1]


def _overhead(seconds: float) -> float:
    """What a call from Python costs, nearly: the mass matrix of a single link."""
    link = twin(jaxsim.robots.chain(1))
    q = np.zeros(1)
    return best(lambda: pin.crba(link.model, link.data, q), seconds)


def rows_of(name: str, model: jaxsim.Model, worlds: int, rival_worlds: int, seconds: float):
    """All rows of one model and one number of worlds."""
    args = states(model, max(worlds, rival_worlds))
    t = twin(model)
    for function, ours in FUNCTIONS.items():
        one, two = rival(t, function, [x[:rival_worlds] for x in args], seconds)
        for dtype in (jnp.float64, jnp.float32):
            cast = [x[:worlds].astype(dtype) for x in args]
            run = functools.partial(ours, model.astype(dtype))
            if worlds == 1:
                timing = measure(run, *(x[0] for x in cast), seconds=seconds)
            else:
                timing = measure(jax.vmap(run), *cast, seconds=seconds)
            label, per_world = np.dtype(dtype).name, 1e6 / worlds
            yield Row(name, function, worlds, label, per_world * timing.run, 1e6 * one, 1e6 * two, timing.compile)


def summary(rows: list[Row], worlds: int) -> None:
    """The goals, and what was reached."""
    print(f"\nTimes faster than Pinocchio on two threads, at {worlds} worlds")
    names = list(dict.fromkeys(row.model for row in rows))
    table = Table("function", "type", "goal", *names, widths=[17, 8, 5, *(max(len(name), 9) for name in names)])
    for (function, dtype), goal in GOALS.items():
        reached = {row.model: row.ratio for row in rows if (row.function, row.dtype) == (function, dtype)}
        table.row(function, dtype, goal, *(reached.get(name) for name in names))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two models, few worlds, short repeats")
    parser.add_argument("--models", nargs="+", choices=tuple(MODELS), help="only these models")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    seconds = 0.05 if options.quick else 0.4
    many = 64 if options.quick else 4096
    names = options.models or (("chain 10", "quadruped") if options.quick else tuple(MODELS))
    print(machine("pin"))
    table = Table(
        "model", "function", "worlds", "type", "ours µs", "1 core µs", "2 thr. µs", "vs 1 core", "vs 2 thr.", "compile",
        widths=[10, 17, 6, 8, 9, 9, 9, 9, 9, 9],
    )  # fmt: skip
    rows = []
    for name in names:
        model = MODELS[name]()
        for worlds in (1, many):
            for row in rows_of(name, model, worlds, many, seconds):
                rows.append(row)
                ratios = row.one_core / row.ours, row.ratio
                table.row(
                    name, row.function, worlds, row.dtype, row.ours, row.one_core, row.two_threads, *ratios, row.compile
                )
    summary([row for row in rows if row.worlds == many], many)
    if not options.quick and not options.models:
        record("dynamics", {"rows": [dataclasses.asdict(row) for row in rows]})
    for row in rows:
        if (row.model, row.function, row.worlds, row.dtype) == ("chain 30", "inverse dynamics", 1, "float64"):
            print(f"\nOne world of 30 bodies, inverse dynamics: {row.ours:.0f} µs (goal: under 60)")
    slowest = max((row for row in rows if row.model == "humanoid"), key=lambda row: row.compile, default=None)
    if slowest is not None:
        print(f"Slowest compilation for the humanoid: {slowest.compile:.1f} s, {slowest.function} (goal: under 3)")


if __name__ == "__main__":
    main()
