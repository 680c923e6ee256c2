"""Products with the inverse of the mass matrix, in linear time and without forming it."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import Model
from ..model.shapes import check
from ..spatial import Force, Motion
from ..spatial.operator import SpatialMatrix
from ..sweep import leaf_to_root, root_to_leaf
from .coupled import coupled_inverse_mass_product
from .elements import elements, inertias, per_element, per_velocity, rotors
from .mass_solve import factorise, mass_solve
from .rule import frozen


def inverse_mass_product(
    model: Model,
    q: Float[Array, " nq"],
    x: Float[Array, " nv"],
    body_matrix: Float[Array, "nb 6 6"] | None = None,
    joint_matrix: Float[Array, " nv"] | None = None,
) -> Float[Array, " nv"]:
    """M(q)⁻¹ x, or (M + Jᵀ blkdiag(P_m) J + diag(P_r))⁻¹ x (Sueda, Alg. 10).

    Args:
        model: the model.
        q: the configuration.
        x: a vector of joint forces.
        body_matrix: P_m, for a linearly implicit step −h D_m − h² K_m: a 6×6 matrix a body in its frame, not
            necessarily symmetric. J are the body twists of ``jacobian_product``.
        joint_matrix: P_r, likewise on the joints: one entry a degree of freedom.
    """
    given = {"joint_matrix": joint_matrix, "body_matrix": body_matrix}
    check(model, q=q, x=x, **{name: value for name, value in given.items() if value is not None})
    if model.coupling is not None:
        return coupled_inverse_mass_product(model, q, x, body_matrix, joint_matrix)
    if joint_matrix is not None:
        model = _with_armature(model, model.armature + joint_matrix)
    if body_matrix is None:
        return per_velocity(model, _mass_product(model, q, per_element(model, x)))
    return _general_product(model, q, x, body_matrix)


def _mass_product(model: Model, q, b) -> Array:
    dtype = jnp.result_type(q, b, model.dtype)
    tree, element, inertia, armature = model.topology, elements(model, q), inertias(model), rotors(model)
    factors = frozen(factorise(tree, frozen(element), frozen(inertia), frozen(armature), dtype))
    return mass_solve(tree, element, inertia, armature, factors, b, dtype)


def _with_armature(model: Model, armature) -> Model:
    return eqx.tree_at(lambda m: m.armature, model, armature)


def _general_product(model: Model, q, x, body_matrix) -> Array:
    """The two sweeps of Alg. 10 with body matrices that need not be symmetric."""
    dtype = jnp.result_type(q, x, model.dtype)
    tree, table = model.topology, model.topology.elements
    element = elements(model, q)
    extra = SpatialMatrix.from_array(body_matrix[table.body] * table.is_last[:, None, None])
    armature = rotors(model)

    def inward(from_children, data):
        (P_children, p_children), (element, inertia, extra, armature, x) = from_children, data
        S = element.S
        P = SpatialMatrix.from_inertia(inertia) + extra + P_children
        left, right = P.apply(S), P.T.apply(S)
        D_inverse = 1.0 / (S.dot(left) + armature)
        u = x - S.dot(p_children)
        reduced = P - SpatialMatrix.outer(left, right) * D_inverse
        X = element.placement.pose()
        return (reduced.transformed(X), X @ (p_children + left * (u * D_inverse))), (right, D_inverse, u)

    def outward(y_parent, data):
        element, (right, D_inverse, u) = data
        y = element.placement.pose().inv() @ y_parent
        rate = D_inverse * (u - right.dot(y))
        return y + element.S * rate, rate

    zero = SpatialMatrix.zero(), Force.zero()
    data = element, inertias(model), extra, armature, per_element(model, x)
    _, factors = leaf_to_root(tree, inward, data, zero, dtype)
    return per_velocity(model, root_to_leaf(tree, outward, (element, factors), Motion.zero(), dtype))
