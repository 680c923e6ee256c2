"""Rigid motions: exp, log and their differentials on twists (ω, v), smooth at zero and safe at π."""

from __future__ import annotations

from . import so3
from .motion import Motion
from .pose import Pose
from .quaternion import Quaternion
from .stumpff import stumpff
from .vector import Vec3


def exp(m: Motion) -> Pose:
    """exp(ω, v) = (exp[ω]×, J v) with J the left Jacobian of SO(3) at ω."""
    w = m.angular
    _, c1, c2, c3 = stumpff(3, w.norm_squared())
    return Pose(so3.polynomial(w, c1, c2), so3.polynomial(w, c2, c3).apply(m.linear))


def log(pose: Pose) -> Motion:
    """The twist with ``exp(log(pose)) = pose`` and |ω| ≤ π."""
    w = so3.log(pose.rotation)
    return Motion(w, so3.left_jacobian_inverse(w).apply(pose.position))


def log_between(r0: Quaternion, p0: Vec3, r1: Quaternion, p1: Vec3) -> Motion:
    """log(T₀⁻¹ T₁) for T_i = (r_i, p_i), straight from the quaternions, which may have any length but zero."""
    back = r0.conjugate()
    w = so3.log_quaternion(back * r1)
    return Motion(w, so3.left_jacobian_inverse(w).apply(back.rotate(p1 - p0)))


def left_jacobian(m: Motion, x: Motion) -> Motion:
    """J x with exp(m + δ) ≈ exp(J δ) exp(m): the differential dexp_m = Σ ad_m^k/(k+1)! applied to a twist.

    By ad(ad² + θ²)² = 0 the sum ends after ad⁴ (Selig 2005, §7.6):
    J = 𝟙 + (2c₂ − ½c₁) ad + ½(5c₃ − c₂) ad² + ½(c₃ − 2c₄) ad³ + ½(c₄ − 3c₅) ad⁴.
    """
    _, c1, c2, c3, c4, c5 = stumpff(5, m.angular.norm_squared())
    a1, a2, a3, a4 = 2.0 * c2 - 0.5 * c1, 0.5 * (5.0 * c3 - c2), 0.5 * (c3 - 2.0 * c4), 0.5 * (c4 - 3.0 * c5)
    ad1 = m.cross(x)
    ad2 = m.cross(ad1)
    ad3 = m.cross(ad2)
    return x + ad1 * a1 + ad2 * a2 + ad3 * a3 + m.cross(ad3) * a4


def right_jacobian(m: Motion, x: Motion) -> Motion:
    """J x with exp(m + δ) ≈ exp(m) exp(J δ): the left Jacobian at −m."""
    return left_jacobian(-m, x)


def left_jacobian_inverse(m: Motion, x: Motion) -> Motion:
    """The inverse of ``left_jacobian``, defined for |ω| < 2π.

    J⁻¹ = 𝟙 − ½ ad + (e − θ²e') ad² − e' ad⁴ with e the coefficient of SO(3) and e' = de/dθ² (Selig 2005, §7.6).
    """
    square = m.angular.norm_squared()
    *_, c2, c3, c4, c5, c6 = stumpff(6, square)
    e = (c3 - 2.0 * c4) / (2.0 * c2)
    slope = (5.0 * c5 - c4 - 8.0 * c6) / (4.0 * c2) + e * e
    ad1 = m.cross(x)
    ad2 = m.cross(ad1)
    return x - ad1 * 0.5 + ad2 * (e - square * slope) - m.cross(m.cross(ad2)) * slope


def right_jacobian_inverse(m: Motion, x: Motion) -> Motion:
    """The inverse of ``right_jacobian``, defined for |ω| < 2π."""
    return left_jacobian_inverse(-m, x)
