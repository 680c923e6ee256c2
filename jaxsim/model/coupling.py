"""Joints that follow other joints: hyper-reduced coordinates (Sueda, §2.7).

The coordinates of the tree are an affine function of those of the model, q_tree = G q + b (eq. 2.88). The recursions
run on the tree; forces come back by Gᵀ, the mass matrix by Gᵀ M G (eq. 2.90). G and b are constant, so that Ġ = 0 and
the coupling is exact.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .topology import Topology


class Coupling(eqx.Module):
    """q_tree[i] = multiplier · q[leader] + offset for the joints that follow, q_tree[i] = q[·] for all others.

    Attributes:
        multiplier: the ratio of each following joint.
        offset: its coordinate when the leader's is zero.
        q_source: for each configuration coordinate of the tree, the coordinate of the model that gives it.
        v_source: the same for velocities.
        followers: the pairs of the indices, in q and v of the tree, of the joints that follow.
    """

    multiplier: Float[Array, " n"]
    offset: Float[Array, " n"]
    q_source: tuple[int, ...] = eqx.field(static=True)
    v_source: tuple[int, ...] = eqx.field(static=True)
    followers: tuple[tuple[int, int], ...] = eqx.field(static=True)

    @property
    def nq(self) -> int:
        """The number of configuration coordinates of the model."""
        return len(self.q_source) - len(self.followers)

    @property
    def nv(self) -> int:
        """The number of degrees of freedom of the model."""
        return len(self.v_source) - len(self.followers)

    @property
    def own_q(self) -> np.ndarray:
        """The configuration coordinates of the tree that are coordinates of the model."""
        return np.setdiff1d(np.arange(len(self.q_source)), [q for q, _ in self.followers])

    @property
    def own_v(self) -> np.ndarray:
        """The velocity coordinates of the tree that are coordinates of the model."""
        return np.setdiff1d(np.arange(len(self.v_source)), [v for _, v in self.followers])

    def configuration(self, q: Array) -> Array:
        """q_tree = G q + b."""
        at = np.array([q for q, _ in self.followers])
        tree = q[np.array(self.q_source)]
        return tree.at[at].set(self.multiplier * tree[at] + self.offset)

    def tangent(self, v: Array) -> Array:
        """v_tree = G v, along the first axis."""
        return self._ratios(v) * v[np.array(self.v_source)]

    def forces(self, tau: Array) -> Array:
        """τ = Gᵀ τ_tree, along the first axis."""
        shape = (self.nv, *tau.shape[1:])
        return jnp.zeros(shape, tau.dtype).at[np.array(self.v_source)].add(self._ratios(tau) * tau)

    def _ratios(self, like: Array) -> Array:
        """The one entry in each row of G, with axes to multiply the rows of an array by."""
        at = np.array([v for _, v in self.followers])
        ratios = jnp.ones(len(self.v_source), like.dtype).at[at].set(self.multiplier.astype(like.dtype))
        return ratios.reshape(-1, *(1,) * (like.ndim - 1))


@dataclasses.dataclass(frozen=True)
class Follower:
    """The joint of a body that follows the joint of another body: q_body = multiplier · q_leader + offset."""

    body: int
    leader: int
    multiplier: float = 1.0
    offset: float = 0.0


Data = dict[str, np.ndarray]


def couple(
    topology: Topology, data: Mapping[int, Data], followers: Mapping[int, Follower], dtype
) -> tuple[Coupling | None, dict[int, Data]]:
    """The coupling of the tree's coordinates, and the data of the coordinates that are left, body by body."""
    kept = dict(data)
    if not followers:
        return None, kept
    roots = _resolve(followers, topology.body_names)
    for item in roots.values():
        kept[item.leader] = _fold(kept[item.leader], kept.pop(item.body), item.multiplier, item.offset)

    def source(starts: np.ndarray) -> tuple[int, ...]:
        own = [i for body in kept for i in range(starts[body], starts[body + 1])]
        position = {i: k for k, i in enumerate(own)}
        position |= {int(starts[item.body]): position[starts[item.leader]] for item in roots.values()}
        return tuple(position[i] for i in range(starts[-1]))

    ordered = [roots[body] for body in sorted(roots)]
    coupling = Coupling(
        jnp.asarray([item.multiplier for item in ordered], dtype),
        jnp.asarray([item.offset for item in ordered], dtype),
        source(topology.q_start),
        source(topology.v_start),
        tuple((int(topology.q_start[item.body]), int(topology.v_start[item.body])) for item in ordered),
    )
    return coupling, kept


def _resolve(followers: Mapping[int, Follower], names: tuple[str, ...]) -> dict[int, Follower]:
    """Followers of followers, traced back to joints that follow nobody."""
    roots = {}
    for body, item in followers.items():
        seen, multiplier, offset = {body}, item.multiplier, item.offset
        while item.leader in followers:
            item = followers[item.leader]
            if item.body in seen:
                circle = ", ".join(sorted(repr(names[b]) for b in seen))
                raise ValueError(f"The joints of the bodies {circle} follow each other in a circle; break it.")
            seen.add(item.body)
            multiplier, offset = multiplier * item.multiplier, multiplier * item.offset + offset
        roots[body] = Follower(body, item.leader, multiplier, offset)
    return roots


def _fold(leader: Data, follower: Data, m: float, b: float) -> Data:
    """What springs, dampers, rotors and limits of a follower are in the coordinate of its leader.

    With q_f = m q + b: damping and armature add with m², dry friction with |m|, two springs make one with the sum of
    their stiffnesses and the weighted mean of their rest positions, and limits narrow each other where they overlap.
    """
    if m == 0.0:
        return leader
    result = dict(leader)
    for field in ("damping", "armature"):
        result[field] = leader[field] + m**2 * follower[field]
    result["friction"] = leader["friction"] + abs(m) * follower["friction"]
    result["velocity_limit"] = np.minimum(leader["velocity_limit"], follower["velocity_limit"] / abs(m))
    k, k_f = leader["stiffness"], m**2 * follower["stiffness"]
    rest = (follower["spring_reference"] - b) / m
    if np.any(k_f):
        result["stiffness"] = k + k_f
        result["spring_reference"] = (k * leader["spring_reference"] + k_f * rest) / (k + k_f)
    ends = np.sort([(follower["lower"] - b) / m, (follower["upper"] - b) / m], axis=0)
    lower, upper = np.maximum(leader["lower"], ends[0]), np.minimum(leader["upper"], ends[1])
    if np.all(lower <= upper):
        result["lower"], result["upper"] = lower, upper
    return result
