"""What a step knows before it is solved."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .blocks import rates
from .contact import AbstractContact
from .joint_jacobian import constraint_jacobian, motion_jacobian
from .mechanism import Mechanism
from .state import with_world
from .system import Bounce, Known, KnownContact


def known_at(mechanism: Mechanism, q, momentum, dt, kick, *, at_node: bool = False) -> Known:
    """The Jacobians at q (nb,7) with the momentum (nb,6) brought in; no contact bounces or is released."""
    contacts = tuple(_known_contact(mechanism, group, q) for group in mechanism.contacts)
    hinges = mechanism.pair(q, mechanism.joints.bodies)
    J = motion_jacobian(mechanism.joints, *hinges) if mechanism.joints.has_dampers else None
    G = constraint_jacobian(mechanism.joints, *hinges)
    return Known(momentum, q, G, J, contacts, dt, kick, at_node)


def normal_rates(group: AbstractContact, at: KnownContact, v: jax.Array) -> jax.Array:
    """φ̇ (nc,) of contacts for bodies with the velocities v (nb,6)."""
    return rates(at.N, group.bodies, with_world(v))[:, 0]


def _known_contact(mechanism: Mechanism, group: AbstractContact, q) -> KnownContact:
    N = group.rows(mechanism.joints, *mechanism.pair(q, group.bodies))
    if group.restitution is None:
        return KnownContact(N, None)
    none, zero = jnp.zeros(len(group.body_a), bool), jnp.zeros(len(group.body_a), q.dtype)
    return KnownContact(N, Bounce(none, none, zero, zero))
