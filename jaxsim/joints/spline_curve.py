"""Spline curve joint: the child frame runs along a smooth curve of frames."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ..spatial import Pose, Quaternion, Scalar, Vec3, se3
from .base import Components
from .spline import AbstractSpline, Factor, control_leaf, locate, window


class SplineCurve(AbstractSpline):
    """A uniform cubic B-spline of frames: T = C₁ Π exp(ΔC_i B̃_i(q)), ΔC_i = log(C_{i−1}⁻¹ C_i) (Sueda, §2.5.12).

    The n ≥ 4 control frames C_i are positions and quaternions (wxyz, of any length). The curve is twice continuously
    differentiable; q runs from 0 to n − 3. Neighbouring frames differ by rotations of less than π.
    """

    positions: jax.Array
    quaternions: jax.Array

    def __init__(self, positions, quaternions=None):
        self.positions = control_leaf(positions, 1, 3, "positions")
        if quaternions is None:
            quaternions = jnp.zeros((self.positions.shape[0], 4), self.positions.dtype).at[:, 0].set(1.0)
        self.quaternions = control_leaf(quaternions, 1, 4, "quaternions")
        if self.positions.shape[0] != self.quaternions.shape[0]:
            raise ValueError(
                f"There are {self.positions.shape[0]} control positions but {self.quaternions.shape[0]} control "
                "quaternions; give one of each for every control frame."
            )

    @property
    def segments(self) -> tuple[int, ...]:
        return (jnp.shape(self.positions)[-2] - 3,)

    def start(self, q: Components) -> Pose:
        return self._frames(q[0])[0]

    def factors(self, q: Components) -> tuple[Factor, ...]:
        _, u = locate(q[0], self.segments[0])
        frames = self._frames(q[0])
        factors = []
        for before, after, (b, db, ddb) in zip(frames[:-1], frames[1:], _cumulative(u), strict=True):
            difference = se3.log(before.inverse() @ after)
            factors.append(Factor(se3.exp(difference * b), difference, (db,), ((ddb,),)))
        return tuple(factors)

    def _frames(self, q: Scalar) -> tuple[Pose, ...]:
        """The four control frames of the segment of q."""
        segment, _ = locate(q, self.segments[0])
        p = window(jnp.asarray(self.positions), segment, -2, 2)
        r = window(jnp.asarray(self.quaternions), segment, -2, 2)
        return tuple(
            Pose(Quaternion.from_array(r[..., i, :]).to_matrix(), Vec3.from_array(p[..., i, :])) for i in range(4)
        )


def _cumulative(u: Scalar) -> tuple[tuple[Scalar, Scalar, Scalar], ...]:
    """B̃₂, B̃₃, B̃₄ at u, each with its first and second derivative (eqs. 2.72–2.73)."""
    w = 1.0 - u
    return (
        (1.0 - w**3 / 6.0, 0.5 * w**2, -w),
        ((1.0 + 3.0 * u + 3.0 * u**2 - 2.0 * u**3) / 6.0, 0.5 + u - u**2, 1.0 - 2.0 * u),
        (u**3 / 6.0, 0.5 * u**2, u),
    )
