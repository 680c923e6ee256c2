"""Still pictures and animations of a trajectory, painted triangle by triangle with matplotlib."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..maximal import Mechanism
from ..model import Model
from ..rollout import Trajectory
from .figures import axes_or_new, pyplot
from .html import VIEW
from .scene import Motion, Part, bounds, motion_of, parts_of, rotation_matrices


def draw(
    model: Model | Mechanism, q: Any, axes: Any = None, *, view=VIEW, appearance: Model | None = None, opacity=1.0
) -> Any:
    """Draw a configuration, or several over one another, as seen from the direction ``view``; returns the axes."""
    q = np.asarray(q)
    single = 2 if isinstance(model, Mechanism) else 1
    motion = motion_of(model, q[None] if q.ndim == single else q)
    parts, axes = parts_of(model, appearance), axes_or_new(axes, (4.0, 4.0))
    for i in range(len(motion.t)):
        _paint(axes, parts, motion, i, view, opacity)
    _frame(axes, *bounds(parts, motion), view)
    return axes


def save_strip(
    model: Model | Mechanism,
    trajectory: Trajectory | Any,
    path: str | PathLike,
    *,
    frames: int = 6,
    view=VIEW,
    appearance: Model | None = None,
) -> Path:
    """Write a PNG (or PDF, SVG) with pictures of a trajectory at equal intervals, side by side."""
    plt, parts = pyplot(), parts_of(model, appearance)
    motion = motion_of(model, trajectory)
    low, high = bounds(parts, motion)
    figure, row = plt.subplots(1, frames, figsize=(2.2 * frames, 2.6), layout="constrained", squeeze=False)
    for axes, i in zip(row[0], np.linspace(0, len(motion.t) - 1, frames).round().astype(int), strict=True):
        _paint(axes, parts, motion, i, view, 1.0)
        _frame(axes, low, high, view)
        axes.set_title(f"t = {motion.t[i]:.2f} s", fontsize=9)
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return Path(path)


def save_gif(
    model: Model | Mechanism,
    trajectory: Trajectory | Any,
    path: str | PathLike,
    *,
    frames_per_second: float = 20.0,
    view=VIEW,
    appearance: Model | None = None,
    size: float = 4.0,
) -> Path:
    """Write an animated GIF that runs at the speed of the trajectory."""
    plt, parts = pyplot(), parts_of(model, appearance)
    from matplotlib.animation import FuncAnimation, PillowWriter

    motion = motion_of(model, trajectory, frames_per_second)
    low, high = bounds(parts, motion)
    figure, axes = plt.subplots(figsize=(size, size), layout="constrained")

    def show(i):
        axes.clear()
        _paint(axes, parts, motion, i, view, 1.0)
        _frame(axes, low, high, view)
        axes.set_title(f"{motion.t[i]:.2f} s", fontsize=9)
        return ()

    animation = FuncAnimation(figure, show, frames=len(motion.t))
    animation.save(str(path), writer=PillowWriter(fps=max(round(frames_per_second), 1)), dpi=80)
    plt.close(figure)
    return Path(path)


def _camera(view) -> np.ndarray:
    """Rows: right, up and towards the eye, for a camera that keeps z up."""
    eye = np.asarray(view, float) / np.linalg.norm(view)
    right = np.cross([0.0, 0.0, 1.0], eye)
    right = right / np.linalg.norm(right) if np.linalg.norm(right) > 1e-9 else np.array([1.0, 0.0, 0.0])
    return np.stack([right, np.cross(eye, right), eye])


def _paint(axes: Any, parts: list[Part], motion: Motion, i: int, view, opacity: float) -> None:
    """All triangles that face the eye, the farthest first, shaded by how they face the light."""
    from matplotlib.collections import PolyCollection

    camera, R = _camera(view), rotation_matrices(motion.quaternion[i])
    light = camera.T @ np.array([-0.4, 0.7, 0.6])
    corners, colours = [], []
    for part in parts:
        world = part.solid.vertices @ R[part.body].T + motion.position[i, part.body]
        triangles = world[part.solid.faces]
        normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-15)
        facing = normal @ camera[2] > 0.0
        shade = 0.45 + 0.55 * np.clip(normal @ light, 0.0, 1.0)
        rgba = np.column_stack([shade[:, None] * part.rgba[:3], np.full(len(shade), part.rgba[3] * opacity)])
        corners.append(triangles[facing] @ camera.T)
        colours.append(rgba[facing])
    every, colour = np.concatenate(corners), np.concatenate(colours)
    order = np.argsort(every[..., 2].mean(axis=1))
    colour = colour[order]
    line = 0.3 if opacity == 1.0 else 0.0
    outlines = list(every[order][..., :2])
    axes.add_collection(PolyCollection(outlines, facecolors=colour, edgecolors=colour, linewidths=line))


def _frame(axes: Any, low: np.ndarray, high: np.ndarray, view) -> None:
    """The same limits for every picture of a motion, equal scales, no ticks, and a line for the ground."""
    camera = _camera(view)
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    seen = corners @ camera.T[:, :2]
    margin = 0.05 * np.ptp(seen, axis=0).max()
    axes.set(xlim=(seen[:, 0].min() - margin, seen[:, 0].max() + margin))
    axes.set(ylim=(seen[:, 1].min() - margin, seen[:, 1].max() + margin))
    axes.set_aspect("equal")
    axes.set_axis_off()
