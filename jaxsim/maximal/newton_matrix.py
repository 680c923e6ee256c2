"""The Newton system of a step, solved on the graph of the mechanism.

Contacts are leaves of the graph: they are condensed into their bodies all at once. The rest goes to the graph LDU.
"""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..solvers import AbstractConeProblem
from .blocks import PairOf, block_jacobian, push, rates
from .body import start_momentum_jacobian
from .contact import AbstractContact
from .graph_ldu import BlockMatrix, Factors
from .joint_jacobian import constraint_jacobian, drift_jacobian
from .mechanism import Mechanism
from .state import with_world
from .system import Known, KnownContact, Unknowns, residual

REGULARISATION = 1e-8
"""Added to the pivots of loop-closing joints, relative to their size, so that redundant rows do no harm."""


class Condensed(eqx.Module):
    """A group of contacts linearised: P⁻¹ (nc,p,p), R = ∂r/∂c, M = ∂(γ, f_t)/∂y and C = ∂c/∂v for bodies A and B."""

    P_inverse: jax.Array
    R: jax.Array
    M: jax.Array
    C: PairOf


class Factorised(eqx.Module):
    """The factorised Newton matrix F = [[A, −NᵀM], [R C, P]] of velocities and impulses, and contacts."""

    mechanism: Mechanism
    known: Known
    parts: tuple[Condensed, ...]
    factors: Factors

    def solve(self, b: Unknowns) -> Unknowns:
        """F⁻¹ b: with the contacts condensed, (A + NᵀM P⁻¹R C) x = b_v + NᵀM P⁻¹ b_c."""
        rhs = with_world(b.v)
        for bodies, N, part, r in self._contacts(b):
            rhs = push(rhs, N, bodies, jnp.einsum("nkp,npq,nq->nk", part.M, part.P_inverse, r))
        x = self.mechanism.graph.backsubstitute(self.factors, jnp.concatenate([rhs[:-1], b.impulses]))
        v, contacts = with_world(x[: len(b.v)]), []
        for bodies, _, part, r in self._contacts(b):
            driven = jnp.einsum("npk,nk->np", part.R, rates(part.C, bodies, v))
            contacts.append(jnp.einsum("npq,nq->np", part.P_inverse, r - driven))
        return Unknowns(v[:-1], x[len(b.v) :], tuple(contacts))

    def solve_transposed(self, b: Unknowns) -> Unknowns:
        """F⁻ᵀ b through the same factors."""
        rhs = with_world(b.v)
        for bodies, _, part, r in self._contacts(b):
            rhs = push(rhs, part.C, bodies, -jnp.einsum("npk,nqp,nq->nk", part.R, part.P_inverse, r))
        x = self.mechanism.graph.backsubstitute_transposed(self.factors, jnp.concatenate([rhs[:-1], b.impulses]))
        v, contacts = with_world(x[: len(b.v)]), []
        for bodies, N, part, r in self._contacts(b):
            driven = jnp.einsum("nkp,nk->np", part.M, rates(N, bodies, v))
            contacts.append(jnp.einsum("nqp,nq->np", part.P_inverse, r + driven))
        return Unknowns(v[:-1], x[len(b.v) :], tuple(contacts))

    def _contacts(self, b: Unknowns):
        groups = zip(self.mechanism.contacts, self.known.contacts, self.parts, b.contacts, strict=True)
        return [(group.bodies, at.N, part, r) for group, at, part, r in groups]


class StepProblem(AbstractConeProblem):
    """The equations of one step as a cone problem; without contacts it is an ordinary system of equations."""

    mechanism: Mechanism
    known: Known

    def residual(self, w: Unknowns) -> Unknowns:
        return residual(self.mechanism, self.known, w)

    def unit(self, r: Unknowns) -> Unknowns:
        def rows(group, y):
            linear = np.zeros(group.cone.size - len(group.cone.unit))
            return jnp.broadcast_to(jnp.asarray(np.concatenate([linear, group.cone.unit]), y.dtype), y.shape)

        contacts = tuple(rows(group, y) for group, y in zip(self.mechanism.contacts, r.contacts, strict=True))
        return Unknowns(jnp.zeros_like(r.v), jnp.zeros_like(r.impulses), contacts)

    def linearise(self, w: Unknowns) -> Callable[[Unknowns], Unknowns]:
        return self.factorise(w).solve

    def factorise(self, w: Unknowns) -> Factorised:
        """The Newton matrix at w, factorised."""
        mechanism, known = self.mechanism, self.known
        ahead, turn = known.ahead(w.v), with_world(drift_jacobian(w.v, known.span))
        groups = zip(mechanism.contacts, known.contacts, w.contacts, strict=True)
        parts = tuple(condense(mechanism, group, at, y, ahead, turn) for group, at, y in groups)
        factors = mechanism.graph.factor(newton_matrix(mechanism, known, w.v, ahead, turn, parts))
        return Factorised(mechanism, known, parts, factors)

    def second_order(self, dw: Unknowns) -> Unknowns:
        groups = zip(self.mechanism.contacts, dw.contacts, strict=True)
        rows = tuple(group.cone.second_order(dy, group.friction) for group, dy in groups)
        return Unknowns(jnp.zeros_like(dw.v), jnp.zeros_like(dw.impulses), rows)

    def step_to_boundary(self, w: Unknowns, dw: Unknowns) -> jax.Array:
        groups = zip(self.mechanism.contacts, w.contacts, dw.contacts, strict=True)
        steps = [group.cone.step_to_boundary(y, dy, group.friction) for group, y, dy in groups]
        return jnp.min(jnp.concatenate(steps))

    def mean_gap(self, w: Unknowns) -> jax.Array:
        groups = zip(self.mechanism.contacts, w.contacts, strict=True)
        return jnp.mean(jnp.concatenate([group.cone.gap(y, group.friction) for group, y in groups]))

    def admissible(self, w: Unknowns) -> jax.Array:
        """|ω| < 1.9/Δt, where the quaternion update is defined with room to spare."""
        speed = jnp.max(jnp.sum(w.v[:, :3] ** 2, axis=-1))
        return jnp.all(jnp.isfinite(w.v)) & (speed < (1.9 / self.known.dt) ** 2)


def condense(mechanism: Mechanism, group: AbstractContact, at: KnownContact, y, ahead, turn) -> Condensed:
    """The linearisation of a group of contacts at its unknowns y and the configurations z₂, with ∂z₂/∂(Δt v)."""
    cone, mu = group.cone, group.friction
    c = jnp.zeros((len(y), cone.directions), y.dtype)
    N_ahead = group.rows(mechanism.joints, *mechanism.pair(ahead, group.bodies))

    def motion(N, N_ahead, index):
        normal = jnp.einsum("ni,nij->nj", N_ahead[:, 0], turn[index])
        if at.bounce is not None:
            normal = jnp.where(at.bounce.active[:, None], N[:, 0], normal)
            normal = jnp.where(at.bounce.released[:, None], 0.0, normal)
        return N.at[:, 0].set(normal)

    return Condensed(
        P_inverse=jnp.linalg.inv(block_jacobian(lambda y: cone.residual(y, c, mu), y)),
        R=block_jacobian(lambda c: cone.residual(y, c, mu), c),
        M=block_jacobian(cone.impulse, y),
        C=tuple(map(motion, at.N, N_ahead, group.bodies)),
    )


def newton_matrix(mechanism: Mechanism, known: Known, v, ahead, turn, parts: tuple[Condensed, ...]) -> BlockMatrix:
    """The matrix on the graph: bodies D̂ = ∂r/∂v + NᵀM P⁻¹R C, joints G and ∂(g/Δt)/∂v, in the order of ``edges``."""
    joints = mechanism.joints
    a, b = joints.bodies
    D = start_momentum_jacobian(mechanism.mass, mechanism.inertia, v, known.span)
    G_ahead = constraint_jacobian(joints, *mechanism.pair(ahead, joints.bodies))
    G_hat = [jnp.einsum("nki,nij->nkj", side, turn[index]) for side, index in zip(G_ahead, (a, b), strict=True)]
    hinged = a != mechanism.num_bodies
    upper = [-known.G[1].mT, -known.G[0].mT[hinged]]
    lower = [G_hat[1], G_hat[0][hinged]]
    couplings = [(group.bodies, at.N, stiff(part), part.C) for group, at, part in _groups(mechanism, known, parts)]
    if known.J is not None:
        scale = known.kick * joints.damping[:, :, None] * jnp.eye(6, dtype=v.dtype)
        couplings = [(joints.bodies, known.J, scale, known.J), *couplings]
    for bodies, N, K, C in couplings:
        D, between, back = _couple(D, bodies, N, K, C)
        upper.append(between)
        lower.append(back)
    padding = jnp.where(joints.rows, 0.0, 1.0) + _regularisation(mechanism, known.G)
    diagonal = jnp.concatenate([D, padding[:, :, None] * jnp.eye(6, dtype=v.dtype)])
    return BlockMatrix(diagonal, jnp.concatenate(upper), jnp.concatenate(lower))


def stiff(part: Condensed) -> jax.Array:
    """K = M P⁻¹ R (nc,d,d): the impulse with which a contact answers motion."""
    return jnp.einsum("nkp,npq,nql->nkl", part.M, part.P_inverse, part.R)


def _groups(mechanism, known, parts):
    return zip(mechanism.contacts, known.contacts, parts, strict=True)


def _couple(D, bodies, N, K, C):
    """Add N_xᵀ K C_y to the blocks of the bodies x, y ∈ {A, B}; blocks with the world fall away."""
    (a, b), (N_a, N_b), (C_a, C_b) = bodies, N, C

    def block(N_x, C_y):
        return jnp.einsum("nki,nkl,nlj->nij", N_x, K, C_y)

    inner = a != len(D)
    D = D.at[b].add(block(N_b, C_b)).at[a[inner]].add(block(N_a, C_a)[inner])
    return D, block(N_a, C_b)[inner], block(N_b, C_a)[inner]


def _regularisation(mechanism: Mechanism, G: PairOf) -> jax.Array:
    """ε diag(G M⁻¹Gᵀ) (nj,6) for joints that close loops, zero for all others."""
    moment = jnp.trace(mechanism.inertia, axis1=1, axis2=2) / 3.0
    weight = with_world(jnp.repeat(jnp.stack([1.0 / moment, 1.0 / mechanism.mass], axis=-1), 3, axis=-1))
    size = sum(
        jnp.einsum("nki,ni->nk", side**2, weight[index]) for side, index in zip(G, mechanism.joints.bodies, strict=True)
    )
    return jnp.where(mechanism.closes_loop[:, None], REGULARISATION * size, 0.0)
