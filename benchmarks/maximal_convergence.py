"""Convergence of Newton's method and of the trajectories (Brüdigam et al. 2023, §7.3 and §7.4).

    python -m benchmarks.maximal_convergence             # pendulums of up to 100 links
    python -m benchmarks.maximal_convergence --quick     # up to 10

Iterations a step for tolerances 1e-6, 1e-8, 1e-10 against the number of links, beside our integrators in minimal
coordinates of order 2 and 4; pendulums of scale 1, 0.5 and 0.1 over step sizes: iterations and error of the final
angle; a double four-bar linkage through its singular configurations against an index-2 method.
"""

from __future__ import annotations

import argparse

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import jaxsim
from benchmarks.maximal_rivals import stabilised_index_two
from benchmarks.maximal_scenes import advance, double_four_bar, energies, pendulum, save
from benchmarks.record import record
from benchmarks.timing import Table, machine
from jaxsim.integrators import MaximalVariational, Variational
from jaxsim.rollout import rollout


def tolerances(axes, sizes) -> dict:
    table = Table("links", "1e-6", "1e-8", "1e-10", "converged", "order 2", "order 4", "converged")
    rows = []
    for n in sizes:
        mechanism, q = pendulum(n)
        means, good = [], True
        for tolerance in (1e-6, 1e-8, 1e-10):
            integrator = MaximalVariational(0.01, tolerance=jnp.asarray(tolerance))
            _, (iterations, converged) = advance(mechanism, integrator, integrator.init(mechanism, q), 100, _iterations)
            means.append(float(jnp.mean(iterations)))
            good &= bool(jnp.all(converged))
        minimal, minimal_good = zip(*(minimal_iterations(n, order) for order in (2, 4)), strict=True)
        table.row(n, *means, good, *minimal, all(minimal_good))
        rows.append([*means, *minimal])
    labels = ["maximal, 1e-6", "maximal, 1e-8", "maximal, 1e-10", "minimal, order 2", "minimal, order 4"]
    for column, label, style in zip(np.transpose(rows), labels, ("o-", "o-", "o-", "s:", "s:"), strict=True):
        axes.semilogx(sizes, column, style, label=label)
    axes.set(xlabel="links", ylabel="mean iterations a step", title="pendulums, 100 steps of 10 ms", ylim=(0, None))
    axes.legend(frameon=False, fontsize=8)
    return {"links": list(sizes), "iterations": dict(zip(labels, np.transpose(rows).tolist(), strict=True))}


def _iterations(mechanism, state, info):
    return info.iterations, info.converged


def minimal_iterations(n: int, order: int) -> tuple[float, bool]:
    model, integrator = jaxsim.robots.pendulum(n), Variational(0.01, order)
    q = jnp.zeros(n).at[0].set(np.pi / 2)
    run = eqx.filter_jit(lambda m, q: rollout(m, integrator, integrator.init(m, q, 0.0 * q), steps=100).info)
    info = run(model, q)
    return float(jnp.mean(info.iterations)), bool(jnp.all(info.converged))


def scales(left, right, quick: bool) -> dict:
    """A pendulum of length and mass s; time is measured in its own unit √s."""
    counts = (100, 200) if quick else (25, 50, 100, 200, 400, 800, 1600)
    table = Table("scale", "steps", "iterations", "angle error")

    @eqx.filter_jit
    def final(mechanism, q, dt, steps):
        integrator = MaximalVariational(dt)

        def body(_, carry):
            state, count = carry
            state, info = integrator.step(mechanism, state)
            return state, count + jnp.where(info.converged, info.iterations, 1000)

        start = integrator.init(mechanism, q), jnp.zeros((), jnp.int32)
        state, count = jax.lax.fori_loop(0, steps, body, start)
        return mechanism.coordinates(state.q)[0], count / steps

    data = {}
    for scale in (1.0, 0.5, 0.1):
        mechanism, q = pendulum(1, "revolute", scale)
        duration = 2.0 * np.sqrt(scale)
        exact = final(mechanism, q, jnp.asarray(duration / 20000), jnp.asarray(20000))[0]
        iterations, errors = [], []
        for steps in counts:
            angle, mean = final(mechanism, q, jnp.asarray(duration / steps), jnp.asarray(steps))
            iterations.append(float(mean))
            errors.append(abs(float(angle - exact)))
            table.row(scale, steps, iterations[-1], errors[-1])
        dt = duration / np.asarray(counts)
        data[scale] = {"dt": dt.tolist(), "iterations": iterations, "angle error": errors}
        left.semilogx(dt, iterations, "o-", label=f"scale {scale:g}")
        right.loglog(dt, errors, "o-", label=f"scale {scale:g}")
    left.set(xlabel="time step (s)", ylabel="mean iterations a step", title="one pendulum", ylim=(0, None))
    right.set(xlabel="time step (s)", ylabel="error of the final angle (rad)", title="one pendulum, two seconds·√scale")
    for axes in (left, right):
        axes.legend(frameon=False)
    return data


def four_bar(axes, duration: float) -> dict:
    dt = 0.01
    steps = round(duration / dt)
    mechanism, q = double_four_bar()
    # All upright rods turn with 1 rad/s: the couplers translate with 1 m/s.
    v = jnp.zeros((5, 6)).at[:3, 0].set(-1.0).at[:3, 4].set(0.5).at[3:, 4].set(1.0)
    start = float(energies(mechanism, q, v))
    integrator = MaximalVariational(dt)

    def observe(m, s, info):
        ahead = s.q.at[:, :3].add(dt * s.v[:, 3:])
        energy = m.kinetic_energy(s.v) + 0.5 * (m.potential_energy(s.q) + m.potential_energy(ahead))
        return energy, info.violation, info.converged

    _, (energy, violation, converged) = advance(mechanism, integrator, integrator.init(mechanism, q, v), steps, observe)
    rival, rival_violation = stabilised_index_two(mechanism, q, v, dt, steps)
    t, data = dt * np.arange(1, steps + 1), {}
    for name, values, broken in (("variational", energy, violation), ("index 2, GGL", rival, rival_violation)):
        error = np.asarray(values) - start
        print(f"double four-bar, {duration:g} s, {name}: energy error at most {np.abs(error).max():.2e} J, violation "
              f"at most {float(jnp.max(broken)):.1e}")  # fmt: skip
        axes.plot(t, error, label=name)
        data[name] = {"energy error (J)": float(np.abs(error).max()), "violation": float(jnp.max(broken))}
    print(f"double four-bar: all steps converged: {bool(jnp.all(converged))}")
    axes.set(xlabel="time (s)", ylabel="energy error (J)", title="double four-bar linkage, 10 ms")
    axes.legend(frameon=False)
    return data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 10 links, 2 s of the linkage")
    quick = parser.parse_args().quick
    jax.config.update("jax_enable_x64", True)
    print(machine())
    figure, axes = plt.subplots(2, 2, figsize=(11, 8))
    data = {
        "four-bar": four_bar(axes[0, 1], 2.0 if quick else 10.0),
        "scales": scales(axes[1, 0], axes[1, 1], quick),
        "tolerances": tolerances(axes[0, 0], (2, 10) if quick else (2, 10, 30, 100)),
    }
    if not quick:
        record("maximal_convergence", data)
        save(figure, "convergence")


if __name__ == "__main__":
    main()
