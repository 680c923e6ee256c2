"""The mass matrix by the composite-rigid-body algorithm (Featherstone 2008, table 6.2), in the ground frame."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..model import Model
from ..model.on_tree import on_tree
from ..model.shapes import check
from ..spatial import Inertia, Pose
from ..sweep import leaf_to_root, root_to_leaf
from .elements import elements, inertias


@on_tree("matrix")
def mass_matrix(model: Model, q: Float[Array, " nq"]) -> Float[Array, "nv nv"]:
    """M(q), with ½ vᵀ M v the kinetic energy of bodies and rotors.

    With all quantities in the ground frame, M_ij = S_jᵀ I_i^c S_i for j on the path from the root to i, where I_i^c is
    the sum of the inertias that i carries.
    """
    check(model, q=q)
    dtype = jnp.result_type(q, model.dtype)
    tree = model.topology

    def outward(parent: Pose, x):
        element, inertia = x
        pose = parent @ element.placement.pose()
        return pose, (pose @ element.S, inertia.transformed(pose))

    def inward(from_children: Inertia, x):
        S, inertia = x
        composite = inertia + from_children
        return composite, composite.apply(S)

    S, carried = root_to_leaf(tree, outward, (elements(model, q), inertias(model)), Pose.identity(), dtype)
    _, F = leaf_to_root(tree, inward, (S, carried), Inertia.zero(), dtype)
    order = np.argsort(tree.elements.velocity, kind="stable")[: model.nv]
    products = F.to_array()[order] @ S.to_array()[order].T
    below = tree.ancestors[np.ix_(order, order)]
    M = jnp.where(below, products, jnp.where(below.T, products.T, 0))
    return M + jnp.diag(model.armature)
