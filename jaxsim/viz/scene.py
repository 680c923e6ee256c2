"""What there is to draw of a model or a mechanism, and where it is at which time."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import jax
import numpy as np

from ..dynamics import forward_kinematics
from ..maximal import Mechanism
from ..model import Model
from ..model.geometry import Geometry
from ..rollout import Trajectory
from ..spatial import Mat3, Quaternion
from . import solids
from .meshes import read_mesh
from .skeleton import mechanism_skeleton, model_skeleton
from .solids import Solid

PALETTE = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f", "#bab0ac")


@dataclasses.dataclass(frozen=True)
class Part:
    """A solid in the frame of a body, and its colour as red, green, blue, opacity in [0, 1]."""

    body: int
    solid: Solid
    rgba: tuple[float, float, float, float]


@dataclasses.dataclass(frozen=True)
class Motion:
    """Where the bodies are: positions (T, nb, 3) and quaternions wxyz (T, nb, 4), at the times t (T,)."""

    t: np.ndarray
    position: np.ndarray
    quaternion: np.ndarray


def parts_of(model: Model | Mechanism, appearance: Model | None = None) -> list[Part]:
    """The parts to draw: the model's visual shapes, or rods and boxes where it has none.

    Args:
        model: a model or a mechanism.
        appearance: the model whose shapes a mechanism made by ``Mechanism.from_model`` shall wear.
    """
    if isinstance(model, Mechanism):
        if appearance is None:
            return _coloured(mechanism_skeleton(model))
        com = np.asarray(appearance.com)
        worn = [(part, Solid(part.solid.vertices - com[part.body], part.solid.faces)) for part in parts_of(appearance)]
        return [Part((part.body - 1) % (model.num_bodies + 1), solid, part.rgba) for part, solid in worn]
    return _shapes(model.geometry) or _coloured(model_skeleton(model))


def motion_of(model: Model | Mechanism, trajectory: Trajectory | Any, frames_per_second: float | None = None) -> Motion:
    """The poses of the bodies along a trajectory, the world among them, thinned out to a frame rate.

    A trajectory may also be an array of configurations, (T, nq) or (T, nb, 7), one of a second each.
    """
    q = np.asarray(getattr(trajectory, "q", trajectory))
    t = np.asarray(getattr(trajectory, "t", np.arange(float(len(q)))))
    if q.ndim != (3 if isinstance(model, Mechanism) else 2):
        raise ValueError(f"The configurations have shape {q.shape}; give those of one world, without a batch axis.")
    if frames_per_second is not None and len(t) > 2:
        wanted = np.linspace(t[0], t[-1], max(min(len(t), round((t[-1] - t[0]) * frames_per_second) + 1), 2))
        keep = np.unique(np.searchsorted(t, wanted - 1e-9 * max(abs(t[-1]), 1.0)).clip(0, len(t) - 1))
        q, t = q[keep], t[keep]
    if isinstance(model, Mechanism):
        world = np.broadcast_to(np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), (len(q), 1, 7))
        q = np.concatenate([q, world], axis=1)
        return Motion(t, q[..., :3], q[..., 3:])
    poses = _poses(model, q)
    quaternion = Quaternion.from_matrix(Mat3.from_array(poses.rotation)).to_array()
    return Motion(t, np.asarray(poses.position), np.asarray(quaternion))


def rotation_matrices(quaternion: np.ndarray) -> np.ndarray:
    """The rotation matrices (..., 3, 3) of unit quaternions wxyz."""
    return np.asarray(Quaternion.from_array(quaternion).to_matrix().to_array())


def bounds(parts: list[Part], motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """The lower and upper corner of all that is drawn, over some thirty frames."""
    frames = np.unique(np.linspace(0, len(motion.t) - 1, 30).astype(int))
    R, p = rotation_matrices(motion.quaternion[frames]), motion.position[frames]
    finite = [part for part in parts if np.ptp(part.solid.vertices, axis=0).max(initial=0.0) < _GROUND]
    points = [
        np.einsum("tij,nj->tni", R[:, part.body], part.solid.vertices) + p[:, None, part.body] for part in finite
    ] or [p]
    every = np.concatenate([x.reshape(-1, 3) for x in points])
    return every.min(axis=0), every.max(axis=0)


_poses = jax.jit(jax.vmap(forward_kinematics, in_axes=(None, 0)))

_GROUND = 50.0
"""The extent of what stands for an infinite plane, in metres."""


def _shapes(geometry: Geometry) -> list[Part]:
    visible = [i for i, shape in enumerate(geometry.shapes) if shape.visual] or list(range(len(geometry)))
    parts, unread = [], []
    for i in visible:
        shape = geometry.shapes[i]
        size = np.asarray(geometry.size[i])
        try:
            solid = read_mesh(shape.mesh, size) if shape.mesh is not None else _SOLIDS[shape.kind](size)
        except (ImportError, OSError, ValueError) as error:
            unread.append(str(error))
            continue
        R = rotation_matrices(np.asarray(geometry.orientation[i]))
        colour = shape.rgba if shape.rgba is not None else _colour(shape.body)
        parts.append(Part(shape.body, solid.moved(R, np.asarray(geometry.position[i])), colour))
    if unread:
        warnings.warn(f"{len(unread)} shapes are not drawn: {unread[0]}", stacklevel=4)
    return parts


_SOLIDS = {
    "box": solids.box,
    "sphere": lambda size: solids.sphere(size[0]),
    "cylinder": lambda size: solids.cylinder(size[0], size[1]),
    "capsule": lambda size: solids.capsule(size[0], size[1]),
    "ellipsoid": solids.ellipsoid,
    "plane": lambda size: solids.plane(_GROUND),
}


def _coloured(drawn: list[tuple[int, Solid]]) -> list[Part]:
    return [Part(body, solid, _colour(body)) for body, solid in drawn]


def _colour(body: int) -> tuple[float, float, float, float]:
    code = PALETTE[body % len(PALETTE)]
    red, green, blue = (int(code[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return red, green, blue, 1.0
