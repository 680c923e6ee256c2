"""Poses and twists of all bodies, as forces look at them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..dynamics import body_velocities, forward_kinematics
from ..model import Model
from ..spatial import Mat3, Motion, Pose, Vec3


def body_states(model: Model, q: Array, v: Array) -> tuple[Pose, Motion]:
    """The pose of every body in the world and its twist in its own frame, stacked, the world first."""
    poses = forward_kinematics(model, q)
    pose = Pose(Mat3.from_array(poses.rotation), Vec3.from_array(poses.position))
    return pose, Motion.from_array(body_velocities(model, q, v))


def displaced(pose: Pose, xi: Motion) -> Pose:
    """pose·exp(ξ) to first order, for derivatives at ξ = 0."""
    turned = pose.rotation + pose.rotation.matmul(Mat3.skew(xi.angular))
    return Pose(turned, pose.position + pose.rotation.apply(xi.linear))


def as_arrays(tree, dtype):
    """Literal components as arrays, so that they can be differentiated and mapped over."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), tree)
