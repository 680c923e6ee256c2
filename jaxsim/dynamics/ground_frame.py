"""The quantities of the closed-form derivatives, in the ground frame.

There, composites over a subtree are plain sums, and the derivatives of inverse dynamics are products of one row vector
and one column vector for each pair of coordinates on a common path (Singh et al. 2022). The frame is parallel to the
world's and has its origin at the first body, so that nothing is lost to a large offset.

All columns of one block, such as those of a free joint, refer to the motion of the body before it, v_λ and a_λ, and of
the body after it, v.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from ..model import Model
from ..spatial import Coriolis, Force, Inertia, Motion, Pose, Scalar, Vec3
from ..sweep import element_at, leaf_to_root, root_to_leaf
from .elements import elements, inertias, per_element
from .rnea import external_wrenches
from .rule import vanishes
from .subspace_rates import subspace_rates


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Columns:
    """How a coordinate moves the bodies that it carries, stacked over elements.

    Attributes:
        s: the screw of the coordinate.
        psi_dot: ψ̇ = v_λ×s, eq. 5.
        psi_ddot: ψ̈ = a_λ×s + v_λ×ψ̇, eq. 5.
        p: ψ̇ + ṡ with ṡ = v×s.
    """

    s: Motion
    psi_dot: Motion
    psi_ddot: Motion
    p: Motion


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Composites:
    """What a coordinate carries: sums over its subtree, stacked over elements.

    Attributes:
        inertia: I^C.
        coriolis: 2B^C.
        force: f^C, the force that it transmits.
    """

    inertia: Inertia
    coriolis: Coriolis
    force: Force

    def __add__(self, other: Composites) -> Composites:
        return Composites(self.inertia + other.inertia, self.coriolis + other.coriolis, self.force + other.force)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Rows:
    """The vectors that multiply the columns in the first derivatives, eqs. 7–10.

    Attributes:
        IS: I s.
        BT: the moment of (2B)ᵀ s; its linear part vanishes.
        T3: 2B ψ̇ + I ψ̈ + s×*f.
        T4: 2B s + I p.
    """

    IS: Force
    BT: Vec3
    T3: Force
    T4: Force


def body_motion(model: Model, q, v, a, f_ext) -> tuple[Columns, Composites, tuple[Motion, ...]]:
    """Outward: the columns of all coordinates, and inertia, Coriolis matrix and force of every element alone.

    Returns:
        The columns, what each element has alone, and, if the subspace of some joint depends on q, the derivatives of
        the axes of each element's block along the element, one motion for each element of the block.
    """
    dtype = jnp.result_type(q, v, a, model.dtype)
    element = elements(model, q)
    rates = subspace_rates(model, q, v, a)
    S = element.S
    vJ = block_sum(model, S * per_element(model, v))
    aJ = block_sum(model, S * per_element(model, a)) + rates.bias
    first, constant = first_of_block(model), vanishes(rates)

    def step(parent, x):
        (pose, v_before, a_before), (element, inertia, wrench, vJ, aJ, rates, first) = parent, x
        pose = pose @ element.placement.pose()
        vJ, sigma = pose @ vJ, pose @ rates.velocity
        v = v_before + vJ * first
        aJ = pose @ aJ + v.cross(vJ)
        a = a_before + aJ * first
        # within a block the motion before it is what is left without the block's own
        v_parent, a_parent = (v_before, a_before) if first is _EVERY else (v - vJ, a - aJ)
        s = pose @ element.S
        psi_dot = v_parent.cross(s)
        psi_ddot = a_parent.cross(s) + v_parent.cross(psi_dot) + pose @ rates.acceleration + (v_parent + v).cross(sigma)
        p = psi_dot + v.cross(s) + pose @ rates.bias_rate
        I = inertia.transformed(pose)
        f = I.apply(a) + v.cross_force(I.apply(v)) - pose @ wrench
        alone = Composites(I, Coriolis.of(v, I), f)
        turned = () if constant else tuple(pose @ column for column in rates.columns)
        return (pose, v, a), (Columns(s, psi_dot + sigma, psi_ddot, p), alone, turned)

    root = _origin(element), Motion.zero(), Motion(Vec3.zero(), -Vec3.from_array(model.gravity))
    data = element, inertias(model), external_wrenches(model, f_ext), vJ, aJ, rates, first
    return root_to_leaf(model.topology, step, data, root, dtype)


def carried(model: Model, columns: Columns, alone: Composites) -> tuple[Rows, Composites]:
    """Inward: the composites of every coordinate, and the rows of the first derivatives."""
    dtype = jnp.result_type(alone.inertia.mass)

    def step(from_children: Composites, x):
        columns, alone = x
        all_of = from_children + alone
        I, B, s = all_of.inertia, all_of.coriolis, columns.s
        T3 = B.apply(columns.psi_dot) + I.apply(columns.psi_ddot) + s.cross_force(all_of.force)
        T4 = B.apply(s) + I.apply(columns.p)
        return all_of, (Rows(I.apply(s), B.apply_transposed(s), T3, T4), all_of)

    zero = Composites(Inertia.zero(), Coriolis.zero(), Force.zero())
    return leaf_to_root(model.topology, step, (columns, alone), zero, dtype)[1]


def block_sum(model: Model, x: Motion) -> Motion:
    """The sum of an element-wise motion over the block of each element."""
    members = model.topology.block_members
    if members.shape[-1] == 1:
        return x

    def total(leaf: Scalar) -> Scalar:
        if not isinstance(leaf, jax.Array):
            return leaf
        return jnp.concatenate([leaf, jnp.zeros(1, leaf.dtype)])[members].sum(axis=-1)

    return jax.tree.map(total, x)


_EVERY = 1.0


def first_of_block(model: Model) -> Scalar:
    """One for the first element of each block, which carries the motion of the whole block, else zero."""
    members, count = model.topology.block_members, model.topology.elements.count
    if members.shape[-1] == 1:
        return _EVERY
    return jnp.asarray(members[:, 0] == np.arange(count), model.dtype)


def _origin(element) -> Pose:
    """The pose of the world in a frame at the origin of the first element."""
    first = element_at(element.placement, 0).pose()
    return Pose(Pose.identity().rotation, -jax.lax.stop_gradient(first.position))
