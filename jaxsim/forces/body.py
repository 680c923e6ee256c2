"""Wrenches on every body that depend on its own pose and velocity, F̄(g, v̄, u) (Fan et al. 2018, assumption 1)."""

from __future__ import annotations

import abc

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import Model
from ..spatial import Force, Mat3, Motion, Pose, Vec3
from ..spatial.operator import SpatialMatrix
from .base import AbstractForce
from .states import body_states


class AbstractBodyForce(AbstractForce):
    """A wrench on every body as a function of that body's pose and twist alone."""

    @abc.abstractmethod
    def wrench(self, model: Model, pose: Pose, twist: Motion) -> Force:
        """The wrench on each body, in the body's frame at its origin.

        Poses and twists are stacked over the bodies, the world first; the twist is in the body's frame. Row i of the
        result may depend on row i of the arguments only.
        """

    @property
    def depends_on_velocity(self) -> bool:
        """Whether the wrench depends on the twist; saying no saves work in the Newton direction."""
        return True

    def applied(self, model: Model, q: Array, v: Array) -> tuple[Float[Array, "nb 6"], Float[Array, " nv"]]:
        wrench = jnp.broadcast_to(self.wrench(model, *body_states(model, q, v)).to_array(), (model.num_bodies, 6))
        return wrench.at[0].set(0.0), jnp.zeros_like(v)


class BodyDrag(AbstractBodyForce):
    """A drag −D φ against the twist φ of each body, with a 6×6 matrix D a body (the world included)."""

    matrix: Float[Array, "nb 6 6"]

    def wrench(self, model: Model, pose: Pose, twist: Motion) -> Force:
        return -SpatialMatrix.from_array(self.matrix).apply(twist)


class ConstantWrench(AbstractBodyForce):
    """A wrench (moment, force) on each body, constant in the world's axes and applied at the body's origin."""

    in_world: Float[Array, "nb 6"]

    def wrench(self, model: Model, pose: Pose, twist: Motion) -> Force:
        f = Force.from_array(self.in_world)
        return Force(pose.rotation.apply_transposed(f.angular), pose.rotation.apply_transposed(f.linear))

    @property
    def depends_on_velocity(self) -> bool:
        return False


Forces = tuple[AbstractBodyForce, ...]


def total_wrench(forces: Forces, model: Model, pose: Pose, twist: Motion) -> Force:
    """The sum of all forces on each body, in the body frames."""
    total = Force.zero()
    for force in forces:
        total = total + force.wrench(model, pose, twist)
    return total


def wrench_derivatives(forces: Forces, model: Model, pose: Pose, twist: Motion) -> tuple[SpatialMatrix, SpatialMatrix]:
    """The derivatives of ``total_wrench`` along pose·exp(ζ) and along the twist, in the body frames.

    A row of the result depends on the same row of the arguments only, so twelve directional derivatives give all.
    """
    shape = jnp.shape(pose.position.x)

    def along_pose(e: Array) -> Array:
        zeta = _broadcast(e, shape)
        turned = pose.rotation.matmul(Mat3.skew(zeta.angular))
        direction = Pose(turned, pose.rotation.apply(zeta.linear))
        return _directional(lambda pose: total_wrench(forces, model, pose, twist), pose, direction)

    def along_twist(e: Array) -> Array:
        return _directional(lambda twist: total_wrench(forces, model, pose, twist), twist, _broadcast(e, shape))

    basis = jnp.eye(6, dtype=jnp.result_type(pose.position.x))
    by_pose, by_twist = jax.vmap(along_pose)(basis), jax.vmap(along_twist)(basis)
    return _from_columns(by_pose), _from_columns(by_twist)


def _from_columns(columns: Array) -> SpatialMatrix:
    return SpatialMatrix.from_array(jnp.moveaxis(columns, 0, -1))


def _broadcast(e: Array, shape) -> Motion:
    components = [jnp.broadcast_to(component, shape) for component in e]
    return Motion(Vec3(*components[:3]), Vec3(*components[3:]))


def _directional(function, at, direction) -> Array:
    at, direction = (jax.tree.map(lambda leaf: jnp.asarray(leaf), tree) for tree in (at, direction))
    direction = jax.tree.map(lambda d, a: jnp.broadcast_to(d, a.shape).astype(a.dtype), direction, at)
    return jax.jvp(lambda x: function(x).to_array(), (at,), (direction,))[1]
