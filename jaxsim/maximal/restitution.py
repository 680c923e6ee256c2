"""Bodies that bounce in the middle of a step.

The positions z_k and the velocities at the middle of the intervals lie on a path along which the gap of a contact falls
with φ̇₁ and the acceleration a = φ̈, both known without the contact. It vanishes after the share τ of the interval, where
Newton's law turns φ̇ into −eφ̇. Extended to the middle of the interval, the path after the impact has

    φ̇⁺ = −eφ̇ + (1 + e)(½ − τ) a Δt,

and the bodies arrive at z₂ with the mean velocity that the share 1 − τ of the same impulse gives. A ball under gravity
follows its parabolas exactly, and so do the derivatives: ∂x/∂x₀ changes sign at a wall, since the moment of impact
moves with x₀. An impact that waited for the end of the interval would keep the sign, whatever the time step.

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
    mechanism: Mechanism, known: Known, v: jax.Array, impulses: jax.Array, speed, solve: Solve
) -> tuple[Unknowns, jax.Array, SolverInfo]:
    """The velocities after all bounces of an interval, the mean velocities (nb,6) over it, and how it went.

    v (nb,6) are the velocities before the kick of ``known``, and v and ``impulses`` are the guess of the first solve.
    Four solves: without the contacts that close fast, to see which of them hit and when; with Newton's law for these;
    for the mean velocity, without them; and once more with those that would overlap at z₂. A solve that has nothing to
    change costs no iteration.
    """

    def stage(carry, number):
        posed, guess, ahead = carry
        w, info = solve(posed, guess)
        there = drift(known.q, w.v, known.dt)
        ahead = jnp.where(number == 0, there, ahead)
        kick = (w.v - v) * (known.dt / known.kick)
        hits = _with_bounces(mechanism, posed, lambda group, at: _hit(mechanism, known, group, at, ahead, w.v, kick))
        bent = dataclasses.replace(posed, momentum=known.momentum + _delayed(mechanism, posed, w))
        bent = _with_bounces(mechanism, bent, lambda _, at: _released(at.bounce))
        guarded = _with_bounces(mechanism, posed, lambda group, at: _guarded(mechanism, group, at, there))
        after = jax.tree.map(
            lambda *each: jnp.select([number == 0, number == 1], each[:2], each[2]), hits, bent, guarded
        )
        return (after, _next_guess(mechanism, posed, after, w), ahead), (w, info)

    flight = release_fast(mechanism, known, v, speed)
    start = flight, first_guess(mechanism, flight, v, impulses), known.q
    # A scan, so that the solver is compiled once and not four times.
    _, (w, info) = jax.lax.scan(stage, start, jnp.arange(4))
    info = SolverInfo(jnp.all(info.converged), jnp.max(info.residual), jnp.sum(info.iterations, dtype=jnp.int32))
    return jax.tree.map(lambda leaf: leaf[1], w), w.v[3], info


def _hit(mechanism: Mechanism, known: Known, group, at, ahead, v, kick) -> Bounce:
    """Which of the released contacts hit between z₁ and ``ahead`` for bodies that get there with v; kick is a Δt."""
    before, after = (group.gap(mechanism.joints, *mechanism.pair(z, group.bodies)) for z in (known.q, ahead))
    hit = at.bounce.released & (after < 0.0)
    before, after = jnp.where(hit, jnp.maximum(before, 0.0), 1.0), jnp.where(hit, after, -1.0)
    kick = jnp.where(hit, normal_rates(group, at, kick), 0.0)
    # φ(τ) = φ₁ + (φ₂ − φ₁ − A) τ + A τ² with A = ½ a Δt².
    A = 0.5 * kick * known.dt
    B = before - after + A
    tau = 2.0 * before / (B + jnp.sqrt(jnp.maximum(B**2 - 4.0 * A * before, 0.0)))
    e = group.restitution
    rate = -e * normal_rates(group, at, v) + (1.0 + e) * (0.5 - tau) * kick
    return Bounce(at.bounce.released & ~hit, hit, jnp.maximum(rate, 0.0), 1.0 - tau)


def _released(bounce: Bounce) -> Bounce:
    """All that were released or bounce are released."""
    return dataclasses.replace(bounce, released=bounce.released | bounce.active, active=jnp.zeros_like(bounce.active))


def _guarded(mechanism: Mechanism, group, at, ahead) -> Bounce:
    """Those that overlap at the configurations ``ahead`` by more than rounding act again."""
    gap = group.gap(mechanism.joints, *mechanism.pair(ahead, group.bodies))
    rounding = 100.0 * jnp.finfo(gap.dtype).eps * jnp.max(jnp.abs(ahead[:, :3]), initial=1.0)
    return dataclasses.replace(at.bounce, released=at.bounce.released & (gap >= -rounding))


def _delayed(mechanism: Mechanism, known: Known, w: Unknowns) -> jax.Array:
    """(1 − τ) Nᵀ(γ, f_t) (nb,6) of the contacts that bounce."""
    wrench = with_world(jnp.zeros_like(known.momentum))
    for group, at, y in zip(mechanism.contacts, known.contacts, w.contacts, strict=True):
        if at.bounce is not None:
            left = jnp.where(at.bounce.active, at.bounce.left, 0.0)
            wrench = push(wrench, at.N, group.bodies, left[:, None] * group.cone.impulse(y))
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
        jnp.any((old.bounce.released != new.bounce.released) | (old.bounce.active != new.bounce.active))
        for old, new in zip(before.contacts, after.contacts, strict=True)
        if old.bounce is not None and new.bounce is not None
    ]
    new = first_guess(mechanism, after, w.v, w.impulses)
    return jax.tree.map(lambda a, b: jnp.where(jnp.any(jnp.stack(changed)), a, b), new, w)
