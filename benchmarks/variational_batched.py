"""Converged variational steps of many worlds at once, against forward dynamics of the same worlds in the same run.

    python -m benchmarks.variational_batched            # 4096 worlds of a pendulum of 10 links
    python -m benchmarks.variational_batched --quick    # small sizes, to see that it runs

Goals: at most 12 times forward dynamics for order 2, at most 30 times for order 4.
"""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from benchmarks.record import record
from benchmarks.timing import measure

DT = 0.01


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    worlds = 64 if quick else 4096
    model = jaxsim.robots.pendulum(10)
    q, v = jnp.asarray(np.random.default_rng(0).uniform(-0.5, 0.5, (2, worlds, model.nv)))
    data: dict = {"worlds": worlds, "dt": DT}
    for order in (2, 4):
        integrator = jaxsim.Variational(DT, order)
        step = jax.vmap(lambda state, integrator=integrator: integrator.step(model, state))
        start = jax.vmap(lambda q, v, i=integrator: i.init(model, q, v))(q, v)
        compiling = measure(step, start, seconds=0.0).compile
        # the second step starts from the guess that all later ones have
        state, _ = jax.jit(step)(start)
        dynamics = jax.vmap(lambda q, v: jaxsim.forward_dynamics(model, q, v, jnp.zeros_like(v)))
        reference = measure(dynamics, q, v).run / worlds
        seconds = measure(step, state).run
        info = jax.jit(step)(state)[1]
        ratio = seconds / worlds / reference
        data[f"order {order}"] = {
            "microseconds": seconds / worlds * 1e6,
            "forward dynamics": reference * 1e6,
            "ratio": ratio,
            "iterations": float(info.iterations.mean()),
            "converged": bool(info.converged.all()),
            "compile seconds": compiling,
        }
        print(f"order {order}: {seconds / worlds * 1e6:7.2f} µs a world, {ratio:5.1f} times forward dynamics", end="")
        factorisations = float(info.iterations.mean())
        print(f" ({reference * 1e6:.2f} µs), {factorisations:.2f} factorisations, {compiling:.1f} s to compile")
    if not quick:
        record("variational_batched", data)


if __name__ == "__main__":
    main()
