"""Dry friction in revolute joints by bilateral staggered projections (Sueda, §2.12, Alg. 8).

A revolute joint is a journal: a cylinder of some radius and length about the axis, held at points on the rims of its
ends by normals that point outward, and along the axis at the same points. The forces at these points that transmit the
joint's reaction are the smallest ones (eq. 2.125); friction at each is bounded by μ times the magnitude of the normal
force, and all of it acts at the radius against the turning of the joint. The contact solve of staggered projections is
the reduced solve itself, and the reaction comes from inverse dynamics at the acceleration that it leads to (eq. 2.124,
with J̇q̇ in the constrained acceleration, so that reactions do no work on the joints).
"""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..dynamics.newton_euler import newton_euler_motion
from ..dynamics.rnea import motion_data
from ..joints import Revolute
from ..model import Model
from ..solvers.newton import SolverInfo
from ..solvers.quadratic_program import quadratic_program
from .constrained_dynamics import inverse_mass_rows


class JointFriction(eqx.Module):
    """Journals with dry friction.

    Attributes:
        bodies: the bodies whose revolute joints rub.
        coefficient: μ.
        radius: the radius of the journal, in m.
        half_length: half of its length, in m.
        points: how many points hold each rim; four are exact for loads along them, many approach 4/π of the load.
    """

    bodies: tuple[int, ...] = eqx.field(static=True)
    coefficient: Float[Array, " n"] | float
    radius: Float[Array, " n"] | float
    half_length: Float[Array, " n"] | float
    points: int = eqx.field(static=True, default=4)

    def coordinates(self, model: Model) -> np.ndarray:
        """The degrees of freedom that rub."""
        for body in self.bodies:
            group = next(g for g, members in enumerate(model.topology.groups) if body in members)
            if not isinstance(model.joints[group], Revolute):
                raise ValueError(f"The joint of {model.body_names[body]!r} is not revolute; joint friction needs one.")
        return model.topology.v_start[np.array(self.bodies)]


def friction_impulses(
    model: Model,
    friction: JointFriction,
    state: tuple[Array, Array],
    free: Array,
    h: Array,
    reduced_solve: Callable[[Array], tuple[Array, Array | None]],
    iterations: int,
) -> tuple[Array, SolverInfo]:
    """The joint impulses of friction over a step from the state (q, v) to ``free``, the velocity without friction.

    ``reduced_solve`` maps a velocity to the one that limits, contacts and loops leave of it, with the wrenches on the
    bodies that this takes (eq. 2.126).
    """
    q, v = state
    at = friction.coordinates(model)
    rows = np.eye(model.nv)[at]
    W = inverse_mass_rows(model, q, jnp.asarray(rows, v.dtype))
    box = jnp.concatenate([jnp.eye(len(at), dtype=v.dtype), -jnp.eye(len(at), dtype=v.dtype)])

    def turn(impulse, _):
        after, wrench = reduced_solve(free + W.T @ impulse)
        bound = h * friction_torques(model, friction, q, v, (after - v) / h, wrench)
        # what the joints would do without friction but with all other impulses (eq. 2.121)
        slip = (after - W.T @ impulse)[at]
        new, info = quadratic_program(rows @ W.T, slip, box, -jnp.concatenate([bound, bound]))
        return new, (jnp.max(jnp.abs(new - impulse), initial=0.0), jnp.max(bound, initial=0.0), info.converged)

    start = jnp.zeros(len(at), v.dtype)
    impulse, (moved, bounds, good) = jax.lax.scan(turn, start, None, length=iterations)
    residual = moved[-1] / jnp.maximum(bounds[-1], jnp.finfo(v.dtype).tiny)
    tolerance = float(jnp.finfo(v.dtype).eps) ** 0.4
    converged = jnp.all(good) & (residual < tolerance)
    return jnp.zeros_like(v).at[at].set(impulse), SolverInfo(converged, residual, jnp.asarray(iterations, jnp.int32))


def friction_torques(
    model: Model, friction: JointFriction, q: Array, v: Array, a: Array, wrench: Float[Array, "nb 6"] | None = None
) -> Float[Array, " n"]:
    """μ r Σ|α|: the largest torque that each journal can rub with, at the acceleration a."""
    data = motion_data(model, q, v, a, wrench)
    _, _, transmitted = newton_euler_motion(model.topology, data, v.dtype)
    last = model.topology.elements.last_of_body[np.array(friction.bodies)]
    reaction = transmitted.to_array()[last]
    S = jnp.broadcast_to(data.element.S.to_array(), (model.topology.elements.count, 6))[last]
    size = (len(friction.bodies),)
    mu, r, l = (
        jnp.broadcast_to(jnp.asarray(x, v.dtype), size)
        for x in (friction.coefficient, friction.radius, friction.half_length)
    )
    loads = jax.vmap(lambda f, axis, r, l: _loads(f, axis, r, l, friction.points))(reaction, S[:, :3], r, l)
    return mu * r * jnp.sum(jnp.abs(loads), axis=-1)


def _loads(reaction: Array, axis: Array, radius: Array, half_length: Array, points: int) -> Array:
    """The smallest α with Nᵀα equal to the reaction, its moment about the axis left out (eq. 2.125)."""
    least = jnp.eye(3, dtype=axis.dtype)[jnp.argmin(jnp.abs(axis))]
    first = jnp.cross(axis, least)
    first = first / jnp.linalg.norm(first)
    second = jnp.cross(axis, first)
    angles = 2.0 * np.pi * np.arange(points) / points
    out = np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * second
    at = jnp.concatenate([radius * out + half_length * axis, radius * out - half_length * axis])
    along = jnp.concatenate([jnp.broadcast_to(axis, (points, 3)), jnp.broadcast_to(-axis, (points, 3))])
    normals = jnp.concatenate([out, out, along])
    places = jnp.concatenate([at, at])
    unit = jnp.maximum(radius, half_length)
    N = jnp.concatenate([jnp.cross(places, normals) / unit, normals], axis=1)
    moment = reaction[:3] - axis * jnp.dot(axis, reaction[:3])
    f = jnp.concatenate([moment / unit, reaction[3:]])
    small = float(jnp.finfo(axis.dtype).eps) ** 0.75
    # the moment about the axis is in no row of N: the regular 6×6 form of N(NᵀN)⁻¹f
    return N @ jnp.linalg.solve(N.T @ N + small * jnp.eye(6, dtype=axis.dtype), f)
