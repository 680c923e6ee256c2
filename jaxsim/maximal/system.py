"""The equations of one step.

Unknowns are the velocities over the coming interval, the joints' impulses and the contacts' own unknowns. All equations
have momentum or velocity units:

    bodies    start_momentum(v₁) − known + k Jᵀ C J v₁ − Gᵀλ − Nᵀ(γ, f_t) = 0
    joints    g(z₂(v₁))/Δt = 0
    contacts  the cone's equations of φ(z₂(v₁))/Δt and the tangential velocity

(Brüdigam et al. 2023, (29), with impulses for forces and rotational rows halved). G, J and N are taken at z₁; the
forces act for the time k, a whole step or half of one. ``at_node`` asks for the velocity at z₁ instead: its momentum is
M v₁, and with z₂ = z₁ + Δt v₁ to first order the other rows become G v₁ and φ(z₁)/Δt + N v₁.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp

from ..solvers import max_norm
from ..spatial import Scalar
from .blocks import PairOf, push, rates
from .body import start_momentum
from .contact import AbstractContact
from .mechanism import Mechanism
from .state import drift, with_world


class Unknowns(eqx.Module):
    """What a step solves for: v (nb,6), impulses (nj,6), and (nc,p) for each group of contacts."""

    v: jax.Array
    impulses: jax.Array
    contacts: tuple[jax.Array, ...]


RELEASED_RATE = 1e3
"""The gap over Δt, in m/s, that contacts see which are released: so far away that they do not act."""


class Bounce(eqx.Module):
    """Contacts with restitution (nc,): those that are not to act and those that bounce.

    These leave with φ̇ = ``rate`` when the share ``left`` of the interval is still to come.
    """

    released: jax.Array
    active: jax.Array
    rate: jax.Array
    left: jax.Array


class KnownContact(eqx.Module):
    """A group of contacts at z₁: its Jacobian N and, with restitution, what bounces."""

    N: PairOf
    bounce: Bounce | None


class Known(eqx.Module):
    """What a step knows in advance: momentum (nb,6) brought in, configuration z₁ (nb,7) and the Jacobians there.

    J is needed by dampers alone, which act for the time ``kick``.
    """

    momentum: jax.Array
    q: jax.Array
    G: PairOf
    J: PairOf | None
    contacts: tuple[KnownContact, ...]
    dt: jax.Array
    kick: jax.Array
    at_node: bool = eqx.field(static=True, default=False)

    @property
    def span(self) -> Scalar:
        """The time over which the bodies travel with the unknown velocity."""
        return 0.0 if self.at_node else self.dt

    def ahead(self, v: jax.Array) -> jax.Array:
        """z₂ (nb,7), or z₁ at a node."""
        return self.q if self.at_node else drift(self.q, v, self.dt)


def residual(mechanism: Mechanism, known: Known, w: Unknowns) -> Unknowns:
    """All equations at w with κ = 0, in the shape of the unknowns; padding rows ask their impulses to be zero."""
    joints, v = mechanism.joints, with_world(w.v)
    r = with_world(start_momentum(mechanism.mass, mechanism.inertia, w.v, known.span) - known.momentum)
    r = push(r, known.G, joints.bodies, -w.impulses)
    if known.J is not None:
        r = push(r, known.J, joints.bodies, known.kick * joints.damping * rates(known.J, joints.bodies, v))
    ahead = known.ahead(w.v)
    rows = []
    for group, at, y in zip(mechanism.contacts, known.contacts, w.contacts, strict=True):
        r = push(r, at.N, group.bodies, -group.cone.impulse(y))
        rows.append(group.cone.residual(y, _contact_motion(mechanism, known, group, at, ahead, v), group.friction))
    g = rates(known.G, joints.bodies, v) if known.at_node else mechanism.violation(ahead) / known.dt
    return Unknowns(r[:-1], jnp.where(joints.rows, g, w.impulses), tuple(rows))


def _contact_motion(mechanism: Mechanism, known: Known, group: AbstractContact, at: KnownContact, ahead, v):
    """c (nc,d): the gap over Δt at z₂, or φ̇ less the rate of the bounce; then the tangential velocities."""
    c = rates(at.N, group.bodies, v)
    normal = group.gap(mechanism.joints, *mechanism.pair(ahead, group.bodies)) / known.dt
    if known.at_node:
        normal = normal + c[:, 0]
    if at.bounce is not None:
        normal = jnp.where(at.bounce.active, c[:, 0] - at.bounce.rate, normal)
        normal = jnp.where(at.bounce.released, RELEASED_RATE, normal)
    return c.at[:, 0].set(normal)


def velocity_norm(mechanism: Mechanism, r: Unknowns) -> jax.Array:
    """The largest residual as a velocity: body rows are divided by mass and mean moment of inertia."""
    moment = jnp.trace(mechanism.inertia, axis1=1, axis2=2) / 3.0
    angular, linear = r.v[:, :3] / moment[:, None], r.v[:, 3:] / mechanism.mass[:, None]
    return max_norm((angular, linear, r.impulses, r.contacts))
