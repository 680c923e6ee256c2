"""Joint limits."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .contact import AbstractContact
from .friction import AbstractCone
from .joint import joint_coordinates
from .joint_jacobian import motion_jacobian


class JointLimit(AbstractContact):
    """Bounds on coordinates of joints as contacts without friction: φ = sign·(θ − bound) ≥ 0."""

    bound: jax.Array
    friction: jax.Array
    restitution: jax.Array | None
    joint: tuple[int, ...] = eqx.field(static=True)
    coordinate: tuple[int, ...] = eqx.field(static=True)
    sign: tuple[int, ...] = eqx.field(static=True)
    body_a: tuple[int, ...] = eqx.field(static=True)
    body_b: tuple[int, ...] = eqx.field(static=True)
    cone: AbstractCone

    def gap(self, joints, a, b):
        theta = joint_coordinates(joints.take(self.joint), a, b)[self._entries]
        return jnp.asarray(self.sign, theta.dtype) * (theta - self.bound)

    def rows(self, joints, a, b):
        J_a, J_b = motion_jacobian(joints.take(self.joint), a, b)
        sign = jnp.asarray(self.sign, J_a.dtype)[:, None, None]
        return sign * J_a[self._entries][:, None], sign * J_b[self._entries][:, None]

    def about_centers(self, com):
        return self

    @property
    def _entries(self):
        return np.arange(len(self.joint)), np.asarray(self.coordinate)
