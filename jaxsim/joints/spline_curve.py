"""Spline curve joint: the child frame runs along a smooth curve of frames."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ..spatial import Pose, Quaternion, Vec3, se3
from .base import Components
from .spline import AbstractSpline, Factors, control_leaf, locate, window


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
        r, p = jax.tree.map(lambda component: component[0], self._frames(q))
        return Pose(r.to_matrix(), p)

    def factors(self, q: Components) -> Factors:
        frames = self._frames(q)
        before = jax.tree.map(lambda component: component[:-1], frames)
        after = jax.tree.map(lambda component: component[1:], frames)
        _, u = locate(q[0], self.segments[0])
        B, dB, ddB = _cumulative(jnp.broadcast_to(u, jnp.shape(frames[1].x)[1:]))
        return Factors(se3.log_between(*before, *after), B, (dB,), ((ddB,),))

    def _frames(self, q: Components) -> tuple[Quaternion, Vec3]:
        """The four control frames of the segment of q, along the first axis of every component."""
        segment, _ = locate(q[0], self.segments[0])
        r, p = (window(jnp.asarray(x), segment, -2, 2) for x in (self.quaternions, self.positions))
        return Quaternion.from_array(jnp.moveaxis(r, -2, 0)), Vec3.from_array(jnp.moveaxis(p, -2, 0))


def _cumulative(u: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """(B̃₂, B̃₃, B̃₄) at u along a new first axis, and their first and second derivatives (eqs. 2.72–2.73)."""
    w = 1.0 - u
    value = (1.0 - w**3 / 6.0, (1.0 + 3.0 * u + 3.0 * u**2 - 2.0 * u**3) / 6.0, u**3 / 6.0)
    slope = (0.5 * w**2, 0.5 + u - u**2, 0.5 * u**2)
    return jnp.stack(value), jnp.stack(slope), jnp.stack([-w, 1.0 - 2.0 * u, u])
