"""A seven-axis arm."""

from __future__ import annotations

from ...joints import Revolute
from ..builder import BodyInertia, ModelBuilder
from ..model import Model

_LINKS = (
    # name, axis, position in the parent's frame, rod, mass, effort limit
    ("shoulder_yaw", "z", (0.0, 0.0, 0.15), (0.0, 0.0, 0.2), 3.5, 180.0),
    ("shoulder_pitch", "y", (0.0, 0.0, 0.2), (0.0, 0.0, 0.2), 3.5, 180.0),
    ("upper_roll", "z", (0.0, 0.0, 0.2), (0.0, 0.0, 0.2), 2.5, 100.0),
    ("elbow", "y", (0.0, 0.0, 0.2), (0.05, 0.0, 0.2), 2.5, 100.0),
    ("fore_roll", "z", (0.05, 0.0, 0.2), (-0.05, 0.0, 0.2), 1.8, 100.0),
    ("wrist", "y", (-0.05, 0.0, 0.2), (0.08, 0.0, 0.05), 1.2, 40.0),
    ("flange", "z", (0.08, 0.0, 0.05), (0.0, 0.0, 0.1), 0.5, 40.0),
)


def arm() -> Model:
    """An arm of seven revolute joints, about as large and strong as common collaborative robots; q = 0 stands up."""
    builder = ModelBuilder()
    parent = 0
    for name, axis, position, rod, mass, effort in _LINKS:
        inertia = BodyInertia.rod(mass, rod, 0.06)
        parent = builder.add_body(
            name,
            parent,
            Revolute(axis),
            position,
            inertia,
            lower=-2.9,
            upper=2.9,
            velocity_limit=3.0,
            effort_limit=effort,
        )
    return builder.build()
