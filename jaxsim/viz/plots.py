"""Plots of what a trajectory conserves, violates and does, with matplotlib."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..dynamics import momentum
from ..maximal import Mechanism
from ..maximal.state import BodyPose
from ..model import Model
from ..rollout import Trajectory, any_energy
from ..spatial import Sym3, Vec3
from .figures import axes_or_new


def plot_energy(model: Model | Mechanism, trajectory: Trajectory, axes: Any = None, *, error: bool = False, **line):
    """Kinetic, potential and total energy over time, or with ``error`` |E(t) − E(0)| on a logarithmic scale."""
    energy = trajectory.energy
    if energy is None:
        energy = jax.jit(jax.vmap(any_energy, in_axes=(None, 0, 0)))(model, trajectory.q, trajectory.v)
    axes, t, total = axes_or_new(axes), np.asarray(trajectory.t), np.asarray(energy.total)
    if error:
        floor = np.finfo(total.dtype).eps * max(float(np.max(np.abs(total))), 1e-300)
        axes.semilogy(t[1:], np.maximum(np.abs(total - total[0])[1:], floor), **line)
        axes.set(xlabel="time [s]", ylabel="|E − E₀| [J]")
        return axes
    for name, values in (("kinetic", energy.kinetic), ("potential", energy.potential), ("total", total)):
        axes.plot(t, np.asarray(values), label=name, **line)
    axes.set(xlabel="time [s]", ylabel="energy [J]")
    axes.legend()
    return axes


def plot_momentum(model: Model | Mechanism, trajectory: Trajectory, axes: Any = None, **line):
    """The total momentum (angular about the world's origin, linear), its six components over time."""
    h = np.asarray(jax.jit(jax.vmap(_momentum, in_axes=(None, 0, 0)))(model, trajectory.q, trajectory.v))
    axes = axes_or_new(axes)
    for i, name in enumerate(("angular x", "angular y", "angular z", "linear x", "linear y", "linear z")):
        axes.plot(np.asarray(trajectory.t), h[:, i], "-" if i < 3 else "--", label=name, **line)
    axes.set(xlabel="time [s]", ylabel="momentum [kg m²/s], [kg m/s]")
    axes.legend(ncols=2)
    return axes


def plot_violation(model: Model | Mechanism, trajectory: Trajectory, axes: Any = None, **line):
    """The largest violation of a joint or constraint, max |g(q)|, over time on a logarithmic scale."""
    if isinstance(model, Mechanism):
        g = jax.jit(jax.vmap(lambda q: jnp.max(jnp.abs(model.violation(q)), initial=0.0)))(trajectory.q)
        t = np.asarray(trajectory.t)
    elif hasattr(trajectory.info, "violation"):
        g, t = trajectory.info.violation, np.asarray(trajectory.t)[1:]
    else:
        raise ValueError("The trajectory has no constraints; give a mechanism, or an integrator with constraints.")
    axes = axes_or_new(axes)
    axes.semilogy(t, np.maximum(np.asarray(g), 1e-18), **line)
    axes.set(xlabel="time [s]", ylabel="violation [m], [rad]")
    return axes


def plot_residuals(trajectory: Trajectory, axes: Any = None, **line):
    """The residual that each step was solved to, and how many iterations that took."""
    axes, t = axes_or_new(axes), np.asarray(trajectory.t)[1:]
    axes.semilogy(t, np.maximum(np.asarray(trajectory.info.residual), 1e-18), **line)
    axes.set(xlabel="time [s]", ylabel="residual")
    right = axes.twinx()
    right.plot(t, np.asarray(trajectory.info.iterations), ".", color="tab:gray", markersize=3)
    right.set(ylabel="iterations")
    return axes


def plot_trajectory(model: Model | Mechanism, trajectory: Trajectory, axes: Any = None, **line):
    """The joint coordinates over time; a free or spherical joint is shown by all its coordinates."""
    q = trajectory.q
    if isinstance(model, Mechanism):
        q, names = jax.jit(jax.vmap(model.coordinates))(q), None
    else:
        names = [""] * model.nq
        for body in range(1, model.num_bodies):
            span = model.coordinates_of(body)[0]
            for k, i in enumerate(range(span.start, span.stop)):
                names[i] = model.joint_names[body] + (f"[{k}]" if span.stop - span.start > 1 else "")
    axes, values = axes_or_new(axes), np.asarray(q)
    for i in range(values.shape[1]):
        axes.plot(np.asarray(trajectory.t), values[:, i], label=names[i] if names else f"coordinate {i}", **line)
    axes.set(xlabel="time [s]", ylabel="coordinate [rad], [m]")
    if values.shape[1] <= 10:
        axes.legend()
    return axes


def _momentum(model: Model | Mechanism, q, v):
    if isinstance(model, Model):
        return momentum(model, q, v)
    pose = BodyPose.from_array(q)
    linear = Vec3.from_array(v[:, 3:] * model.mass[:, None])
    spin = pose.orientation.rotate(Sym3.from_array(model.inertia).apply(Vec3.from_array(v)))
    angular = spin + pose.position.cross(linear)
    return jnp.concatenate([jnp.sum(angular.to_array(), axis=0), jnp.sum(linear.to_array(), axis=0)])
