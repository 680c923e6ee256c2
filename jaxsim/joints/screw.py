"""Joints that move along one constant screw."""

from __future__ import annotations

import abc

from ..spatial import Motion, Pose, Scalar
from .base import Components
from .basis import constant_subspace
from .euclidean import AbstractEuclideanJoint


class AbstractScrewJoint(AbstractEuclideanJoint):
    """A joint of one degree of freedom with T = exp(S q) and constant S, so that Ṡ = 0."""

    @property
    def nv(self) -> int:
        return 1

    @abc.abstractmethod
    def screw(self) -> Motion:
        """The constant screw S."""

    @abc.abstractmethod
    def transform(self, q: Components) -> Pose: ...

    def subspace(self, q: Components) -> tuple[Motion, ...]:
        return (self.screw(),)

    def subspace_derivative(self, q: Components) -> tuple[tuple[Motion, ...], ...]:
        return constant_subspace(1)

    def neutral(self) -> tuple[Scalar, ...]:
        return (0.0,)
