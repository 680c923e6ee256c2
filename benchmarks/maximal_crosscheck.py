"""One tree in minimal and in maximal coordinates: the same trajectory, energy, momentum and gradient as Δt → 0.

    python -m benchmarks.maximal_crosscheck             # down to 3 ms, with the figure
    python -m benchmarks.maximal_crosscheck --quick     # down to 25 ms

A free body carries one on a ball joint, which carries one on a hinge, with a spring at each; without gravity, for one
second. ``Variational`` of order 6 with 10 ms is the reference for ``MaximalVariational`` and its symmetric variant: the
final positions of all bodies, their derivative along a change of all masses, the energy and the angular momentum.
"""

from __future__ import annotations

import argparse

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import jaxsim
from benchmarks.maximal_scenes import save
from benchmarks.record import record
from benchmarks.timing import Table, machine
from jaxsim.maximal.body import start_momentum
from jaxsim.maximal.state import BodyPose, drift

DURATION = 1.0


def tree() -> jaxsim.Model:
    builder = jaxsim.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    moments = np.diag([0.1, 0.12, 0.15])
    base = builder.add_body("base", 0, jaxsim.Free(), inertia=jaxsim.BodyInertia(2.0, (0.1, 0, 0.1), 2.0 * moments))
    ball = builder.add_body(
        "ball",
        base,
        jaxsim.Spherical(),
        jaxsim.Placement((0.3, 0, 0.1)),
        jaxsim.BodyInertia(1.0, (0, 0.2, 0), moments),
        stiffness=1.0,
    )
    placed, inertia = jaxsim.Placement((0, 0.4, 0)), jaxsim.BodyInertia(1.0, (0, 0, 0.2), moments)
    builder.add_body("hinge", ball, jaxsim.Revolute("x"), placed, inertia, stiffness=2.0)
    return builder.build()


def heavier(model, s):
    """The tree with its masses scaled by 1 + s, 1 + 2s and 1 + 3s, and its state at the start."""
    changed = eqx.tree_at(lambda m: m.mass, model, model.mass * (1.0 + s * jnp.arange(model.num_bodies)))
    return changed, model.neutral(), jnp.array([0.6, -0.4, 0.8, 0.1, 0.2, -0.3, 1.0, -0.5, 0.7, 1.5])


def run(integrator, start, system):
    """The state after any number of steps, and whether all converged."""

    def body(_, carry):
        state, good = carry
        state, info = integrator.step(system, state)
        return state, good & info.converged

    steps = jnp.round(DURATION / integrator.dt).astype(int)
    return jax.lax.fori_loop(0, steps, body, (integrator.init(system, *start), jnp.asarray(True)))


@jax.jit
def reference(model):
    def final(s):
        changed, *start = heavier(model, s)
        state, good = run(jaxsim.Variational(jnp.asarray(0.01), order=6), start, changed)
        energy, momentum = (f(changed, state.q, state.v) for f in (jaxsim.energy, jaxsim.momentum))
        return jaxsim.to_maximal(changed, state.q, state.v)[0], (energy.total, momentum[:3], good)

    return jax.jvp(final, (0.0,), (1.0,), has_aux=True)


def maximal(symmetric: bool):
    def at(model, dt):
        def final(s):
            changed, *start = heavier(model, s)
            mechanism = jaxsim.Mechanism.from_model(changed)
            integrator = jaxsim.MaximalVariational(dt, symmetric=symmetric)
            state, good = run(integrator, jaxsim.to_maximal(changed, *start), mechanism)
            return state.q, (*conserved(mechanism, state, dt, symmetric), good)

        return jax.jvp(final, (0.0,), (1.0,), has_aux=True)

    return jax.jit(at)


def conserved(mechanism, state, dt, symmetric: bool):
    """Energy and angular momentum about the origin, at the node or over the interval that follows."""
    q, v, span = state.q, state.v, 0.0 if symmetric else dt
    P = start_momentum(mechanism.mass, mechanism.inertia, v, span)
    turn = BodyPose.from_array(q).orientation.to_matrix().to_array()
    momentum = jnp.sum(jnp.einsum("bij,bj->bi", turn, P[:, :3]) + jnp.cross(q[:, :3], P[:, 3:]), axis=0)
    potential = 0.5 * (mechanism.potential_energy(q) + mechanism.potential_energy(drift(q, v, span)))
    return mechanism.kinetic_energy(v) + potential, momentum


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three step sizes, no figure")
    quick = parser.parse_args().quick
    jax.config.update("jax_enable_x64", True)
    print(machine())
    model = tree()
    steps = DURATION / np.array([10, 20, 40] if quick else [10, 20, 40, 80, 160, 320])
    exact, derivative, (energy, momentum, good) = reference(model)
    print(f"\nreference, order 6: converged {bool(good)}; largest derivative {float(jnp.max(jnp.abs(derivative))):.2f}")
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.4))
    data: dict = {"dt": steps.tolist()}
    table = Table("variant", "Δt", "position", "gradient", "energy", "momentum", "converged", widths=[12, *[9] * 6])
    for symmetric, name in ((False, "plain"), (True, "symmetric")):
        errors = []
        final, panel = maximal(symmetric), axes[int(symmetric)]
        for dt in steps:
            q, dq, (E, L, good) = final(model, dt)
            differences = (q - exact)[:, :3], (dq - derivative)[:, :3], E - energy, L - momentum
            errors.append([float(jnp.max(jnp.abs(d))) for d in differences])
            table.row(name, float(dt), *errors[-1], bool(good))
        data[name] = dict(
            zip(("position", "gradient", "energy", "momentum"), np.transpose(errors).tolist(), strict=True)
        )
        rates = np.log2(np.divide(errors[-2], errors[-1]))
        print(f"orders of {name}: " + ", ".join(f"{rate:.2f}" for rate in rates[:3]))
        for column, label in enumerate(("positions", "gradient", "energy")):
            panel.loglog(steps, np.array(errors)[:, column], "o-", label=label)
        panel.loglog(steps, 0.1 * steps**2, "k:", label="Δt²")
        panel.set(xlabel="Δt (s)", ylabel="difference to Variational, order 6", title=f"{name} scheme")
        panel.legend(frameon=False)
    if not quick:
        record("maximal_crosscheck", data)
        save(figure, "crosscheck")


if __name__ == "__main__":
    main()
