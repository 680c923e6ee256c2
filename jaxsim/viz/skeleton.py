"""What to draw for bodies without shapes: rods between joints, and boxes with the body's own inertia."""

from __future__ import annotations

import numpy as np

from ..maximal import Mechanism
from ..maximal.contact import CapsuleOnCapsule, SphereOnPlane
from ..model import Model
from .solids import Solid, box, rod, sphere


def model_skeleton(model: Model) -> list[tuple[int, Solid]]:
    """For each body a rod to every joint that it carries, or else to its far end, or a box of its inertia."""
    position, com = np.asarray(model.position), np.asarray(model.com)
    parents = np.asarray(model.topology.parents)
    drawn: list[tuple[int, Solid]] = []
    for body in range(1, model.num_bodies):
        children = [child for child in range(1, model.num_bodies) if parents[child] == body]
        ends = [position[child] for child in children] if children else [2.0 * com[body]]
        solids = _bones(np.zeros(3), ends)
        filled = inertia_box(model.mass[body], com[body], model.inertia[body])
        if filled is not None and (not solids or len(ends) > 2):
            low, high = filled.vertices.min(axis=0), filled.vertices.max(axis=0)
            outside = [end for end in ends if np.any(end < low) or np.any(end > high)]
            solids = [filled, *_bones(np.zeros(3), outside)]
        drawn += [(body, solid) for solid in solids]
    return drawn


def mechanism_skeleton(mechanism: Mechanism) -> list[tuple[int, Solid]]:
    """For each body its contact shapes and rods to its joints, or a box of its inertia."""
    solids: list[tuple[int, Solid]] = []
    anchors: dict[int, list[np.ndarray]] = {body: [] for body in range(mechanism.num_bodies)}
    joints = mechanism.joints
    for side, points in ((joints.parent, joints.anchor_a), (joints.child, joints.anchor_b)):
        for body, point in zip(side, np.asarray(points), strict=True):
            anchors.get(body, []).append(point)
    touches = _contact_shapes(mechanism)
    for body, points in anchors.items():
        shapes = [solid for owner, solid in touches if owner == body]
        ends = [*points, -points[0]] if len(points) == 1 else points
        bones = [] if shapes and not points else _bones(np.zeros(3), ends)
        if not bones and (not shapes or len(shapes) > 3):
            filled = inertia_box(mechanism.mass[body], np.zeros(3), mechanism.inertia[body])
            shapes = shapes if filled is None else [filled]
        solids += [(body, solid) for solid in [*shapes, *bones]]
    return solids


def inertia_box(mass, com, inertia) -> Solid | None:
    """The uniform box of the same mass and inertia: the square of an edge is 6(I₂ + I₃ − I₁)/m; none without mass."""
    if not float(mass) > 0.0:
        return None
    moments, axes = np.linalg.eigh(np.asarray(inertia))
    edges = np.sqrt(np.maximum(6.0 * (np.sum(moments) - 2.0 * moments) / float(mass), 1e-8))
    return box(edges).moved(axes * np.linalg.det(axes), np.asarray(com))


def _bones(start: np.ndarray, ends) -> list[Solid]:
    bones = []
    for end in ends:
        length = float(np.linalg.norm(np.asarray(end) - start))
        if length > 1e-3:
            bones.append(rod(start, end, 0.06 * length if length < 1.0 else 0.04 * length**0.5))
    return bones


def _contact_shapes(mechanism: Mechanism) -> list[tuple[int, Solid]]:
    shapes: list[tuple[int, Solid]] = []
    for group in mechanism.contacts:
        if isinstance(group, SphereOnPlane):
            for body, center, radius in zip(group.body_b, np.asarray(group.center), group.radius, strict=True):
                shapes.append((body, sphere(max(float(radius), 0.01)).moved(np.eye(3), center)))
        if isinstance(group, CapsuleOnCapsule):
            sides = (
                (group.body_a, group.center_a, group.half_a, group.radius_a),
                (group.body_b, group.center_b, group.half_b, group.radius_b),
            )
            for bodies, centers, halves, radii in sides:
                for body, c, h, r in zip(bodies, np.asarray(centers), np.asarray(halves), radii, strict=True):
                    shapes.append(
                        (body, rod(c - h, c + h, float(r)) if np.any(h) else sphere(float(r)).moved(np.eye(3), c))
                    )
    return shapes
