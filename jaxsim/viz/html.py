"""A trajectory as one HTML file that plays anywhere, offline: the motion, the shapes and three.js in one page."""

from __future__ import annotations

import base64
import html
import json
from importlib import resources
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from ..maximal import Mechanism
from ..model import Model
from ..rollout import Trajectory
from .scene import Motion, Part, bounds, motion_of, parts_of

VIEW = (0.55, -0.75, 0.35)
"""The direction from which the camera looks at first; z is up."""


def save_html(
    model: Model | Mechanism,
    trajectory: Trajectory | Any,
    path: str | PathLike,
    *,
    title: str = "jaxsim",
    appearance: Model | None = None,
    frames_per_second: float = 60.0,
) -> Path:
    """Write a page that plays a trajectory, x_world = R_body(t) x + p_body(t) for every part; returns its path.

    The page needs no network and no server; it has play, pause, speed and a slider for the time.

    Args:
        model: the model, or a mechanism.
        trajectory: one world's trajectory, or its configurations.
        path: where to write the file.
        title: what stands above the picture.
        appearance: the model whose shapes a mechanism made from it shall wear.
        frames_per_second: how many frames to keep of each second; the page interpolates between them.
    """
    target = Path(path)
    page = page_of(parts_of(model, appearance), motion_of(model, trajectory, frames_per_second), title)
    target.write_text(page, encoding="utf-8")
    return target


def show(model: Model | Mechanism, trajectory: Trajectory | Any, *, height: int = 420, **options) -> Any:
    """The player of ``save_html`` inside a notebook, as an object that the notebook displays.

    Args:
        model: the model, or a mechanism.
        trajectory: one world's trajectory, or its configurations.
        height: the height of the picture, in pixels.
        options: as of ``save_html``: ``title``, ``appearance``, ``frames_per_second``.
    """
    motion = motion_of(model, trajectory, options.get("frames_per_second", 60.0))
    page = page_of(parts_of(model, options.get("appearance")), motion, options.get("title", ""))
    return Frame(page, height)


class Frame:
    """A page in a frame of a notebook."""

    def __init__(self, page: str, height: int, name: str = ""):
        self._page, self._height, self._name = page, height, name

    def _repr_html_(self) -> str:
        name = f' id="{self._name}"' if self._name else ""
        style = f'width="100%" height="{self._height}" style="border: 0"'
        return f'<iframe{name} {style} srcdoc="{html.escape(self._page)}"></iframe>'


def page_of(parts: list[Part], motion: Motion, title: str, *, live: bool = False) -> str:
    """The page with all its data inside."""
    low, high = bounds(parts, motion)
    data = {
        "bodies": motion.position.shape[1],
        "parts": [_part(part) for part in parts],
        "t": _packed(motion.t, "<f4"),
        "poses": _packed(pose_rows(motion), "<f4"),
        "center": ((low + high) / 2.0).tolist(),
        "radius": float(max(np.linalg.norm(high - low) / 2.0, 1e-2)),
        "ground": float(low[2]),
        "view": VIEW,
        "live": live,
    }
    page = Template(_resource("player.html"))
    # "</" inside a script would end it
    text = json.dumps(data, allow_nan=False).replace("</", "<\\/")
    scripts = {"three": _resource("three.min.js"), "player": _resource("player.js")}
    return page.substitute(title=html.escape(title), data=text, **scripts)


def pose_rows(motion: Motion) -> np.ndarray:
    """Position and quaternion wxyz of every body, (T, nb, 7)."""
    rows = np.concatenate([motion.position, motion.quaternion], axis=-1)
    if not np.all(np.isfinite(rows)):
        raise ValueError("The trajectory has entries that are not finite; simulate with check=True to find the step.")
    return rows


def _part(part: Part) -> dict:
    vertices, faces = _packed(part.solid.vertices, "<f4"), _packed(part.solid.faces, "<u4")
    return {"body": part.body, "rgba": [float(x) for x in part.rgba], "vertices": vertices, "faces": faces}


def _packed(values: np.ndarray, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")


def _resource(name: str) -> str:
    return (resources.files("jaxsim.viz") / name).read_text(encoding="utf-8")
