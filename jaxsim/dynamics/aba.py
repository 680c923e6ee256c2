"""Forward dynamics by the articulated-body algorithm (Featherstone 2008, table 7.1)."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..model import Model
from ..model.shapes import check
from ..spatial import ArticulatedInertia, Force, Mat3, Motion, Sym3, Vec3
from ..sweep import leaf_to_root, root_to_leaf
from .elements import elements, inertias, per_element, per_velocity
from .passive import passive_forces
from .rnea import external_wrenches


def forward_dynamics(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    tau: Float[Array, " nv"],
    f_ext: Float[Array, "nb 6"] | None = None,
) -> Float[Array, " nv"]:
    """The acceleration under the joint forces τ: a = M(q)⁻¹ (τ + τ_passive(q, v) + J(q)ᵀ f_ext − C(q, v) v − g(q)).

    The inverse of ``inverse_dynamics``, in linear time.

    Args:
        model: the model.
        q: the configuration.
        v: the velocity.
        tau: the joint forces.
        f_ext: external wrenches (moment, force) on the bodies, each in its body's frame at its body's origin.
    """
    check(model, q=q, v=v, tau=tau)
    a, _ = articulated(model, q, v, tau + passive_forces(model, q, v), f_ext)
    return a


def articulated(model: Model, q, v, tau, f_ext=None, prescribed=None) -> tuple[Array, Array]:
    """The three sweeps: velocities outward, articulated inertias inward, accelerations outward.

    Args:
        model: the model.
        q: the configuration.
        v: the velocity; ``None`` for a system at rest without gravity, where the result is M(q)⁻¹ τ.
        tau: the joint forces, springs and dampers included.
        f_ext: external wrenches on the bodies, in the body frames.
        prescribed: ``None``, or a pair of the mask of the degrees of freedom whose acceleration is known and these
            accelerations (zero elsewhere).

    Returns:
        The accelerations, and the joint forces (those at the prescribed accelerations, τ elsewhere).
    """
    dtype = jnp.result_type(q, tau, model.dtype)
    tree = model.topology
    element, inertia = elements(model, q, v), inertias(model)
    armature = per_element(model, model.armature)
    # a fixed joint has S = 0: any positive number keeps its pivot invertible
    armature = jnp.where(tree.elements.velocity == model.nv, 1.0, armature).astype(model.dtype)
    wrench = external_wrenches(model, f_ext)
    if v is None:
        qd, velocity, root = 0.0, Motion.zero(), Motion.zero()
    else:
        qd, root = per_element(model, v), Motion(Vec3.zero(), -Vec3.from_array(model.gravity))
        velocity = root_to_leaf(tree, _velocities, (element, qd), Motion.zero(), dtype)
    free, known = (1.0, 0.0) if prescribed is None else _per_element_mask(model, prescribed)

    def inward(from_children, x):
        (I_children, p_children), (element, inertia, wrench, armature, tau, (v, qd, free, known)) = from_children, x
        S = element.S
        c = _coriolis(element, v, qd) + S * known
        IA = ArticulatedInertia.from_inertia(inertia) + I_children
        pA = v.cross_force(inertia.apply(v)) - wrench + p_children
        U = IA.apply(S)
        D_inverse = free / (S.dot(U) + armature)
        u = tau - S.dot(pA)
        Ia = IA.minus_outer(U, D_inverse)
        pa = pA + Ia.apply(c) + U * (u * D_inverse)
        X = element.placement.pose()
        return (Ia.transformed(X), X @ pa), (U, D_inverse, u)

    def outward(a_parent, x):
        element, (U, D_inverse, u), (v, qd, _, known) = x
        a = element.placement.pose().inv() @ a_parent + _coriolis(element, v, qd) + element.S * known
        qdd = D_inverse * (u - U.dot(a))
        force = U.dot(a) - u
        return a + element.S * qdd, (qdd + known, force)

    states = velocity, qd, free, known
    zero = ArticulatedInertia(Sym3.zero(), Mat3.identity() * 0.0, Sym3.zero()), Force.zero()
    factors = leaf_to_root(
        tree, inward, (element, inertia, wrench, armature, per_element(model, tau), states), zero, dtype
    )[1]
    a, force = root_to_leaf(tree, outward, (element, factors, states), root, dtype)
    if prescribed is None:
        return per_velocity(model, a), tau
    return per_velocity(model, a), jnp.where(prescribed[0], per_velocity(model, force), tau)


def _velocities(v_parent, x):
    element, qd = x
    v = element.placement.pose().inv() @ v_parent + element.S * qd
    return v, v


def _coriolis(element, v: Motion, qd) -> Motion:
    """c = v×S q̇ + bias."""
    return v.cross(element.S * qd) + element.bias


def _per_element_mask(model: Model, prescribed) -> tuple[Array, Array]:
    mask, acceleration = prescribed
    free = jnp.where(jnp.asarray(mask), 0.0, 1.0).astype(model.dtype)
    table = model.topology.elements
    if np.any(table.velocity == model.nv):
        free = jnp.concatenate([free, jnp.ones(1, model.dtype)])
    return free[table.velocity], per_element(model, acceleration)
