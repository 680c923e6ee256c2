"""Inverse dynamics by the recursive Newton–Euler algorithm (Featherstone 2008, table 5.1)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import Model
from ..model.on_tree import on_tree
from ..model.shapes import check
from ..spatial import Force, Vec3
from .elements import elements, inertias, per_element, per_velocity
from .newton_euler import NewtonEulerData, newton_euler_recursion
from .passive import passive_forces


@on_tree("forces")
def inverse_dynamics(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    a: Float[Array, " nv"],
    f_ext: Float[Array, "nb 6"] | None = None,
) -> Float[Array, " nv"]:
    """The joint forces that produce the acceleration a: τ = M(q) a + C(q, v) v + g(q) − J(q)ᵀ f_ext − τ_passive(q, v).

    The inverse of ``forward_dynamics``; with a = 0 it is ``bias_forces`` less the passive and external forces.

    Args:
        model: the model.
        q: the configuration.
        v: the velocity.
        a: the acceleration.
        f_ext: external wrenches (moment, force) on the bodies, each in its body's frame at its body's origin.
    """
    check(model, q=q, v=v, a=a)
    tau = newton_euler(model, q, v, a, f_ext)
    return tau + model.armature * a - passive_forces(model, q, v)


def newton_euler(model: Model, q, v, a, f_ext=None) -> Float[Array, " nv"]:
    """The recursion alone, without armature, springs and dampers: M a + C v + g − Jᵀ f_ext."""
    dtype = jnp.result_type(q, v, a, model.dtype)
    data = motion_data(model, q, v, a, f_ext)
    return per_velocity(model, newton_euler_recursion(model.topology, data, dtype))


def motion_data(model: Model, q, v, a, f_ext=None) -> NewtonEulerData:
    """What the recursion depends on, for all elements."""
    return NewtonEulerData(
        element=elements(model, q, v),
        inertia=inertias(model),
        wrench=external_wrenches(model, f_ext),
        qd=per_element(model, v),
        qdd=per_element(model, a),
        gravity=Vec3.from_array(model.gravity),
    )


def external_wrenches(model: Model, f_ext: jax.Array | None) -> Force:
    """The external wrench on each element: that on its body for the last element of a joint, else zero."""
    if f_ext is None:
        return Force.zero()
    check(model, f_ext=f_ext)
    table = model.topology.elements
    return Force.from_array(f_ext[table.body] * table.is_last[:, None])


@on_tree("forces")
def bias_forces(model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nv"]:
    """The Coriolis, centrifugal and gravity forces C(q, v) v + g(q), without springs and dampers."""
    check(model, q=q, v=v)
    return newton_euler(model, q, v, jnp.zeros_like(v))


def gravity_forces(model: Model, q: Float[Array, " nq"]) -> Float[Array, " nv"]:
    """g(q) = ID(q, 0, 0) without springs, the forces that hold the bodies against gravity: ``bias_forces`` at rest."""
    return bias_forces(model, q, jnp.zeros(model.nv, q.dtype))
