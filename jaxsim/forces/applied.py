"""All forces of a list together, and which of them respect the tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import Model, integrate
from .base import AbstractForce
from .body import AbstractBodyForce, total_wrench, wrench_derivatives
from .joint import AbstractJointForce
from .link import AbstractLinkForce, link_wrenches, own_derivatives
from .states import body_states

Forces = tuple[AbstractForce, ...]


class Sorted(NamedTuple):
    """Forces by what they couple.

    Attributes:
        every_body: those on every body by itself.
        single: those on one body, from the world or from nothing.
        hinged: relative ones between a body and its parent, across a joint with a fixed axis.
        distant: those between other bodies.
        joint: those on the joints.
        other: forces of any other kind.
    """

    every_body: tuple[AbstractBodyForce, ...]
    single: tuple[AbstractLinkForce, ...]
    hinged: tuple[AbstractLinkForce, ...]
    distant: tuple[AbstractLinkForce, ...]
    joint: tuple[AbstractJointForce, ...]
    other: tuple[AbstractForce, ...]

    @property
    def respect_tree(self) -> bool:
        """Whether no force couples coordinates that the tree does not couple already, joint by joint."""
        return not self.distant and not self.other and all(force.is_diagonal for force in self.joint)


def sort_forces(model: Model, forces: Sequence[AbstractForce]) -> Sorted:
    """Sort forces by kind, and those between bodies by where in the tree they act."""
    check_forces(model, forces)
    found: dict[str, list[AbstractLinkForce]] = {"single": [], "hinged": [], "distant": []}
    for force in forces:
        if isinstance(force, AbstractLinkForce):
            found[_place(model, force)].append(force)
    every = tuple(force for force in forces if isinstance(force, AbstractBodyForce))
    joint = tuple(force for force in forces if isinstance(force, AbstractJointForce))
    kinds = AbstractLinkForce, AbstractBodyForce, AbstractJointForce
    other = tuple(force for force in forces if not isinstance(force, kinds))
    links = {kind: tuple(members) for kind, members in found.items()}
    return Sorted(every, **links, joint=joint, other=other)


def _place(model: Model, force: AbstractLinkForce) -> str:
    bodies = sorted(set(force.bodies) - {0})
    if len(bodies) <= 1:
        return "single"
    near = (
        force.is_relative
        and len(bodies) == 2
        and 0 not in force.bodies
        and model.topology.parents[bodies[1]] == bodies[0]
    )
    return "hinged" if near and _is_screw(model, bodies[1]) else "distant"


def _is_screw(model: Model, body: int) -> bool:
    """Whether the joint of a body turns about or slides along a fixed axis."""
    groups = zip(model.joints, model.topology.groups, strict=True)
    return any(body in members and joint.screw() is not None for joint, members in groups)


def check_forces(model: Model, forces: Sequence[AbstractForce]) -> None:
    """Raise for what is no force, and for bodies that the model does not have."""
    for force in forces:
        if not isinstance(force, AbstractForce):
            raise ValueError(f"{force!r} is no force; give objects such as jaxsim.Spring(...).")
        for body in force.bodies if isinstance(force, AbstractLinkForce) else ():
            model.body_index(body)


def applied_forces(
    model: Model, forces: Sequence[AbstractForce], q: Float[Array, " nq"], v: Float[Array, " nv"]
) -> tuple[Float[Array, "nb 6"] | None, Float[Array, " nv"]]:
    """The wrenches of all forces on the bodies, each in its body's frame, and their forces on the joints.

    To be handed to ``inverse_dynamics`` or ``forward_dynamics`` as f_ext and as a part of τ.
    """
    kinds = sort_forces(model, forces)
    tau = jnp.zeros_like(v)
    for force in kinds.joint:
        tau = tau + force.force(model, q, v)
    wrench = body_wrenches(model, kinds.every_body, kinds.single + kinds.hinged + kinds.distant, q, v)
    for force in kinds.other:
        more, extra = force.applied(model, q, v)
        tau = tau + extra
        wrench = more if wrench is None else wrench if more is None else wrench + more
    return wrench, tau


def body_wrenches(
    model: Model,
    every_body: tuple[AbstractBodyForce, ...],
    links: tuple[AbstractLinkForce, ...],
    q: Array,
    v: Array,
) -> Float[Array, "nb 6"] | None:
    """The wrenches on the bodies, or ``None`` if there are no such forces."""
    if not every_body and not links:
        return None
    states = body_states(model, q, v)
    total = link_wrenches(model, links, states)
    if every_body:
        total = (total + total_wrench(every_body, model, *states).to_array()).at[0].set(0.0)
    return total


def body_derivatives(
    model: Model, kinds: Sorted, q: Array, v: Array
) -> tuple[Float[Array, "nb 6 6"], Float[Array, "nb 6 6"]] | None:
    """K and D of the forces on single bodies: how the wrench on a body changes with its own pose and twist."""
    if not kinds.every_body and not kinds.single:
        return None
    states = body_states(model, q, v)
    K, D = own_derivatives(model, kinds.single, states)
    if kinds.every_body:
        by_pose, by_twist = wrench_derivatives(kinds.every_body, model, *states)
        K, D = K + by_pose.to_array(), D + by_twist.to_array()
    return K, D


def diagonal_derivatives(model: Model, kinds: Sorted, q: Array, v: Array) -> tuple[Array, Array]:
    """∂f_i/∂q_i and ∂f_i/∂v_i of joint forces that depend on their own degree of freedom only."""
    total = jnp.zeros_like(v), jnp.zeros_like(v)
    ones = jnp.ones_like(v)
    for force in kinds.joint:
        K = jax.jvp(lambda d, f=force: f.force(model, integrate(model, q, d), v), (jnp.zeros_like(v),), (ones,))[1]
        D = jax.jvp(lambda v, f=force: f.force(model, q, v), (v,), (ones,))[1]
        total = total[0] + K, total[1] + D
    return total
