"""How time grows with the number of bodies: the exponent p of time ∝ nᵖ, which linear-time recursions keep near one.

    python -m benchmarks.scaling             # chains of 16 to 512 bodies
    python -m benchmarks.scaling --quick     # 16 to 64, to see that it runs

Times are microseconds for each world, the best of many repeats. Pinocchio's inverse dynamics of the same chains, called
from Python, stands beside ours.
"""

from __future__ import annotations

import argparse
import functools

import jax
import pinocchio as pin

import jaxsim
from benchmarks.record import exponent, record
from benchmarks.timing import Table, best, machine, measure
from tests.oracles.pinocchio_twin import twin

GOAL = 1.1
FUNCTIONS = {
    "RNEA": lambda m, q, v, x: jaxsim.inverse_dynamics(m, q, v, x),
    "ABA": lambda m, q, v, x: jaxsim.forward_dynamics(m, q, v, x),
    "M⁻¹x": lambda m, q, v, x: jaxsim.inverse_mass_product(m, q, x),
}


def times(n: int, worlds: int, seconds: float) -> list[float]:
    """Microseconds for each world of every function, then of Pinocchio's inverse dynamics."""
    model = jaxsim.robots.chain(n)
    args = jax.random.normal(jax.random.key(n), (3, worlds, n))
    result = []
    for function in FUNCTIONS.values():
        run = functools.partial(function, model)
        if worlds == 1:
            timing = measure(run, *args[:, 0], seconds=seconds)
        else:
            timing = measure(jax.vmap(run), *args, seconds=seconds)
        result.append(1e6 * timing.run / worlds)
    t = twin(model)
    q, v, a = t.q(args[0, 0]), t.v(args[1, 0]), t.v(args[2, 0])
    return [*result, 1e6 * best(lambda: pin.rnea(t.model, t.data, q, v, a), seconds)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 64 bodies, short repeats")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    sizes = [16, 32, 64] if options.quick else [16, 32, 64, 128, 256, 512]
    seconds = 0.05 if options.quick else 0.4
    print(machine("pin"))
    data = {}
    for worlds in (1, 8 if options.quick else 256):
        print(f"\nchains in float64, {worlds} world{'s' if worlds > 1 else ''}")
        table = Table("n", *FUNCTIONS, "Pinocchio RNEA", widths=[9, 9, 9, 9, 14])
        columns = []
        for n in sizes:
            columns.append(times(n, worlds, seconds))
            table.row(n, *columns[-1])
        slopes = [exponent(sizes, column) for column in zip(*columns, strict=True)]
        table.row("exponent", *slopes)
        data[f"{worlds} worlds"] = {
            name: {"exponent": slope, "microseconds": dict(zip(sizes, column, strict=True))}
            for name, slope, column in zip(
                (*FUNCTIONS, "Pinocchio RNEA"), slopes, zip(*columns, strict=True), strict=True
            )
        }
        missed = [name for name, slope in zip(FUNCTIONS, slopes, strict=False) if slope > GOAL]
        print(f"goal: at most {GOAL}; {'missed by ' + ', '.join(missed) if missed else 'kept by all'}")
    if not options.quick:
        record("scaling", data)


if __name__ == "__main__":
    main()
