"""The state of a mechanism and how bodies move: drift over a step and small displacements."""

from __future__ import annotations

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp

from ..spatial import Quaternion, Scalar, Vec3


class MaximalState(eqx.Module):
    """Positions and velocities of all bodies at one time.

    q (nb,7): centre of mass in the world and unit quaternion wxyz, body→world. v (nb,6): angular velocity in the body
    frame, then linear velocity of the centre of mass in the world. ``impulses`` (nj,6) are the joints' constraint
    impulses over the last step, in the rows of ``joint_constraints``; they start the next solve. ``travel`` (nb,6) is
    the mean velocity on the way to the next configuration, which differs from v for bodies that bounce on that way;
    only mechanisms with restitution have it.
    """

    q: jax.Array
    v: jax.Array
    t: jax.Array
    impulses: jax.Array
    travel: jax.Array | None = None


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class BodyPose:
    """Where bodies are: x_world = position + R(orientation) x_body, component-wise over any number of bodies."""

    position: Vec3
    orientation: Quaternion

    @staticmethod
    def from_array(q) -> BodyPose:
        """From (..., 7) arrays of position and quaternion."""
        return BodyPose(Vec3.from_array(q[..., :3]), Quaternion.from_array(q[..., 3:]))

    def to_array(self) -> jax.Array:
        """The seven coordinates along a new last axis."""
        return jnp.concatenate([self.position.to_array(), self.orientation.to_array()], axis=-1)

    def point(self, p: Vec3) -> Vec3:
        """The world position of the body-fixed point p."""
        return self.position + self.orientation.rotate(p)

    def displaced(self, delta) -> BodyPose:
        """The pose after a small displacement (φ, d): x + d and q·(1, φ/2), exact to first order in φ."""
        half = Vec3.from_array(delta) * 0.5
        step = Quaternion.from_parts(jnp.ones_like(delta[..., 0]), half)
        return BodyPose(self.position + Vec3.from_array(delta[..., 3:]), self.orientation * step)

    def drifted(self, v, dt: Scalar) -> BodyPose:
        """z₁ = (x₀ + Δt v₀, q₀·(√(1 − |h|²), h)) with h = Δt ω₀/2 (Brüdigam et al. 2023, (11) and (17)).

        Not defined for |ω| > 2/Δt, where the result is NaN.
        """
        h = Vec3.from_array(v) * (0.5 * dt)
        step = Quaternion.from_parts(jnp.sqrt(1.0 - h.norm_squared()), h)
        return BodyPose(self.position + Vec3.from_array(v[..., 3:]) * dt, self.orientation * step)


def drift(q: jax.Array, v: jax.Array, dt: Scalar) -> jax.Array:
    """The configurations (nb,7) that bodies at q reach with the velocities v (nb,6) after Δt."""
    return BodyPose.from_array(q).drifted(v, dt).to_array()


def with_world(q: jax.Array) -> jax.Array:
    """Append the world as one more body: a row (0, 0, 0, 1, 0, 0, 0) to (nb,7) poses, zeros to anything else."""
    row = jnp.zeros((1, *q.shape[1:]), q.dtype)
    if q.shape[1] == 7:
        row = row.at[0, 3].set(1.0)
    return jnp.concatenate([q, row])
