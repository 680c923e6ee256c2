"""The classical Runge–Kutta method of order four, on the configuration manifold."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..forces import AbstractForce
from ..model import Model, difference, integrate
from .base import AbstractIntegrator, Info, State, initial_state, joint_forces, keep_if_finite
from .vector_field import accelerations


class RungeKutta4(AbstractIntegrator):
    """The classical Runge–Kutta method for σ and v with q = q₀ ⊕ σ (Munthe-Kaas 1998): fourth order, explicit.

    On quaternion joints σ̇ differs from v by the derivative of the exponential map, which is taken into account, so
    the order holds for every joint. The joint forces are constant over the step.

    Attributes:
        dt: the time step.
        forces: what acts beside gravity, the model's own springs and τ, see ``AbstractForce``.
    """

    dt: float | Array
    forces: tuple[AbstractForce, ...] = ()

    def init(self, model: Model, q: Array, v: Array, t: float = 0.0) -> State:
        return initial_state(model, q, v, t)

    def step(self, model: Model, state: State, tau: Array | None = None) -> tuple[State, Info]:
        force, h = joint_forces(model, state, tau), self.dt

        def rate(sigma, v):
            q = integrate(model, state.q, sigma)
            return coordinate_rate(model, state.q, q, v), accelerations(model, self.forces, q, v, force)

        # one trace of the dynamics serves the four stages
        def stage(carry, weights):
            (ds, dv), (total_s, total_v) = carry
            ahead, weight = weights
            k = rate(ahead * h * ds, state.v + ahead * h * dv)
            return (k, (total_s + weight * k[0], total_v + weight * k[1])), None

        zero = jnp.zeros_like(state.v)
        dtype = state.v.dtype
        weights = jnp.asarray([0.0, 0.5, 0.5, 1.0], dtype), jnp.asarray([1 / 6, 1 / 3, 1 / 3, 1 / 6], dtype)
        (_, (sigma, dv)), _ = jax.lax.scan(stage, ((zero, zero), (zero, zero)), weights)
        q = integrate(model, state.q, h * sigma)
        return keep_if_finite(state, State(q, state.v + h * dv, state.t + h))


def coordinate_rate(model: Model, origin: Array, q: Array, v: Array) -> Array:
    """σ̇ where q = origin ⊕ σ and q moves with velocity v; v itself for flat joints."""
    if all(joint.is_euclidean for joint in model.joints):
        return v
    return jax.jvp(lambda dv: difference(model, origin, integrate(model, q, dv)), (jnp.zeros_like(v),), (v,))[1]
