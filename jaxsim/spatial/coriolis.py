"""The Coriolis matrix of a rigid body, in the twelve numbers that it consists of."""

from __future__ import annotations

import dataclasses

import jax

from .inertia import Inertia
from .matrix import Mat3, Sym3
from .motion import Force, Motion
from .vector import Vec3


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Coriolis:
    """2B[x; I] = x×*I − I x× + (I x)×̄*, twice the body-level Coriolis matrix (Singh et al. 2022, eq. 6).

    With x = (ω, u) and I = (m, h, J) it is [[K, 0], [−2[l]×, 0]], where l = m u + ω×h and
    K = [ω]×J − J[ω]× − [u]×[h]× − [h]×[u]× − [Jω + h×u]×. It is linear in x and in I, so those in a common frame add.
    """

    K: Mat3
    l: Vec3

    @staticmethod
    def of(x: Motion, inertia: Inertia) -> Coriolis:
        """2B[x; I]."""
        w, u = x.angular, x.linear
        h, J = inertia.first_moment, inertia.second_moment.to_matrix()
        turned = Mat3.skew(w).matmul(J)
        symmetric = turned + turned.T + (Sym3.cross_cross(u, h) * 2.0).to_matrix()
        return Coriolis(symmetric - Mat3.skew(J.apply(w) + h.cross(u)), u * inertia.mass + w.cross(h))

    @staticmethod
    def zero() -> Coriolis:
        """The matrix 0."""
        return Coriolis(Mat3.identity() * 0.0, Vec3.zero())

    def __add__(self, other: Coriolis) -> Coriolis:
        return Coriolis(self.K + other.K, self.l + other.l)

    def apply(self, m: Motion) -> Force:
        """2B m = (K ω, −2 l×ω)."""
        return Force(self.K.apply(m.angular), self.l.cross(m.angular) * -2.0)

    def apply_transposed(self, m: Motion) -> Vec3:
        """The moment of (2B)ᵀ m, Kᵀω + 2 l×u; its linear part vanishes."""
        return self.K.apply_transposed(m.angular) + self.l.cross(m.linear) * 2.0

    def rate(self, s: Motion) -> Coriolis:
        """s×*2B − 2B s×: how the matrix changes while its bodies move along the screw s with their velocities."""
        turn = Mat3.skew(s.angular)
        K = turn.matmul(self.K) - self.K.matmul(turn) - Mat3.skew(s.linear).matmul(Mat3.skew(self.l)) * 2.0
        return Coriolis(K, s.angular.cross(self.l))
