"""Spherical joint by Euler angles: three rotations about coordinate axes, in any of the twelve orders."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..spatial import Mat3, Scalar, Vec3
from .axis import axis_leaf
from .base import AbstractJoint, Components
from .chain import AbstractChain
from .chart import CHARTS, PROPER, angles, distance_from_lock
from .revolute import Revolute


class EulerSpherical(AbstractChain):
    """R = R_a(q₁) R_b(q₂) R_c(q₃) for the chart "ABC" (Sueda, §2.5.5, tables 1–3).

    Every chart has a gimbal lock, where ``determinant`` vanishes: q₂ = kπ for charts such as ZXZ, q₂ = π/2 + kπ for
    charts such as XYZ. The chart is part of the compiled program; outside of it, ``switched`` changes the chart in
    time.
    """

    axes: jax.Array
    chart: str = eqx.field(static=True)

    def __init__(self, chart: str = "XYZ"):
        if not isinstance(chart, str) or chart.upper() not in CHARTS:
            raise ValueError(f"The chart {chart!r} is unknown; use one of {', '.join(CHARTS)}.")
        self.chart = chart.upper()
        self.axes = jnp.stack([axis_leaf(letter) for letter in self.chart])

    def links(self) -> tuple[AbstractJoint, ...]:
        axes = jnp.asarray(self.axes)
        return Revolute(axes[..., 0, :]), Revolute(axes[..., 1, :]), Revolute(axes[..., 2, :])

    def neutral(self) -> tuple[Scalar, ...]:
        """Far from gimbal lock: q₂ = 0 where T can be the identity, and a quarter turn otherwise."""
        return 0.0, 0.5 * np.pi if self.chart in PROPER else 0.0, 0.0

    def random(self, key: jax.Array) -> tuple[Scalar, ...]:
        """Any rotation with |det S| ≥ 0.3."""
        q1, q2, q3 = jax.random.uniform(key, (3,), minval=-1.0, maxval=1.0)
        return q1 * jnp.pi, self.neutral()[1] + q2 * 0.4 * jnp.pi, q3 * jnp.pi

    def determinant(self, q: Components) -> Scalar:
        """det S = ∓ sin q₂ or ± cos q₂ (table 3); small near gimbal lock."""
        return self._angular_subspace(q).determinant()

    def angles(self, R: Mat3) -> tuple[Scalar, Scalar, Scalar]:
        """The configuration of a rotation matrix (table 3)."""
        return angles(self.chart, R)

    def convert(self, other: EulerSpherical, q: Components, v: Components, a: Components | None = None):
        """The same motion in the chart of ``other``: (q, v), or (q, v, a) when an acceleration is given.

        q̇' = S'⁻¹ S q̇ and q̈' = S'⁻¹ (S q̈ + Ṡ q̇ − Ṡ' q̇') (eq. 2.40); ``other`` must not be in gimbal lock.
        """
        S = self._angular_subspace(q)
        q_new = other.angles(self.transform(q).rotation)
        S_inverse = other._angular_subspace(q_new).inverse()
        v_new = _tuple(S_inverse.apply(S.apply(Vec3(*v))))
        if a is None:
            return q_new, v_new
        acceleration = S.apply(Vec3(*a)) + self.bias(q, v).angular - other.bias(q_new, v_new).angular
        return q_new, v_new, _tuple(S_inverse.apply(acceleration))

    def best_chart(self, q: Components) -> str:
        """The chart farthest from gimbal lock at the rotation of q; its |det S| is never below 0.81."""
        if any(isinstance(component, Tracer) for component in q):
            raise TypeError(
                "The best chart of a traced configuration is unknown, as charts are static; call this outside jit."
            )
        R = self.transform(q).rotation
        return max(CHARTS, key=lambda chart: float(distance_from_lock(chart, R)))

    def switched(self, q: Components, v: Components, threshold: float = 0.3):
        """(joint, q, v) in the best chart if |det S| is below ``threshold`` here, and unchanged otherwise."""
        best = EulerSpherical(self.best_chart(q))
        if abs(float(self.determinant(q))) >= threshold:
            return self, tuple(q), tuple(v)
        other = eqx.tree_at(lambda joint: joint.axes, best, best.axes.astype(self.axes.dtype))
        return other, *self.convert(other, q, v)

    def _angular_subspace(self, q: Components) -> Mat3:
        """The upper three rows of S; the lower ones are zero."""
        return Mat3.from_columns(*(column.angular for column in self.subspace(q)))


def _tuple(a: Vec3) -> tuple[Scalar, Scalar, Scalar]:
    return a.x, a.y, a.z
