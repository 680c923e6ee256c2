"""Points of bodies: where they are, how fast they move, and what a force on them does to the body."""

from __future__ import annotations

import jax.numpy as jnp

from ..spatial import Force, Motion, Pose, Scalar, Vec3


def velocity_of(pose: Pose, twist: Motion, x: Vec3) -> Vec3:
    """R Γ(x) φ, the velocity in the world of the point x of a body (Sueda, eq. 1.12)."""
    return pose.rotation.apply(twist.linear + twist.angular.cross(x))


def wrench_of(pose: Pose, x: Vec3, f: Vec3) -> Force:
    """Γ(x)ᵀRᵀ f, the wrench in the body's frame of the force f, in world axes, on the point x."""
    inside = pose.rotation.apply_transposed(f)
    return Force(x.cross(inside), inside)


def length_of(a: Vec3) -> Scalar:
    """|a|, with derivative zero at a = 0."""
    square = jnp.asarray(a.norm_squared())
    apart = square > 0.0
    return jnp.where(apart, jnp.sqrt(jnp.where(apart, square, 1.0)), 0.0)


def direction_of(a: Vec3) -> Vec3:
    """a/|a|, and zero at a = 0."""
    square = jnp.asarray(a.norm_squared())
    apart = square > 0.0
    return a * jnp.where(apart, 1.0 / jnp.sqrt(jnp.where(apart, square, 1.0)), 0.0)
