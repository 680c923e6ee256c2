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
from .body import start_momentum
from .contact import AbstractContact
from .jacobians import PairOf, push, rates
from .joint import joint_constraints
from .mechanism import Mechanism
from .state import with_world


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
    """What a step knows in advance: momentum (nb,6) brought in, configuration z₁ (nb,7) and the Jacobians there."""

    momentum: jax.Array
    q: jax.Array
    G: PairOf
    J: PairOf
    contacts: tuple[KnownContact, ...]
    dt: jax.Array


def residual(mechanism: Mechanism, known: Known, w: Unknowns, kappa) -> Unknowns:
    """All equations at w, in the shape of the unknowns; padding rows of joints ask their impulses to be zero."""
    joints, v = mechanism.joints, with_world(w.v)
    r = with_world(start_momentum(mechanism.mass, mechanism.inertia, w.v, known.dt) - known.momentum)
    r = push(r, known.G, joints.bodies, -w.impulses)
    if joints.has_dampers:
        r = push(r, known.J, joints.bodies, known.dt * joints.damping * rates(known.J, joints.bodies, v))
    rows = []
    for group, at, y in zip(mechanism.contacts, known.contacts, w.contacts, strict=True):
        r = push(r, at.N, group.bodies, -group.cone.impulse(y))
        a, b = group.bodies
        c = contact_motion(mechanism, known, group, at, v[a], v[b])
        rows.append(group.cone.residual(y, c, group.friction, kappa))
    a, b = joints.bodies
    g = joint_rates(mechanism, known, v[a], v[b])
    return Unknowns(r[:-1], jnp.where(joints.rows, g, w.impulses), tuple(rows))


def joint_rates(mechanism: Mechanism, known: Known, v_a, v_b) -> jax.Array:
    """g(z₂)/Δt (nj,6) for the velocities of the joints' bodies A and B."""
    joints, dt = mechanism.joints, known.dt
    a, b = mechanism.pair(known.q, joints.bodies)
    return joint_constraints(joints, a.drifted(v_a, dt), b.drifted(v_b, dt)) / dt


def contact_motion(mechanism: Mechanism, known: Known, group: AbstractContact, at: KnownContact, v_a, v_b) -> jax.Array:
    """c (nc,d): the gap over Δt at z₂, or φ̇ less the rate of restitution; then the tangential velocities."""
    a, b = mechanism.pair(known.q, group.bodies)
    rate = group.gap(mechanism.joints, a.drifted(v_a, known.dt), b.drifted(v_b, known.dt)) / known.dt
    c = jnp.einsum("nki,ni->nk", at.N[0], v_a) + jnp.einsum("nki,ni->nk", at.N[1], v_b)
    return c.at[:, 0].set(jnp.where(at.bounces, c[:, 0] - at.bounce_rate, rate))


def velocity_norm(mechanism: Mechanism, r: Unknowns) -> jax.Array:
    """The largest residual as a velocity: body rows are divided by mass and mean moment of inertia."""
    moment = jnp.trace(mechanism.inertia, axis1=1, axis2=2) / 3.0
    angular, linear = r.v[:, :3] / moment[:, None], r.v[:, 3:] / mechanism.mass[:, None]
    return max_norm((angular, linear, r.impulses, r.contacts))
