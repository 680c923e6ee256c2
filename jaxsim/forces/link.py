"""Forces that look at the poses and twists of a few bodies."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..model import Model
from ..spatial import Force, Motion, Pose, Scalar
from .base import AbstractForce
from .states import as_arrays, body_states, displaced

Poses = tuple[Pose, ...]
Twists = tuple[Motion, ...]


class AbstractLinkForce(AbstractForce):
    """Wrenches on a few bodies as a function of their poses and twists.

    Attributes:
        bodies: the indices of the bodies, in the order in which ``wrenches`` meets them; 0 is the world, and a body may
            be named more than once.
    """

    bodies: eqx.AbstractVar[tuple[int, ...]]

    @abc.abstractmethod
    def wrenches(self, poses: Poses, twists: Twists) -> tuple[Force, ...]:
        """The wrench on each body, in its own frame, from their poses in the world and twists in their frames."""

    @property
    def is_relative(self) -> bool:
        """Whether a motion of all bodies together changes nothing, and the wrenches cancel in the world.

        Saying so keeps implicit steps linear-time where the force acts across one joint.
        """
        return False

    def applied(self, model: Model, q: Array, v: Array) -> tuple[Float[Array, "nb 6"], Float[Array, " nv"]]:
        return link_wrenches(model, (self,), body_states(model, q, v)), jnp.zeros_like(v)

    def derivatives(self, poses: Poses, twists: Twists) -> tuple[Float[Array, "n n"], Float[Array, "n n"]]:
        """K = ∂f/∂δ along poses·exp(δ) and D = ∂f/∂φ for the wrenches of all bodies, one under the other."""
        k, dtype = len(poses), jnp.result_type(poses[0].position.x, float)

        def stacked(delta, twist_change):
            moved = tuple(displaced(p, Motion.from_array(d)) for p, d in zip(poses, delta, strict=True))
            turned = tuple(t + Motion.from_array(d) for t, d in zip(twists, twist_change, strict=True))
            return jnp.concatenate([f.to_array() for f in self.wrenches(moved, turned)])

        zero = jnp.zeros((k, 6), dtype)
        K, D = jax.jacfwd(stacked, (0, 1))(zero, zero)
        return K.reshape(6 * k, 6 * k), D.reshape(6 * k, 6 * k)


class AbstractPotential(AbstractLinkForce):
    """The wrenches −∂U/∂δ of a potential energy U of the poses of a few bodies."""

    @abc.abstractmethod
    def energy(self, poses: Poses) -> Scalar:
        """U, in joules."""

    def wrenches(self, poses: Poses, twists: Twists) -> tuple[Force, ...]:
        dtype = jnp.result_type(poses[0].position.x, float)

        def energy(delta):
            return self.energy(tuple(displaced(p, d) for p, d in zip(poses, delta, strict=True)))

        still = tuple(as_arrays(Motion.zero(), dtype) for _ in poses)
        slope = jax.grad(energy)(still)
        return tuple(-Force(d.angular, d.linear) for d in slope)


@dataclasses.dataclass(frozen=True)
class Group:
    """Forces of one kind, stacked: ``force`` holds their parameters, ``bodies`` (count, k) whom they act on."""

    force: AbstractLinkForce
    bodies: np.ndarray


def groups(forces: Sequence[AbstractLinkForce], dtype) -> list[Group]:
    """Stack forces that differ in their numbers and bodies only, so that one evaluation serves all of them."""
    kinds: dict[Any, list[AbstractLinkForce]] = {}
    for force in forces:
        alike = as_arrays(dataclasses.replace(force, bodies=(0,) * len(force.bodies)), dtype)
        key = jax.tree.structure(alike), tuple(leaf.shape for leaf in jax.tree.leaves(alike))
        kinds.setdefault(key, []).append(force)
    result = []
    for members in kinds.values():
        alike = [as_arrays(dataclasses.replace(f, bodies=(0,) * len(f.bodies)), dtype) for f in members]
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *alike)
        result.append(Group(stacked, np.array([f.bodies for f in members], np.int32)))
    return result


def link_wrenches(
    model: Model, forces: Sequence[AbstractLinkForce], states: tuple[Pose, Motion]
) -> Float[Array, "nb 6"]:
    """The wrenches of all forces on every body, in the body frames."""
    dtype = jnp.result_type(states[0].position.x, model.dtype)
    total = jnp.zeros((model.num_bodies, 6), dtype)
    for group in groups(forces, dtype):
        at = [jax.tree.map(lambda leaf, b=b: leaf[b], states) for b in group.bodies.T]

        def one(force: AbstractLinkForce, *at: tuple[Pose, Motion]):
            return [as_arrays(f.to_array(), dtype) for f in force.wrenches(*zip(*at, strict=True))]

        for body, wrench in zip(group.bodies.T, jax.vmap(one)(group.force, *at), strict=True):
            total = total.at[body].add(wrench)
    return total.at[0].set(0.0)


def own_derivatives(
    model: Model, forces: Sequence[AbstractLinkForce], states: tuple[Pose, Motion]
) -> tuple[Float[Array, "nb 6 6"], Float[Array, "nb 6 6"]]:
    """K and D of the wrench on the last body of each force with that body's own pose and twist, summed body by body.

    The last body is the one with the largest index; all others are held.
    """
    dtype = jnp.result_type(states[0].position.x, model.dtype)
    K = jnp.zeros((model.num_bodies, 6, 6), dtype)
    D = jnp.zeros_like(K)
    for group in groups(forces, dtype):
        owner = group.bodies.max(axis=1)
        at = [jax.tree.map(lambda leaf, b=b: leaf[b], states) for b in group.bodies.T]
        mine = jnp.asarray(group.bodies == owner[:, None], dtype)

        def one(force: AbstractLinkForce, mine: Array, *at: tuple[Pose, Motion]):
            def wrench(delta, change):
                moved = [
                    (displaced(pose, Motion.from_array(m * delta)), twist + Motion.from_array(m * change))
                    for (pose, twist), m in zip(at, mine, strict=True)
                ]
                answers = force.wrenches(*zip(*moved, strict=True))
                return sum((m * f.to_array() for m, f in zip(mine, answers, strict=True)), jnp.zeros(6, dtype))

            return jax.jacfwd(wrench, (0, 1))(jnp.zeros(6, dtype), jnp.zeros(6, dtype))

        K_own, D_own = jax.vmap(one)(group.force, mine, *at)
        K, D = K.at[owner].add(K_own), D.at[owner].add(D_own)
    return K, D
