"""How joints and contacts see the bodies they connect: block Jacobians, and the sums over bodies made with them.

A pair of arrays (n,d,6) holds the Jacobians of n joints or contacts with respect to their bodies A and B; velocities
carry the world as their last row.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from .contact import AbstractContact, tangents, velocity_rows
from .joint import joint_constraints, joint_velocities
from .mechanism import Mechanism

PairOf = tuple[jax.Array, jax.Array]
Bodies = tuple[np.ndarray, np.ndarray]


def block_jacobian(f: Callable[[jax.Array], jax.Array], x: jax.Array) -> jax.Array:
    """∂f_i/∂x_i (n,m,k) of a function (n,k) → (n,m) whose row i depends on row i of x alone."""

    def column(e):
        return jax.jvp(f, (x,), (jnp.broadcast_to(e, x.shape),))[1]

    return jax.vmap(column, out_axes=-1)(jnp.eye(x.shape[-1], dtype=x.dtype))


def pair_jacobian(f: Callable[[jax.Array, jax.Array], jax.Array], a: jax.Array, b: jax.Array) -> PairOf:
    """The block Jacobians of f(a, b) with respect to both."""
    return block_jacobian(lambda x: f(x, b), a), block_jacobian(lambda x: f(a, x), b)


def rates(J: PairOf, bodies: Bodies, v: jax.Array) -> jax.Array:
    """J v (n,d): what the joints or contacts see of the velocities v (nb+1,6)."""
    on_a, on_b = (jnp.einsum("nki,ni->nk", side, v[index]) for side, index in zip(J, bodies, strict=True))
    return on_a + on_b


def push(r: jax.Array, J: PairOf, bodies: Bodies, f: jax.Array) -> jax.Array:
    """r + Jᵀ f (nb+1,6): the effect on the bodies of efforts f (n,d) along the rows of J."""
    for side, index in zip(J, bodies, strict=True):
        r = r.at[index].add(jnp.einsum("nki,nk->ni", side, f))
    return r


def constraint_jacobian(mechanism: Mechanism, q: jax.Array) -> PairOf:
    """G at the configurations q (Brüdigam et al. 2023, (21), rotational columns halved)."""
    joints = mechanism.joints
    a, b = mechanism.pair(q, joints.bodies)
    zero = jnp.zeros((joints.num_joints, 6), q.dtype)
    return pair_jacobian(lambda x, y: joint_constraints(joints, a.displaced(x), b.displaced(y)), zero, zero)


def motion_jacobian(mechanism: Mechanism, q: jax.Array) -> PairOf:
    """J at the configurations q: joint velocities from body velocities."""
    joints = mechanism.joints
    a, b = mechanism.pair(q, joints.bodies)
    zero = jnp.zeros((joints.num_joints, 6), q.dtype)
    return pair_jacobian(lambda x, y: joint_velocities(joints, a, b, x, y), zero, zero)


def contact_jacobian(mechanism: Mechanism, group: AbstractContact, q: jax.Array) -> PairOf:
    """The rows (nc,d,6): N = ∂φ (25), then the tangential velocities of B against A (C.2)."""
    a, b = mechanism.pair(q, group.bodies)
    zero = jnp.zeros((len(group.body_a), 6), q.dtype)

    def gap(x, y):
        return group.gap(mechanism.joints, a.displaced(x), b.displaced(y))[:, None]

    N_a, N_b = pair_jacobian(gap, zero, zero)
    touch = group.touch(a, b)
    if group.cone.directions == 1 or touch is None:
        return N_a, N_b
    for t in tangents(touch.normal):
        N_a = jnp.concatenate([N_a, -velocity_rows(t, a, touch.point_a)[:, None]], axis=1)
        N_b = jnp.concatenate([N_b, velocity_rows(t, b, touch.point_b)[:, None]], axis=1)
    return N_a, N_b
