"""Closed-form derivatives against automatic differentiation of the plain recursions and against Pinocchio.

    python benchmarks/derivatives.py                      # everything; a quiet machine and half an hour
    python benchmarks/derivatives.py --quick              # small sizes, to see that it runs
    python benchmarks/derivatives.py --only first second  # some sections

Times are the smallest of several runs, in microseconds for each element of the batch; compile times are separate. The
data goes to benchmarks/figures/derivatives.json, and figures 3 and 4 of Singh et al. (2022) are redrawn from it.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import time

import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from jaxsim.dynamics.elements import per_velocity
from jaxsim.dynamics.newton_euler import plain_recursion
from jaxsim.dynamics.rnea import motion_data

FIGURES = pathlib.Path(__file__).parent / "figures"


def plain(model, q, v, a):
    """Inverse dynamics without its differentiation rule, springs and rotors."""
    return per_velocity(model, plain_recursion(model.topology, motion_data(model, q, v, a), q.dtype))


def along(model, q, d):
    """q ⊕ d, which costs nothing where coordinates are flat."""
    return jaxsim.integrate(model, q, d)


def first_by_ad(model, q, v, a, jacobian):
    moved = lambda d, v, a: plain(model, along(model, q, d), v, a)  # noqa: E731
    return jacobian(moved, argnums=(0, 1, 2))(jnp.zeros_like(v), v, a)


def second_by_ad(model, q, v, a):
    moved = lambda d, v, a: plain(model, along(model, q, d), v, a)  # noqa: E731
    return jax.jacfwd(jax.jacfwd(moved, argnums=(0, 1, 2)), argnums=(0, 1))(jnp.zeros_like(v), v, a)


def states(model, batch: int):
    """Random q, v, a; with a leading axis unless the batch is one world."""
    keys = jax.random.split(jax.random.key(0), batch)
    q = jax.vmap(lambda key: jaxsim.random_configuration(model, key))(keys).astype(model.dtype)
    v, a = jax.random.normal(jax.random.key(1), (2, batch, model.nv), model.dtype)
    return (q[0], v[0], a[0]) if batch == 1 else (q, v, a)


def measure(function, model, args, batch: int, seconds: float = 1.0) -> dict:
    """Compile time in seconds, and the smallest run time in microseconds for each element."""
    run = jax.jit(function if batch == 1 else jax.vmap(function, (None, *[0] * len(args))))
    start = time.perf_counter()
    compiled = run.lower(model, *args).compile()
    compile_time = time.perf_counter() - start
    jax.block_until_ready(compiled(model, *args))
    times, began = [], time.perf_counter()
    while not times or (time.perf_counter() - began < seconds and len(times) < 200):
        start = time.perf_counter()
        jax.block_until_ready(compiled(model, *args))
        times.append(time.perf_counter() - start)
    return {"compile_s": round(compile_time, 2), "us": 1e6 * min(times) / batch}


def pinocchio_first(model, urdf: str | None = None, n: int = 0, seconds: float = 1.0) -> float | None:
    """computeRNEADerivatives on one core, in microseconds: of a URDF, or of a chain of n revolute joints."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    if urdf is None:
        theirs = pin.Model()
        for i in range(n):
            kind = (pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRZ())[i % 3]
            joint = theirs.addJoint(i, kind, pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.3])), f"j{i}")
            theirs.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    else:
        theirs = pin.buildModelFromUrdf(urdf, *([pin.JointModelFreeFlyer()] if model.nq != model.nv else []))
    data = theirs.createData()
    q, v, a = pin.randomConfiguration(theirs, -np.ones(theirs.nq), np.ones(theirs.nq)), *np.random.randn(2, theirs.nv)
    best, began = np.inf, time.perf_counter()
    while time.perf_counter() - began < seconds:
        start = time.perf_counter()
        for _ in range(100):
            pin.computeRNEADerivatives(theirs, data, q, v, a)
        best = min(best, (time.perf_counter() - start) / 100)
    return 1e6 * best


def tree(n: int, branching: int, dtype=None):
    """A tree of n revolute links in which every body has ``branching`` children."""
    builder = jaxsim.ModelBuilder()
    for i in range(n):
        parent = 0 if i == 0 else (i - 1) // branching + 1
        rod = jaxsim.BodyInertia.rod(1.0, (0.1, 0.0, 0.3), 0.05)
        builder.add_body(f"link{i}", parent, jaxsim.Revolute("xyz"[i % 3]), (0.1, 0.0, 0.3), rod)
    return builder.build(dtype)


def first(sizes, batches, dtypes) -> list[dict]:
    """All first derivatives of inverse dynamics of chains."""
    rows = []
    for dtype in dtypes:
        for n in sizes:
            model = tree(n, 1, dtype)
            rival = pinocchio_first(model, n=n) if dtype == jnp.float64 else None
            for batch in batches:
                args = states(model, batch)
                own = measure(jaxsim.inverse_dynamics_derivatives, model, args, batch)
                ad_batch = batch if n <= 36 else min(batch, 256)
                args = states(model, ad_batch)
                ad = {
                    name: measure(lambda m, *x, j=jacobian: first_by_ad(m, *x, j), model, args, ad_batch)
                    for name, jacobian in (("jacfwd", jax.jacfwd), ("jacrev", jax.jacrev))
                }
                best = min(ad.values(), key=lambda row: row["us"])
                row = {
                    "n": n, "batch": batch, "dtype": str(np.dtype(dtype)), **own, "ad": ad, "ad_us": best["us"],
                    "speedup": best["us"] / own["us"], "pinocchio_us": rival,
                    "of_pinocchio_two_threads": own["us"] / (rival / 2) if rival else None,
                }  # fmt: skip
                rows.append(row)
                report("first", row)
    return rows


def products(sizes, batches) -> list[dict]:
    """One vector–Jacobian product against the function itself."""
    rows = []
    functions = {"inverse dynamics": jaxsim.inverse_dynamics, "forward dynamics": jaxsim.forward_dynamics}
    for n in sizes:
        model = tree(n, 1)
        for batch in batches:
            args = states(model, batch)
            for name, function in functions.items():
                gradient = jax.grad(lambda m, q, v, x, f=function: jnp.sum(f(m, q, v, x)), argnums=(1, 2, 3))
                alone, back = measure(function, model, args, batch), measure(gradient, model, args, batch)
                row = {
                    "function": name, "n": n, "batch": batch, "us": back["us"], "compile_s": back["compile_s"],
                    "function_us": alone["us"], "ratio": back["us"] / alone["us"],
                }  # fmt: skip
                rows.append(row)
                report("vjp", row)
    return rows


def second(sizes, batches, ad_limit: int, branching: int = 1) -> list[dict]:
    """All second derivatives of chains and trees, and their contraction with one cotangent."""
    rows = []
    for n in sizes:
        model = tree(n, branching)
        for batch in batches:
            args = states(model, batch)
            own = measure(jaxsim.inverse_dynamics_second_derivatives, model, args, batch)
            contracted = measure(
                lambda m, q, v, a: jaxsim.contracted_inverse_dynamics_second_derivatives(m, q, v, a, v),
                model,
                args,
                batch,
            )
            ad = measure(second_by_ad, model, args, batch) if n <= ad_limit else None
            row = {
                "n": n, "batch": batch, "branching": branching, **own, "contracted_us": contracted["us"],
                "ad_us": ad and ad["us"], "ad_compile_s": ad and ad["compile_s"],
                "speedup": ad and ad["us"] / own["us"],
            }  # fmt: skip
            rows.append(row)
            report("second", row)
    return rows


def robots(batch: int) -> list[dict]:
    """First and second derivatives of robots, as figure 4 of the paper."""
    rows = []
    for name, load in ROBOTS.items():
        model, urdf = load()
        if model is None:
            print(f"robots   {name}: its description is not installed")
            continue
        args = states(model, batch)
        one = measure(jaxsim.inverse_dynamics_derivatives, model, args, batch)
        two = measure(jaxsim.inverse_dynamics_second_derivatives, model, args, batch)
        rival = pinocchio_first(model, urdf) if urdf else None
        row = {"robot": name, "n": model.nv, "batch": batch, "first_us": one["us"], "second_us": two["us"],
               "pinocchio_first_us": rival}  # fmt: skip
        rows.append(row)
        report("robots", row)
    return rows


def described(path: str, floating: bool):
    def load():
        try:
            import pinocchio as pin
        except ImportError:
            return None, None
        file = pathlib.Path(pin.__file__).parents[4] / "share/example-robot-data/robots" / path
        return (jaxsim.load(file, floating=floating), str(file)) if file.exists() else (None, None)

    return load


ROBOTS = {
    "UR3": described("ur_description/urdf/ur3_robot.urdf", False),
    "Baxter": described("baxter_description/urdf/baxter.urdf", False),
    "HyQ": described("hyq_description/robots/hyq_no_sensors.urdf", True),
    "quadruped (18)": lambda: (jaxsim.robots.quadruped(), None),
    "humanoid (Atlas size)": lambda: (jaxsim.robots.humanoid(), None),
    "Talos": described("talos_data/robots/talos_reduced.urdf", True),
}


def report(section: str, row: dict) -> None:
    shown = {k: (f"{v:.3g}" if isinstance(v, float) else v) for k, v in row.items() if not isinstance(v, dict)}
    print(f"{section:8}", "  ".join(f"{k}={v}" for k, v in shown.items() if v is not None), flush=True)


def draw(data: dict) -> None:
    """Figures 3 and 4 of the paper."""
    try:
        import matplotlib

        matplotlib.use("agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("matplotlib is not installed: no figures")
        return
    growth = data.get("growth", [])
    if growth:
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
        for branching, label in ((1, "serial"), (2, "bf = 2")):
            rows = [row for row in growth if row["branching"] == branching]
            n = [row["n"] for row in rows]
            left.loglog(n, [row["us"] for row in rows], "o-", label=f"closed form, {label}")
            left.loglog(n, [row["contracted_us"] for row in rows], "^:", label=f"contracted, {label}")
            known = [row for row in rows if row["ad_us"]]
            left.loglog([row["n"] for row in known], [row["ad_us"] for row in known], "s--", label=f"AD, {label}")
            right.plot([row["n"] for row in known], [row["speedup"] for row in known], "o-", label=label)
        left.set(xlabel="N", ylabel="µs", title="second derivatives of inverse dynamics")
        right.set(xlabel="N", ylabel="AD / closed form", title="speed-up")
        for axes in (left, right):
            axes.grid(alpha=0.3, which="both")
            axes.legend(fontsize=7)
        figure.tight_layout()
        figure.savefig(FIGURES / "derivatives_growth.png", dpi=110)
    rows = data.get("robots", [])
    if rows:
        figure, axes = plt.subplots(figsize=(8, 4))
        x = np.arange(len(rows))
        axes.bar(x - 0.2, [row["first_us"] for row in rows], 0.4, label="first derivatives")
        axes.bar(x + 0.2, [row["second_us"] for row in rows], 0.4, label="second derivatives")
        axes.set_xticks(x, [f"{row['robot']}\nn = {row['n']}" for row in rows], fontsize=8)
        axes.set(yscale="log", ylabel="µs per element", title=f"batches of {rows[0]['batch']}")
        axes.legend()
        figure.tight_layout()
        figure.savefig(FIGURES / "derivatives_robots.png", dpi=110)


def summary(data: dict) -> None:
    """The goals, and what was reached."""
    print("\ngoals")
    for row in data.get("first", []):
        if row["n"] == 30 and row["batch"] > 1 and row["dtype"] == "float64":
            print(f"  first derivatives, n = 30, batch {row['batch']}: {row['speedup']:.1f}× AD (goal ≥ 5)", end="")
            if row["of_pinocchio_two_threads"]:
                print(f", {row['of_pinocchio_two_threads']:.2f}× Pinocchio on two threads (goal ≤ 1.5)", end="")
            print()
    for row in data.get("vjp", []):
        if row["function"] == "inverse dynamics":
            print(f"  one VJP, n = {row['n']}, batch {row['batch']}: {row['ratio']:.2f}× the function (goal ≤ 3)")
    for row in data.get("second", []):
        if row["n"] == 20 and row["speedup"]:
            print(f"  second derivatives, n = 20, batch {row['batch']}: {row['speedup']:.1f}× AD (goal ≥ 8)")
    for row in data.get("robots", []):
        if row["n"] == 18:
            print(f"  second derivatives of {row['robot']}: {row['second_us']:.0f} µs an element (goal ≤ 100)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--only", nargs="*", choices=["first", "vjp", "second", "robots", "growth"])
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    quick = options.quick
    both = (jnp.float64, jnp.float32)
    sections = {
        "first": lambda: first([6], [1, 64], both[:1]) if quick else first([6, 12, 18, 30, 36, 64], [1, 1024], both),
        "vjp": lambda: products([6], [64]) if quick else products([12, 30], [1, 1024]),
        "second": lambda: second([6], [1, 8], 6) if quick else second([12, 20], [1, 64], 20),
        "robots": lambda: robots(8 if quick else 256),
        "growth": lambda: [
            row
            for branching in (1, 2)
            for row in second([4, 8] if quick else [4, 8, 16, 32, 64, 100], [1], 8 if quick else 32, branching)
        ],
    }
    FIGURES.mkdir(exist_ok=True)
    data: dict = {
        "machine": platform.processor() or platform.machine(), "cores": os.cpu_count(), "load": os.getloadavg(),
        "jax": jax.__version__, "python": platform.python_version(), "quick": quick,
    }  # fmt: skip
    for name, run in sections.items():
        if not options.only or name in options.only:
            data[name] = run()
    (FIGURES / "derivatives.json").write_text(json.dumps(data, indent=1))
    draw(data)
    summary(data)


if __name__ == "__main__":
    main()
