"""Rotations: exp, log and their differentials, smooth at zero and safe at π.

Rotation vectors w have length θ = |w|. With x = θ² everything is a polynomial in [w]× whose coefficients are Stumpff
functions c_k(x), so no formula divides by the angle.
"""

from __future__ import annotations

import jax.numpy as jnp

from .matrix import Mat3
from .quaternion import Quaternion
from .stumpff import stumpff
from .vector import Scalar, Vec3

_ATAN_SERIES_BELOW = 0.04
_ATAN_TERMS = 12  # 0.04¹² < 2e-17


def exp(w: Vec3) -> Mat3:
    """Rodrigues' formula exp[w]× = 𝟙 + c₁[w]× + c₂[w]×²."""
    _, c1, c2 = stumpff(2, w.norm_squared())
    return polynomial(w, c1, c2)


def exp_quaternion(w: Vec3) -> Quaternion:
    """The unit quaternion (cos θ/2, w sin(θ/2)/θ) of exp[w]×."""
    c0, c1 = stumpff(1, w.norm_squared() * 0.25)
    return Quaternion.from_parts(c0, w * (0.5 * c1))


def log(R: Mat3) -> Vec3:
    """The rotation vector of R with length at most π."""
    return log_quaternion(Quaternion.from_matrix(R))


def log_quaternion(q: Quaternion) -> Vec3:
    """The rotation vector of q, 2 atan2(|u|, w) u/|u| for w ≥ 0; its length is at most π.

    Any non-zero multiple of q gives the same vector. The two logarithms at θ = π differ in sign: w ≥ 0 decides.
    """
    q = q.canonical()
    return q.vector * (2.0 * _atan2_over(q.vector.norm_squared(), q.w))


def left_jacobian(w: Vec3) -> Mat3:
    """J with exp(w + δ) ≈ exp(J δ) exp(w), the differential dexp: 𝟙 + c₂[w]× + c₃[w]×²."""
    *_, c2, c3 = stumpff(3, w.norm_squared())
    return polynomial(w, c2, c3)


def right_jacobian(w: Vec3) -> Mat3:
    """J with exp(w + δ) ≈ exp(w) exp(J δ): 𝟙 − c₂[w]× + c₃[w]×², the transpose of the left one."""
    *_, c2, c3 = stumpff(3, w.norm_squared())
    return polynomial(w, -c2, c3)


def left_jacobian_inverse(w: Vec3) -> Mat3:
    """𝟙 − ½[w]× + e(x)[w]×², defined for θ < 2π."""
    return polynomial(w, -0.5, cotangent_coefficient(w.norm_squared()))


def right_jacobian_inverse(w: Vec3) -> Mat3:
    """𝟙 + ½[w]× + e(x)[w]×², defined for θ < 2π."""
    return polynomial(w, 0.5, cotangent_coefficient(w.norm_squared()))


def cotangent_coefficient(x: Scalar) -> Scalar:
    """e(x) = (1 − (θ/2) cot(θ/2))/θ² = (c₃ − 2c₄)/(2c₂)."""
    *_, c2, c3, c4 = stumpff(4, x)
    return (c3 - 2.0 * c4) / (2.0 * c2)


def polynomial(w: Vec3, b: Scalar, c: Scalar) -> Mat3:
    """𝟙 + b[w]× + c[w]×², which every function of [w]× that is 𝟙 at zero reduces to."""
    cx, cy, cz = w.x * c, w.y * c, w.z * c
    bx, by, bz = w.x * b, w.y * b, w.z * b
    xx, yy, zz = cx * w.x, cy * w.y, cz * w.z
    xy, xz, yz = cx * w.y, cx * w.z, cy * w.z
    return Mat3(
        1.0 - (yy + zz), xy - bz, xz + by,
        xy + bz, 1.0 - (xx + zz), yz - bx,
        xz - by, yz + bx, 1.0 - (xx + yy),
    )  # fmt: skip


def _atan2_over(x: Scalar, w: Scalar) -> Scalar:
    """atan2(s, w)/s for x = s² and w ≥ 0: a series in x/w² where that is small, so that s = 0 is a regular point."""
    near = jnp.asarray(x < _ATAN_SERIES_BELOW * w * w)
    near_w = jnp.where(near, w, 1.0)
    ratio = jnp.where(near, x, 0.0) / (near_w * near_w)
    series = jnp.zeros_like(ratio)
    for j in reversed(range(_ATAN_TERMS)):
        series = 1.0 / (2 * j + 1) - ratio * series
    # q = 0 has no direction: there x = w = 0 is neither near nor far, and s = 1 keeps it finite
    s = jnp.sqrt(jnp.where(near | (x <= 0.0), 1.0, x))
    return jnp.where(near, series, jnp.arctan2(s, w)) / jnp.where(near, near_w, s)
