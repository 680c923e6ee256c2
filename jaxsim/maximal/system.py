"""The equations of one step.

Unknowns are the velocities over the coming interval, the joints' impulses and the contacts' own unknowns. All equations
have momentum or velocity units:

    bodies    start_momentum(v₁) − known + Δt Jᵀ C J v₁ − Gᵀλ − Nᵀ(γ, f_t) = 0
    joints    g(z₂(v₁))/Δt = 0
    contacts  the cone's equations of φ(z₂(v₁))/Δt and the tangential velocity

(Brüdigam et al. 2023, (29), with impulses for forces and rotational rows halved). G, J and N are taken at z₁.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp

from ..solvers import max_norm
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


class KnownContact(eqx.Module):
    """A group of contacts at z₁: Jacobian N, whether each bounces in this step, and at which rate e·|φ̇₀| it must."""

    N: PairOf
    bounces: jax.Array
    bounce_rate: jax.Array


class Known(eqx.Module):
    """What a step knows in advance: momentum (nb,6) brought in, configuration z₁ (nb,7) and the Jacobians there.

    J is needed by dampers alone.
    """

    momentum: jax.Array
    q: jax.Array
    G: PairOf
    J: PairOf | None
    contacts: tuple[KnownContact, ...]
    dt: jax.Array


def residual(mechanism: Mechanism, known: Known, w: Unknowns) -> Unknowns:
    """All equations at w with κ = 0, in the shape of the unknowns; padding rows ask their impulses to be zero."""
    joints, v = mechanism.joints, with_world(w.v)
    r = with_world(start_momentum(mechanism.mass, mechanism.inertia, w.v, known.dt) - known.momentum)
    r = push(r, known.G, joints.bodies, -w.impulses)
    if known.J is not None:
        r = push(r, known.J, joints.bodies, known.dt * joints.damping * rates(known.J, joints.bodies, v))
    ahead = drift(known.q, w.v, known.dt)
    rows = []
    for group, at, y in zip(mechanism.contacts, known.contacts, w.contacts, strict=True):
        r = push(r, at.N, group.bodies, -group.cone.impulse(y))
        c = contact_motion(mechanism, group, at, ahead, v, known.dt)
        rows.append(group.cone.residual(y, c, group.friction))
    g = mechanism.violation(ahead) / known.dt
    return Unknowns(r[:-1], jnp.where(joints.rows, g, w.impulses), tuple(rows))


def contact_motion(mechanism: Mechanism, group: AbstractContact, at: KnownContact, ahead, v, dt) -> jax.Array:
    """c (nc,d): the gap over Δt at z₂, or φ̇ less the rate of restitution; then the tangential velocities."""
    c = rates(at.N, group.bodies, v)
    rate = group.gap(mechanism.joints, *mechanism.pair(ahead, group.bodies)) / dt
    return c.at[:, 0].set(jnp.where(at.bounces, c[:, 0] - at.bounce_rate, rate))


def velocity_norm(mechanism: Mechanism, r: Unknowns) -> jax.Array:
    """The largest residual as a velocity: body rows are divided by mass and mean moment of inertia."""
    moment = jnp.trace(mechanism.inertia, axis1=1, axis2=2) / 3.0
    angular, linear = r.v[:, :3] / moment[:, None], r.v[:, 3:] / mechanism.mass[:, None]
    return max_norm((angular, linear, r.impulses, r.contacts))
