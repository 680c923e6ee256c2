"""Closed-form derivatives against automatic differentiation of the plain recursions and against Pinocchio.

    python -m benchmarks.derivatives                       # what the goals and the figures need; about six minutes
    python -m benchmarks.derivatives --full                # every size, batch and precision; half an hour
    python -m benchmarks.derivatives --quick               # small sizes, to see that it runs
    python -m benchmarks.derivatives --only first second   # some sections, added to those already in the data

Times are microseconds for each element of a batch, the best of many repeats, with the model a constant of the compiled
function: as an argument, its two dozen leaves would take longer to hand over than one world takes. Pinocchio runs on
one core, called from Python; half of its time is what two threads would take at best. The data goes to
benchmarks/figures/derivatives.json, from which ``benchmarks.derivative_figures`` draws.
"""

from __future__ import annotations

import argparse
import functools
import json
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pinocchio as pin

import jaxsim
from benchmarks.derivative_figures import DATA, draw
from benchmarks.timing import best, machine, measure
from jaxsim.dynamics.elements import per_velocity
from jaxsim.dynamics.newton_euler import plain_recursion
from jaxsim.dynamics.rnea import motion_data
from jaxsim.model.on_tree import tree as uncoupled
from tests.oracles.pinocchio_comparison import robots_directory
from tests.oracles.pinocchio_twin import twin

SECONDS = 0.4


def plain(model, q, v, a):
    """Inverse dynamics without its differentiation rule, springs and rotors."""
    return per_velocity(model, plain_recursion(model.topology, motion_data(model, q, v, a), q.dtype))


def first_by_ad(jacobian):
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂a of the plain recursion; chains have flat coordinates."""
    return lambda model, q, v, a: jacobian(lambda *x: plain(model, *x), argnums=(0, 1, 2))(q, v, a)


def second_by_ad(model, q, v, a):
    """The four tensors of the plain recursion, forward over forward: ∂/∂(q, v) of ∂τ/∂(q, v) and ∂/∂q of ∂τ/∂a."""

    def by_state(q, v):
        return jax.jacfwd(lambda q, v: plain(model, q, v, a), argnums=(0, 1))(q, v)

    mass = jax.jacfwd(lambda q: jax.jacfwd(lambda a: plain(model, q, v, a))(a))
    return jax.jacfwd(by_state, argnums=(0, 1))(q, v), mass(q)


def contracted(model, q, v, a):
    return jaxsim.contracted_inverse_dynamics_second_derivatives(model, q, v, a, v)


def microseconds(function, model, batch: int) -> float:
    """Per element, at random states; the model is compiled in, as Pinocchio's is prepared beforehand."""
    keys = jax.random.split(jax.random.key(0), batch)
    q = jax.vmap(lambda key: jaxsim.random_configuration(model, key))(keys).astype(model.dtype)
    v, a = jax.random.normal(jax.random.key(1), (2, batch, model.nv), model.dtype)
    fixed = functools.partial(function, model)
    if batch == 1:
        return 1e6 * measure(fixed, q[0], v[0], a[0], seconds=SECONDS).run
    return 1e6 * measure(jax.vmap(fixed), q, v, a, seconds=SECONDS).run / batch


def pinocchio_first(model) -> float:
    """computeRNEADerivatives of the same model on one core, in microseconds."""
    double = twin(model)
    q = double.q(jaxsim.random_configuration(model, jax.random.key(0)))
    v, a = np.random.default_rng(0).normal(size=(2, model.nv))
    return 1e6 * best(lambda: pin.computeRNEADerivatives(double.model, double.data, q, v, a), SECONDS)


def tree(n: int, branching: int, dtype=None) -> jaxsim.Model:
    """A tree of n revolute links in which every body has ``branching`` children."""
    builder = jaxsim.ModelBuilder()
    for i in range(n):
        parent = 0 if i == 0 else (i - 1) // branching + 1
        rod = jaxsim.BodyInertia.rod(1.0, (0.1, 0.0, 0.3), 0.05)
        builder.add_body(f"link{i}", parent, jaxsim.Revolute("xyz"[i % 3]), (0.1, 0.0, 0.3), rod)
    return builder.build(dtype)


def first(cases) -> list[dict]:
    """All first derivatives of inverse dynamics of chains; each case is (n, batch, dtype)."""
    rows = []
    for n, batch, dtype in cases:
        model = tree(n, 1, dtype)
        own = microseconds(jaxsim.inverse_dynamics_derivatives, model, batch)
        ad = {jac.__name__: microseconds(first_by_ad(jac), model, batch) for jac in (jax.jacfwd, jax.jacrev)}
        rival = pinocchio_first(tree(n, 1))
        rows.append(
            {"n": n, "batch": batch, "dtype": dtype, "us": own, **ad, "ad_over_own": min(ad.values()) / own,
             "pinocchio_us": rival, "own_over_two_threads": own / (rival / 2)}
        )  # fmt: skip
        report("first", rows[-1])
    return rows


def products(cases) -> list[dict]:
    """One vector–Jacobian product with respect to q, v and a or τ, against the function itself."""
    rows = []
    functions = {"inverse dynamics": jaxsim.inverse_dynamics, "forward dynamics": jaxsim.forward_dynamics}
    for n, batch in cases:
        model = tree(n, 1)
        for name, function in functions.items():
            gradient = jax.grad(lambda m, q, v, x, f=function: jnp.sum(f(m, q, v, x)), argnums=(1, 2, 3))
            alone, back = (microseconds(f, model, batch) for f in (function, gradient))
            rows.append(
                {"function": name, "n": n, "batch": batch, "us": back, "function_us": alone, "ratio": back / alone}
            )
            report("vjp", rows[-1])
    return rows


def second(cases, ad_limit: int) -> list[dict]:
    """All second derivatives, and their contraction with one cotangent; each case is (n, batch, branching)."""
    rows = []
    for n, batch, branching in cases:
        model = tree(n, branching)
        own = microseconds(jaxsim.inverse_dynamics_second_derivatives, model, batch)
        ad = microseconds(second_by_ad, model, batch) if n <= ad_limit else None
        rows.append(
            {"n": n, "batch": batch, "branching": branching, "us": own, "contracted_us": microseconds(contracted,
             model, batch), "ad_us": ad, "ad_over_own": ad and ad / own}
        )  # fmt: skip
        report("second", rows[-1])
    return rows


def robots(batch: int) -> list[dict]:
    """First and second derivatives of whole robots."""
    rows = []
    for name, load in ROBOTS.items():
        model = load()
        functions = jaxsim.inverse_dynamics_derivatives, jaxsim.inverse_dynamics_second_derivatives
        one, two = (microseconds(function, model, batch) for function in functions)
        rows.append(
            {"robot": name, "n": model.nv, "batch": batch, "first_us": one, "second_us": two,
             "pinocchio_first_us": pinocchio_first(model)}
        )  # fmt: skip
        report("robots", rows[-1])
    return rows


def described(path: str, floating: bool):
    """Loads a robot of example-robot-data; joints that mimic others move on their own."""

    def load() -> jaxsim.Model:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return uncoupled(jaxsim.load(robots_directory() / path, floating=floating, strict=False))

    return load


ROBOTS = {
    "UR3": described("ur_description/urdf/ur3_robot.urdf", False),
    "Baxter": described("baxter_description/urdf/baxter.urdf", False),
    "HyQ": described("hyq_description/robots/hyq_no_sensors.urdf", True),
    "humanoid,\nAtlas size": jaxsim.robots.humanoid,
    "Talos": described("talos_data/robots/talos_reduced.urdf", True),
}


def report(section: str, row: dict) -> None:
    shown = {key: (f"{value:.3g}" if isinstance(value, float) else value) for key, value in row.items()}
    print(f"{section:8}", "  ".join(f"{key}={value}" for key, value in shown.items() if value is not None), flush=True)


def goals(data: dict) -> None:
    """The goals, and what was reached."""
    print("\ngoals")
    for row in data.get("first", []):
        if row["n"] == 30 and row["batch"] > 1 and row["dtype"] == "float64":
            print(
                f"  first derivatives, n = 30, batch {row['batch']}: {row['ad_over_own']:.1f}× AD (goal ≥ 5), ", end=""
            )
            print(f"{row['own_over_two_threads']:.2f} of Pinocchio on two threads (goal ≤ 1.5)")
    for row in data.get("vjp", []):
        if row["function"] == "inverse dynamics":
            print(f"  one VJP, n = {row['n']}, batch {row['batch']}: {row['ratio']:.2f} of the function (goal ≤ 3)")
    for row in data.get("second", []):
        if row["n"] == 20:
            print(f"  second derivatives, n = 20, batch {row['batch']}: {row['ad_over_own']:.1f}× AD (goal ≥ 8)")
    for row in data.get("robots", []):
        if row["robot"] == "HyQ":
            print(f"  second derivatives of HyQ, batch {row['batch']}: {row['second_us']:.0f} µs (goal ≤ 100)")


def sections(mode: str) -> dict:
    """What each mode measures, by section."""
    if mode == "quick":
        return {
            "first": lambda: first([(6, 1, "float64"), (6, 64, "float32")]),
            "vjp": lambda: products([(6, 64)]),
            "second": lambda: second([(6, 8, 1)], 6),
            "robots": lambda: robots(8),
            "growth": lambda: second([(n, 1, b) for b in (1, 2) for n in (4, 8)], 8),
        }
    full = mode == "full"
    sizes, batches = [6, 12, 18, 30, 36, 64], [1, 1024]
    every = [(n, batch, dtype) for dtype in ("float64", "float32") for n in sizes for batch in batches]
    some = [(n, 1024, "float64") for n in (6, 18, 30, 64)] + [(30, 1, "float64"), (30, 1024, "float32")]
    growth = [4, 8, 16, 32, 64, 100] if full else [4, 8, 16, 32, 64]
    return {
        "first": lambda: first(every if full else some),
        "vjp": lambda: products([(n, batch) for n in ((12, 30, 64) if full else (30,)) for batch in batches]),
        "second": lambda: second([(n, batch, 1) for n in ((12, 20, 30) if full else (20,)) for batch in (1, 64)], 20),
        "robots": lambda: robots(256),
        "growth": lambda: second([(n, 1, branching) for branching in (1, 2) for n in growth], 64 if full else 32),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_const", dest="mode", const="quick", help="small sizes, no figures")
    parser.add_argument("--full", action="store_const", dest="mode", const="full", help="everything")
    parser.add_argument("--only", nargs="*", choices=list(sections("")))
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    data: dict = json.loads(DATA.read_text()) if options.only and DATA.exists() else {}
    data["machine"] = machine("pin")
    print(data["machine"])
    for name, run in sections(options.mode or "").items():
        if not options.only or name in options.only:
            data[name] = run()
            if options.mode != "quick":
                DATA.parent.mkdir(exist_ok=True)
                DATA.write_text(json.dumps(data, indent=1) + "\n")
    goals(data)
    if options.mode != "quick":
        draw(data)


if __name__ == "__main__":
    main()
