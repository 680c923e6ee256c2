"""Contact of a point with the ground by penalty, with normal damping and friction."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..spatial import Force, Vec3
from .link import AbstractLinkForce, Poses, Twists
from .points import direction_of, length_of, velocity_of, wrench_of


class GroundContact(AbstractLinkForce):
    """A point of a body above the plane n·(x − x_g) = 0 (Sueda, §1.9.6, with the signs that push out and brake).

    At depth −d = −n·(x − x_g) > 0 the ground pushes with (−k_n d − k_d ḋ) n, never pulls, and rubs with the smaller of
    k_t |a| and μ k_n |d| against the tangential velocity a.

    Attributes:
        bodies: the body.
        point: the point, in its frame.
        stiffness_constant: k_n.
        damping_constant: k_d.
        friction: μ.
        stick: k_t, the viscosity of friction below the limit.
        ground: x_g, a point of the plane.
        normal: n, a unit vector out of the ground.
    """

    bodies: tuple[int, ...] = eqx.field(static=True)
    point: Float[Array, " 3"]
    stiffness_constant: Float[Array, ""] | float
    damping_constant: Float[Array, ""] | float = 0.0
    friction: Float[Array, ""] | float = 0.0
    stick: Float[Array, ""] | float = 0.0
    ground: Float[Array, " 3"] | tuple[float, float, float] = (0.0, 0.0, 0.0)
    normal: Float[Array, " 3"] | tuple[float, float, float] = (0.0, 0.0, 1.0)

    def wrenches(self, poses: Poses, twists: Twists) -> tuple[Force, ...]:
        x, n = Vec3.from_array(self.point), Vec3(*self.normal)
        d = n.dot(poses[0].point(x) - Vec3(*self.ground))
        velocity = velocity_of(poses[0], twists[0], x)
        rate = n.dot(velocity)
        a = velocity - n * rate
        push = jnp.maximum(-self.stiffness_constant * d - self.damping_constant * rate, 0.0)
        limit = -self.friction * self.stiffness_constant * d
        slips = self.stick * length_of(a) > limit
        # the untaken branch must not divide by a vanishing velocity
        sliding = direction_of(Vec3(*(jnp.where(slips, c, 0.0) for c in (a.x, a.y, a.z))))
        rub = sliding * limit + a * jnp.where(slips, 0.0, self.stick)
        inside = jnp.where(d < 0.0, 1.0, 0.0)
        return (wrench_of(poses[0], x, (n * push - rub) * inside),)
