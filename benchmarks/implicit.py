"""A step of BDF2 and its gradient against dense REDMAX and against differentiating the Newton iterations.

    python -m benchmarks.implicit                 # chains of 4 to 64 rods, one world and 1024
    python -m benchmarks.implicit --quick         # 4 and 8 rods, 16 worlds, to see that it runs
    python -m benchmarks.implicit --part step     # only the steps; "gradient" and "memory" likewise

Rivals: (a) "dense" is J^T M J with a dense Newton matrix by forward mode, written plainly (``redmax_dense.py``);
(b) "unrolled" is the same step as ours with four Newton iterations that reverse mode goes back through. Times are
microseconds for each world and step, the best of many repeats; memory is what XLA reserves for the backward pass.
"""

from __future__ import annotations

import argparse
from unittest import mock

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from benchmarks.record import exponent, record
from benchmarks.redmax_dense import DenseChain
from benchmarks.timing import Table, machine, measure
from jaxsim.reduced import elimination
from jaxsim.reduced.stage import residual
from jaxsim.solvers import SolverInfo

H = 0.01


def chain(n: int):
    """A chain of n rods, one metre long, and a state of BDF2 after a few steps, far from rest."""
    model = jaxsim.robots.chain(n, length=1.0 / n)
    key = jax.random.key(n)
    q, v = 0.5 * jax.random.normal(key, (2, n))
    method = jaxsim.BDF2(H)
    state = jax.jit(lambda q, v: jaxsim.rollout(model, method, method.init(model, q, v), steps=3).final)(q, v)
    return model, state


def batched(state, worlds: int):
    """Copies of a state that differ a little, the step count in common."""
    if worlds == 1:
        return state, jax.tree.map(lambda _: None, state)
    noise = 1e-3 * jax.random.normal(jax.random.key(0), (worlds, state.q.shape[0]))
    wide = jax.tree.map(lambda x: x + noise if x.ndim else jnp.broadcast_to(x, (worlds,)), state)
    wide = jaxsim.integrators.BDF2State(wide.q, wide.v, wide.t, wide.increment, wide.v_before, state.steps)
    axes = jaxsim.integrators.BDF2State(0, 0, 0, 0, 0, None)
    return wide, axes


def over_worlds(function, state, worlds: int):
    """The function of a state, for one world or mapped over many, and its argument."""
    wide, axes = batched(state, worlds)
    return (function if worlds == 1 else jax.vmap(function, (axes,))), wide


def step_times(n: int, worlds: int, seconds: float) -> list[float]:
    """Microseconds a step of ours by elimination, of ours with a matrix, of dense REDMAX; and their disagreement."""
    model, state = chain(n)
    rival = DenseChain(model)
    h, tau = jnp.asarray(H), jnp.zeros(n)

    def ours(solver):
        return lambda state: jaxsim.BDF2(H, solver=solver).step(model, state)[0].q

    def dense(state):
        return rival.step(h, (state.q, state.v, state.increment, state.v_before), tau)[0]

    times, ends = [], []
    for function in (ours("recursive"), ours("dense"), dense):
        mapped, wide = over_worlds(function, state, worlds)
        times.append(1e6 * measure(mapped, wide, seconds=seconds).run / worlds)
        ends.append(np.asarray(jax.jit(mapped)(wide)))
    return [*times, float(np.abs(ends[0] - ends[2]).max())]


def unrolled_stage(stage, guess, options):
    """Four Newton iterations by elimination, to be differentiated one by one."""

    def iterate(psi, _):
        return psi - elimination.solve(elimination.factorise(stage, psi), residual(psi, stage)), None

    psi, _ = jax.lax.scan(iterate, guess, None, length=4)
    return psi, SolverInfo(jnp.asarray(True), jnp.zeros_like(psi[0]), jnp.asarray(4, jnp.int32))


def rollouts(model, steps: int, kind=jaxsim.BDF2):
    """The loss of a rollout as a function of state, joint forces and masses, and its gradient."""
    method = kind(H, solver="recursive")

    def loss(state, taus, mass):
        changed = eqx.tree_at(lambda m: m.mass, model, mass)
        end = jaxsim.rollout(changed, method, state, taus)
        return jnp.sum(end.q[-1] ** 2) + jnp.sum(end.v[-1] ** 2)

    return loss, jax.grad(loss, (0, 1, 2), allow_int=True)


def gradient_times(n: int, steps: int, seconds: float) -> list[float]:
    """Microseconds a step: the rollout, its gradient by the adjoint, and by unrolled iterations; disagreement."""
    model, state = chain(n)
    taus = jnp.zeros((steps, n))
    loss, gradient = rollouts(model, steps)
    arguments = state, taus, model.mass
    forward = measure(loss, *arguments, seconds=seconds).run
    adjoint = measure(gradient, *arguments, seconds=seconds).run
    exact = jax.jit(gradient)(*arguments)
    with mock.patch("jaxsim.integrators.bdf2.solve_stage", unrolled_stage):
        loss, gradient = rollouts(model, steps)
        through = measure(gradient, *arguments, seconds=seconds).run
        other = jax.jit(gradient)(*arguments)
    error = float(jnp.abs(exact[1] - other[1]).max() / jnp.abs(other[1]).max())
    return [1e6 * t / steps for t in (forward, adjoint, through)] + [error]


def memory(n: int, steps: int) -> list[float]:
    """Kilobytes a step that XLA reserves for the gradient: by the adjoint, and by unrolled iterations."""
    model, state = chain(n)
    arguments = state, jnp.zeros((steps, n)), model.mass

    def reserved():
        compiled = jax.jit(rollouts(model, steps)[1]).lower(*arguments).compile()
        return compiled.memory_analysis().temp_size_in_bytes / 1e3 / steps

    ours = reserved()
    with mock.patch("jaxsim.integrators.bdf2.solve_stage", unrolled_stage):
        return [ours, reserved()]


def steps_part(sizes, worlds: int, seconds: float, keep: bool) -> None:
    print(f"\na step of BDF2, {worlds} world{'s' if worlds > 1 else ''}, float64")
    table = Table("n", "recursive", "matrix", "dense REDMAX", "ratio", "disagree", widths=[9, 9, 9, 12, 9, 9])
    columns = []
    for n in sizes:
        recursive, matrix, rival, error = step_times(n, worlds, seconds)
        columns.append((recursive, matrix, rival))
        table.row(n, recursive, matrix, rival, rival / recursive, error)
    table.row("exponent", *(exponent(sizes, column) for column in zip(*columns, strict=True)), None, None)
    print("goals: ratio at least 5 at n = 32; exponent of ours at most 1.2")
    if keep:
        names = "recursive", "matrix", "dense REDMAX"
        times = dict(zip(names, map(list, zip(*columns, strict=True)), strict=True))
        record(f"implicit_step_{worlds}", {"n": list(sizes), "microseconds": times})


def gradients_part(sizes, steps: int, seconds: float, keep: bool) -> None:
    print(f"\nthe gradient of {steps} steps of BDF2 by state, joint forces and masses, one world, float64")
    table = Table("n", "rollout", "adjoint", "unrolled", "adj/roll", "unr/adj", "disagree")
    rows = []
    for n in sizes:
        forward, adjoint, through, error = gradient_times(n, steps, seconds)
        rows.append((forward, adjoint, through))
        table.row(n, forward, adjoint, through, adjoint / forward, through / adjoint, error)
    print("goal: the gradient at most 3 times the rollout")
    if keep:
        times = dict(zip(("rollout", "adjoint", "unrolled"), map(list, zip(*rows, strict=True)), strict=True))
        record("implicit_gradient", {"n": list(sizes), "steps": steps, "microseconds a step": times})


def memory_part(sizes, steps: int, keep: bool) -> None:
    print(f"\nmemory of the backward pass over {steps} steps, kB a step")
    table = Table("n", "adjoint", "unrolled", "ratio")
    rows = []
    for n in sizes:
        ours, other = memory(n, steps)
        rows.append((ours, other))
        table.row(n, ours, other, other / ours)
    if keep:
        kilobytes = dict(zip(("adjoint", "unrolled"), map(list, zip(*rows, strict=True)), strict=True))
        record("implicit_memory", {"n": list(sizes), "steps": steps, "kB a step": kilobytes})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="4 and 8 rods, short repeats")
    parser.add_argument("--part", choices=["step", "gradient", "memory"], help="only this part")
    parser.add_argument("--sizes", type=int, nargs="+", help="the numbers of rods")
    parser.add_argument("--worlds", type=int, nargs="+", help="the numbers of worlds")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    sizes = options.sizes or ([4, 8] if options.quick else [4, 8, 16, 32, 64])
    seconds = 0.05 if options.quick else 1.0
    steps = 20 if options.quick else 200
    keep = not options.quick
    print(machine())
    if options.part in (None, "step"):
        for worlds in options.worlds or ((1, 16) if options.quick else (1, 1024)):
            steps_part(sizes, worlds, seconds, keep)
    if options.part in (None, "gradient"):
        gradients_part(sizes, steps, seconds, keep)
    if options.part in (None, "memory"):
        memory_part(sizes, steps, keep)


if __name__ == "__main__":
    main()
