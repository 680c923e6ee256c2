"""Derivatives of the dynamics with respect to inertial parameters, external wrenches and gravity.

Inverse dynamics is linear in each of the three, so that these matrices are constant in them.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import Model
from ..model.on_tree import on_tree
from ..model.shapes import check
from ..spatial import Force, Inertia, Motion, Pose, Sym3, Vec3
from .aba import forward_dynamics
from .elements import elements, inertias, per_velocity
from .forward_dynamics_derivatives import inverse_mass_matrix
from .kinematics import world_poses
from .newton_euler import newton_euler_motion
from .rnea import motion_data


class ParameterDerivatives(eqx.Module):
    """The derivatives of joint forces, or of accelerations, with respect to the parameters of the bodies.

    Attributes:
        inertial: with respect to the ten parameters of each body, in its frame about its origin: mass m, first moment
            h = m c (x, y, z) and second moment J = J_c − m[c]×² (xx, yy, zz, xy, xz, yz). Row 0, the world, is zero.
        f_ext: with respect to the wrench (moment, force) on each body, in its frame at its origin.
        gravity: with respect to the acceleration of gravity.
    """

    inertial: Float[Array, "nv nb 10"]
    f_ext: Float[Array, "nv nb 6"]
    gravity: Float[Array, "nv 3"]


@on_tree("first_axis")
def inverse_dynamics_parameter_derivatives(
    model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"], a: Float[Array, " nv"]
) -> ParameterDerivatives:
    """The derivatives of τ = ``inverse_dynamics(model, q, v, a, f_ext)``, which do not depend on f_ext.

    With J_b the Jacobian of the twist of body b in its frame, ∂τ/∂f_b = −J_bᵀ, ∂τ/∂π_b = J_bᵀ ∂(I a + v×*I v)/∂π, and
    gravity g acts as the acceleration −g of the world.

    Args:
        model: the model.
        q: the configuration.
        v: the velocity.
        a: the acceleration.
    """
    check(model, q=q, v=v, a=a)
    dtype = jnp.result_type(q, v, a, model.dtype)
    last = model.topology.elements.last_of_body[1:]
    velocity, acceleration, _ = newton_euler_motion(model.topology, motion_data(model, q, v, a), dtype)
    element = elements(model, q)
    pose = world_poses(model, element, dtype)
    columns = pose @ element.S
    pose, velocity, acceleration, inertia = (
        jax.tree.map(lambda leaf: leaf[last], x) for x in (pose, velocity, acceleration, inertias(model))
    )
    J = _body_jacobians(model, pose, columns)
    inertial = jnp.einsum("ibf,bfp->ibp", J, _parameter_forces(velocity, acceleration))
    fall = jnp.einsum("ibf,bfx->ix", J, _gravity_forces(pose, inertia))
    return ParameterDerivatives(_with_world(inertial), -_with_world(J), fall)


def inverse_dynamics_regressor(
    model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"], a: Float[Array, " nv"]
) -> Float[Array, "nv nb 10"]:
    """Y with τ = Σ_b Y_b π_b for the ten inertial parameters π_b = (m, h, J) of ``ParameterDerivatives``.

    τ here is without armature, springs, dampers and external wrenches (Atkeson et al. 1986).
    """
    return inverse_dynamics_parameter_derivatives(model, q, v, a).inertial


def inertial_parameters(model: Model) -> Float[Array, "nb 10"]:
    """The parameters π_b = (m, h, J) of every body that ``inverse_dynamics_regressor`` multiplies."""
    moments = Inertia.from_center(model.mass, Vec3.from_array(model.com), Sym3.from_array(model.inertia))
    return jnp.stack(jax.tree.leaves(moments), axis=-1)


def forward_dynamics_parameter_derivatives(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    tau: Float[Array, " nv"],
    f_ext: Float[Array, "nb 6"] | None = None,
) -> ParameterDerivatives:
    """The derivatives of a = ``forward_dynamics(model, q, v, tau, f_ext)``: −M⁻¹ times those of τ at that a.

    Args:
        model: the model.
        q: the configuration.
        v: the velocity.
        tau: the joint forces.
        f_ext: external wrenches (moment, force) on the bodies, each in its body's frame at its body's origin.
    """
    a = forward_dynamics(model, q, v, tau, f_ext)
    inverse = inverse_dynamics_parameter_derivatives(model, q, v, a)
    M_inverse = inverse_mass_matrix(model, q)
    return jax.tree.map(lambda x: -jnp.tensordot(M_inverse, x, axes=1), inverse)


def _body_jacobians(model: Model, pose: Pose, columns: Motion) -> Array:
    """J_b in the body frames, as (coordinate, body, 6)."""
    on_path = model.topology.ancestors[model.topology.elements.last_of_body[1:]].T
    body, coordinate = jax.tree.map(lambda leaf: leaf[None, :], pose), jax.tree.map(lambda leaf: leaf[:, None], columns)
    return per_velocity(model, jnp.where(on_path[..., None], (body.inv() @ coordinate).to_array(), 0))


def _parameter_forces(v: Motion, a: Motion) -> Array:
    """∂(I a + v×*I v)/∂π as (body, 6, 10): the force of a unit of each parameter."""
    unit = Inertia.zero()
    leaves, structure = jax.tree.flatten(unit)
    units = [structure.unflatten([1.0 if i == k else 0.0 for i in range(len(leaves))]) for k in range(len(leaves))]
    forces = [I.apply(a) + v.cross_force(I.apply(v)) for I in units]
    return jnp.stack([_array(force, v) for force in forces], axis=-1)


def _gravity_forces(pose: Pose, inertia: Inertia) -> Array:
    """The force that each body needs per unit of gravity along the world's axes, as (body, 6, 3)."""
    rows = pose.rotation.rows()
    forces = [inertia.apply(Motion(Vec3.zero(), -row)) for row in rows]
    return jnp.stack([force.to_array() for force in forces], axis=-1)


def _array(force: Force, like: Motion) -> Array:
    """The components of a force some of which may be literal zeros, for as many bodies as ``like`` has."""
    return jnp.stack(jnp.broadcast_arrays(*jax.tree.leaves(force), like.linear.x)[:-1], axis=-1)


def _with_world(x: Array) -> Array:
    """The same rows of bodies, after a zero for the world."""
    return jnp.concatenate([jnp.zeros_like(x, shape=(x.shape[0], 1, x.shape[2])), x], axis=1)
