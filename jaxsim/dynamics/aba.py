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
from .chunked import CACHED_BYTES, in_chunks
from .coupled import coupled_forward_dynamics
from .elements import elements, inertias, per_element, per_velocity, rotors
from .mass_solve import Factors, ForwardData, accelerations
from .passive import passive_forces
from .rnea import external_wrenches, motion_data
from .rule import frozen


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
    total = tau + passive_forces(model, q, v)
    # inside a scan JAX differentiates the value once more without its rule, hence a must carry its own derivative
    dtype = jnp.result_type(q, v, tau, model.dtype)
    a, _, factors = in_chunks(articulated, (model, q, v, total, f_ext), chunk=CACHED_BYTES // dtype.itemsize)
    motion = motion_data(model, q, v, a, f_ext)
    data = ForwardData(dataclasses.replace(motion, qdd=0.0), rotors(model), per_element(model, total))
    return per_velocity(model, accelerations(model.topology, data, frozen(factors), motion.qdd, dtype))


def articulated(model: Model, q, v, tau, f_ext=None, prescribed=None) -> tuple[Array, Array, Factors]:
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
        The accelerations, the joint forces (those at the prescribed accelerations, τ elsewhere), and the factors of the
        mass matrix.
    """
    dtype = jnp.result_type(q, tau, model.dtype)
    tree = model.topology
    armature = rotors(model)
    free, known = (1.0, 0.0) if prescribed is None else _per_element_mask(model, prescribed)

    def inward(from_children, x):
        (I_children, p_children), (body, armature, tau, free) = from_children, x
        S = body.S
        IA = ArticulatedInertia.from_inertia(body.inertia) + I_children
        pA = body.f + p_children
        U = IA.apply(S)
        D_inverse = free / (S.dot(U) + armature)
        u = tau - S.dot(pA)
        X = Pose.translation(body.offset)
        contribution = IA.minus_outer(U, D_inverse).transformed(X), X @ (pA + U * (u * D_inverse))
        return contribution, (U * D_inverse, u * D_inverse, D_inverse, None if prescribed is None else (U, u))

    def outward(a_parent, x):
        body, gain, drive, reaction = x
        a = Pose.translation(body.offset).inv() @ a_parent
        qdd = drive - gain.dot(a)
        force = None if reaction is None else reaction[0].dot(a) - reaction[1]
        return a + body.S * qdd, (qdd, force)

    body = _aligned_bodies(model, q, v, known, f_ext, dtype)
    zero = ArticulatedInertia(Sym3.zero(), Mat3.zero(), Sym3.zero()), Force.zero()
    data = body, armature, per_element(model, tau), free
    gain, drive, D_inverse, reaction = leaf_to_root(tree, inward, data, zero, dtype)[1]
    a, force = root_to_leaf(tree, outward, (body, gain, drive, reaction), Motion.zero(), dtype)
    factors = Factors(body.offset, body.S, gain, D_inverse)
    if prescribed is None:
        return per_velocity(model, a), tau, factors
    a = per_velocity(model, a) + prescribed[1]
    return a, jnp.where(prescribed[0], per_velocity(model, force), tau), factors


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _AlignedBody:
    """An element in a frame at its origin with the axes of the world.

    With all axes parallel, articulated inertias move from child to parent by cross products alone.

    Attributes:
        offset: from the parent's origin to its own.
        S: the column of the motion subspace.
        inertia: its inertia.
        f: the force I a + v×*I v − f_ext at the accelerations that are known beforehand.
    """

    offset: Vec3
    S: Motion
    inertia: Inertia
    f: Force


def _aligned_bodies(model: Model, q, v, known, f_ext, dtype) -> _AlignedBody:
    """The first sweep, outward: rotations, velocities, and the accelerations with q̈ = 0 where it is unknown."""

    def step(parent, x):
        (R_parent, v_parent, a_parent), (element, inertia, wrench, (qd, qdd)) = parent, x
        X = element.placement.pose()
        R, offset = R_parent.matmul(X.rotation), R_parent.apply(X.position)
        turn, shift = Pose.turned(R), Pose.translation(offset)
        S, inertia = turn @ element.S, inertia.transformed(turn)
        vJ = S * qd
        velocity = shift.inv() @ v_parent + vJ
        a = shift.inv() @ a_parent + S * qdd + velocity.cross(vJ) + turn @ element.bias
        f = inertia.apply(a) + velocity.cross_force(inertia.apply(velocity)) - turn @ wrench
        return (R, velocity, a), _AlignedBody(offset, S, inertia, f)

    gravity = Vec3.zero() if v is None else -Vec3.from_array(model.gravity)
    rates = (0.0 if v is None else per_element(model, v)), known
    data = elements(model, q, v), inertias(model), external_wrenches(model, f_ext), rates
    root = Mat3.identity(), Motion.zero(), Motion(Vec3.zero(), gravity)
    return root_to_leaf(model.topology, step, data, root, dtype)


def _per_element_mask(model: Model, prescribed) -> tuple[Array, Array]:
    mask, acceleration = prescribed
    free = jnp.where(jnp.asarray(mask), 0.0, 1.0).astype(model.dtype)
    table = model.topology.elements
    if np.any(table.velocity == model.nv):
        free = jnp.concatenate([free, jnp.ones(1, model.dtype)])
    return free[table.velocity], per_element(model, acceleration)
