"""The energy of a chaotic double pendulum over a million steps: bounded, and without drift.

    python -m benchmarks.variational_energy            # a million steps of 0.02 s
    python -m benchmarks.variational_energy --quick    # a thousandth of that, to see that it runs

The line is by least squares through the means over blocks of a thousand steps; its slope is compared with the standard
error that the scatter of these means gives it. The rival, Heun's method of the same order, drifts.
"""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from benchmarks.record import panels, record

DT = 0.02
METHODS = {"variational": jaxsim.Variational(DT, 2), "Heun": jaxsim.Heun(DT)}


def energies(model, integrator, blocks: int, length: int):
    """The mean, least and greatest energy of each block of steps, and whether all steps were solved."""

    @jax.jit
    def run(state):
        def block(state, _):
            def step(carry, _):
                state, ok = carry
                after, info = integrator.step(model, state)
                return (after, ok & info.converged), jaxsim.energy(model, after.q, after.v).total

            (state, ok), energy = jax.lax.scan(step, (state, jnp.array(True)), length=length)
            return state, (energy.mean(), energy.min(), energy.max(), ok)

        return jax.lax.scan(block, state, length=blocks)[1]

    return run(integrator.init(model, jnp.array([2.0, 1.0]), jnp.array([0.5, -0.5])))


def slope(mean: np.ndarray) -> tuple[float, float]:
    """The slope of the regression line a block, and its standard error."""
    blocks = np.arange(len(mean))
    line = np.polyfit(blocks, mean, 1)
    scatter = np.sum((mean - np.polyval(line, blocks)) ** 2) / (len(mean) - 2)
    return float(line[0]), float(np.sqrt(scatter / np.sum((blocks - blocks.mean()) ** 2)))


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    blocks, length = (10, 100) if quick else (1000, 1000)
    model = jaxsim.robots.pendulum(2)
    data: dict = {"dt": DT, "steps a block": length}
    for name, integrator in METHODS.items():
        mean, low, high, ok = map(np.asarray, energies(model, integrator, blocks, length))
        rate, error = slope(mean)
        print(f"{name:12s} {blocks * length} steps, all solved: {bool(ok.all())}", end="")
        print(f"; energy from {low.min():.4f} to {high.max():.4f} J", end="")
        print(f"; slope {rate:.2e} ± {error:.2e} J a block, {rate / error:.1f} standard errors")
        data[name] = {"mean": mean.tolist(), "slope": rate, "standard error": error}
        data[name] |= {"lowest": float(low.min()), "highest": float(high.max())}
    if not quick:
        record("variational_energy", data)
        draw(data)


def draw(data: dict) -> None:
    def panel(name: str):
        def on(axis):
            mean = np.array(data[name]["mean"])
            blocks = np.arange(len(mean))
            axis.plot(blocks / 1000, mean - mean[0], ".", markersize=2, label="mean of 1000 steps")
            line = np.polyval(np.polyfit(blocks, mean, 1), blocks) - mean[0]
            label = f"slope {data[name]['slope']:.1e} ± {data[name]['standard error']:.1e} J"
            axis.plot(blocks / 1000, line, label=label)
            axis.set(xlabel="steps [million]", ylabel="change of energy [J]", title=name)

        return on

    panels("variational_energy", [panel(name) for name in METHODS])


if __name__ == "__main__":
    main()
