"""Semi-implicit Euler with loops, joint limits, contact and dry friction, by impulses at the velocity level."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics import inverse_mass_product
from ..forces import AbstractForce
from ..model import Model, integrate
from ..reduced.constrained_dynamics import post_stabilised
from ..reduced.constraints import AbstractEquation, values
from ..reduced.contacts import PlaneContacts
from ..reduced.impulses import contact_impulses, impulse_rows
from ..reduced.joint_friction import JointFriction, friction_impulses
from ..solvers.newton import SolverInfo
from .base import AbstractIntegrator, State, initial_state, joint_forces
from .vector_field import accelerations

_FRICTION = "pyramid", "staggered"


class ImpulseInfo(eqx.Module):
    """How a step with impulses went.

    Attributes:
        converged: whether all programs of the step were solved; if not, the state has kept its last good value.
        residual: how far from solved.
        iterations: the number of iterations of the last program.
        violation: the largest |g(q)| after the step.
    """

    converged: Array
    residual: Array
    iterations: Array
    violation: Array


class ConstrainedEuler(AbstractIntegrator):
    """v⁺ = v + h a + M⁻¹Aᵀλ, q⁺ = q ⊕ h v⁺ with impulses λ that hold what must hold at the end: first order.

    Equations hold as G v⁺ = −γ g(q), with Baumgarte's stabilisation for γ > 0, and g(q⁺) = 0 after post-stabilisation;
    limits and contacts as A v⁺ ≥ −gap/h, no force where there is a gap. M⁻¹ is applied in linear time to each row.

    Attributes:
        dt: the time step.
        forces: what acts beside gravity, the model's own springs and τ, see ``AbstractForce``.
        equations: loops and relations of joints, see ``LoopClosure`` and ``JointRelation``.
        contacts: points above a plane.
        limits: whether the limits of the joints hold.
        gamma: γ, in 1/s.
        post_stabilisation: how many Gauss–Newton steps move the configuration back onto g = 0.
        friction: "pyramid" for contact and friction in one program, "staggered" for projections that take turns.
        joint_friction: journals with dry friction, not together with equations.
        turns: how many times staggered projections take turns.
    """

    dt: float | Array
    forces: tuple[AbstractForce, ...] = ()
    equations: tuple[AbstractEquation, ...] = ()
    contacts: PlaneContacts = PlaneContacts()
    limits: bool = eqx.field(default=False, static=True)
    gamma: float | Float[Array, ""] = 0.0
    post_stabilisation: int = eqx.field(default=1, static=True)
    friction: str = eqx.field(default="pyramid", static=True)
    joint_friction: JointFriction | None = None
    turns: int = eqx.field(default=20, static=True)

    def __check_init__(self):
        if self.friction not in _FRICTION:
            raise ValueError(f"There is no friction {self.friction!r}; use one of {', '.join(map(repr, _FRICTION))}.")
        if self.joint_friction is not None and self.equations:
            raise ValueError("Joint friction does not go together with equations; leave one of them out.")

    def init(self, model: Model, q: Array, v: Array, t: float = 0.0) -> State:
        return initial_state(model, q, v, t)

    def step(self, model: Model, state: State, tau: Array | None = None) -> tuple[State, ImpulseInfo]:
        h, force = jnp.asarray(self.dt, state.v.dtype), joint_forces(model, state, tau)
        q = state.q
        free = state.v + h * accelerations(model, self.forces, q, state.v, force)
        rub, rubbing = self._rub(model, state, free, h)
        v, _, info = self._solve(model, q, free + rub, h)
        after = integrate(model, q, h * v)
        if self.equations and self.post_stabilisation:
            after = post_stabilised(model, self.equations, after, self.post_stabilisation)
        end = State(after, v, state.t + h)
        good = info.converged & rubbing.converged & jnp.all(jnp.isfinite(v)) & jnp.all(jnp.isfinite(after))
        kept = jax.tree.map(lambda new, old: jnp.where(good, new, old), end, state)
        violation = jnp.max(jnp.abs(values(model, self.equations, kept.q)), initial=0.0)
        report = jnp.maximum(info.residual, rubbing.residual), info.iterations
        return kept, ImpulseInfo(good, *report, violation)

    def _solve(self, model: Model, q: Array, v: Array, h: Array) -> tuple[Array, Array | None, SolverInfo]:
        """The velocity that equations, limits and contacts leave of v, and the wrenches of the contacts."""
        if not (self.equations or len(self.contacts) or self.limits):
            return v, None, _nothing(v)
        data = impulse_rows(model, self.equations, self.contacts, self.limits, q, v, h, self.gamma)
        after, impulses, info = contact_impulses(data, v, self.friction, self.turns)
        if not len(self.contacts):
            return after, None, info
        return after, self.contacts.wrenches(model, q, impulses / h), info

    def _rub(self, model: Model, state: State, free: Array, h: Array) -> tuple[Array, SolverInfo]:
        """The change of velocity by friction in the joints."""
        if self.joint_friction is None:
            return jnp.zeros_like(free), _nothing(free)
        impulse, info = friction_impulses(
            model,
            self.joint_friction,
            (state.q, state.v),
            free,
            h,
            lambda v: self._solve(model, state.q, v, h)[:2],
            self.turns,
        )
        return inverse_mass_product(model, state.q, impulse), info


def _nothing(v: Array) -> SolverInfo:
    return SolverInfo(jnp.ones((), bool), jnp.zeros_like(v[0]), jnp.zeros((), jnp.int32))
