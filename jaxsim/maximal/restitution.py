"""Bodies that bounce in the middle of a step.

Within an interval bodies move in straight lines, so a contact with the gap φ₁ at the start closes after the share
τ = φ₁/(φ₁ − φ₂) of it, where φ₂ < 0 is the gap it would end with. There it gets the impulse that turns φ̇ into −eφ̇
(Newton's law). The bodies arrive where the bent path leads: with the mean velocity that the share 1 − τ of that impulse
gives. With e = 1 and no joints this is kick, drift and mirror reflection, which is symplectic, and its derivatives are
those of the path with the moment of impact moving: ∂x/∂x₀ changes sign at a wall. An impact at the very start of the
interval would keep the sign, whatever the time step.

There is no derivative where a path grazes a surface, where two contacts close at the same moment, and at the speed
below which contacts cease to bounce; what is returned is then that of one of the sides.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp

from ..solvers import SolverInfo
from .blocks import push
from .known import normal_rates
from .mechanism import Mechanism
from .state import drift, with_world
from .step_solver import first_guess
from .system import Bounce, Known, Unknowns

Solve = Callable[[Known, Unknowns], tuple[Unknowns, SolverInfo]]


def release_fast(mechanism: Mechanism, known: Known, v: jax.Array, speed) -> Known:
    """The contacts that may bounce, those which v closes faster than ``speed``, are released."""

    def one(group, at):
        fast = (group.restitution > 0.0) & (normal_rates(group, at, v) < -speed)
        return dataclasses.replace(at.bounce, released=fast)

    return _with_bounces(mechanism, known, one)


def solve_with_bounces(
    mechanism: Mechanism, known: Known, guess: Unknowns, speed, solve: Solve
) -> tuple[Unknowns, jax.Array, SolverInfo]:
    """The velocities after all bounces of an interval, the mean velocities (nb,6) over it, and how it went.

    Three solves: without the contacts that close fast, to see which of them hit and when; with Newton's law for these;
    and for the mean velocity, with which joints hold and nothing overlaps at z₂. Where nothing is fast the first
    solution is that of the others too and costs them no iteration.
    """

    def stage(carry, is_first):
        posed, guess, ahead = carry
        w, info = solve(posed, guess)
        ahead = jnp.where(is_first, drift(known.q, w.v, known.dt), ahead)
        hits = _with_bounces(mechanism, posed, lambda group, at: _hit(mechanism, group, at, w.v, ahead))
        bent = dataclasses.replace(known, momentum=known.momentum + _delayed(mechanism, posed, w, ahead))
        after = jax.tree.map(lambda a, b: jnp.where(is_first, a, b), hits, bent)
        return (after, _next_guess(mechanism, posed, after, w), ahead), (w, info)

    flight = release_fast(mechanism, known, guess.v, speed)
    start = flight, first_guess(mechanism, flight, guess.v, guess.impulses), known.q
    # A scan, so that the solver is compiled once and not three times.
    _, (w, info) = jax.lax.scan(stage, start, jnp.array([True, False, False]))
    info = SolverInfo(jnp.all(info.converged), jnp.max(info.residual), jnp.sum(info.iterations, dtype=jnp.int32))
    return jax.tree.map(lambda leaf: leaf[1], w), w.v[2], info


def _hit(mechanism: Mechanism, group, at, v, ahead) -> Bounce:
    """Which of the released contacts hit on the way to ``ahead``, and the rate −eφ̇ they leave with."""
    gap = group.gap(mechanism.joints, *mechanism.pair(ahead, group.bodies))
    hit = at.bounce.released & (gap < 0.0)
    return Bounce(at.bounce.released & ~hit, hit, -group.restitution * normal_rates(group, at, v))


def _delayed(mechanism: Mechanism, known: Known, w: Unknowns, ahead) -> jax.Array:
    """(1 − τ) Nᵀ(γ, f_t) (nb,6) of the contacts that bounce."""
    wrench = with_world(jnp.zeros_like(known.momentum))
    for group, at, y in zip(mechanism.contacts, known.contacts, w.contacts, strict=True):
        if at.bounce is None:
            continue
        before, after = (group.gap(mechanism.joints, *mechanism.pair(q, group.bodies)) for q in (known.q, ahead))
        way = jnp.where(at.bounce.active, jnp.maximum(before, 0.0) - after, 1.0)
        share = jnp.where(at.bounce.active, -after / way, 0.0)
        wrench = push(wrench, at.N, group.bodies, share[:, None] * group.cone.impulse(y))
    return wrench[:-1]


def _with_bounces(mechanism: Mechanism, known: Known, bounce: Callable) -> Known:
    contacts = tuple(
        at if at.bounce is None else dataclasses.replace(at, bounce=bounce(group, at))
        for group, at in zip(mechanism.contacts, known.contacts, strict=True)
    )
    return dataclasses.replace(known, contacts=contacts)


def _next_guess(mechanism: Mechanism, before: Known, after: Known, w: Unknowns) -> Unknowns:
    """A guess away from the boundary of the cones where the problem has changed, else its solution."""
    changed = [
        jnp.any(old.bounce.released | old.bounce.active | new.bounce.active)
        for old, new in zip(before.contacts, after.contacts, strict=True)
        if old.bounce is not None and new.bounce is not None
    ]
    new = first_guess(mechanism, after, w.v, w.impulses)
    return jax.tree.map(lambda a, b: jnp.where(jnp.any(jnp.stack(changed)), a, b), new, w)
