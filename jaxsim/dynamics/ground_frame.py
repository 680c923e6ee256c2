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
from ..sweep import element_at, element_by_element, leaf_to_root, root_to_leaf
from .chunked import one_or_many
from .elements import elements, inertias, per_element
from .rnea import external_wrenches
from .rule import vanishes
from .subspace_rates import SubspaceRates, subspace_rates


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


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class GroundFrame:
    """All that the derivatives are made of, stacked over elements.

    Attributes:
        columns: how the coordinates move what they carry.
        alone: inertia, Coriolis matrix and force of every element alone.
        composites: those of all that it carries.
        rows: the vectors that multiply the columns.
        turned: empty, or, if the subspace of some joint depends on q, the derivatives of the axes of each element's
            block along the element, one motion for each element of the block.
    """

    columns: Columns
    alone: Composites
    composites: Composites
    rows: Rows
    turned: tuple[Motion, ...]


def ground_frame(model: Model, q, v, a, f_ext=None) -> GroundFrame:
    """Evaluate everything at one state: one world with the fewest operations, a batch with the least memory traffic."""
    return one_or_many(_vectorised, _swept, (model, q, v, a, f_ext))


def _vectorised(model: Model, q, v, a, f_ext) -> GroundFrame:
    """Only the poses need a sweep: all else are sums along paths and over subtrees, products with a static mask."""
    tree, dtype = model.topology, jnp.result_type(q, v, a, model.dtype)
    given = _given(model, q, v, a, f_ext, one_by_one=False)
    same = tree.block[:, None] == tree.block
    path, before = tree.ancestors | same, tree.ancestors & ~same
    vJ = given.s * per_element(model, v)
    v, v_parent = _sums(vJ, path, before)
    aJ = given.s * per_element(model, a) + given.rates.bias * first_of_block(model) + v.cross(vJ)
    fall = Motion(Vec3.zero(), -Vec3.from_array(model.gravity))
    a, a_parent = (motion + fall for motion in _sums(aJ, path, before))
    columns, alone = given.completed(*_moving(given, (v_parent, v), (a_parent, a)))
    (composites,) = _sums(alone, tree.ancestors.T)
    result = GroundFrame(columns, alone, composites, _rows(columns, composites), given.turned())
    return jax.tree.map(lambda leaf: jnp.broadcast_to(jnp.asarray(leaf, dtype), (tree.elements.count,)), result)


def _swept(model: Model, q, v, a, f_ext) -> GroundFrame:
    """Two more sweeps: outward with the motion, inward with the composites."""
    tree, dtype = model.topology, jnp.result_type(q, v, a, model.dtype)
    given = _given(model, q, v, a, f_ext, one_by_one=True)
    alone_in_block = first_of_block(model) is _EVERY

    def of_joint(rates):
        return per_element(model, rates) if alone_in_block else block_sum(model, given.s * per_element(model, rates))

    def outward(parent, x):
        (v_before, a_before), (vJ, aJ, first, given) = parent, x
        if alone_in_block:
            vJ, aJ = given.s * vJ, given.s * aJ
        v = v_before + vJ * first
        aJ = aJ + given.rates.bias + v.cross(vJ)
        a = a_before + aJ * first
        # within a block the motion before it is what is left without the block's own
        v_parent, a_parent = (v_before, a_before) if alone_in_block else (v - vJ, a - aJ)
        return (v, a), _moving(given, (v_parent, v), (a_parent, a))

    def inward(from_children: Composites, x):
        columns, alone = x
        composites = from_children + alone
        return composites, (composites, _rows(columns, composites))

    root = Motion.zero(), Motion(Vec3.zero(), -Vec3.from_array(model.gravity))
    data = of_joint(v), of_joint(a), first_of_block(model), given
    columns, alone = given.completed(*root_to_leaf(tree, outward, data, root, dtype))
    zero = Composites(Inertia.zero(), Coriolis.zero(), Force.zero())
    composites, rows = leaf_to_root(tree, inward, (columns, alone), zero, dtype)[1]
    return GroundFrame(columns, alone, composites, rows, given.turned())


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Given:
    """What is known of the elements when their poses are: screws, inertias, wrenches and what their joints add."""

    s: Motion
    inertia: Inertia
    wrench: Force
    rates: SubspaceRates

    def completed(self, psi_dot, psi_ddot, p, coriolis, force) -> tuple[Columns, Composites]:
        """The columns, and what the elements have alone."""
        return Columns(self.s, psi_dot, psi_ddot, p), Composites(self.inertia, coriolis, force)

    def turned(self) -> tuple[Motion, ...]:
        """The derivatives of the axes of each block, if any."""
        return () if vanishes(self.rates) else self.rates.columns


def _given(model: Model, q, v, a, f_ext, one_by_one: bool) -> _Given:
    """Sweep the poses, before all else: computed in one loop with it, they would be computed again for every use."""
    element, rates = elements(model, q), subspace_rates(model, q, v, a)

    def step(parent: Pose, x):
        pose = parent @ x.placement.pose()
        return pose, pose

    def moved(x) -> tuple[Motion, Inertia]:
        pose, S, inertia = x
        return pose @ S, inertia.transformed(pose)

    tree, dtype = model.topology, jnp.result_type(q, v, a, model.dtype)
    pose = root_to_leaf(tree, step, element, _origin(element), dtype)
    data = pose, element.S, inertias(model)
    s, inertia = element_by_element(tree, moved, data, dtype) if one_by_one else moved(data)
    rates = jax.tree.map(lambda motion: pose @ motion, rates, is_leaf=lambda node: isinstance(node, Motion))
    return _Given(s, inertia, pose @ external_wrenches(model, f_ext), rates)


def _moving(given: _Given, velocities, accelerations):
    """ψ̇, ψ̈, p, 2B and f of elements between the motions before and after their blocks."""
    (v_parent, v), (a_parent, a), s, I, rates = velocities, accelerations, given.s, given.inertia, given.rates
    psi_dot = v_parent.cross(s)
    turn = rates.acceleration + (v_parent + v).cross(rates.velocity)
    psi_ddot = a_parent.cross(s) + v_parent.cross(psi_dot) + turn
    p = psi_dot + v.cross(s) + rates.bias_rate
    f = I.apply(a) + v.cross_force(I.apply(v)) - given.wrench
    return psi_dot + rates.velocity, psi_ddot, p, Coriolis.of(v, I), f


def _rows(columns: Columns, composites: Composites) -> Rows:
    """The rows of the first derivatives."""
    I, B, s = composites.inertia, composites.coriolis, columns.s
    T3 = B.apply(columns.psi_dot) + I.apply(columns.psi_ddot) + s.cross_force(composites.force)
    return Rows(I.apply(s), B.apply_transposed(s), T3, B.apply(s) + I.apply(columns.p))


def _sums(x, *masks: np.ndarray) -> list:
    """For each mask (i, j), the sums over j of the element-wise x."""
    leaves, structure = jax.tree.flatten(x)
    arrays = [leaf for leaf in leaves if not isinstance(leaf, float)]
    if not arrays:
        return [x for _ in masks]
    totals = jnp.stack(arrays) @ jnp.asarray(np.concatenate(masks).T, arrays[0].dtype)
    results = []
    for total in jnp.split(totals, len(masks), axis=1):
        rest = iter(total)
        results.append(structure.unflatten(leaf if isinstance(leaf, float) else next(rest) for leaf in leaves))
    return results


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
