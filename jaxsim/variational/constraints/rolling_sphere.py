"""A sphere that rolls on a plane without slipping."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...model import Model
from .base import AbstractVelocityConstraint, Anchor


class RollingSphere(AbstractVelocityConstraint):
    """t·(ẏ − r ω×n) = 0 for two tangents t of a plane with unit normal n: where the sphere touches, it stands still.

    The height of the centre is left to ``PinnedPoints``. The multipliers are the forces on the sphere along the
    tangents.

    Attributes:
        body: a body or a named frame.
        center: the centre of the sphere in it.
        radius: r.
        normal: n in the world frame.
    """

    body: int | str = eqx.field(static=True)
    center: Float[Array, " 3"] = eqx.field(converter=jnp.asarray)
    radius: Float[Array, ""] = eqx.field(converter=jnp.asarray)
    normal: Float[Array, " 3"] = eqx.field(converter=jnp.asarray, default=(0.0, 0.0, 1.0))

    def anchors(self, model: Model) -> Sequence[Anchor]:
        return [(self.body, self.center + offset) for offset in jnp.concatenate([jnp.zeros((1, 3)), jnp.eye(3)])]

    def size(self, model: Model) -> int:
        return 2

    def rate(self, model: Model, y: Float[Array, "4 3"], y_dot: Float[Array, "4 3"]) -> Float[Array, " 2"]:
        axes, axes_dot = y[1:] - y[0], y_dot[1:] - y_dot[0]
        omega = 0.5 * jnp.cross(axes, axes_dot).sum(axis=0)
        normal = jnp.asarray(self.normal, y.dtype)
        slip = y_dot[0] - self.radius * jnp.cross(omega, normal)
        return jnp.stack([jnp.sum(slip * tangent) for tangent in _tangents(normal)])


def _tangents(n: Array) -> tuple[Array, Array]:
    """Two unit vectors at right angles to n and to each other (Duff et al. 2017)."""
    x, y, z = n
    sign = jnp.where(z < 0.0, -1.0, 1.0)
    a = -1.0 / (sign + z)
    b = x * y * a
    return jnp.stack([1.0 + sign * x * x * a, sign * b, -sign * x]), jnp.stack([b, sign + y * y * a, -y])
