"""Rigid contact with friction against closed forms: slope, rolling ball, spinning coin, stack, Painlevé's rod.

python -m benchmarks.maximal_contact             # all, with the figure
python -m benchmarks.maximal_contact --quick     # slope and ball, short
"""

from __future__ import annotations

import argparse

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

from benchmarks.maximal_scenes import G, advance, box, energies, save
from benchmarks.record import record
from benchmarks.timing import machine
from jaxsim.integrators import MaximalVariational
from jaxsim.maximal import WORLD, MechanismBuilder
from jaxsim.rollout import rollout

DT = 0.01


def slope(axes, count: int) -> dict:
    """The acceleration of a box on a slope of 30° against its coefficient of friction."""
    mechanism, angle, steps = box(), np.deg2rad(30.0), 30
    integrator = MaximalVariational(DT, kappa=0.0)
    gravity = jnp.array([G * np.sin(angle), 0.0, -G * np.cos(angle)])

    def one(mu):
        there = eqx.tree_at(lambda m: (m.gravity, m.contacts[0].friction), mechanism, (gravity, jnp.full(8, mu)))
        state = integrator.init(there, jnp.array([[0, 0, 0.25 + 1e-8, 1.0, 0, 0, 0]]))
        trajectory = rollout(there, integrator, state, steps=steps)
        return trajectory.v[-1, 0, 3] / (DT * (steps + 0.5)), trajectory.converged

    mu = np.linspace(0.3, 0.9, count)
    measured, converged = jax.jit(jax.vmap(one))(jnp.asarray(mu))
    expected = np.maximum(G * (np.sin(angle) - mu * np.cos(angle)), 0.0)
    slips = mu < np.tan(angle)
    error = np.max(np.abs(measured[slips] / expected[slips] - 1.0))
    print(
        f"slope of 30°, {count} coefficients (all converged: {bool(jnp.all(converged))}): slips at "
        f"g(sin θ − μ cos θ) within {100 * error:.2g} %, creeps at most {float(jnp.max(measured[~slips])):.1e} m/s² "
        f"from μ = {mu[~slips][0]:.3f} on (tan θ = {np.tan(angle):.3f})"
    )
    axes.plot(mu, measured, "o", ms=4, label="box")
    axes.plot(mu, expected, "k-", lw=1, label="g(sin θ − μ cos θ) or 0")
    axes.set(xlabel="coefficient of friction", ylabel="acceleration (m/s²)", title="slope of 30°")
    axes.legend(frameon=False)
    return {"relative error of sliding": float(error), "creep (m/s²)": float(jnp.max(measured[~slips]))}


def rolling(axes) -> dict:
    """A ball that slides first and rolls from t = 2v₀/(7μg) on with 5/7 of its speed."""
    builder, radius, mu = MechanismBuilder(), 0.1, 0.2
    builder.add_sphere_on_plane(builder.add_body(1.0, (0.4 * radius**2,) * 3), radius=radius, friction=mu)
    mechanism, integrator = builder.build(), MaximalVariational(DT, kappa=1e-8)
    q, v = jnp.array([[0, 0, radius + 1e-7, 1.0, 0, 0, 0]]), jnp.array([[0, 0, 0, 1.0, 0, 0]])
    _, (speed, spin) = advance(
        mechanism, integrator, integrator.init(mechanism, q, v), 40, lambda m, s, i: (s.v[0, 3], s.v[0, 1])
    )
    print(
        f"ball: ends with {float(speed[-1]):.6f} of its speed (5/7 = {5 / 7:.6f}), slips with "
        f"{float(speed[-1] - radius * spin[-1]):.1e} m/s"
    )
    t = DT * (np.arange(1, 41) + 0.5)
    axes.plot(t, speed, label="velocity")
    axes.plot(t, radius * np.asarray(spin), label="radius × spin")
    axes.axvline(2 / (7 * mu * G), color="k", lw=0.8, ls=":", label="rolls from 2v/7μg")
    axes.axhline(5 / 7, color="k", lw=0.8, label="5/7")
    axes.set(xlabel="time (s)", ylabel="m/s", title="ball that slides, then rolls", ylim=(0, 1.05))
    axes.legend(frameon=False, fontsize=8)
    return {"final speed": float(speed[-1]), "slip (m/s)": float(speed[-1] - radius * spin[-1])}


def stack(axes, seconds: float) -> dict:
    half, builder = 0.25, MechanismBuilder()
    for i in range(5):
        body = builder.add_body(1.0, (2 / 3 * half**2,) * 3)
        for x, y in ((-half, -half), (-half, half), (half, -half), (half, half)):
            builder.add_sphere_on_plane(
                body, (x, y, -half), friction=0.5, offset=half if i else 0.0, plane_body=i - 1 if i else WORLD
            )
    mechanism, integrator = builder.build(), MaximalVariational(DT)
    q = jnp.asarray([[0, 0, half + (2 * half + 2e-3) * (i + 1), 1.0, 0, 0, 0] for i in range(5)])
    steps = round(seconds / DT)
    _, (speed, penetration, converged) = advance(
        mechanism, integrator, integrator.init(mechanism, q), steps,
        lambda m, s, i: (jnp.max(jnp.abs(s.v)), i.penetration, i.converged),
    )  # fmt: skip
    print(
        f"stack of five boxes dropped by some centimetres, {seconds:g} s: largest speed at the end "
        f"{float(speed[-1]):.1e}, penetration {float(jnp.max(penetration)):.1e} m, all converged: "
        f"{bool(jnp.all(converged))}"
    )
    axes.semilogy(DT * np.arange(1, steps + 1), np.maximum(speed, 1e-16))
    axes.set(xlabel="time (s)", ylabel="largest velocity (m/s, rad/s)", title="stack of five boxes")
    return {"final speed": float(speed[-1]), "penetration (m)": float(jnp.max(penetration))}


def coin(axes, seconds: float) -> dict:
    """A coin spun on its edge, a rim of 24 points on each side: it wobbles ever faster and lies down."""
    radius, thick, count, dt = 0.05, 0.004, 24, 0.002
    builder = MechanismBuilder()
    flat, edge = radius**2 / 4 + thick**2 / 12, radius**2 / 2
    body = builder.add_body(1.0, (flat, flat, edge))
    for angle in 2 * np.pi * np.arange(count) / count:
        for side in (-0.5, 0.5):
            point = (radius * np.cos(angle), radius * np.sin(angle), side * thick)
            builder.add_sphere_on_plane(body, point, friction=0.4)
    mechanism, integrator = builder.build(), MaximalVariational(dt)
    tilt = np.deg2rad(75.0)
    height = radius * np.sin(tilt) + 0.5 * thick * np.cos(tilt) + 1e-4
    q = jnp.array([[0, 0, height, np.cos(tilt / 2), np.sin(tilt / 2), 0, 0]])
    spin = 25.0 * np.array([0.0, np.sin(tilt), np.cos(tilt)])
    v = jnp.asarray([[*spin, 0, 0, 0]])
    _, (lean, energy, penetration, converged) = advance(
        mechanism, integrator, integrator.init(mechanism, q, v), round(seconds / dt),
        lambda m, s, i: (
            jnp.arccos(jnp.clip(1 - 2 * (s.q[0, 4] ** 2 + s.q[0, 5] ** 2), -1, 1)),
            energies(m, s.q, s.v), i.penetration, i.converged,
        ),
    )  # fmt: skip
    rise = float(jnp.max(jnp.diff(energy)))
    print(
        f"coin: leans by {np.rad2deg(float(lean[-1])):.2f}° after {seconds:g} s, energy {float(energy[0]):.3f} → "
        f"{float(energy[-1]):.3f} J (largest rise in a step {rise:.1e} J), penetration "
        f"{float(jnp.max(penetration)):.1e} m, all converged: {bool(jnp.all(converged))}"
    )
    axes.plot(dt * np.arange(1, len(lean) + 1), np.rad2deg(lean))
    axes.set(xlabel="time (s)", ylabel="angle with the ground (°)", title="spinning coin", ylim=(0, 95))
    return {"final angle (°)": float(np.rad2deg(lean[-1])), "largest rise of energy (J)": rise}


def painleve(left, right) -> dict:
    """A rod that slides on its leading tip with μ = 2 at 60°, where rigid-body accelerations have no solution.

    Impulses over a step always have one: the tip jams and the rod is thrown over it.
    """
    builder = MechanismBuilder()
    rod = builder.add_body(1.0, (1 / 12, 1 / 12, 1e-3))
    for end in (-0.5, 0.5):
        builder.add_sphere_on_plane(rod, (0, 0, end), friction=2.0)
    mechanism, dt = builder.build(), 0.001
    tilt = np.deg2rad(30.0)
    q = jnp.array([[0, 0, 0.5 * np.cos(tilt) + 1e-5, np.cos(tilt / 2), np.sin(tilt / 2), 0, 0]])
    v = jnp.array([[0, 0, 0, 0, 5.0, 0]])
    integrator = MaximalVariational(dt)
    _, (slide, gap, energy, penetration, converged) = advance(
        mechanism, integrator, integrator.init(mechanism, q, v), 200,
        lambda m, s, i: (
            s.v[0, 4] + 0.5 * s.v[0, 0] * (1 - 2 * s.q[0, 4] ** 2), jnp.min(m.gaps(s.q)), energies(m, s.q, s.v),
            i.penetration, i.converged,
        ),
    )  # fmt: skip
    slide, gap = np.append(float(v[0, 4]), slide), np.append(0.0, gap)
    energy = np.append(float(energies(mechanism, q, v)), energy)
    print(
        f"Painlevé's rod: converged in {int(jnp.sum(converged))} of 200 steps, penetration "
        f"{float(jnp.max(penetration)):.1e} m, energy {energy[0]:.2f} → {energy[-1]:.2f} J, largest rise "
        f"{np.max(np.diff(energy)):.1e} J"
    )
    t = 1e3 * dt * np.arange(201)
    left.plot(t, slide, label="velocity of the tip (m/s)")
    left.plot(t, 10 * gap, label="10 × gap (m)")
    right.plot(t, energy)
    left.legend(frameon=False)
    left.set(xlabel="time (ms)", title="Painlevé's rod, μ = 2: the tip")
    right.set(xlabel="time (ms)", ylabel="energy (J)", title="Painlevé's rod, μ = 2: energy", ylim=(0, 20))
    return {"converged steps of 200": int(jnp.sum(converged)), "energy (J)": [energy[0], energy[-1]]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="slope and ball alone")
    quick = parser.parse_args().quick
    jax.config.update("jax_enable_x64", True)
    print(machine())
    figure, axes = plt.subplots(2, 3, figsize=(15, 8))
    data = {"slope": slope(axes[0, 0], 5 if quick else 41), "ball": rolling(axes[0, 1])}
    if quick:
        return
    data |= {
        "stack": stack(axes[0, 2], 10.0),
        "coin": coin(axes[1, 0], 2.0),
        "Painlevé": painleve(axes[1, 1], axes[1, 2]),
    }
    record("maximal_contact", data)
    save(figure, "contact")


if __name__ == "__main__":
    main()
