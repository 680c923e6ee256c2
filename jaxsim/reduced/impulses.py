"""Impulses of equations, joint limits and contacts over a step, as quadratic programs (Sueda, §1.13, §2.9, §2.12).

With the velocity v that all other forces lead to, impulses λ along the rows A change it to v + M⁻¹Aᵀλ. The dual of
Gauss' principle (eq. 2.134, with λ ≥ 0 for forces that push) is: minimise ½ λᵀAM⁻¹Aᵀλ + λᵀ(A v + b).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import Model
from ..solvers.newton import SolverInfo
from ..solvers.quadratic_program import quadratic_program
from .constrained_dynamics import inverse_mass_rows
from .constraints import Equations, rows, values
from .contacts import PlaneContacts, limit_gaps, limit_rows


class Rows(NamedTuple):
    """The rows of everything that pushes, with their products M⁻¹Aᵀ and what their velocities must not fall below.

    Attributes:
        A: equations, then limits, then normals of contacts.
        W: M⁻¹Aᵀ, by rows.
        bias: b, with A v⁺ + b = 0 for equations and ≥ 0 for all others.
        T: the two tangents of each contact, (n, 2, nv), and
        WT: M⁻¹Tᵀ, likewise.
        free: how many rows are equations, whose impulses have any sign.
        friction: μ of the contacts.
    """

    A: Array
    W: Array
    bias: Array
    T: Array
    WT: Array
    free: int
    friction: Array


def impulse_rows(
    model: Model, equations: Equations, contacts: PlaneContacts, limits: bool, q: Array, v: Array, h, gamma
) -> Rows:
    """All rows at a configuration; gaps may close within a step, A v⁺ ≥ −gap/h, but no further.

    Gaps that cannot close within the step are cut, so that they do not set the scale of the problem.
    """
    g, G = values(model, equations, q), rows(model, equations, q)
    N, T = contacts.directions(model, q)
    sides = jnp.asarray(limit_rows(model)[0] if limits else jnp.zeros((0, model.nv)), q.dtype)
    gaps = jnp.concatenate([limit_gaps(model, q) if limits else jnp.zeros(0, q.dtype), contacts.gaps(model, q)])
    far = 10.0 * (1.0 + jnp.max(jnp.abs(v)))
    bias = jnp.concatenate([gamma * g, jnp.clip(gaps / h, -far, far)])
    A = jnp.concatenate([G, sides, N])
    W = inverse_mass_rows(model, q, jnp.concatenate([A, T.reshape(-1, model.nv)]))
    friction = jnp.broadcast_to(jnp.asarray(contacts.friction, q.dtype), (len(contacts),))
    return Rows(A, W[: len(A)], bias, T, W[len(A) :].reshape(T.shape), len(g), friction)


def pyramid_impulses(data: Rows, v: Array) -> tuple[Array, Array, SolverInfo]:
    """v⁺, the impulses of the contacts along normal and tangents, and how it went, in one program (eq. 1.103).

    After Anitescu and Hart (2004): each contact rubs along four directions with β ≥ 0 and μ α ≥ Σ β.
    """
    m, n = len(data.A), len(data.T)
    sides, W_sides = (jnp.concatenate([x, -x], axis=1).reshape(4 * n, len(v)) for x in (data.T, data.WT))
    A, W = jnp.concatenate([data.A, sides]), jnp.concatenate([data.W, W_sides])
    positive = jnp.eye(m + 4 * n, dtype=v.dtype)[data.free :]
    cone = jnp.zeros((n, m + 4 * n), v.dtype)
    at = jnp.arange(n)
    cone = cone.at[at, m - n + at].set(data.friction)
    cone = cone.at[at[:, None], m + 4 * at[:, None] + jnp.arange(4)].set(-1.0)
    bounds = jnp.concatenate([positive, cone])
    bias = jnp.concatenate([data.bias, jnp.zeros(4 * n, v.dtype)])
    impulse, info = quadratic_program(A @ W.T, A @ v + bias, bounds, jnp.zeros(len(bounds), v.dtype))
    rubbed = impulse[m:].reshape(n, 4)
    beta = rubbed[:, :2] - rubbed[:, 2:]
    return v + W.T @ impulse, jnp.concatenate([impulse[m - n : m, None], beta], axis=1), info


def staggered_impulses(data: Rows, v: Array, iterations: int) -> tuple[Array, Array, SolverInfo]:
    """v⁺, the impulses of the contacts, and how it went, by staggered projections (eqs. 2.120 and 2.121).

    After Kaufman et al. (2008): the program of the contacts with friction held and that of friction, −μα ≤ β ≤ μα, with
    the contacts held, take turns; the residual is the last change of the velocity.
    """
    m, n = len(data.A), len(data.T)
    T, WT = data.T.reshape(2 * n, -1), data.WT.reshape(2 * n, -1)
    push = jnp.eye(m, dtype=v.dtype)[data.free :]
    box = jnp.concatenate([jnp.eye(2 * n, dtype=v.dtype), -jnp.eye(2 * n, dtype=v.dtype)])

    def turn(rubbed, _):
        alpha, first = quadratic_program(
            data.A @ data.W.T, data.A @ (v + rubbed) + data.bias, push, jnp.zeros(len(push), v.dtype)
        )
        pushed = data.W.T @ alpha
        limit = jnp.repeat(data.friction * jnp.maximum(alpha[m - n :], 0.0), 2)
        beta, second = quadratic_program(T @ WT.T, T @ (v + pushed), box, -jnp.concatenate([limit, limit]))
        after = WT.T @ beta
        change = jnp.max(jnp.abs(after - rubbed), initial=0.0)
        contacts = jnp.concatenate([alpha[m - n :, None], beta.reshape(n, 2)], axis=1)
        return after, (pushed + after, contacts, change, first.converged & second.converged)

    _, (changes, contacts, moved, good) = jax.lax.scan(turn, jnp.zeros_like(v), None, length=iterations)
    size = 1.0 + jnp.max(jnp.abs(v), initial=0.0)
    residual = moved[-1] / size
    tolerance = float(jnp.finfo(v.dtype).eps) ** 0.5
    info = SolverInfo(jnp.all(good) & (residual < tolerance), residual, jnp.asarray(iterations, jnp.int32))
    return v + changes[-1], contacts[-1], info


def contact_impulses(
    data: Rows, v: Float[Array, " nv"], method: str, iterations: int
) -> tuple[Float[Array, " nv"], Float[Array, "n 3"], SolverInfo]:
    """The velocity after all impulses; "pyramid" or "staggered" friction, nothing to choose without contacts."""
    if method == "staggered" and len(data.T):
        return staggered_impulses(data, v, iterations)
    return pyramid_impulses(data, v)
