"""The convenient form of a rollout: compiled, checked, and with a progress bar if wanted."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..integrators import AbstractIntegrator, MaximalVariational, RungeKutta4
from ..maximal import Mechanism
from .loop import Control, rollout, step_count
from .progress import ProgressBar
from .trajectory import Trajectory


def simulate(
    model: Any,
    q0: Float[Array, "..."],
    v0: Float[Array, "..."] | None = None,
    duration: float = 1.0,
    integrator: AbstractIntegrator | None = None,
    control: Any | Control | None = None,
    check: bool = True,
    *,
    energy: bool = False,
    progress: bool = False,
) -> Trajectory:
    """Simulate for a while and raise if a step failed; the convenient form of ``rollout``, x_{k+1} = step(x_k, u_k).

    Args:
        model: the model, or a mechanism.
        q0: the configuration at the start.
        v0: the velocity at the start; at rest by default.
        duration: how long, in seconds, rounded to a whole number of steps; an array of controls has its own length.
        integrator: the method; by default ``RungeKutta4(dt=0.01)``, for a mechanism ``MaximalVariational(dt=0.01)``.
        control: joint forces as in ``rollout``.
        check: raise ``RuntimeError`` when a step did not converge. The trajectory then holds the last good state.
        energy: also record the energies.
        progress: run in pieces with a progress bar on the error stream; a failed step then raises at once.
    """
    if integrator is None:
        integrator = _default_integrator(model)
    v0 = jnp.zeros(model.nv, jnp.asarray(q0).dtype) if v0 is None else v0
    steps = _steps(float(duration), float(integrator.dt))
    given = None if callable(control) else control
    steps = step_count(given, steps if given is None else None)
    state = integrator.init(model, q0, v0)
    if progress and steps > 1:
        return _in_pieces(model, integrator, state, control, steps, check, energy)
    trajectory = _compiled_rollout(model, integrator, state, control, steps, energy)
    if check:
        raise_on_failure(trajectory)
    return trajectory


def _default_integrator(model: Any) -> AbstractIntegrator:
    return MaximalVariational(dt=0.01) if isinstance(model, Mechanism) else RungeKutta4(dt=0.01)


@eqx.filter_jit
def _compiled_rollout(model, integrator, state, control, steps, energy) -> Trajectory:
    return rollout(model, integrator, state, control, steps, energy=energy)


def _in_pieces(model, integrator, state, control, steps, check, energy) -> Trajectory:
    """One compiled piece after another from the host, so that the default path needs no callback."""
    size, pieces = _piece_length(steps), []
    with ProgressBar(steps) as bar:
        for first in range(0, steps, size):
            count = min(size, steps - first)
            part = control
            if not callable(control):
                part = jax.tree.map(lambda u, first=first, count=count: u[first : first + count], control)
            piece = _compiled_rollout(model, integrator, state, part, count, energy)
            if check:
                raise_on_failure(piece, first)
            state = piece.final
            pieces.append(jax.tree.map(np.asarray, piece))
            bar.advance(count)
    return _joined(pieces)


def _piece_length(steps: int, pieces: int = 50) -> int:
    """A length for about 50 equal pieces, or unequal ones if no number from 25 to 100 divides the steps."""
    counts = [n for n in range(max(pieces // 2, 1), 2 * pieces + 1) if steps % n == 0]
    best = min(counts, key=lambda n: abs(n - pieces), default=None)
    return steps // best if best else -(-steps // pieces)


def _joined(pieces: list[Trajectory]) -> Trajectory:
    """Pieces that follow one another as one trajectory; the first state of a piece is the last of the one before."""

    def join(*leaves):
        return jnp.concatenate(leaves)

    def join_points(*leaves):
        return jnp.concatenate([leaves[0], *(leaf[1:] for leaf in leaves[1:])])

    q, v, t, energy = jax.tree.map(join_points, *((p.q, p.v, p.t, p.energy) for p in pieces))
    controls, info = jax.tree.map(join, *((p.controls, p.info) for p in pieces))
    return Trajectory(q, v, t, controls, info, jax.tree.map(jnp.asarray, pieces[-1].final), energy)


def raise_on_failure(trajectory: Trajectory, first_step: int = 0) -> None:
    """Raise a ``RuntimeError`` that names the first step of a trajectory that did not converge."""
    failed = ~np.asarray(trajectory.info.converged)
    if failed.any():
        first = int(np.argmax(failed))
        raise RuntimeError(
            f"Step {first_step + first} at t = {float(trajectory.t[first]):.6g} s did not converge (residual "
            f"{float(trajectory.info.residual[first]):.3g}); use a smaller time step, or check=False to keep it."
        )


def _steps(duration: float, dt: float) -> int:
    if not (duration >= 0.0 and dt > 0.0 and np.isfinite(duration / dt)):
        raise ValueError(
            f"The duration {duration} s cannot be divided into steps of {dt} s; give a duration that is not negative "
            "and a time step that is positive."
        )
    return round(duration / dt)
