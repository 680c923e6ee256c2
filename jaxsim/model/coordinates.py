"""What a joint's coordinates carry besides the joint: springs, dampers, rotors, friction and limits."""

from __future__ import annotations

import numpy as np

from ..joints import AbstractJoint

PER_VELOCITY = {
    "stiffness": 0.0,
    "damping": 0.0,
    "armature": 0.0,
    "friction": 0.0,
    "velocity_limit": np.inf,
    "effort_limit": np.inf,
}
PER_COORDINATE: dict[str, float | None] = {"lower": -np.inf, "upper": np.inf, "spring_reference": None}


def check_coordinates(name: str, joint: AbstractJoint, given: dict) -> dict[str, np.ndarray]:
    """All data of the coordinates of one joint, with defaults; a single number serves every coordinate."""
    unknown = sorted(set(given) - set(PER_VELOCITY) - set(PER_COORDINATE))
    if unknown:
        known = ", ".join(sorted((*PER_VELOCITY, *PER_COORDINATE)))
        raise ValueError(f"add_body({name!r}) does not know {', '.join(unknown)}; it takes {known}.")
    result = {}
    for field, default in (*PER_VELOCITY.items(), *PER_COORDINATE.items()):
        size = joint.nv if field in PER_VELOCITY else joint.nq
        default = np.asarray([float(c) for c in joint.neutral()]) if default is None else default
        value = np.asarray(given.get(field, default), dtype=float)
        if value.shape not in ((), (size,)) or np.any(np.isnan(value)):
            raise ValueError(f"{field} of {name!r} is {given[field]!r}; give one number or {size}, none of them NaN.")
        if field in PER_VELOCITY and np.any(value < 0):
            raise ValueError(f"{field} of {name!r} is {given[field]!r}; it must not be negative.")
        result[field] = np.broadcast_to(value, (size,))
    if np.any(result["lower"] > result["upper"]):
        raise ValueError(f"The lower limit of {name!r} exceeds the upper one: {result['lower']} > {result['upper']}.")
    return result
