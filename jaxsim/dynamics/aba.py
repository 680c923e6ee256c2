"""Forward dynamics by the articulated-body algorithm (Featherstone 2008, table 7.1)."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..model import Model
from ..model.shapes import check
from ..spatial import ArticulatedInertia, Force, Inertia, Mat3, Motion, Pose, Sym3, Vec3
from ..sweep import leaf_to_root, root_to_leaf
from .coupled import coupled_forward_dynamics
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
    if model.coupling is not None:
        return coupled_forward_dynamics(model, q, v, tau, f_ext)
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
    armature = per_element(model, model.armature)
    # a fixed joint has S = 0: any positive number keeps its pivot invertible
    armature = jnp.where(tree.elements.velocity == model.nv, 1.0, armature).astype(model.dtype)
    free, known = (1.0, 0.0) if prescribed is None else _per_element_mask(model, prescribed)

    def inward(from_children, x):
        (I_children, p_children), (body, armature, tau, free, known) = from_children, x
        S, c = body.S, body.c + body.S * known
        IA = ArticulatedInertia.from_inertia(body.inertia) + I_children
        pA = body.p + p_children
        U = IA.apply(S)
        D_inverse = free / (S.dot(U) + armature)
        u = tau - S.dot(pA)
        Ia = IA.minus_outer(U, D_inverse)
        pa = pA + Ia.apply(c) + U * (u * D_inverse)
        X = Pose.translation(body.offset)
        return (Ia.transformed(X), X @ pa), (U, D_inverse, u)

    def outward(a_parent, x):
        body, (U, D_inverse, u), known = x
        a = Pose.translation(body.offset).inv() @ a_parent + body.c + body.S * known
        qdd = D_inverse * (u - U.dot(a))
        return a + body.S * qdd, (qdd + known, U.dot(a) - u)

    body = _aligned_bodies(model, q, v, f_ext, dtype)
    zero = ArticulatedInertia(Sym3.zero(), Mat3.zero(), Sym3.zero()), Force.zero()
    data = body, armature, per_element(model, tau), free, known
    _, factors = leaf_to_root(tree, inward, data, zero, dtype)
    root = Motion.zero() if v is None else Motion(Vec3.zero(), -Vec3.from_array(model.gravity))
    a, force = root_to_leaf(tree, outward, (body, factors, known), root, dtype)
    if prescribed is None:
        return per_velocity(model, a), tau
    return per_velocity(model, a), jnp.where(prescribed[0], per_velocity(model, force), tau)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _AlignedBody:
    """An element in a frame at its origin with the axes of the world.

    With all axes parallel, articulated inertias move from child to parent by cross products alone.

    Attributes:
        offset: from the parent's origin to its own.
        S: the column of the motion subspace.
        inertia: its inertia.
        c: the velocity-dependent acceleration v×S q̇ + bias.
        p: the bias force v×*I v − f_ext.
    """

    offset: Vec3
    S: Motion
    inertia: Inertia
    c: Motion
    p: Force


def _aligned_bodies(model: Model, q, v, f_ext, dtype) -> _AlignedBody:
    """The first sweep, outward: rotations and velocities."""

    def step(parent, x):
        (R_parent, v_parent), (element, inertia, wrench, qd) = parent, x
        X = element.placement.pose()
        R, offset = R_parent.matmul(X.rotation), R_parent.apply(X.position)
        turn = Pose.turned(R)
        S, inertia = turn @ element.S, inertia.transformed(turn)
        vJ = S * qd
        velocity = Pose.translation(offset).inv() @ v_parent + vJ
        c = velocity.cross(vJ) + turn @ element.bias
        p = velocity.cross_force(inertia.apply(velocity)) - turn @ wrench
        return (R, velocity), _AlignedBody(offset, S, inertia, c, p)

    qd = 0.0 if v is None else per_element(model, v)
    data = elements(model, q, v), inertias(model), external_wrenches(model, f_ext), qd
    return root_to_leaf(model.topology, step, data, (Mat3.identity(), Motion.zero()), dtype)


def _per_element_mask(model: Model, prescribed) -> tuple[Array, Array]:
    mask, acceleration = prescribed
    free = jnp.where(jnp.asarray(mask), 0.0, 1.0).astype(model.dtype)
    table = model.topology.elements
    if np.any(table.velocity == model.nv):
        free = jnp.concatenate([free, jnp.ones(1, model.dtype)])
    return free[table.velocity], per_element(model, acceleration)
