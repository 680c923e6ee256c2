"""Gradients through impact and through smoothed contact, against closed forms.

    python -m benchmarks.maximal_gradients             # the figure too
    python -m benchmarks.maximal_gradients --quick     # a few points

A ball without gravity is reflected by a wall, x_final = r − e(x₀ − r + v₀ t), and one with gravity bounces off the
floor. An engine that lets an impact wait for the next step has ∂x_final/∂x₀ = +1 where the truth is −e,
at any step size. Three of the 41 heights at the wall have the impact exactly at the end of a step. Then ∂v/∂f of a box
in rest, stick and slip as the central-path parameter κ goes to zero.
"""

from __future__ import annotations

import argparse

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

from benchmarks.maximal_scenes import G, box, save
from benchmarks.record import record
from benchmarks.timing import Table, machine
from jaxsim.integrators import MaximalVariational
from jaxsim.maximal import Controls, MaximalState, MechanismBuilder

DURATION, STEPS, RADIUS = 0.8, 80, 0.1


def ball():
    builder = MechanismBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_sphere_on_plane(builder.add_body(1.0, (0.01,) * 3), radius=RADIUS, restitution=1.0)
    empty = builder.build()
    integrator = MaximalVariational(DURATION / STEPS, kappa=0.0)

    def final(x, restitution, gravity):
        mechanism = eqx.tree_at(
            lambda m: (m.gravity, m.contacts[0].restitution),
            empty,
            (empty.gravity.at[2].set(-gravity), jnp.reshape(restitution, 1)),
        )
        q = jnp.zeros((1, 7)).at[0, 2].set(x[0]).at[0, 3].set(1.0)
        v = jnp.zeros((1, 6)).at[0, 5].set(x[1] - 0.5 * integrator.dt * gravity)  # in the middle of the first interval
        state = MaximalState(q, v, jnp.zeros(()), jnp.zeros((0, 6)), travel=v)
        state = jax.lax.fori_loop(0, STEPS, lambda _, s: integrator.step(mechanism, s)[0], state)
        return state.q[0, 2]

    return jax.jit(jax.vmap(jax.jacfwd(final), (0, None, None)))


def floor(x):
    """The height after one elastic bounce."""
    speed = jnp.sqrt(x[1] ** 2 + 2 * G * (x[0] - RADIUS))
    left = DURATION - (x[1] + speed) / G
    return RADIUS + speed * left - 0.5 * G * left**2


def impacts(left, right, count: int) -> dict:
    run, data = ball(), {}
    heights = np.linspace(0.45, 0.85, count)
    start = jnp.asarray(np.stack([heights, np.full(count, -1.1)], axis=-1))
    table = Table("scene", "e", "∂/∂x₀", "exact", "∂/∂v₀", "exact", "largest error", widths=[6, 5, 9, 9, 9, 9, 14])
    for e in (1.0, 0.5):
        gradient = run(start, e, 0.0)
        error = float(jnp.max(jnp.abs(gradient - jnp.array([-e, -e * DURATION]))))
        table.row("wall", e, float(gradient[0, 0]), -e, float(gradient[0, 1]), -e * DURATION, error)
        data[f"largest error at the wall, e = {e:g}"] = error
        left.plot(heights, gradient[:, 0], "o", ms=4, label=f"ours, e = {e:g}")
        left.axhline(-e, color="k", lw=0.8)
    left.axhline(1.0, color="0.6", ls="--", label="impact at the start of a step")
    left.set(xlabel="x₀ (m)", ylabel="∂x_final/∂x₀", title="ball against a wall", ylim=(-1.4, 1.4))
    start = start.at[:, 0].add(0.5).at[:, 1].set(0.3)
    gradient = run(start, 1.0, G)
    exact = jax.vmap(jax.grad(floor))(start)
    error = float(jnp.max(jnp.abs(gradient - exact)))
    first = [float(x) for pair in zip(gradient[0], exact[0], strict=True) for x in pair]
    table.row("floor", 1.0, *first, error)
    for i, name in enumerate(("x₀", "v₀")):
        right.plot(start[:, 0], gradient[:, i], "o", ms=4, color=f"C{i}", label=f"ours, ∂/∂{name}")
        right.plot(start[:, 0], exact[:, i], "k-", lw=0.8)
    right.set(xlabel="x₀ (m)", ylabel="∂x_final/∂·", title="ball on the floor, gravity, 10 ms; lines: exact")
    for axes in (left, right):
        axes.legend(frameon=False, fontsize=8)
    return data | {"largest error on the floor": error}


def smoothing(axes) -> dict:
    """m/Δt · ∂v/∂f along the force: 1 for a free body, 0 for one that is held."""
    mechanism, dt = box(), 0.01
    names = ["rest, upward", "stick", "slip"]
    along = jnp.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    force, speed = jnp.array([0.0, 2.0, 8.0]), jnp.array([0.0, 0.0, 1.0])
    kappas = np.geomspace(1e-9, 1e-2, 15)

    def response(kappa, along, force, speed):
        integrator = MaximalVariational(dt, kappa=kappa)
        # The height at which the box rests on the central path.
        q = jnp.array([[0, 0, 0.25, 1.0, 0, 0, 0]]).at[0, 2].add(4 * kappa / G)
        v = jnp.zeros((1, 6)).at[0, 3].set(speed)
        state = MaximalState(q, v, jnp.zeros(()), jnp.zeros((0, 6)))

        def velocity(f):
            wrench = jnp.concatenate([jnp.zeros(3), (force + f) * along])[None]
            return integrator.step(mechanism, state, Controls(wrench=wrench))[0].v[0, 3:] @ along

        return jax.jvp(velocity, (0.0,), (1.0,))[1] / dt

    over_kappa = jax.vmap(response, (0, None, None, None))
    values = jax.jit(jax.vmap(over_kappa, (None, 0, 0, 0)))(jnp.asarray(kappas), along, force, speed)
    for name, row in zip(names, values, strict=True):
        soft, hard = (f"{float(row[i]):.2e} at κ = {kappas[i]:.0e}" for i in (6, 0))
        print(f"m/Δt ∂v/∂f, {name}: {soft}, {hard}")
        axes.semilogx(kappas, row, "o-", ms=4, label=name)
    axes.set(xlabel="κ", ylabel="m/Δt · ∂v/∂f", title="box: how κ smooths the gradient", ylim=(-0.05, 1.1))
    axes.legend(frameon=False)
    return {"kappa": kappas.tolist(), **dict(zip(names, values.tolist(), strict=True))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few points, no figure")
    quick = parser.parse_args().quick
    jax.config.update("jax_enable_x64", True)
    print(machine())
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.4))
    data = {"impacts": impacts(axes[0], axes[1], 3 if quick else 41)}
    if not quick:
        record("maximal_gradients", data | {"smoothing": smoothing(axes[2])})
        save(figure, "gradients")


if __name__ == "__main__":
    main()
