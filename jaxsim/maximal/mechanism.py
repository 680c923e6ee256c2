"""A mechanism: bodies, joints, springs and contacts, with the static graph of its equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..model import Model
from ..spatial import Sym3, Vec3
from .assembly import assemble
from .blocks import rates
from .contact import AbstractContact
from .graph_ldu import GraphLDU
from .joint import Joints, joint_constraints, joint_coordinates
from .joint_jacobian import motion_jacobian
from .order import elimination_order, spanning_tree
from .state import BodyPose, MaximalState, with_world


class PointSprings(eqx.Module):
    """Springs between points of two bodies with V = ½k(|r| − l)²; body nb is the world."""

    point_a: jax.Array
    point_b: jax.Array
    stiffness: jax.Array
    length: jax.Array
    body_a: tuple[int, ...] = eqx.field(static=True)
    body_b: tuple[int, ...] = eqx.field(static=True)

    @property
    def bodies(self) -> tuple[np.ndarray, np.ndarray]:
        """The indices of the bodies A and B."""
        return np.asarray(self.body_a, int), np.asarray(self.body_b, int)

    def energy(self, a: BodyPose, b: BodyPose) -> jax.Array:
        """The potential energies (ns,)."""
        r = b.point(Vec3.from_array(self.point_b)) - a.point(Vec3.from_array(self.point_a))
        squared = r.norm_squared()
        distance = jnp.where(squared > 0.0, jnp.sqrt(jnp.where(squared > 0.0, squared, 1.0)), 0.0)
        return 0.5 * self.stiffness * (distance - self.length) ** 2


class Mechanism(eqx.Module):
    """Rigid bodies in maximal coordinates with joints, springs and contacts between them.

    mass (nb,), inertia (nb,3,3) about the centre of mass in the body frame, gravity (3,). Everything but the
    connections, the kinds of joints and the names is a differentiable leaf. Build one with ``MechanismBuilder`` or
    ``Mechanism.from_model``.
    """

    mass: jax.Array
    inertia: jax.Array
    gravity: jax.Array
    joints: Joints
    springs: PointSprings
    contacts: tuple[AbstractContact, ...]
    body_names: tuple[str, ...] = eqx.field(static=True)
    joint_names: tuple[str, ...] = eqx.field(static=True)

    @staticmethod
    def from_model(
        model: Model, loops: Sequence[Mapping[str, Any]] = (), contacts: Sequence[Mapping[str, Any]] = ()
    ) -> Mechanism:
        """The mechanism of a tree with loop-closing joints and contacts added; see ``mechanism_from_model``."""
        from .from_model import mechanism_from_model  # which builds mechanisms and so imports this file

        return mechanism_from_model(model, loops, contacts)

    @property
    def nq(self) -> int:
        """The number of configuration coordinates, seven a body."""
        return 7 * self.num_bodies

    @property
    def nv(self) -> int:
        """The number of velocities, six a body."""
        return 6 * self.num_bodies

    @property
    def num_bodies(self) -> int:
        """The number of bodies; also the index that stands for the world."""
        return len(self.body_names)

    @property
    def num_joints(self) -> int:
        """The number of joints."""
        return len(self.joint_names)

    @property
    def num_controls(self) -> int:
        """The number of free joint coordinates, one control each: joint by joint, rotations xyz, translations xyz."""
        return int(self.joints.free.sum())

    @property
    def bounces(self) -> bool:
        """Whether any contact has restitution."""
        return any(group.restitution is not None for group in self.contacts)

    @cached_property
    def elimination(self) -> tuple[tuple[int, ...], set[int]]:
        """The order of bodies and joints in the factorisation, and the joints that close loops."""
        return elimination_order(self.num_bodies, self.joints.parent, self.joints.child)

    @property
    def closes_loop(self) -> np.ndarray:
        """(nj,) booleans: the joints outside the spanning tree."""
        return np.array([j in self.elimination[1] for j in range(self.num_joints)], bool)

    def poses(self, state: MaximalState) -> BodyPose:
        """The poses of all bodies, component-wise."""
        return BodyPose.from_array(state.q)

    def pair(self, q: jax.Array, bodies: tuple[np.ndarray, np.ndarray]) -> tuple[BodyPose, BodyPose]:
        """The poses of listed bodies A and B at the configurations q (nb,7); the world is body nb."""
        everything = with_world(q)
        a, b = bodies
        return BodyPose.from_array(everything[a]), BodyPose.from_array(everything[b])

    def violation(self, q: jax.Array) -> jax.Array:
        """g (nj,6) at the configurations q; metres and radians, zero in unconstrained rows."""
        return joint_constraints(self.joints, *self.pair(q, self.joints.bodies))

    def coordinates(self, q: jax.Array) -> jax.Array:
        """The free joint coordinates (num_controls,) at the configurations q, in the order of the controls."""
        every = joint_coordinates(self.joints, *self.pair(q, self.joints.bodies))
        return every[self.joints.free]

    def coordinate_rates(self, q: jax.Array, v: jax.Array) -> jax.Array:
        """The rates (num_controls,) along the free joint coordinates, with which the controls do their work."""
        J = motion_jacobian(self.joints, *self.pair(q, self.joints.bodies))
        return rates(J, self.joints.bodies, with_world(v))[self.joints.free]

    def to_maximal(self, coordinates: jax.Array, rates: jax.Array | None = None) -> tuple[jax.Array, jax.Array]:
        """q (nb,7) and v (nb,6) where the free joint coordinates and their rates (num_controls,) are as given.

        Joints that close loops take no part: the loops are closed if their coordinates, too, are those of the
        mechanism, which ``violation`` tells. Every body needs a path of joints to the world.
        """
        tree, *_ = spanning_tree(self.num_bodies, self.joints.parent, self.joints.child)
        loose = [name for body, name in enumerate(self.body_names) if body not in tree]
        if loose:
            raise ValueError(f"The body {loose[0]!r} hangs on no joint; carry it by a joint of kind 'floating'.")
        rates = jnp.zeros_like(coordinates) if rates is None else rates
        for given in (coordinates, rates):
            if given.shape != (self.num_controls,):
                raise ValueError(f"The shape {given.shape} is not that of the {self.num_controls} joint coordinates.")
        empty = jnp.zeros((self.num_joints, 6), coordinates.dtype)
        every, all_rates = (empty.at[self.joints.free.nonzero()].set(given) for given in (coordinates, rates))
        return assemble(self.joints, tree, every, all_rates)

    def to_minimal(self, state: MaximalState) -> tuple[jax.Array, jax.Array]:
        """The free joint coordinates and their rates (num_controls,) of a state; the inverse of ``to_maximal``."""
        return self.coordinates(state.q), self.coordinate_rates(state.q, state.v)

    def gaps(self, q: jax.Array) -> jax.Array:
        """The gaps φ of all contacts at the configurations q, group after group."""
        values = [group.gap(self.joints, *self.pair(q, group.bodies)) for group in self.contacts]
        return jnp.concatenate([*values, jnp.zeros(0, q.dtype)])

    def potential_energy(self, q: jax.Array) -> jax.Array:
        """Gravity, joint springs and point springs."""
        energy = -jnp.sum(self.mass * (q[:, :3] @ self.gravity))
        if self.joints.has_springs:
            every = joint_coordinates(self.joints, *self.pair(q, self.joints.bodies))
            energy += 0.5 * jnp.sum(self.joints.stiffness * (every - self.joints.rest) ** 2)
        if self.springs.body_a:
            energy += jnp.sum(self.springs.energy(*self.pair(q, self.springs.bodies)))
        return energy

    def kinetic_energy(self, v: jax.Array) -> jax.Array:
        """½ Σ m|v|² + ωᵀJω."""
        omega = Vec3.from_array(v)
        angular = omega.dot(Sym3.from_array(self.inertia).apply(omega))
        return 0.5 * jnp.sum(self.mass * jnp.sum(v[:, 3:] ** 2, axis=-1) + angular)

    @property
    def graph(self) -> GraphLDU:
        """The graph of the Newton system: bodies, then joints; see ``edges``."""
        edges = [edge for kind in self.edges.values() for edge in kind]
        return GraphLDU(self.num_bodies + self.num_joints, edges, order=self.elimination[0])

    @property
    def edges(self) -> dict[str, list[tuple[int, int]]]:
        """The coupled pairs of nodes by what couples them; couplings with the world are left out."""
        world, joints = self.num_bodies, self.joints
        first = range(world, world + self.num_joints)
        edges = {
            "child": [(b, j) for j, b in zip(first, joints.child, strict=True)],
            "parent": [(a, j) for j, a in zip(first, joints.parent, strict=True) if a != world],
        }
        if joints.has_dampers:
            edges["damper"] = [(a, b) for a, b in zip(joints.parent, joints.child, strict=True) if a != world]
        for i, group in enumerate(self.contacts):
            edges[f"contact {i}"] = [(a, b) for a, b in zip(group.body_a, group.body_b, strict=True) if a != world]
        return edges
