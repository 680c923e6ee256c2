"""Many worlds at once, and one of them beside MuJoCo in C.

    python -m benchmarks.maximal_batched             # 1024 worlds
    python -m benchmarks.maximal_batched --quick     # 32 worlds

Boxes tumble onto the ground, and pendulums of ten links swing; microseconds for a step of a world, alone, in a batch,
and in MuJoCo on one core. One world of the batch is poisoned: it must fail alone and leave all others as they were, bit
for bit.
"""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

from benchmarks.maximal_scenes import box, pendulum
from benchmarks.record import record
from benchmarks.timing import Table, best, machine
from jaxsim.integrators import MaximalVariational

DT, STEPS = 0.01, 100


def runner(mechanism, count: int, dtype):
    """Final configurations and convergence of ``count`` worlds with their own initial velocities."""
    integrator = MaximalVariational(jnp.asarray(DT, dtype))
    mechanism = jax.tree.map(lambda leaf: leaf.astype(dtype), mechanism)

    def one(q, v):
        def step(state, _):
            state, info = integrator.step(mechanism, state)
            return state, info.converged

        state, converged = jax.lax.scan(step, integrator.init(mechanism, q, v), None, length=STEPS)
        return state.q, jnp.all(converged)

    return jax.jit(one if count == 1 else jax.vmap(one))


def starts(mechanism, q, count: int, dtype, spread: float):
    v = spread * np.random.default_rng(0).normal(size=(count, mechanism.num_bodies, 6))
    return jnp.asarray(np.broadcast_to(q, (count, *q.shape)), dtype), jnp.asarray(v, dtype)


def mujoco_step(xml: str) -> float:
    """Microseconds for a step of MuJoCo, over the same duration."""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)

    def run():
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, nstep=STEPS)

    return 1e6 * best(run, 0.5) / STEPS


def box_xml() -> str:
    return f"""<mujoco><option timestep="{DT}"/><worldbody><geom type="plane" size="5 5 1"/>
    <body pos="0 0 0.5"><freejoint/><geom type="box" size="0.25 0.25 0.25" mass="1"/></body></worldbody></mujoco>"""


def chain_xml(n: int) -> str:
    link = (
        '<body pos="{x} 0 0"><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.03" '
    )
    link += 'mass="1" contype="0" conaffinity="0"/>'
    bodies = "".join(link.format(x=0 if i == 0 else 1) for i in range(n)) + "</body>" * n
    return f'<mujoco><option timestep="{DT}"/><worldbody>{bodies}</worldbody></mujoco>'


def poisoned(mechanism, q, count: int) -> bool:
    run = runner(mechanism, count, jnp.float64)
    q, v = starts(mechanism, q, count, jnp.float64, 1.0)
    clean, good = run(q, v)
    broken, broken_good = run(q, v.at[count // 2].set(jnp.nan))
    others = np.arange(count) != count // 2
    same = bool(np.array_equal(np.asarray(clean)[others], np.asarray(broken)[others]))
    print(
        f"\n{count} boxes: {int(jnp.sum(good))} converge; with NaN in one, {int(jnp.sum(broken_good))} do, the others "
        f"are {'the same bit for bit' if same else 'CHANGED'}"
    )
    return same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="32 worlds")
    quick = parser.parse_args().quick
    count = 32 if quick else 1024
    jax.config.update("jax_enable_x64", True)
    print(machine("mujoco"))
    scenes = {
        "box": (box(), jnp.array([[0, 0, 0.5, 1.0, 0, 0, 0]]), box_xml(), 1.0),
        "chain of 10": (*pendulum(10), chain_xml(10), 0.0),
    }
    print(f"\nmicroseconds a step and world; {count} worlds in a batch")
    table = Table("scene", "precision", "alone", "batched", "MuJoCo C", "batched/MuJoCo", "converged",
                  widths=[12, 9, 9, 9, 9, 14, 9])  # fmt: skip
    data: dict = {"worlds": count}
    for name, (mechanism, q, xml, spread) in scenes.items():
        rival = mujoco_step(xml)
        for dtype in (jnp.float64, jnp.float32):
            times = []
            for worlds in (1, count):
                run, args = runner(mechanism, worlds, dtype), starts(mechanism, q, worlds, dtype, spread)
                args = jax.tree.map(lambda leaf: leaf[0], args) if worlds == 1 else args
                converged = float(jnp.mean(run(*args)[1]))
                seconds = best(lambda run=run, args=args: jax.block_until_ready(run(*args)), 0.5)
                times.append(1e6 * seconds / STEPS / worlds)
            data[f"{name}, {dtype.__name__}"] = {"alone, batched, MuJoCo (µs)": [*times, rival], "converged": converged}
            table.row(name, dtype.__name__, *times, rival, times[1] / rival, converged)
    mechanism, q, *_ = scenes["box"]
    data["others of a failing world unchanged"] = poisoned(mechanism, q, count)
    if not quick:
        record("maximal_batched", data)


if __name__ == "__main__":
    main()
