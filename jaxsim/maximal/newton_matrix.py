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
from .friction import AbstractCone
from .graph_ldu import BlockMatrix, Factors
from .joint_jacobian import constraint_jacobian, drift_jacobian
from .mechanism import Mechanism
from .state import with_world
from .system import Known, KnownContact, Unknowns, residual

REGULARISATION = 1e-8
"""Added to the pivots of loop-closing joints, relative to their size, so that redundant rows do no harm."""


class Condensed(eqx.Module):
    """A group of contacts linearised at its unknowns y (nc,p), with C = ∂c/∂v for bodies A and B.

    The cone knows P⁻¹ with P = ∂r/∂y, R = ∂r/∂c and M = ∂(γ, f_t)/∂y as linear maps.
    """

    y: jax.Array
    friction: jax.Array
    C: PairOf
    cone: AbstractCone

    def solve(self, r: jax.Array) -> jax.Array:
        """P⁻¹ r."""
        return self.cone.solve(self.y, r, self.friction)

    def driven(self, c: jax.Array) -> jax.Array:
        """R c."""
        return self.cone.driven(c, self.friction)

    @property
    def motion(self) -> jax.Array:
        """No motion c (nc,d)."""
        return jnp.zeros((len(self.y), self.cone.directions), self.y.dtype)

    def stiffness(self) -> jax.Array:
        """K = M P⁻¹ R (nc,d,d): the impulse with which a contact answers motion."""
        return block_jacobian(lambda c: self.cone.impulse(self.solve(self.driven(c))), self.motion)


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
            rhs = push(rhs, N, bodies, part.cone.impulse(part.solve(r)))
        x = self.mechanism.graph.backsubstitute(self.factors, jnp.concatenate([rhs[:-1], b.impulses]))
        v, contacts = with_world(x[: len(b.v)]), []
        for bodies, _, part, r in self._contacts(b):
            contacts.append(part.solve(r - part.driven(rates(part.C, bodies, v))))
        return Unknowns(v[:-1], x[len(b.v) :], tuple(contacts))

    def solve_transposed(self, b: Unknowns) -> Unknowns:
        """F⁻ᵀ b through the same factors."""
        rhs = with_world(b.v)
        for bodies, _, part, r in self._contacts(b):
            rhs = push(
                rhs, part.C, bodies, -_transposed(lambda c, part=part: part.solve(part.driven(c)), part.motion, r)
            )
        x = self.mechanism.graph.backsubstitute_transposed(self.factors, jnp.concatenate([rhs[:-1], b.impulses]))
        v, contacts = with_world(x[: len(b.v)]), []
        for bodies, N, part, r in self._contacts(b):
            driven = r + _transposed(part.cone.impulse, r, rates(N, bodies, v))
            contacts.append(_transposed(part.solve, r, driven))
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
    N_ahead = group.rows(mechanism.joints, *mechanism.pair(ahead, group.bodies))

    def motion(N, N_ahead, index):
        normal = jnp.einsum("ni,nij->nj", N_ahead[:, 0], turn[index])
        if at.bounce is not None:
            normal = jnp.where(at.bounce.active[:, None], N[:, 0], normal)
            normal = jnp.where(at.bounce.released[:, None], 0.0, normal)
        return N.at[:, 0].set(normal)

    return Condensed(y, group.friction, tuple(map(motion, at.N, N_ahead, group.bodies)), group.cone)


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
    couplings = [(group.bodies, at.N, part.stiffness(), part.C) for group, at, part in _groups(mechanism, known, parts)]
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


def _transposed(linear: Callable[[jax.Array], jax.Array], like: jax.Array, x: jax.Array) -> jax.Array:
    """Lᵀ x of a linear map L of arrays like ``like``."""
    return jax.linear_transpose(linear, like)(x)[0]


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
