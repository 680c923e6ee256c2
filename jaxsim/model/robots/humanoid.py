"""A humanoid."""

from __future__ import annotations

from ...joints import Free, Revolute
from ..builder import BodyInertia, ModelBuilder
from ..model import Model

_LEG = (
    # name, axis, position in the parent's frame, rod, mass; y is mirrored for the right side
    ("hip_yaw", "z", (0.0, 0.09, -0.05), (0.0, 0.0, -0.05), 1.0),
    ("hip_roll", "x", (0.0, 0.0, -0.05), (0.0, 0.0, -0.05), 1.0),
    ("thigh", "y", (0.0, 0.0, -0.05), (0.0, 0.0, -0.38), 5.5),
    ("shin", "y", (0.0, 0.0, -0.38), (0.0, 0.0, -0.38), 3.5),
    ("ankle", "y", (0.0, 0.0, -0.38), (0.0, 0.0, -0.04), 0.4),
    ("foot", "x", (0.0, 0.0, -0.04), (0.12, 0.0, -0.03), 1.2),
)
_ARM = (
    ("shoulder_pitch", "y", (0.0, 0.16, 0.35), (0.0, 0.05, 0.0), 0.8),
    ("shoulder_roll", "x", (0.0, 0.05, 0.0), (0.0, 0.0, -0.06), 0.8),
    ("upper_arm", "z", (0.0, 0.0, -0.06), (0.0, 0.0, -0.22), 1.6),
    ("forearm", "y", (0.0, 0.0, -0.22), (0.0, 0.0, -0.12), 0.9),
    ("wrist_yaw", "z", (0.0, 0.0, -0.12), (0.0, 0.0, -0.1), 0.6),
    ("wrist_pitch", "y", (0.0, 0.0, -0.1), (0.0, 0.0, -0.03), 0.2),
    ("hand", "x", (0.0, 0.0, -0.03), (0.0, 0.0, -0.15), 0.5),
)


def humanoid(floating: bool = True) -> Model:
    """A body of 30 links: pelvis, two spine joints, neck, legs of six joints and arms of seven; 64 kg.

    Args:
        floating: whether the pelvis moves freely (35 degrees of freedom) or is fixed to the world (29).
    """
    builder = ModelBuilder()
    root = Free() if floating else None
    pelvis = builder.add_body("pelvis", 0, root, inertia=BodyInertia.box(8.0, (0.2, 0.25, 0.15)), joint_name="root")
    waist = builder.add_body("waist", pelvis, Revolute("z"), (0.0, 0.0, 0.08), BodyInertia.rod(2.0, (0, 0, 0.08), 0.08))
    chest = builder.add_body(
        "chest", waist, Revolute("y"), (0.0, 0.0, 0.08), BodyInertia.box(14.0, (0.2, 0.3, 0.4), (0.0, 0.0, 0.2))
    )
    builder.add_body("head", chest, Revolute("y"), (0.0, 0.0, 0.45), BodyInertia.sphere(4.0, 0.1, (0.0, 0.0, 0.12)))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        _limb(builder, pelvis, side, sign, _LEG)
        _limb(builder, chest, side, sign, _ARM)
    return builder.build()


def _limb(builder: ModelBuilder, parent: int, side: str, sign: float, links) -> None:
    for name, axis, (x, y, z), (rx, ry, rz), mass in links:
        rod = BodyInertia.rod(mass, (rx, sign * ry, rz), 0.04)
        parent = builder.add_body(f"{side}_{name}", parent, Revolute(axis), (x, sign * y, z), rod)
