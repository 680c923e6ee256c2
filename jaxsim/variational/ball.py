"""The rows of the DEL equations for spherical and free joints, in a chart re-centred at every step.

The chart R = R₀ C(θ) moves with the start of the step, so the start row is the derivative of the action along R₀, not
along θ⁰. With the variation ζ of R₀ in body axes, the principle of Lagrange and d'Alembert reads
δA = −p·ζ + p'·(J_s δθ^s + C_sᵀ ζ), hence p' = J_s⁻ᵀ ρ^s and p + ∂A/∂R₀ − C_s p' = 0. Multiplied by (C_s J_s)ᵀ = nᵀ,

    r̃ = nᵀ(p + ∂A/∂R₀) − ρ^s,

in which the impulse Γ̄^s cancels. Without this correction the step would be neither symplectic nor momentum preserving.

Everything here is about one joint, in its base frame: that of the parent, moved to where the joint stands. Momenta,
impulses and the parent's velocity are data in that frame, so derivatives of these functions are all that the Newton
direction needs of the joint.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..spatial import Motion, Pose, Quaternion, Vec3
from .chart import Part
from .nodes import Node, StepProblem, combined, displacements


class Loads(NamedTuple):
    """What the rest of the tree exerts on one joint at the control points, (s + 1, 6) each, in the base frame."""

    mu: Array
    gamma: Array
    v_parent: Array


class Columns(NamedTuple):
    """One joint at the control points, in the base frame.

    Attributes:
        S: the columns of the motion subspace for the rates ξ̇, (s + 1, nv, 6).
        S_dot: their time derivatives, (s + 1, nv, 6).
        own: the part of Ṡ of the rotations that comes from θ and θ̇ alone, (s + 1, 3, 6).
        along: row a is the derivative of the angular velocity J θ̇ along θ_a, (s + 1, 3, 3).
        C: Cayley's rotations, (s + 1, 3, 3).
        J: angular velocities in the body are J θ̇, (s + 1, 3, 3).
        R: the rotations R₀ C.
        x: the positions, (s + 1, 3).
        v: the velocity coordinates, (s + 1, nv).
        v_before: the velocity of the frame that the joint's rotation starts from, (s + 1, 6).
    """

    S: Array
    S_dot: Array
    own: Array
    along: Array
    C: Array
    J: Array
    R: Array
    x: Array
    v: Array
    v_before: Array


class Ball(NamedTuple):
    """The data of one joint: its coordinates and its rows of the problem."""

    q0: Array
    p: Array
    tau: Array
    stiffness: Array
    damping: Array
    armature: Array
    reference: Array


def rows(
    problem: StepProblem, part: Part, nodes: Node, z: Float[Array, "s nv"]
) -> tuple[Float[Array, "s d joints"], Float[Array, "d joints"]]:
    """The s rows of each joint of the part, and p' = (J_s⁻ᵀ ρ_θ^s, R_sᵀ ρ_x^s), in the dual of v."""
    local = jax.vmap(lambda z, load, joint: joint_rows(problem, part, z, load, joint))
    found, end = local(unknowns(part, z), loads(part, nodes), joints(problem, part))
    return jnp.moveaxis(found, 0, -1), end.T


def unknowns(part: Part, z: Float[Array, "s nv"]) -> Float[Array, "joints s d"]:
    """The unknowns of each joint of the part."""
    return jnp.moveaxis(z[:, part.v_rows], -1, 0)


def loads(part: Part, nodes: Node) -> Loads:
    """What acts on each joint of the part, in its base frame."""
    base = base_pose(part, nodes)
    here = jax.tree.map(lambda leaf: leaf[:, part.last], (nodes.mu, nodes.gamma, nodes.twist, nodes.pose))
    mu, gamma, twist, pose = here
    v = [nodes.v[:, r] for r in part.v_rows]
    joint_twist = Motion(Vec3(*v[:3]), Vec3(*v[3:]) if v[3:] else Vec3.zero())
    v_parent = twist - pose @ joint_twist
    return Loads(*(jnp.moveaxis((base.inv() @ a).to_array(), 1, 0) for a in (mu, gamma, v_parent)))


def base_pose(part: Part, nodes: Node) -> Pose:
    """Where the base frame of each joint of the part is at the control points: leaves (s + 1, joints)."""
    pose: Pose = jax.tree.map(lambda leaf: leaf[:, part.last], nodes.pose)
    return pose @ part.joint.transform([nodes.q[:, r] for r in part.q_rows]).inverse()


def joints(problem: StepProblem, part: Part) -> Ball:
    """The data of each joint of the part, stacked."""
    model = problem.model
    tau = jnp.moveaxis(problem.tau[:, part.v_rows], -1, 0)
    per_velocity = (model.stiffness, model.damping, model.armature)
    stiffness, damping, armature = (leaf[part.v_rows].T for leaf in per_velocity)
    reference = model.spring_reference[part.q_rows].T
    return Ball(problem.q0[part.q_rows].T, problem.p[part.v_rows].T, tau, stiffness, damping, armature, reference)


def joint_rows(problem: StepProblem, part: Part, z: Array, load: Loads, joint: Ball) -> tuple[Array, Array]:
    """The rows (s, d) and the momentum (d,) at the end, for one joint."""
    w = jnp.asarray(problem.rule.weights, z.dtype)[:, None] * problem.h
    at = columns(problem, z, load.v_parent, joint)
    force = _joint_force(problem, part, at, z, joint)
    rotor = joint.armature * at.v
    # how the body's translation velocity in its own axes changes when the body turns: ∂v_b = v_b × ζ
    slip = _transposed(_hat(at.v[:, 3:]), rotor[:, 3:]) if len(joint.p) > 3 else jnp.zeros_like(at.x)

    carried = _dot(at.S, load.mu) + _to_chart(at, rotor)
    from_rates = jnp.asarray(problem.rule.a, z.dtype) @ carried
    turned = _dot(at.along, rotor[:, :3]) + _transposed(at.J, slip)
    rho = w * (_dot(at.S_dot, load.mu) + _to_chart(at, force)) + _dot(at.S, load.gamma) + from_rates
    rho = rho.at[:, :3].add(w * turned)

    n = at.C[-1] @ at.J[-1]
    T = _about(at.x, jnp.broadcast_to((at.R[0] @ n).T, (problem.s + 1, 3, 3)))
    T_dot = T @ _T(_ad(at.v_before))
    n_body = _T(at.C) @ n
    by_start = w * (_dot(T_dot, load.mu) + _transposed(n_body, force[:, :3] + slip)) + _dot(T, load.gamma)
    by_end = w[-1] * (at.own[-1] @ load.mu[-1] + at.along[-1] @ rotor[-1, :3]) + from_rates[-1, :3]
    start = joint.p[:3] @ n + by_start[:-1].sum(axis=0) - by_end
    first = jnp.concatenate([start, _apply(at.R[0], joint.p[3:]) + rho[0, 3:]])

    p_end = jnp.concatenate([_solve_transposed(z[-1, :3], rho[-1, :3]), _transposed(at.R[-1], rho[-1, 3:])])
    return jnp.concatenate([first[None], rho[1:-1]]), p_end


def columns(problem: StepProblem, z: Array, v_parent: Array, joint: Ball) -> Columns:
    """The joint at the control points."""
    xi = displacements(z)
    rate = combined(problem.rule.b, xi) / problem.h
    theta, theta_dot = xi[:, :3], rate[:, :3]
    k = 1.0 / (1.0 + 0.25 * jnp.sum(theta**2, axis=1))[:, None, None]
    eye, hat = jnp.eye(3, dtype=z.dtype), _hat(theta)
    C, J = eye + k * (hat + 0.5 * hat @ hat), k * (eye - 0.5 * hat)
    R = Quaternion.from_array(joint.q0[-4:]).to_matrix().to_array() @ C
    translates = len(joint.p) > 3
    x = joint.q0[:3] + xi[:, 3:] if translates else jnp.zeros_like(theta)
    x_dot = rate[:, 3:] if translates else jnp.zeros_like(theta)
    v_before = v_parent + jnp.concatenate([jnp.zeros_like(x), x_dot], axis=1)

    w = _apply(J, theta_dot)
    # row a is ∂(J θ̇)/∂θ_a = −½ k (θ_a J θ̇ + e_a×θ̇)
    along = -0.5 * k * (theta[:, :, None] * w[:, None] + _hat(theta_dot))
    S, own = _about(x, _T(R @ J)), _about(x, along @ _T(R))
    S_dot = S @ _T(_ad(v_before)) + own
    if translates:
        slides = jnp.broadcast_to(jnp.eye(6, dtype=z.dtype)[3:], (len(x), 3, 6))
        S = jnp.concatenate([S, slides], axis=1)
        S_dot = jnp.concatenate([S_dot, slides @ _T(_ad(v_parent))], axis=1)
    v = jnp.concatenate([w, _transposed(R, rate[:, 3:])], axis=1)
    return Columns(S, S_dot, own, along, C, J, R, x, v, v_before)


def _to_chart(at: Columns, f: Array) -> Array:
    """A force in the dual of v (s + 1, d) as one in the dual of ξ̇: (Jᵀ f_ω, R f_v)."""
    return jnp.concatenate([_transposed(at.J, f[:, :3]), _apply(at.R, f[:, 3:])], axis=1)


def _joint_force(problem: StepProblem, part: Part, at: Columns, z: Array, joint: Ball) -> Array:
    """τ + τ_spring − D v at the control points, in the dual of v."""
    force = joint.tau - joint.damping * at.v
    if not problem.model.topology.ball_springs:
        return force

    def energy(dv, q):
        stretch = part.joint.difference(tuple(joint.reference), part.joint.integrate(q, tuple(dv)))
        return 0.5 * jnp.sum(joint.stiffness * jnp.stack(stretch) ** 2)

    def spring(x, xi):
        turned = Quaternion.from_array(joint.q0[-4:]) * Quaternion.from_parts(jnp.ones_like(xi[0]), Vec3(*xi[:3]) * 0.5)
        q = (*(x if len(xi) > 3 else ()), turned.w, turned.x, turned.y, turned.z)
        return -jax.grad(energy)(jnp.zeros_like(xi), q)

    return force + jax.vmap(spring)(at.x, displacements(z))


_EPSILON = np.zeros((3, 3, 3))
_EPSILON[[0, 1, 2], [1, 2, 0], [2, 0, 1]] = 1.0
_EPSILON[[0, 2, 1], [2, 1, 0], [1, 0, 2]] = -1.0
_HAT = -_EPSILON.reshape(3, 9)


def _hat(a: Array) -> Array:
    """[a]× along the last axis."""
    return (a @ jnp.asarray(_HAT, a.dtype)).reshape(*a.shape, 3)


def _ad(v: Array) -> Array:
    """The matrix of the motion cross product, [[ω̂, 0], [v̂, ω̂]], along the last axis."""
    w, u = _hat(v[..., :3]), _hat(v[..., 3:])
    top = jnp.concatenate([w, jnp.zeros_like(w)], axis=-1)
    return jnp.concatenate([top, jnp.concatenate([u, w], axis=-1)], axis=-2)


def _about(x: Array, axes: Array) -> Array:
    """The twists (ω, x×ω) of rotations about axes (s + 1, 3, 3) through points x (s + 1, 3)."""
    return jnp.concatenate([axes, axes @ _T(_hat(x))], axis=-1)


def _dot(columns: Array, f: Array) -> Array:
    """The products of the columns (s + 1, d, m) with the forces (s + 1, m)."""
    return jnp.sum(columns * f[:, None], axis=-1)


def _apply(matrix: Array, vector: Array) -> Array:
    """Matrix times vector along the last axis; nothing for the translations of a joint that has none."""
    return jnp.sum(matrix * vector[..., None, :], axis=-1) if vector.shape[-1] else vector


def _transposed(matrix: Array, vector: Array) -> Array:
    return _apply(_T(matrix), vector)


def _T(matrix: Array) -> Array:
    return jnp.swapaxes(matrix, -1, -2)


def _solve_transposed(theta: Array, f: Array) -> Array:
    """J⁻ᵀ f with J⁻¹ = 𝟙 + ½θ̂ + ¼θθᵀ."""
    return f - 0.5 * _hat(theta) @ f + 0.25 * theta * (theta @ f)
