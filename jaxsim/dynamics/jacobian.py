"""Jacobians of body motion, and products with them in linear time."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import Model, integrate
from ..model.on_tree import on_tree
from ..model.shapes import check
from ..spatial import Force, Motion, Vec3
from ..sweep import leaf_to_root
from .elements import elements, per_velocity
from .kinematics import body_velocities, world_poses
from .rnea import external_wrenches


@on_tree("columns")
def jacobian(model: Model, q: Float[Array, " nq"], body: int | str, point=(0.0, 0.0, 0.0)) -> Float[Array, "6 nv"]:
    """The Jacobian of a point of a body: (ω, ṗ) = J(q) v in world axes, ω of the body and ṗ of the point.

    Args:
        model: the model.
        q: the configuration.
        body: the body, by index or by name, or a named frame of a body.
        point: the point, in that frame.
    """
    check(model, q=q)
    index, at = model.attachment(body, point)
    dtype = jnp.result_type(q, model.dtype)
    if index == 0 or model.nv == 0:
        return jnp.zeros((6, model.nv), dtype)
    table = model.topology.elements
    element = elements(model, q)
    pose = world_poses(model, element, dtype)
    columns = pose @ element.S
    last = table.last_of_body[index]
    target = jax.tree.map(lambda leaf: leaf[last], pose).point(Vec3.from_array(at))
    at_point = Motion(columns.angular, columns.linear + columns.angular.cross(target)).to_array()
    on_path = model.topology.ancestors[last]
    return per_velocity(model, jnp.where(on_path[:, None], at_point, 0)).T


def jacobian_derivative(
    model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"], body: int | str, point=(0.0, 0.0, 0.0)
) -> Float[Array, "6 nv"]:
    """J̇(q, v), the time derivative of ``jacobian`` along v: the acceleration of the point is J v̇ + J̇ v."""
    check(model, q=q, v=v)
    return _rate(model, q, v, lambda q: jacobian(model, q, body, point))


def jacobian_product(model: Model, q: Float[Array, " nq"], x: Float[Array, " nv"]) -> Float[Array, "nb 6"]:
    """y = J x for the Jacobian of all body twists, each in its own frame (Sueda, Alg. 5)."""
    return body_velocities(model, q, x)


def jacobian_rate_product(
    model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"], x: Float[Array, " nv"]
) -> Float[Array, "nb 6"]:
    """z = J̇ x for the Jacobian of all body twists, along the velocity v (Sueda, Alg. 5)."""
    check(model, q=q, v=v, x=x)
    return _rate(model, q, v, lambda q: body_velocities(model, q, x))


@on_tree("forces")
def jacobian_transpose_product(model: Model, q: Float[Array, " nq"], y: Float[Array, "nb 6"]) -> Float[Array, " nv"]:
    """x = Jᵀ y: the joint forces of wrenches y on the bodies, each in its body's frame (Sueda, Alg. 6)."""
    check(model, q=q, y=y)
    dtype = jnp.result_type(q, y, model.dtype)

    def step(from_children: Force, x):
        element, wrench = x
        f = wrench + from_children
        return element.placement.pose() @ f, element.S.dot(f)

    data = elements(model, q), external_wrenches(model, y)
    _, forces = leaf_to_root(model.topology, step, data, Force.zero(), dtype)
    return per_velocity(model, forces)


def _rate(model: Model, q, v, function):
    """The time derivative of a function of the configuration along the velocity v."""
    zero = jnp.zeros(model.nv, v.dtype)
    return jax.jvp(lambda dv: function(integrate(model, q, dv)), (zero,), (v,))[1]
