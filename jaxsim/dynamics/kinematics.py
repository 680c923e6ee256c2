"""Where the bodies are and how fast they move."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import Model
from ..model.on_tree import on_tree
from ..model.shapes import check
from ..spatial import Motion, Pose, Quaternion
from ..sweep import root_to_leaf
from .elements import Element, elements, per_body, per_element


class Poses(eqx.Module):
    """The poses of all bodies in the world; row 0 is the world itself.

    Attributes:
        rotation: the rotation matrices, body to world.
        position: the origins of the body frames.
    """

    rotation: Float[Array, "nb 3 3"]
    position: Float[Array, "nb 3"]

    def of(self, model: Model, frame: int | str) -> tuple[Float[Array, "3 3"], Float[Array, " 3"]]:
        """The rotation and the position of one frame: a body by index or name, or a named frame of a body."""
        body, position = model.attachment(frame)
        R, p = self.rotation[body], self.position[body]
        if isinstance(frame, str) and frame in model.frames:
            turn = Quaternion.from_array(jnp.asarray(model.frames.orientation[model.frames.names.index(frame)]))
            return R @ turn.to_matrix().to_array(), p + R @ position
        return R, p


@on_tree("unchanged")
def forward_kinematics(model: Model, q: Float[Array, " nq"]) -> Poses:
    """The pose of every body in the world: X_i = X_parent(i) T_placement T_joint(q_i)."""
    check(model, q=q)
    dtype = jnp.result_type(q, model.dtype)
    pose = world_poses(model, elements(model, q), dtype)
    rotation, position = per_body(model, pose.rotation.to_array()), per_body(model, pose.position.to_array())
    return Poses(
        jnp.concatenate([jnp.eye(3, dtype=dtype)[None], rotation]),
        jnp.concatenate([jnp.zeros((1, 3), dtype), position]),
    )


def frame_pose(
    model: Model, q: Float[Array, " nq"], frame: int | str
) -> tuple[Float[Array, "3 3"], Float[Array, " 3"]]:
    """R and p of one frame, x_world = R x + p; for several, ``forward_kinematics(model, q).of``."""
    return forward_kinematics(model, q).of(model, frame)


@on_tree("unchanged")
def body_velocities(model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, "nb 6"]:
    """The twist (ω, v) of every body in its own frame: φ_i = X_i⁻¹ φ_parent(i) + S_i v_i. Row 0, the world, is zero.

    As a function of v this is the product J v with the Jacobian of maximal coordinates (Sueda, Alg. 5).
    """
    check(model, q=q, v=v)
    dtype = jnp.result_type(q, v, model.dtype)
    twist = element_velocities(model, elements(model, q), v, dtype).to_array()
    return jnp.concatenate([jnp.zeros((1, 6), dtype), per_body(model, twist)])


def world_poses(model: Model, element: Element, dtype) -> Pose:
    """The pose of every element in the world, stacked in sweep order."""

    def step(parent: Pose, x: Element):
        pose = parent @ x.placement.pose()
        return pose, pose

    return root_to_leaf(model.topology, step, element, Pose.identity(), dtype)


def element_velocities(model: Model, element: Element, v, dtype) -> Motion:
    """The twist of every element in its own frame, stacked in sweep order."""

    def step(v_parent: Motion, x):
        element, qd = x
        v = element.placement.pose().inv() @ v_parent + element.S * qd
        return v, v

    return root_to_leaf(model.topology, step, (element, per_element(model, v)), Motion.zero(), dtype)
