"""Random trees, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from ... import joints as kinds
from ...joints import AbstractJoint
from ..builder import BodyInertia, ModelBuilder, Placement
from ..model import Model


def every_joint() -> tuple[AbstractJoint, ...]:
    """One joint of each kind."""
    return (
        kinds.Free(),
        kinds.Revolute((0.3, -0.5, 0.8)),
        kinds.Prismatic((0.2, 0.9, -0.4)),
        kinds.Helical((0.1, 0.2, 1.0), 0.3),
        kinds.Cylindrical("x"),
        kinds.Planar(),
        kinds.Translational(),
        kinds.Universal(),
        kinds.Spherical(),
        kinds.EulerSpherical("ZXZ"),
        kinds.ExponentialSpherical(),
        kinds.Free2D(),
        kinds.Composite(kinds.Spherical(), kinds.Prismatic("z")),
        kinds.SplineCurve([(np.cos(t), np.sin(t), 0.2 * t) for t in range(5)], [(1, 0.2 * t, 0, 0) for t in range(5)]),
        kinds.SplineSurface([[(x, y, np.sin(x + y)) for y in range(5)] for x in range(5)]),
        kinds.Fixed(),
    )


def random_tree(
    n: int, key: jax.Array | int, joints: Sequence[AbstractJoint] | None = None, branching: float = 0.5
) -> Model:
    """A tree of n bodies of random mass and shape, at random places, with random parents.

    Args:
        n: the number of bodies.
        key: a random key, or a number to make one of.
        joints: the joints, used in turn; by default one of each kind, so that with n ≥ 16 all occur.
        branching: the chance that a body hangs on a random earlier body rather than on the one before.
    """
    data = key if isinstance(key, int) else np.asarray(jax.random.key_data(key)).tolist()
    rng = np.random.default_rng(data)
    kinds_in_turn = every_joint() if joints is None else tuple(joints)
    builder = ModelBuilder(gravity=rng.normal(size=3) * 5.0)
    for i in range(n):
        parent = int(rng.integers(0, i + 1)) if rng.random() < branching else i
        quaternion = rng.normal(size=4)
        # the principal moments of a random cloud of points satisfy the triangle inequality
        points = rng.normal(size=(4, 3)) * 0.3
        mass = float(rng.uniform(0.5, 2.0))
        inertia = mass * (np.sum(points**2) * np.eye(3) - points.T @ points)
        builder.add_body(
            f"body{i + 1}",
            parent,
            kinds_in_turn[i % len(kinds_in_turn)],
            Placement(tuple(rng.uniform(-0.5, 0.5, 3)), quaternion),
            BodyInertia(mass, tuple(rng.uniform(-0.3, 0.3, 3)), inertia),
        )
    return builder.build()
