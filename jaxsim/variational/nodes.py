"""One step of a variational integrator, evaluated at its control points: poses, momenta, impulses."""

from __future__ import annotations

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..dynamics.elements import Element, elements, inertias, per_element
from ..forces.body import Forces, total_wrench
from ..model import Model
from ..spatial import Force, Inertia, Motion, Pose, Vec3
from ..sweep import leaf_to_root, root_to_leaf
from .chart import retract, velocity
from .constraints.constraint_set import ConstraintSet
from .quadrature import Quadrature, lobatto


class StepProblem(eqx.Module):
    """What one step depends on; its unknowns are the displacements ξ^1 … ξ^s from q₀.

    Attributes:
        model: the model.
        q0: the configuration at the start.
        p: the discrete momentum at the start, in the dual of v.
        tau: the joint forces at the control points.
        h: the time step.
        forces: the wrenches on bodies, beside gravity.
        constraints: what the motion has to fulfil.
        s: the degree of the polynomials.
    """

    model: Model
    q0: Float[Array, " nq"]
    p: Float[Array, " nv"]
    tau: Float[Array, "s1 nv"]
    h: Float[Array, ""]
    forces: Forces
    s: int = eqx.field(static=True)
    constraints: ConstraintSet = ConstraintSet(())

    @property
    def rule(self) -> Quadrature:
        """The quadrature."""
        return lobatto(self.s)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Node:
    """All elements at one control point: leaves with one entry an element, in the world frame.

    Attributes:
        q: the configuration, (nq,), and
        v: the velocity, (nv,).
        pose: the poses of the elements.
        twist: v̄, their velocities.
        S: the columns S̄ of the motion subspace.
        inertia: M̄, what each element carries itself.
        wrench: F^α = w^α Δt F̄, the impulse on each element itself.
        mu: μ̄, the momentum, and
        gamma: Γ̄, the impulse of each element with all that it carries (Fan et al. 2018, defs. 1 and 2).
        along: S̄·μ̄, the part of the momentum that the joint feels,
        turned: Ṡ·μ̄ with Ṡ = v̄×S̄, and
        pushed: S̄·Γ̄.
        y: the points that constraints look at, (points, 3), and
        f: the forces of the constraints there; none at the end of the step.
    """

    q: Array
    v: Array
    pose: Pose
    twist: Motion
    S: Motion
    inertia: Inertia
    wrench: Force
    mu: Force
    gamma: Force
    along: Array
    turned: Array
    pushed: Array
    y: Array
    f: Array


Nodes = tuple[Node, ...]
"""The s + 1 control points, each apart: in a batch of worlds every operation is then one loop over the worlds."""


def stacked(nodes: Nodes) -> Node:
    """All control points at once: leaves with a leading axis of s + 1."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *nodes)


def evaluate(problem: StepProblem, z: Float[Array, "s nv"], multipliers: Float[Array, "s m"] | None = None) -> Nodes:
    """Lines 1 to 11 of Algorithm 1: one sweep outward for the kinematics, one inward for momenta and impulses.

    The forces of constraints with the multipliers at the control points 0 … s − 1 are wrenches among the others.
    """
    model, rule, dtype = problem.model, problem.rule, z.dtype
    xi = displacements(z)
    q = jax.vmap(lambda x: retract(model, problem.q0, x))(xi)
    v = jax.vmap(lambda q, x, dx: velocity(model, q, x, dx))(q, xi, combined(rule.b, xi) / problem.h)
    moving = _moving(model, q, v, dtype)
    weights = [float(weight) * problem.h for weight in rule.weights]
    pushes = [_pushes(problem, node, _multipliers_at(k, multipliers), dtype) for k, node in enumerate(moving)]
    loads = tuple((*node[1:3], *node[4:], push[0]) for node, push in zip(moving, pushes, strict=True))
    carried = _carried(model, loads, weights, dtype)
    parts: list[tuple[Any, ...]] = [
        (q[k], v[k], *moving[k][:4], *carried[k], *pushes[k][1:]) for k in range(problem.s + 1)
    ]
    return tuple(Node(*part) for part in parts)


def _multipliers_at(alpha: int, multipliers: Array | None) -> Array | None:
    return None if multipliers is None or alpha == len(multipliers) else multipliers[alpha]


def combined(matrix: np.ndarray, rows: Float[Array, "s1 n"]) -> Float[Array, "s1 n"]:
    """matrix @ rows for a small constant matrix, as sums that fuse with what follows."""
    return jnp.stack([sum(float(c) * row for c, row in zip(line, rows, strict=True)) for line in matrix])


def displacements(z: Float[Array, "s nv"]) -> Float[Array, "s1 nv"]:
    """ξ⁰ … ξ^s, of which the first is zero."""
    return jnp.concatenate([jnp.zeros_like(z[:1]), z])


def kinematics(model: Model, q, v, dtype) -> tuple[Pose, Motion, Motion]:
    """g_i = g_par g_par,i(q_i), S̄_i = Ad S_i and v̄_i = v̄_par + S̄_i v_i (Alg. 1, lines 4 to 6)."""

    def step(parent, x):
        pose, twist, S = _outward(parent, *x)
        return (pose, twist), (pose, twist, S)

    root = Pose.identity(), Motion.zero()
    return root_to_leaf(model.topology, step, (elements(model, q), per_element(model, v)), root, dtype)


def _outward(parent: tuple[Pose, Motion], element: Element, rate) -> tuple[Pose, Motion, Motion]:
    pose_parent, twist_parent = parent
    pose = pose_parent @ element.placement.pose()
    S = pose @ element.S
    return pose, twist_parent + S * rate, S


def _moving(model: Model, q, v, dtype):
    """Pose, twist, S̄, M̄, momentum and weight of each element at all control points, in one sweep.

    All that needs the model's own numbers is done inside the sweep: outside of it, ``vmap`` would turn the arrays of a
    batch around to multiply them with arrays that do not belong to it.
    """
    g = Vec3.from_array(model.gravity)

    def step(parents, x):
        elements, rates, inertia = x
        found = []
        for parent, element, rate in zip(parents, elements, rates, strict=True):
            pose, twist, S = _outward(parent, element, rate)
            moved = inertia.transformed(pose)
            weight = Force(moved.first_moment.cross(g), g * moved.mass)
            found.append((pose, twist, S, moved, moved.apply(twist), weight))
        return tuple((pose, twist) for pose, twist, *_ in found), tuple(found)

    at = tuple(elements(model, x) for x in q), tuple(per_element(model, x) for x in v)
    root = ((Pose.identity(), Motion.zero()),) * len(q)
    return root_to_leaf(model.topology, step, (*at, inertias(model)), root, dtype)


def _carried(model: Model, loads, weights, dtype):
    """F^α, μ̄_i = M̄_i v̄_i + Σ μ̄_j and Γ̄_i = F̄_i + Σ Γ̄_j over the children j (Alg. 1, line 11), and what joints feel."""

    def step(children, own):
        totals, outs = [], []
        for (mu, gamma), (twist, S, momentum, weight, push), w in zip(children, own, weights, strict=True):
            wrench = (weight + push) * w
            mu, gamma = mu + momentum, gamma + wrench
            totals.append((mu, gamma))
            outs.append((wrench, mu, gamma, S.dot(mu), twist.cross(S).dot(mu), S.dot(gamma)))
        return tuple(totals), tuple(outs)

    zero = ((Force.zero(), Force.zero()),) * len(loads)
    return leaf_to_root(model.topology, step, loads, zero, dtype)[1]


def _pushes(problem: StepProblem, node, multipliers: Array | None, dtype) -> tuple[Force, Array, Array]:
    """The wrenches beside gravity on each element in the world frame, and the points and forces of constraints."""
    model, (pose, twist, *_) = problem.model, node
    y, f, total = _constraint_wrench(problem, pose, multipliers, dtype)
    if problem.forces:
        in_body = total_wrench(problem.forces, model, *body_states(model, pose, twist))
        total = total + pose @ per_last_element(model, in_body)
    return total, y, f


def _constraint_wrench(problem: StepProblem, pose: Pose, multipliers, dtype) -> tuple[Array, Array, Force]:
    """The points of the constraints, the forces there, and their wrenches on each element in the world frame."""
    model, constraints = problem.model, problem.constraints
    if not constraints.items:
        return jnp.zeros((0, 3), dtype), jnp.zeros((0, 3), dtype), Force.zero()
    anchors = constraints.anchors(model)
    y = anchors.positions(pose)
    f = jnp.zeros_like(y) if multipliers is None else constraints.force(model, y, multipliers)
    carriers = jnp.asarray(anchors.carriers(model.topology.elements.count), y.dtype)
    return y, f, jax.tree.map(lambda leaf: leaf @ carriers, anchors.wrenches(y, f))


def body_states(model: Model, pose: Pose, twist: Motion) -> tuple[Pose, Motion]:
    """The poses of the bodies and their twists in the body frames, the world first."""
    last = model.topology.elements.last_of_body[1:]

    def with_world(world, leaf):
        return jnp.concatenate([jnp.asarray(world, leaf.dtype)[None], leaf[last]])

    in_body = pose.inv() @ twist
    return jax.tree.map(with_world, Pose.identity(), pose), jax.tree.map(with_world, Motion.zero(), in_body)


def per_last_element(model: Model, per_body):
    """A pytree with rows for bodies, spread to the last elements of their joints; zero for the other elements."""
    table = model.topology.elements
    mask = table.is_last

    def spread(leaf):
        leaf = jnp.asarray(leaf)
        rows = leaf if leaf.ndim == 0 else leaf[table.body]
        return jnp.where(mask, rows, 0).astype(leaf.dtype)

    return jax.tree.map(spread, per_body)
