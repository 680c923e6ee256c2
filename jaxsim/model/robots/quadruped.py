"""A quadruped."""

from __future__ import annotations

from ...joints import Free, Revolute
from ..builder import BodyInertia, ModelBuilder
from ..model import Model


def quadruped(floating: bool = True) -> Model:
    """A trunk on four legs of three joints each (hip about x, thigh and knee about y), 12 kg in all.

    Args:
        floating: whether the trunk moves freely (18 degrees of freedom) or is fixed to the world (12).
    """
    builder = ModelBuilder()
    trunk = builder.add_body(
        "trunk", 0, Free() if floating else None, inertia=BodyInertia.box(6.0, (0.4, 0.2, 0.1)), joint_name="root"
    )
    for name, x, y in (("FL", 1, 1), ("FR", 1, -1), ("RL", -1, 1), ("RR", -1, -1)):
        hip = builder.add_body(
            f"{name}_hip",
            trunk,
            Revolute("x"),
            (0.18 * x, 0.05 * y, 0.0),
            BodyInertia.rod(0.6, (0.0, 0.08 * y, 0.0), 0.04),
            lower=-0.8,
            upper=0.8,
            effort_limit=33.5,
            velocity_limit=21.0,
        )
        thigh = builder.add_body(
            f"{name}_thigh",
            hip,
            Revolute("y"),
            (0.0, 0.08 * y, 0.0),
            BodyInertia.rod(0.75, (0.0, 0.0, -0.2), 0.03),
            lower=-1.0,
            upper=4.2,
            effort_limit=33.5,
            velocity_limit=21.0,
        )
        builder.add_body(
            f"{name}_calf",
            thigh,
            Revolute("y"),
            (0.0, 0.0, -0.2),
            BodyInertia.rod(0.15, (0.0, 0.0, -0.2), 0.015),
            lower=-2.7,
            upper=-0.9,
            effort_limit=33.5,
            velocity_limit=21.0,
        )
    return builder.build()
