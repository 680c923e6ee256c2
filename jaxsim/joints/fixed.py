"""Fixed joint: no freedom at all."""

from __future__ import annotations

import jax

from ..spatial import Motion, Pose, Scalar
from .base import Components
from .euclidean import AbstractEuclideanJoint


class Fixed(AbstractEuclideanJoint):
    """The child frame stays on the parent frame (Sueda, §2.5.1)."""

    @property
    def nv(self) -> int:
        return 0

    def transform(self, q: Components) -> Pose:
        return Pose.identity()

    def subspace(self, q: Components) -> tuple[Motion, ...]:
        return ()

    def subspace_derivative(self, q: Components) -> tuple[tuple[Motion, ...], ...]:
        return ()

    def neutral(self) -> tuple[Scalar, ...]:
        return ()

    def random(self, key: jax.Array) -> tuple[Scalar, ...]:
        return ()
