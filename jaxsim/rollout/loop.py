"""Many steps of any integrator, as one pure function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..dynamics import Energy
from ..dynamics import energy as minimal_energy
from ..integrators import AbstractIntegrator
from ..maximal import Mechanism
from .segmented import segment_length, segmented_scan
from .trajectory import Trajectory

Control = Callable[[Array, Any], Any]
"""A feedback law or policy: the control at the time t in a state."""


def rollout(
    model: Any,
    integrator: AbstractIntegrator,
    state: Any,
    controls: Any | Control | None = None,
    steps: int | None = None,
    *,
    energy: bool = False,
    checkpoint: bool | int = False,
) -> Trajectory:
    """x_{k+1} = step(x_k, u_k): advance a state, as a pure function ready for ``jit``, ``vmap`` and ``grad``.

    Args:
        model: the model (or mechanism) that the integrator advances.
        integrator: the method.
        state: where to start, from ``integrator.init``.
        controls: the joint forces of each step as an array (T, nu), or a tree of arrays (T, …); or a function
            ``(t, state) -> u``, which may be an ``equinox`` module with parameters; or ``None``.
        steps: the number of steps; needed unless ``controls`` is an array.
        energy: also record the kinetic and potential energy at all times.
        checkpoint: spare memory in reverse mode: keep one state in about √T, or in as many as the number says, and
            compute the others a second time.
    """
    law: Any = controls if callable(controls) else None
    given = controls if law is None else None
    length = step_count(given, steps)

    def step(state, given):
        u = given if law is None else law(state.t, state)
        after, info = integrator.step(model, state, u)
        return after, (after.q, after.v, after.t, u, info)

    if checkpoint and length:
        segment = segment_length(length) if checkpoint is True else min(_positive(int(checkpoint)), length)
        final, (q, v, t, used, info) = segmented_scan(step, state, given, length, segment)
    else:
        final, (q, v, t, used, info) = jax.lax.scan(step, state, given, length=length)

    def with_start(first, rest):
        return jnp.concatenate([first[None], rest])

    start = state.q, state.v, state.t
    q, v, t = (with_start(first, rest) for first, rest in zip(start, (q, v, t), strict=True))
    energies = jax.vmap(lambda q, v: any_energy(model, q, v))(q, v) if energy else None
    return Trajectory(q, v, t, used, info, final, energies)


def any_energy(model: Any, q: Array, v: Array) -> Energy:
    """T and V of a model, or of a mechanism: T = ½ Σ m|v|² + ωᵀJω and V = −Σ m gᵀx + that of its springs."""
    if isinstance(model, Mechanism):
        return Energy(model.kinetic_energy(v), model.potential_energy(q))
    return minimal_energy(model, q, v)


def step_count(controls: Any, steps: int | None) -> int:
    """The number of steps that controls, if they are arrays, and ``steps`` agree on."""
    lengths = {jnp.shape(leaf)[0] for leaf in jax.tree.leaves(controls)}
    if not lengths:
        if steps is None:
            raise ValueError("rollout needs the number of steps: give steps=…, or controls as an array (T, nv).")
        if steps < 0:
            raise ValueError(f"steps is {steps}; give a number of steps that is not negative.")
        return int(steps)
    if len(lengths) > 1:
        raise ValueError(f"The arrays of controls have {sorted(lengths)} rows; give as many rows in each as steps.")
    length = lengths.pop()
    if steps is not None and steps != length:
        raise ValueError(f"steps is {steps}, but controls has {length} rows; leave steps out or make them agree.")
    return length


def _positive(segment: int) -> int:
    if segment < 1:
        raise ValueError(f"checkpoint is {segment}; give True, or how many steps lie between states that are kept.")
    return segment
