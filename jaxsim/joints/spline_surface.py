"""Spline surface joint: the child frame slides on a smooth surface of frames."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from ..spatial import Motion, Pose
from .base import Components
from .spline import AbstractSpline, Factors, basis, control_leaf, locate, window


class SplineSurface(AbstractSpline):
    """T = translation(f₁, f₂, f₃) R_x(f₄) R_y(f₅) R_z(f₆), each f a tensor product of cubic B-splines (Sueda, §2.5.13).

    The n × m control frames are positions and XYZ Euler angles, n, m ≥ 4; q₁ runs from 0 to n − 3 and q₂ from 0 to
    m − 3. The angles must stay away from gimbal lock, |f₅| < π/2.
    """

    positions: jax.Array
    angles: jax.Array

    def __init__(self, positions, angles=None):
        self.positions = control_leaf(positions, 2, 3, "positions")
        self.angles = control_leaf(jnp.zeros_like(self.positions) if angles is None else angles, 2, 3, "angles")
        if self.positions.shape != self.angles.shape:
            raise ValueError(
                f"The control positions have shape {self.positions.shape} but the control angles {self.angles.shape}; "
                "give one of each for every control frame."
            )

    @property
    def segments(self) -> tuple[int, ...]:
        n, m = jnp.shape(self.positions)[-3:-1]
        return n - 3, m - 3

    def start(self, q: Components) -> Pose:
        return Pose.identity()

    def factors(self, q: Components) -> Factors:
        f = jnp.moveaxis(self._surface(q), -1, 0)
        # the six basis twists of eq. 2.77: three translations, then three rotations
        basis_twists = np.roll(np.eye(6), 3, axis=1).reshape(6, *[1] * (f.ndim - 3), 6)
        screw = Motion.from_array(jnp.asarray(np.broadcast_to(basis_twists, (*f.shape[:-2], 6)), f.dtype))
        mixed = f[..., 1, 1]
        hessian = ((f[..., 2, 0], mixed), (mixed, f[..., 0, 2]))
        return Factors(screw, f[..., 0, 0], (f[..., 1, 0], f[..., 0, 1]), hessian)

    def _surface(self, q: Components) -> jax.Array:
        """∂ʳ⁺ˢf_k/∂q₁ʳ∂q₂ˢ at [..., r, s, k] for r, s ≤ 2 (eqs. 2.75–2.76)."""
        (segment_1, u), (segment_2, w) = (locate(q_i, count) for q_i, count in zip(q, self.segments, strict=True))
        values = jnp.concatenate([jnp.asarray(self.positions), jnp.asarray(self.angles)], axis=-1)
        patch = window(window(values, segment_1, -3, 3), segment_2, -2, 3)
        rows, columns = _weights(u), _weights(w)
        # (..., a, b, k) against (..., s, b), then against (..., r, a)
        along_columns = jnp.sum(patch[..., :, None, :, :] * columns[..., None, :, :, None], axis=-2)
        return jnp.sum(along_columns[..., None, :, :, :] * rows[..., :, :, None, None], axis=-3)


def _weights(u: jax.Array) -> jax.Array:
    """The basis at [..., r, a]: derivative r of B_a."""
    return jnp.stack([jnp.stack(derivative, axis=-1) for derivative in basis(u)], axis=-2)
