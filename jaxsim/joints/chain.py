"""Joints made of joints: a chain with massless bodies in between."""

from __future__ import annotations

import abc
from collections.abc import Iterator

import jax

from ..spatial import Motion, Pose, Scalar
from .base import AbstractJoint, Components


class AbstractChain(AbstractJoint):
    """A joint whose transform is the product T = T₁(q₁) T₂(q₂) … of its links' (Sueda, §2.5.9).

    The coordinates of the links follow each other in q and in v. All answers come from the parts, so that a chain of
    chains costs no more than one long chain.
    """

    @abc.abstractmethod
    def links(self) -> tuple[AbstractJoint, ...]:
        """The joints of the chain, from parent to child."""

    def parts(self) -> tuple[AbstractJoint, ...]:
        return tuple(part for link in self.links() for part in link.parts())

    @property
    def nq(self) -> int:
        return sum(link.nq for link in self.links())

    @property
    def nv(self) -> int:
        return sum(link.nv for link in self.links())

    @property
    def is_euclidean(self) -> bool:
        return all(link.is_euclidean for link in self.links())

    def transform(self, q: Components) -> Pose:
        pose = Pose.identity()
        for part, q_i in self._split(q):
            pose = pose @ part.transform(q_i)
        return pose

    def subspace(self, q: Components) -> tuple[Motion, ...]:
        """S = (Ad(T₂)⁻¹ S₁, S₂), eq. 2.54, part after part."""
        columns: tuple[Motion, ...] = ()
        for part, q_i in self._split(q):
            columns = _carried(part.transform(q_i), columns) + part.subspace(q_i)
        return columns

    def subspace_derivative(self, q: Components) -> tuple[tuple[Motion, ...], ...]:
        """Earlier columns turn with the later parts, ∂(Ad(T₂)⁻¹ S₁)/∂q₂ = −S₂ × Ad(T₂)⁻¹ S₁ (eqs. 2.55–2.58)."""
        columns: tuple[Motion, ...] = ()
        rows: tuple[tuple[Motion, ...], ...] = ()
        for part, q_i in self._split(q):
            pose, own = part.transform(q_i), part.subspace(q_i)
            moved = _carried(pose, columns)
            unmoved = tuple(Motion.zero() for _ in moved)
            earlier = tuple(
                _carried(pose, row) + tuple(S.cross(own_S) for own_S in own) for row, S in zip(rows, moved, strict=True)
            )
            rows = earlier + tuple(unmoved + row for row in part.subspace_derivative(q_i))
            columns = moved + own
        return rows

    def integrate(self, q: Components, dv: Components) -> tuple[Scalar, ...]:
        result: tuple[Scalar, ...] = ()
        at = 0
        for part, q_i in self._split(q):
            result += part.integrate(q_i, dv[at : at + part.nv])
            at += part.nv
        return result

    def difference(self, q0: Components, q1: Components) -> tuple[Scalar, ...]:
        pairs = zip(self._split(q0), self._split(q1), strict=True)
        return tuple(d for (part, a), (_, b) in pairs for d in part.difference(a, b))

    def neutral(self) -> tuple[Scalar, ...]:
        return tuple(component for link in self.links() for component in link.neutral())

    def random(self, key: jax.Array) -> tuple[Scalar, ...]:
        links = self.links()
        keys = jax.random.split(key, len(links))
        return tuple(component for link, k in zip(links, keys, strict=True) for component in link.random(k))

    def _split(self, q: Components) -> Iterator[tuple[AbstractJoint, Components]]:
        """Each part with its own coordinates."""
        at = 0
        for part in self.parts():
            yield part, q[at : at + part.nq]
            at += part.nq


def _carried(pose: Pose, motions: tuple[Motion, ...]) -> tuple[Motion, ...]:
    """The motions in the child frame of ``pose``."""
    return tuple(pose.inv() @ motion for motion in motions)
