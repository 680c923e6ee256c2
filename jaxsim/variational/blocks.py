"""The linearised DEL equations, joint by joint, in a form that can be eliminated from the leaves to the root.

Pose and velocity of an element change by η and δ̄v, momenta and impulses by δ̄μ and δ̄Γ, all four seen from the moving
element itself (Fan et al. 2018, app. C and D). Write x = (δ̄v⁰…δ̄v^s, η¹…η^{s−1}) and f = (δ̄μ⁰…δ̄μ^s, δ̄Γ), and let y
be the change of a joint's own coordinates ξ¹…ξ^s. Then, with f counted from the parent's side of the joint,

    x_i = x_par + V y,    f_par = f_i − shift y,    δr = W f_par + θ x_par + Λ₀ y,

where the columns of ``shift`` are ad^D_μ S̄ and ad^D_Γ S̄. For a screw these are the terms of Algorithm B.2: W holds
a^{αβ}S̄^β + w Δt Ṡ^α and S̄^α, θ holds −w Δt ad^D_μ S̄, and Λ₀ the derivatives of the joint force. For a quaternion
joint they are derivatives of its rows in ``ball.py``. Dropping η^s loses nothing: its columns vanish, by induction from
the leaves. So the trapezoidal rule has no η at all, and without wrenches that depend on velocity no Γ either.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..dynamics.elements import per_element
from ..spatial import Force, Motion
from . import ball
from .chart import Part, ball_parts, parts
from .nodes import Node, Nodes, StepProblem, stacked


@dataclasses.dataclass(frozen=True)
class Shape:
    """Which control points the linearised equations are about, and the sizes that follow; static.

    Attributes:
        equations: the control points whose rows are taken.
        unknowns: the control points whose displacements vary; as many as equations.
        poses: the control points at which x has an η.
        impulses: the control points at which f has a Γ̄.
        d: the degrees of freedom of the largest joint that is eliminated as one block.
        rows: for each element and each of the d degrees of freedom, its index in v, or nv for none.
        size: for each element, the degrees of freedom that are eliminated when a sweep visits it.
    """

    equations: tuple[int, ...]
    unknowns: tuple[int, ...]
    poses: tuple[int, ...]
    impulses: tuple[int, ...]
    d: int
    rows: np.ndarray
    size: np.ndarray

    @property
    def points(self) -> int:
        """The number of unknowns of a degree of freedom."""
        return len(self.unknowns)

    @property
    def present(self) -> np.ndarray:
        """Which of the d degrees of freedom each element has."""
        return np.arange(self.d) < self.size[:, None]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Blocks:
    """The coefficients of every element, see above; unknowns are ordered by degree of freedom, then control point.

    With k = d · points unknowns an element, R = 6 (s + 1 + impulses) rows of f and C = 6 (s + 1 + poses) rows of x:
    ``W`` (n, k, R), ``theta`` (n, k, C), ``Lambda0`` (n, k, k), ``V`` (n, C, k) and ``shift`` (n, R, k).
    """

    W: Array
    theta: Array
    Lambda0: Array
    V: Array
    shift: Array


def newton_shape(problem: StepProblem) -> Shape:
    """The sizes for the Newton direction: rows of the control points 0 … s − 1, unknowns at 1 … s."""
    s = problem.s
    velocity = any(force.depends_on_velocity for force in problem.forces)
    impulses = range(0 if velocity else 1, s)
    return _shape(problem, range(s), range(1, s + 1), range(1, s), impulses)


def full_shape(problem: StepProblem) -> Shape:
    """The sizes for the linearisation: the rows of all control points, with the start of the step varied too."""
    everywhere = range(problem.s + 1)
    return _shape(problem, everywhere, everywhere, everywhere, everywhere)


def _shape(problem: StepProblem, equations, unknowns, poses, impulses) -> Shape:
    model = problem.model
    table = model.topology.elements
    balls = ball_parts(model)
    d = max([1, *(part.joint.nv for part in balls)])
    rows = np.full((table.count, d), model.nv)
    rows[:, 0] = table.velocity
    size = (table.velocity < model.nv).astype(int)
    for part in balls:
        run = part.last - np.arange(part.joint.nv)[:, None]
        rows[run], size[run] = model.nv, 0
        rows[part.last, : part.joint.nv], size[part.last] = part.v_rows.T, part.joint.nv
    return Shape(tuple(equations), tuple(unknowns), tuple(poses), tuple(impulses), d, rows, size)


def blocks(problem: StepProblem, sizes: Shape, nodes: Nodes, z: Float[Array, "s nv"]) -> Blocks:
    """The coefficients at the unknowns z."""
    together = stacked(nodes)
    part = _screw_parts(problem, sizes, together)
    for joint in ball_parts(problem.model):
        part = _with_ball(problem, joint, together, z, part)
    present = jnp.asarray(np.repeat(sizes.present, sizes.points, axis=1))
    mu, gamma = _points(together.mu.to_array()), _points(together.gamma.to_array())
    n, k = sizes.rows.shape[0], sizes.points * sizes.d

    def by_unknown(array: Array) -> Array:
        """(element, control point, degree of freedom, …) → (element, unknown, the rest flat)."""
        return jnp.moveaxis(array, 1, 2).reshape(n, k, -1)

    W = jnp.concatenate([part.on_mu, part.on_gamma[:, :, :, list(sizes.impulses)]], axis=3)
    no_eta = jnp.zeros((n, k, 6 * len(sizes.poses)), W.dtype)
    theta = jnp.concatenate([by_unknown(part.on_v), no_eta], axis=2)
    own = jnp.moveaxis(part.on_xi, (1, 3), (2, 4)).reshape(n, k, k)
    Lambda0 = own + jnp.where(present, 0.0, 1.0).astype(own.dtype)[..., None] * np.eye(k, dtype=own.dtype)
    V, shift = _trial(problem, sizes, part, mu, gamma)
    return Blocks(by_unknown(W), theta, Lambda0, by_unknown(V).swapaxes(1, 2), by_unknown(shift).swapaxes(1, 2))


@dataclasses.dataclass(frozen=True)
class _Parts:
    """Blocks before assembly: (element, control point, degree of freedom, …)."""

    S: Array
    S_dot: Array
    on_mu: Array
    on_gamma: Array
    on_v: Array
    on_xi: Array


def _points(array: Array) -> Array:
    """(control point, element, …) → (element, control point, …)."""
    return jnp.moveaxis(array, 1, 0)


def _screw_parts(problem: StepProblem, sizes: Shape, nodes: Node) -> _Parts:
    """The coefficients of the screws: the terms of Algorithm B.2."""
    model, rule = problem.model, problem.rule
    dtype = nodes.q.dtype
    moves = np.zeros(len(sizes.rows))
    for part in parts(model):
        if not part.is_ball and part.joint.nv:
            moves[part.last] = 1.0
    w, a, b = (jnp.asarray(array, dtype) for array in (rule.weights * problem.h, rule.a, rule.b))
    eye = jnp.eye(problem.s + 1, dtype=dtype)
    rows, columns = np.array(sizes.equations), np.array(sizes.unknowns)

    def padded(array: Array) -> Array:
        """Put the screw into the first of the d degrees of freedom."""
        masked = array * jnp.asarray(moves, dtype).reshape(-1, *[1] * (array.ndim - 1))
        widths = [(0, 0)] * masked.ndim
        widths[2] = (0, sizes.d - 1)
        return jnp.pad(masked, widths)

    S = _points(nodes.S.to_array())[:, :, None]
    S_dot = _points(nodes.twist.cross(nodes.S).to_array())[:, :, None]
    turn = _points(nodes.S.cross_force(nodes.mu).to_array())[:, :, None]
    S_at, S_dot_at, turn_at = (array[:, :, 0][:, None, None] for array in (S, S_dot, turn))
    diagonal = eye[rows, None, :, None]
    weighted = w[rows, None, None, None] * diagonal
    on_mu = a[rows, None, :, None] * S_at + weighted * S_dot_at
    on_gamma, on_v = diagonal * S_at, weighted * turn_at
    stiffness, damping, armature = (
        per_element(model, leaf)[:, None, None] for leaf in (model.stiffness, model.damping, model.armature)
    )
    weight = w[rows, None]
    spring = -(weight * eye[rows][:, columns]) * stiffness
    rates = (armature * (a[rows] @ b[:, columns]) - damping * (weight * b[rows][:, columns])) / problem.h
    on_xi = padded((spring + rates)[:, :, None, :, None])
    on_xi = jnp.pad(on_xi, [(0, 0)] * 4 + [(0, sizes.d - 1)])
    return _Parts(padded(S), padded(S_dot), padded(on_mu), padded(on_gamma), padded(on_v), on_xi)


def _with_ball(problem: StepProblem, part: Part, nodes: Node, z: Array, into: _Parts) -> _Parts:
    """The coefficients of the quaternion joints: derivatives of their rows, carried from the base to the world."""
    unknowns, loads, joints = ball.unknowns(part, z), ball.loads(part, nodes), ball.joints(problem, part)
    base = ball.base_pose(part, nodes)

    def derivatives(z, load, joint):
        def rows(z, load):
            return ball.joint_rows(problem, part, z, load, joint)[0]

        at = ball.columns(problem, z, load.v_parent, joint)
        return jax.jacfwd(rows, (0, 1))(z, load), (at.S, at.S_dot)

    (on_xi, on_load), (S, S_dot) = jax.vmap(derivatives)(unknowns, loads, joints)

    def to_world(kind, array: Array) -> Array:
        """Carry (joint, …, control point, 6) from the base frame to the world; axis −2 is the control point."""
        moved = base @ kind.from_array(jnp.moveaxis(array, 0, -2))
        return jnp.moveaxis(moved.to_array(), -2, 0)

    def columns(array: Array) -> Array:
        return jnp.moveaxis(to_world(Motion, jnp.moveaxis(array, 1, 2)), 2, 1)

    d = part.joint.nv

    def put(array, value):
        return array.at[part.last, :, :d].set(value)

    return _Parts(
        put(into.S, columns(S)),
        put(into.S_dot, columns(S_dot)),
        put(into.on_mu, to_world(Motion, on_load.mu)),
        put(into.on_gamma, to_world(Motion, on_load.gamma)),
        put(into.on_v, to_world(Force, on_load.v_parent)),
        into.on_xi.at[part.last, :, :d, :, :d].set(on_xi),
    )


def _trial(problem: StepProblem, sizes: Shape, part: _Parts, mu: Array, gamma: Array) -> tuple[Array, Array]:
    """V and the shift, as (element, control point γ of the unknown, degree of freedom, rows).

    δ̄v^ρ = b^{ργ}/Δt S̄^ρ δξ^γ + [ρ = γ] Ṡ^γ δξ^γ and η^ν = S̄^ν δξ^ν; the shift is ad^D_f S̄ = −S̄ ×* f.
    """
    dtype = mu.dtype
    b, eye = jnp.asarray(problem.rule.b, dtype) / problem.h, jnp.eye(problem.s + 1, dtype=dtype)
    S, S_dot = (jnp.moveaxis(array, 1, 2)[:, None] for array in (part.S, part.S_dot))

    def at(matrix):
        return matrix.T[np.array(sizes.unknowns), None, :, None]

    from_v = at(b) * S + at(eye) * S_dot
    from_eta = (at(eye) * S)[:, :, :, list(sizes.poses)]

    def turned(f: Array) -> Array:
        moved = Motion.from_array(part.S).cross_force(Force.from_array(f[:, :, None]))
        return at(eye) * jnp.moveaxis(-moved.to_array(), 1, 2)[:, None]

    shift = jnp.concatenate([turned(mu), turned(gamma)[:, :, :, list(sizes.impulses)]], axis=3)
    return jnp.concatenate([from_v, from_eta], axis=3), shift
