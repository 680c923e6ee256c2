"""The front door: many steps of any integrator, as a trajectory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .integrators import AbstractIntegrator, RungeKutta4

Control = Callable[[Array, Any], Array]


class Trajectory(eqx.Module):
    """What a rollout saw, along a leading axis of time.

    Attributes:
        q: the configurations, at T + 1 times.
        v: the velocities, at T + 1 times.
        t: the times.
        controls: the joint forces of each of the T steps, ``None`` where there were none.
        info: how each of the T steps went.
        final: the integrator's state at the end, from which a rollout can go on.
    """

    q: Float[Array, "T1 nq"]
    v: Float[Array, "T1 nv"]
    t: Float[Array, " T1"]
    controls: Float[Array, "T nu"] | None
    info: Any
    final: Any

    @property
    def converged(self) -> Array:
        """Whether all steps converged."""
        return jnp.all(self.info.converged, axis=-1)


def rollout(
    model: Any,
    integrator: AbstractIntegrator,
    state: Any,
    controls: Float[Array, "T nu"] | Control | None = None,
    steps: int | None = None,
) -> Trajectory:
    """Advance a state step by step: a pure function, ready for ``jit``, ``vmap`` and ``grad``.

    Args:
        model: the model (or mechanism) that the integrator advances.
        integrator: the method.
        state: where to start, from ``integrator.init``.
        controls: the joint forces of each step as an array (T, nu), or a function ``(t, state) -> u``, or ``None``.
        steps: the number of steps; needed unless ``controls`` is an array.
    """
    given = controls if not callable(controls) else None
    length = _count(given, steps)

    def step(state, given):
        u = controls(state.t, state) if callable(controls) else given
        after, info = integrator.step(model, state, u)
        return after, (after.q, after.v, after.t, u, info)

    final, (q, v, t, used, info) = jax.lax.scan(step, state, given, length=length)

    def with_start(first, rest):
        return jnp.concatenate([first[None], rest])

    start = state.q, state.v, state.t
    q, v, t = (with_start(first, rest) for first, rest in zip(start, (q, v, t), strict=True))
    return Trajectory(q, v, t, used, info, final)


def simulate(
    model: Any,
    q0: Float[Array, " nq"],
    v0: Float[Array, " nv"] | None = None,
    duration: float = 1.0,
    integrator: AbstractIntegrator | None = None,
    control: Float[Array, "T nu"] | Control | None = None,
    check: bool = True,
) -> Trajectory:
    """Simulate for a while and raise if a step failed; the convenient form of ``rollout``.

    Args:
        model: the model.
        q0: the configuration at the start.
        v0: the velocity at the start; at rest by default.
        duration: how long, in seconds, rounded to a whole number of steps; an array of controls has its own length.
        integrator: the method; by default ``RungeKutta4(dt=0.01)``.
        control: joint forces as in ``rollout``.
        check: raise ``RuntimeError`` when a step did not converge. The trajectory then holds the last good state.
    """
    integrator = RungeKutta4(dt=0.01) if integrator is None else integrator
    v0 = jnp.zeros(model.nv, jnp.asarray(q0).dtype) if v0 is None else v0
    steps = _steps(float(duration), float(integrator.dt))
    state = integrator.init(model, q0, v0)
    trajectory = _compiled_rollout(model, integrator, state, control, steps)
    if check:
        raise_on_failure(trajectory)
    return trajectory


@eqx.filter_jit
def _compiled_rollout(model, integrator, state, control, steps) -> Trajectory:
    return rollout(model, integrator, state, control, None if _is_array(control) else steps)


def raise_on_failure(trajectory: Trajectory) -> None:
    """Raise a ``RuntimeError`` that names the first step of a trajectory that did not converge."""
    failed = ~np.asarray(trajectory.info.converged)
    if failed.any():
        first = int(np.argmax(failed))
        raise RuntimeError(
            f"Step {first} at t = {float(trajectory.t[first]):.6g} s did not converge (residual "
            f"{float(trajectory.info.residual[first]):.3g}); use a smaller time step, or check=False to keep it."
        )


def _steps(duration: float, dt: float) -> int:
    if not (duration >= 0.0 and dt > 0.0 and np.isfinite(duration / dt)):
        raise ValueError(
            f"The duration {duration} s cannot be divided into steps of {dt} s; give a duration that is not negative "
            "and a time step that is positive."
        )
    return round(duration / dt)


def _is_array(control) -> bool:
    return control is not None and not callable(control)


def _count(controls, steps: int | None) -> int:
    if controls is None:
        if steps is None:
            raise ValueError("rollout needs the number of steps: give steps=…, or controls as an array (T, nv).")
        if steps < 0:
            raise ValueError(f"steps is {steps}; give a number of steps that is not negative.")
        return int(steps)
    length = jnp.shape(controls)[0]
    if steps is not None and steps != length:
        raise ValueError(f"steps is {steps}, but controls has {length} rows; leave steps out or make them agree.")
    return length
