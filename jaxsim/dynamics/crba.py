"""The mass matrix by the composite-rigid-body algorithm (Featherstone 2008, table 6.2), in the ground frame."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import Model
from ..model.on_tree import on_tree
from ..model.rows import take_rows
from ..model.shapes import check
from ..model.topology import Topology
from ..spatial import Force, Inertia, Motion, Pose, Scalar
from ..sweep import leaf_to_root, root_to_leaf
from .chunked import in_chunks, worlds_in_cache
from .elements import Element, elements, inertias
from .rule import linear_step, with_tangent

Data = tuple[Element, Inertia, jax.Array]


@on_tree("matrix")
def mass_matrix(model: Model, q: Float[Array, " nq"]) -> Float[Array, "nv nv"]:
    """M(q), with ½ vᵀ M v the kinetic energy of bodies and rotors.

    With all quantities in the ground frame, M_ij = S_jᵀ I_i^c S_i for j on the path from the root to i, where I_i^c is
    the sum of the inertias that i carries.
    """
    check(model, q=q)
    dtype = jnp.result_type(q, model.dtype)
    tree, data = model.topology, (elements(model, q), inertias(model), model.armature)
    return with_tangent(
        lambda data: composite_sweeps(tree, data, dtype)[0], lambda x, d: _tangent(tree, x, d, dtype), data
    )


def composite_sweeps(tree: Topology, data: Data, dtype):
    """The matrix, and (X, S, I, I^c, F) of every element in the ground frame with F = I^c S."""
    element, inertia, armature = data

    def outward(parent: Pose, x):
        element, inertia = x
        pose = parent @ element.placement.pose()
        return pose, (pose, pose @ element.S, inertia.transformed(pose))

    def inward(from_children: Inertia, x):
        S, inertia = x
        composite = inertia + from_children
        return composite, (composite, composite.apply(S))

    pose, S, carried = root_to_leaf(tree, outward, (element, inertia), Pose.identity(), dtype)
    composite, F = leaf_to_root(tree, inward, (S, carried), Inertia.zero(), dtype)[1]
    rows, columns = jax.lax.optimization_barrier(tuple(_per_coordinate(tree, x) for x in (F, S)))
    # the whole batch of matrices does not fit into a cache, hence what follows is done for a few worlds at a time
    chunk = worlds_in_cache(len(rows) ** 2, 2.0)
    M = in_chunks(lambda F, S, rotors: _symmetric(tree, F @ S.T, rotors), (rows, columns, armature), chunk)
    return M, (pose, S, carried, composite, F)


def _tangent(tree: Topology, data: Data, d: Data, dtype) -> tuple[jax.Array, jax.Array]:
    """The matrix and its derivative: bodies displaced by η have dS = η×S and dI = η×*I − I η×."""
    M, (pose, S, carried, composite, F) = composite_sweeps(tree, data, dtype)

    @linear_step
    def outward(eta_parent: Motion, x):
        (element, pose, S, inertia), (d_element, d_inertia) = x
        eta = eta_parent + pose @ element.placement.displacement(d_element.placement, element.S)
        return eta, (eta.cross(S) + pose @ d_element.S, inertia.rate(eta) + d_inertia.transformed(pose))

    @linear_step
    def inward(from_children: Inertia, x):
        S, composite, dS, dI = x
        dI = dI + from_children
        return dI, dI.apply(S) + composite.apply(dS)

    d_element, d_inertia, d_armature = d
    known = data[0], pose, S, carried
    dS, dI = root_to_leaf(tree, outward, (known, (d_element, d_inertia)), Motion.zero(), dtype)
    _, dF = leaf_to_root(tree, inward, (S, composite, dS, dI), Inertia.zero(), dtype)
    S, F, dS, dF = (_per_coordinate(tree, x) for x in (S, F, dS, dF))
    return M, _symmetric(tree, dF @ S.T + F @ dS.T, d_armature)


def _per_coordinate(tree: Topology, x: Motion | Force) -> jax.Array:
    """One row for each velocity coordinate."""
    return take_rows(x.to_array(), tree.moving)


def _symmetric(tree: Topology, lower: jax.Array, rotors: Scalar) -> jax.Array:
    """The products of coordinates on a common path, those of the others vanish; and the rotors on the diagonal."""
    below = tree.ancestors[tree.moving][:, tree.moving]
    own = jnp.diag(jnp.broadcast_to(jnp.asarray(rotors, lower.dtype), len(lower)))
    return jnp.where(below, lower, jnp.where(below.T, lower.T, 0)) + own
