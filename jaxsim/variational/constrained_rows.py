"""Constraints in a step: their equations at the control points, and how these and the forces vary.

Equations for positions hold at the control points 1 … s (Fan et al. 2018, eq. 6d). Those for velocities hold at the s
Gauss points of the step, where the derivative of the interpolating polynomial is more accurate than at the control
points: the zeros of P_s are those of the derivative of the polynomial whose zeros are the Lobatto points.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..dynamics.elements import per_velocity
from ..model import Model
from ..spatial import Force, Motion, Vec3
from .chart import ball_parts, retract, velocity
from .constraints.constraint_set import Anchors, ConstraintSet
from .nodes import Nodes, StepProblem, displacements, kinematics, stacked
from .quadrature import interpolation
from .residual import residual


def conditions(problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"]) -> Float[Array, "s m"]:
    """What the constraints want to vanish: h(q^α), α = 1 … s, and Δt times the rates at the Gauss points."""
    constraints, model = problem.constraints, problem.model
    holonomic = constraints.is_holonomic(model)
    values = jax.vmap(lambda y: constraints.value(model, y))(stacked(nodes).y[1:])
    return values if holonomic.all() else jnp.where(holonomic, values, _rates(problem, z))


def condition_rows(problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"]) -> Float[Array, "s m s nv"]:
    """The derivative of ``conditions`` with respect to z."""
    model, constraints, s = problem.model, problem.constraints, problem.s
    holonomic = constraints.is_holonomic(model)
    columns = point_columns(problem, nodes, z)
    rows = jax.vmap(lambda y, Y: _by_rate(model, constraints, y, Y))(stacked(nodes).y[1:], columns[1:])
    here = jnp.eye(s, dtype=z.dtype)[:, None, :, None] * rows[:, :, None]
    if holonomic.all():
        return here
    return jnp.where(holonomic[:, None, None], here, jax.jacrev(lambda z: _rates(problem, z))(z))


def point_columns(problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"]) -> Float[Array, "s1 k 3 nv"]:
    """∂y/∂ξ at all control points."""
    model, anchors = problem.model, problem.constraints.anchors(problem.model)
    together = stacked(nodes)
    by_v = jax.vmap(lambda S, y: velocity_columns(model, anchors, S, y))(together.S, together.y)
    if not ball_parts(model):
        return by_v

    def to_chart(q, xi, rows):
        _, pull = jax.vjp(lambda rate: velocity(model, q, xi, rate), jnp.zeros_like(xi))
        return jax.vmap(jax.vmap(lambda row: pull(row)[0]))(rows)

    return jax.vmap(to_chart)(together.q, displacements(z), by_v)


def velocity_columns(model: Model, anchors: Anchors, S: Motion, y: Float[Array, "k 3"]) -> Float[Array, "k 3 nv"]:
    """∂ẏ/∂v for the motion subspaces of all elements in the world frame: S_v + S_ω×y above each point, else zero."""
    moved = S.linear + S.angular.cross(Vec3.from_array(y[:, None]))
    above = model.topology.ancestors[anchors.element] & (anchors.element >= 0)[:, None]
    columns = jnp.where(above[:, :, None], moved.to_array(), 0)
    return jnp.moveaxis(per_velocity(model, jnp.moveaxis(columns, 1, 0)), 0, 2)


def pushed(problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"], f: Float[Array, "s1 k 3"]) -> Array:
    """What forces f at the points add to the rows of the DEL equations, in O(n): those rows are linear in Γ̄."""
    anchors = problem.constraints.anchors(problem.model)
    above = problem.model.topology.ancestors[anchors.element] & (anchors.element >= 0)[:, None]
    weights = jnp.asarray(problem.rule.weights, z.dtype)[:, None] * problem.h

    together = stacked(nodes)

    def carried(leaf: Array) -> Array:
        return (weights * leaf) @ jnp.asarray(above, z.dtype)

    gamma: Force = jax.tree.map(carried, anchors.wrenches(together.y, f))

    def rows(gamma):
        there = []
        for k, node in enumerate(nodes):
            here = jax.tree.map(lambda a, k=k: a[k], gamma)
            there.append(dataclasses.replace(node, gamma=here, pushed=node.S.dot(here)))
        return residual(problem, tuple(there), z)

    return jax.jvp(rows, (together.gamma,), (gamma,))[1]


def constraint_jacobian(model: Model, constraints: ConstraintSet, q: Float[Array, " nq"]) -> tuple[Array, Array]:
    """C (m, nv) and c (m,) with C v + c = 0 for the velocities that the constraints allow at q."""
    pose, _, S = kinematics(model, q, jnp.zeros(model.nv, q.dtype), q.dtype)
    return rate_rows(model, constraints, S, constraints.anchors(model).positions(pose))


def rate_rows(model: Model, constraints: ConstraintSet, S: Motion, y: Float[Array, "k 3"]) -> tuple[Array, Array]:
    """The same from the motion subspaces and the points at q."""
    columns = velocity_columns(model, constraints.anchors(model), S, y)
    return _by_rate(model, constraints, y, columns), constraints.rate(model, y, jnp.zeros_like(y))


def _by_rate(model: Model, constraints: ConstraintSet, y: Array, Y: Array) -> Float[Array, "m nv"]:
    """(∂ rate/∂ẏ) Y."""

    def along(column: Array) -> Array:
        return jax.jvp(lambda y_dot: constraints.rate(model, y, y_dot), (jnp.zeros_like(y),), (column,))[1]

    return jax.vmap(along, in_axes=2, out_axes=1)(Y)


def _rates(problem: StepProblem, z: Float[Array, "s nv"]) -> Float[Array, "s m"]:
    """Δt times the rates at the Gauss points."""
    model, rule, dtype = problem.model, problem.rule, z.dtype
    gauss = 0.5 * (1.0 + np.polynomial.legendre.leggauss(problem.s)[0])
    to_gauss = interpolation(rule.nodes, gauss)
    xi = displacements(z)
    at, rate = jnp.asarray(to_gauss, dtype) @ xi, jnp.asarray(to_gauss @ rule.b, dtype) @ xi / problem.h
    anchors = problem.constraints.anchors(model)

    def point(xi, rate):
        q = retract(model, problem.q0, xi)
        pose, twist, _ = kinematics(model, q, velocity(model, q, xi, rate), dtype)
        y = anchors.positions(pose)
        return problem.h * problem.constraints.rate(model, y, anchors.velocities(twist, y))

    return jax.vmap(point)(at, rate)
