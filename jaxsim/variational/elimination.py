"""The elimination of joints from the leaves to the root (Fan et al. 2018, Algs. B.1 and B.2).

An element with all that it carries answers a change x of its motion with f = D x + l. From the leaves to the root, with
the coefficients of ``blocks.py``, the joint's own unknowns y are eliminated:

    H = D V − shift,   Λ = Λ₀ + W H,   X = −Λ⁻¹(W D + θ),   D_par = D + H X,

and for a right-hand side b (J y = b)   ŷ = Λ⁻¹(b − W l),   l_par = l + H ŷ;   then outward   y = X x_par + ŷ,
x = x_par + V y. The matrices are found once; every right-hand side then costs two light sweeps.
"""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..forces.body import wrench_derivatives
from ..model import Model
from ..spatial import Vec3
from ..spatial.matrix import Mat3
from ..spatial.operator import SpatialMatrix
from ..sweep import leaf_to_root, root_to_leaf
from .blocks import Blocks, Shape, blocks, newton_shape
from .nodes import Node, Nodes, StepProblem, body_states, per_last_element, stacked


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Factors:
    """The eliminated system: what ``solve`` needs of every element."""

    W: Array
    V: Array
    H: Array
    X: Array
    inverse: Array
    sizes: Shape = dataclasses.field(metadata={"static": True})
    model: Model


def factorise(problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"]) -> Factors:
    """Eliminate all joints, from the leaves to the root, in O(s³ n)."""
    sizes = newton_shape(problem)
    coefficients = blocks(problem, sizes, nodes, z)
    dtype = z.dtype
    kinds = sorted({1, *sizes.size.tolist()} - {0})
    kind = np.searchsorted(kinds, np.maximum(sizes.size, 1))
    zero = jnp.zeros((coefficients.W.shape[2], coefficients.V.shape[1]), dtype)

    def step(D, x):
        which, own, coefficients = x
        D = D + response(sizes, own)
        branches = [functools.partial(_eliminate, size * sizes.points) for size in kinds]
        if len(branches) == 1:
            return branches[0](D, coefficients)
        return jax.lax.switch(which.astype(np.int32), branches, D, coefficients)

    data = kind, own_answers(problem, sizes, nodes), coefficients
    _, (H, X, inverse) = leaf_to_root(problem.model.topology, step, data, zero, dtype)
    return Factors(coefficients.W, coefficients.V, H, X, inverse, sizes, problem.model)


def solve(factors: Factors, b: Float[Array, "s nv"]) -> Float[Array, "s nv"]:
    """J⁻¹ b with J = ∂r/∂ξ; a linear function of b that JAX can transpose."""
    sizes, model = factors.sizes, factors.model
    tree = model.topology
    per_dof = jnp.concatenate([b, jnp.zeros_like(b[:, :1])], axis=1)[:, sizes.rows]
    b_element = jnp.moveaxis(per_dof, 0, 2).reshape(len(sizes.rows), -1)

    def inward(l, x):
        b, W, H, inverse = x
        y = _times(inverse, b - _times(W, l))
        return l + _times(H, y), y

    def outward(x_parent, x):
        y, X, V = x
        y = y + _times(X, x_parent)
        return x_parent + _times(V, y), y

    zero_l, zero_x = jnp.zeros_like(factors.W[0, 0]), jnp.zeros_like(factors.X[0, 0])
    _, y = leaf_to_root(tree, inward, (b_element, factors.W, factors.H, factors.inverse), zero_l, b.dtype)
    y = root_to_leaf(tree, outward, (y, factors.X, factors.V), zero_x, b.dtype)
    y = jnp.moveaxis(y.reshape(len(sizes.rows), sizes.d, sizes.points), 2, 0).reshape(sizes.points, -1)
    return y[:, places(sizes, model.nv)]


def places(sizes: Shape, nv: int) -> np.ndarray:
    """For each velocity coordinate, its place among the degrees of freedom of all elements."""
    return np.argsort(sizes.rows.reshape(-1), kind="stable")[:nv]


def _eliminate(k: int, D: Array, c: Blocks) -> tuple[Array, tuple[Array, Array, Array]]:
    """One joint with k unknowns; results are padded with zeros to the largest joint."""
    W, V = c.W[:k], c.V[:, :k]
    H = _product(D, V) - c.shift[:, :k]
    inverse = small_inverse(c.Lambda0[:k, :k] + _product(W, H))
    X = -_product(inverse, _product(W, D) + c.theta[:k])
    rest = c.W.shape[0] - k
    padded = jnp.pad(H, ((0, 0), (0, rest))), jnp.pad(X, ((0, rest), (0, 0))), jnp.pad(inverse, ((0, rest), (0, rest)))
    return D + _product(H, X), padded


def own_answers(problem: StepProblem, sizes: Shape, nodes: Nodes) -> tuple[Array, Array | None, Array | None]:
    """What each element itself answers: M̄ to δ̄v and, through its wrench, Ψ to η and Π to δ̄v; (n, points, 6, 6) each."""
    together = stacked(nodes)
    inertia = _to_array(SpatialMatrix.from_inertia(together.inertia))
    if not sizes.impulses:
        return inertia, None, None
    responses = [wrench_response(problem, node, alpha) for alpha, node in enumerate(nodes)]
    by_pose, by_twist = jax.tree.map(
        lambda *leaves: leaves[0] if isinstance(leaves[0], float) else jnp.stack(leaves), *responses
    )
    return inertia, _to_array(by_pose), None if by_twist is None else _to_array(by_twist)


def wrench_response(problem: StepProblem, node: Node, alpha: int) -> tuple[SpatialMatrix, SpatialMatrix | None]:
    """The change of the impulse F^α with η and with δ̄v, seen from the element: D₁F + ad^D_F − D₂F ad_v̄, and D₂F.

    For gravity with f = m g at the centre of mass c the first is [[ĉ f̂, 0], [f̂, 0]], and likewise for the forces that
    constraints exert at points.
    """
    model, weight = problem.model, float(problem.rule.weights[alpha]) * problem.h
    g = Mat3.skew(Vec3.from_array(model.gravity) * weight)
    zero = Mat3.zero()
    by_pose = SpatialMatrix(Mat3.skew(node.inertia.first_moment).matmul(g), zero, g * node.inertia.mass, zero)
    if problem.constraints.items:
        by_pose = by_pose + _push_response(problem, node.y, node.f * weight)
    if not problem.forces:
        return by_pose, None
    in_body = wrench_derivatives(problem.forces, model, *body_states(model, node.pose, node.twist))
    more, by_twist = ((per_last_element(model, matrix) * weight).transformed(node.pose) for matrix in in_body)
    return by_pose + more, by_twist


def _push_response(problem: StepProblem, y: Array, impulse: Array) -> SpatialMatrix:
    """Σ [[ŷ f̂, 0], [f̂, 0]] over the points that each element carries, for forces that keep their world components."""
    model = problem.model
    carriers = problem.constraints.anchors(model).carriers(model.topology.elements.count)

    def per_element(leaf):
        return leaf if np.ndim(leaf) == 0 else leaf @ jnp.asarray(carriers, y.dtype)

    push, zero = Mat3.skew(Vec3.from_array(impulse)), Mat3.zero()
    moment = Mat3.skew(Vec3.from_array(y)).matmul(push)
    return SpatialMatrix(jax.tree.map(per_element, moment), zero, jax.tree.map(per_element, push), zero)


def _to_array(matrix: SpatialMatrix) -> Array:
    """(control point, element) components → (element, control point, 6, 6)."""
    top = jnp.concatenate(jnp.broadcast_arrays(matrix.A.to_array(), matrix.B.to_array()), axis=-1)
    bottom = jnp.concatenate(jnp.broadcast_arrays(matrix.C.to_array(), matrix.D.to_array()), axis=-1)
    return jnp.moveaxis(jnp.concatenate(jnp.broadcast_arrays(top, bottom), axis=-2), 1, 0)


def response(sizes: Shape, own: tuple[Array, Array | None, Array | None]) -> Array:
    """D of one element alone: blocks on the diagonals of (δ̄μ, δ̄v), (δ̄Γ, η) and (δ̄Γ, δ̄v)."""
    inertia, by_pose, by_twist = own
    points = len(inertia)
    D = jnp.zeros((6 * (points + len(sizes.impulses)), 6 * (points + len(sizes.poses))), inertia.dtype)
    for alpha in range(points):
        D = D.at[6 * alpha : 6 * alpha + 6, 6 * alpha : 6 * alpha + 6].set(inertia[alpha])
    for k, alpha in enumerate(sizes.impulses):
        row = slice(6 * (points + k), 6 * (points + k + 1))
        if by_twist is not None:
            D = D.at[row, 6 * alpha : 6 * alpha + 6].set(by_twist[alpha])
        if by_pose is not None and alpha in sizes.poses:
            column = 6 * (points + sizes.poses.index(alpha))
            D = D.at[row, column : column + 6].set(by_pose[alpha])
    return D


def _product(A: Array, B: Array) -> Array:
    """A B as sums that fuse with their neighbours; a batch of tiny matrix products would not."""
    return jnp.sum(A[:, :, None] * B[None], axis=1)


def _times(A: Array, x: Array) -> Array:
    return jnp.sum(A * x, axis=-1)


def small_inverse(A: Array) -> Array:
    """A⁻¹, in closed form up to 3×3."""
    k = A.shape[0]
    if k == 1:
        return 1.0 / A
    if k == 2:
        (a, b), (c, d) = A
        return jnp.stack([jnp.stack([d, -b]), jnp.stack([-c, a])]) / (a * d - b * c)
    if k == 3:
        return Mat3.from_array(A).inverse().to_array()
    return jnp.linalg.inv(A)
