"""Rigid-body and articulated-body inertias (Featherstone 2008, §2.13 and §7.1)."""

from __future__ import annotations

import dataclasses

import jax

from .matrix import Mat3, Sym3
from .motion import Force, Motion
from .pose import Pose
from .vector import Scalar, Vec3, add


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Inertia:
    """The inertia of a rigid body in some frame, in its ten linear parameters.

    I = [[J, [h]×], [−[h]×, m𝟙]] with h = m c the first moment and J the second moment about the frame's origin.
    Being linear in (m, h, J), inertias in a common frame add.
    """

    mass: Scalar
    first_moment: Vec3
    second_moment: Sym3

    @staticmethod
    def from_center(mass: Scalar, com: Vec3, about_com: Sym3) -> Inertia:
        """From the mass, the centre of mass c and the rotational inertia about it: J = J_c − m[c]×²."""
        return Inertia(mass, com * mass, about_com + Sym3.cross_cross(com, com) * mass)

    @staticmethod
    def zero() -> Inertia:
        """The inertia 0."""
        return Inertia(0.0, Vec3.zero(), Sym3.zero())

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(
            add(self.mass, other.mass),
            self.first_moment + other.first_moment,
            self.second_moment + other.second_moment,
        )

    def apply(self, m: Motion) -> Force:
        """The momentum I m = (J ω + h×v, m v − h×ω)."""
        h = self.first_moment
        return Force(
            self.second_moment.apply(m.angular) + h.cross(m.linear),
            m.linear * self.mass - h.cross(m.angular),
        )

    def transformed(self, pose: Pose) -> Inertia:
        """The same inertia in the parent frame of ``pose``.

        h' = R h + m p and J' = R J Rᵀ − 2 sym([p]×[R h]×) − m [p]×².
        """
        R, p = pose.rotation, pose.position
        h = R.apply(self.first_moment)
        moved = h + p * self.mass
        J = Sym3.congruence(R, self.second_moment) + Sym3.cross_cross(p, h + moved)
        return Inertia(self.mass, moved, J)

    def rate(self, s: Motion) -> Inertia:
        """s×*I − I s×: how the inertia changes while its bodies move along the screw s.

        ḣ = ω×h + m u and J̇ = [ω]×J − J[ω]× − [u]×[h]× − [h]×[u]×; the mass stays.
        """
        turned = Mat3.skew(s.angular).matmul(self.second_moment.to_matrix())
        J = Sym3.upper(turned + turned.T) + Sym3.cross_cross(s.linear, self.first_moment) * 2.0
        return Inertia(0.0, s.angular.cross(self.first_moment) + s.linear * self.mass, J)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ArticulatedInertia:
    """A general symmetric spatial inertia [[J, H], [Hᵀ, M]]: 21 components."""

    J: Sym3
    H: Mat3
    M: Sym3

    @staticmethod
    def from_inertia(inertia: Inertia) -> ArticulatedInertia:
        """A rigid body's inertia seen as an articulated one."""
        return ArticulatedInertia(inertia.second_moment, Mat3.skew(inertia.first_moment), Sym3.diagonal(inertia.mass))

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.J + other.J, self.H + other.H, self.M + other.M)

    def apply(self, m: Motion) -> Force:
        """I m."""
        return Force(
            self.J.apply(m.angular) + self.H.apply(m.linear),
            self.H.apply_transposed(m.angular) + self.M.apply(m.linear),
        )

    def minus_outer(self, U: Force, scale: Scalar) -> ArticulatedInertia:
        """I − scale · U Uᵀ, the inertia left after a joint has been eliminated (Featherstone 2008, eq. 7.43)."""
        w, f = U.angular * scale, U.linear
        J = self.J - Sym3.outer_symmetric(w, U.angular)
        return ArticulatedInertia(J, self.H - Mat3.outer(w, f), self.M - Sym3.outer(f) * scale)

    def transformed(self, pose: Pose) -> ArticulatedInertia:
        """The same inertia in the parent frame of ``pose`` (Featherstone 2008, eq. 2.66).

        With rotated blocks J, H, M: H' = H + [p]×M and J' = J + sym part of [p]×Hᵀ − H'[p]×.
        """
        R, p = pose.rotation, pose.position
        M = Sym3.congruence(R, self.M)
        J = Sym3.congruence(R, self.J)
        H = R.matmul(self.H).matmul(R.T)
        px = Mat3.skew(p)
        moved = H + px.matmul(M.to_matrix())
        # J + [p]×Hᵀ + ([p]×Hᵀ)ᵀ − [p]×M[p]× = J + [p]×Hᵀ − H'[p]×, symmetric by construction
        correction = px.matmul(H.T) - moved.matmul(px)
        return ArticulatedInertia(J + Sym3.upper(correction), moved, M)
