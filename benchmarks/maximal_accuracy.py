"""Physical accuracy in maximal coordinates (Brüdigam et al. 2023, Fig. 7), against rivals in the same run.

    python -m benchmarks.maximal_accuracy             # 10⁵ steps of the loop, an hour of the double pendulum
    python -m benchmarks.maximal_accuracy --quick     # a hundredth of it

Constraint drift of a three-link loop against RK4 with acceleration-level constraints; energy of a double pendulum
against Heun's method in minimal coordinates; a damped pendulum at 0.1 s against explicit Euler; rest gap of a dropped
box against MuJoCo's default contact.
"""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import mujoco
import numpy as np

from benchmarks.maximal_rivals import acceleration_level_drift, explicit_pendulum, heun_double_pendulum
from benchmarks.maximal_scenes import G, advance, box, energies, pendulum, save, three_link_loop
from benchmarks.record import record
from benchmarks.timing import machine
from jaxsim.integrators import MaximalVariational
from jaxsim.maximal import WORLD, MechanismBuilder

DT = 0.01


def loop_drift(axes, steps: int) -> dict:
    mechanism, q = three_link_loop()
    integrator = MaximalVariational(DT)
    _, (violation, converged) = advance(
        mechanism, integrator, integrator.init(mechanism, q), steps, lambda m, s, i: (i.violation, i.converged)
    )
    rival = acceleration_level_drift(mechanism, q, DT, steps)
    print(
        f"three-link loop, {steps} steps: violation at most {float(jnp.max(violation)):.1e} (all converged: "
        f"{bool(jnp.all(converged))}); RK4 on accelerations ends at {float(rival[-1]):.1e}"
    )
    keep = np.unique(np.geomspace(1, steps, 500).astype(int)) - 1
    t = DT * (keep + 1)
    axes.loglog(t, np.maximum(np.asarray(violation)[keep], 1e-17), label="variational")
    axes.loglog(t, np.maximum(np.asarray(rival)[keep], 1e-17), label="RK4, accelerations")
    axes.set(xlabel="time (s)", ylabel="largest violation (m, rad)", title="three-link loop", ylim=(1e-17, 1e1))
    axes.legend(loc="upper left", frameon=False)
    return {"steps": steps, "largest violation": float(jnp.max(violation)), "RK4 at the end": float(rival[-1])}


def double_pendulum(axes, minutes: float) -> dict:
    steps = round(60 * minutes / DT)
    mechanism, q = pendulum(2)
    integrator = MaximalVariational(DT)
    state = integrator.init(mechanism, q)

    def observe(m, s, info):
        ahead = s.q.at[:, :3].add(DT * s.v[:, 3:])
        return m.kinetic_energy(s.v) + 0.5 * (m.potential_energy(s.q) + m.potential_energy(ahead)), info.converged

    _, (energy, converged) = advance(mechanism, integrator, state, steps, observe)
    rival = heun_double_pendulum(DT, steps)
    scale = 4.0 * G  # the range of the potential energy
    ours = (np.asarray(energy) - float(energies(mechanism, q, jnp.zeros((2, 6))))) / scale
    theirs = np.asarray(rival) / scale
    print(
        f"double pendulum, {minutes:g} min: relative energy error of the first and last tenth, largest: "
        f"ours {np.abs(ours[: steps // 10]).max():.1e}, {np.abs(ours[-steps // 10 :]).max():.1e} "
        f"(all converged: {bool(jnp.all(converged))}), Heun {np.abs(theirs[-1]):.1e} at the end"
    )
    keep = np.linspace(0, steps - 1, 3000).astype(int)
    axes.plot(DT * keep / 60, ours[keep], lw=0.5, label="variational")
    axes.plot(DT * keep / 60, theirs[keep], lw=1.0, label="Heun")
    axes.set(xlabel="time (min)", ylabel="energy error / range of V", title="double pendulum, 10 ms")
    axes.set_yscale("symlog", linthresh=1e-3)
    axes.legend(loc="upper left", frameon=False)
    tenths = [float(np.abs(part).max()) for part in (ours[: steps // 10], ours[-steps // 10 :])]
    return {"minutes": minutes, "error of the first and last tenth": tenths, "Heun": float(np.abs(theirs[-1]))}


def damped_pendulum(axes) -> None:
    builder = MechanismBuilder()
    rod = builder.add_body(1.0, (1 / 12, 1 / 12, 1e-3))
    builder.add_joint("revolute", WORLD, rod, anchor_child=(0, 0, 0.5), axis="x", damping=0.2)
    mechanism, dt, steps = builder.build(), 0.1, 150
    q = jnp.array([[0, 0.5, 0, np.sqrt(0.5), np.sqrt(0.5), 0, 0]])
    for name, symmetric in (("variational", False), ("symmetric variant", True)):
        integrator = MaximalVariational(dt, symmetric=symmetric)
        _, angle = advance(
            mechanism, integrator, integrator.init(mechanism, q), steps, lambda m, s, i: m.coordinates(s.q)[0]
        )
        axes.plot(dt * np.arange(1, steps + 1), angle, "-", label=f"{name}, 0.1 s")
        print(f"damped pendulum at 0.1 s, {name}: amplitude over the last 5 s {np.abs(angle[-50:]).max():.2f} rad")
    fine, coarse = explicit_pendulum(1e-3, 15000), explicit_pendulum(dt, steps)
    axes.plot(1e-3 * np.arange(1, 15001), fine, "k:", label="explicit Euler, 1 ms")
    axes.plot(dt * np.arange(1, steps + 1), coarse, "0.6", label="explicit Euler, 0.1 s")
    axes.set(xlabel="time (s)", ylabel="angle (rad)", title="damped pendulum", ylim=(-3.5, 6))
    axes.legend(loc="upper left", frameon=False, fontsize=8, ncols=2)


def box_drop(axes) -> dict:
    steps, mechanism, integrator = 150, box(), MaximalVariational(DT)
    state = integrator.init(mechanism, jnp.array([[0, 0, 0.65, 1.0, 0, 0, 0]]))
    _, (gaps, converged) = advance(
        mechanism, integrator, state, steps, lambda m, s, i: (jnp.min(m.gaps(s.q)), i.converged)
    )
    rival = mujoco_box_drop(steps)
    rest, lowest = 1e6 * float(gaps[-1]), 1e6 * float(jnp.min(gaps))
    print(
        f"dropped box: ours rests {rest:.2f} µm above the ground, lowest {lowest:.2f} µm (all converged: "
        f"{bool(jnp.all(converged))}); MuJoCo rests at {1e3 * rival[-1]:.1f} mm, lowest {1e3 * min(rival):.1f} mm"
    )
    figures = {
        "rest (µm)": rest,
        "lowest (µm)": lowest,
        "MuJoCo, rest and lowest (mm)": [1e3 * rival[-1], 1e3 * min(rival)],
    }
    t = DT * np.arange(1, steps + 1)
    axes.plot(t, 1e3 * np.asarray(gaps), label="variational")
    axes.plot(t, 1e3 * np.asarray(rival), label="MuJoCo, default")
    axes.set(xlabel="time (s)", ylabel="gap (mm)", title="box dropped from 0.4 m", ylim=(-60, 100))
    axes.axhline(0, color="k", lw=0.8)
    axes.legend(loc="upper right", frameon=False)
    return figures


def mujoco_box_drop(steps: int) -> list[float]:
    xml = f"""<mujoco><option timestep="{DT}"/><worldbody><geom type="plane" size="5 5 1"/>
    <body pos="0 0 0.65"><freejoint/><geom type="box" size="0.25 0.25 0.25" mass="1"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data, heights = mujoco.MjData(model), []
    for _ in range(steps):
        mujoco.mj_step(model, data)
        heights.append(data.qpos[2] - 0.25)
    return heights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the steps")
    quick = parser.parse_args().quick
    jax.config.update("jax_enable_x64", True)
    print(machine("mujoco"))
    figure, axes = plt.subplots(2, 2, figsize=(11, 8))
    data = {
        "box": box_drop(axes[1, 1]),
        "loop": loop_drift(axes[0, 0], 1000 if quick else 100_000),
        "double pendulum": double_pendulum(axes[0, 1], 0.6 if quick else 60.0),
    }
    damped_pendulum(axes[1, 0])
    if not quick:
        record("maximal_accuracy", data)
        save(figure, "accuracy")


if __name__ == "__main__":
    main()
