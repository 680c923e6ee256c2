"""The equations of motion as an ordinary differential equation."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics import forward_dynamics
from ..forces import AbstractForce, applied_forces
from ..model import Model, integrate

Field = Callable[[Array, tuple[Array, Array], object], tuple[Array, Array]]


def vector_field(
    model: Model,
    forces: tuple[AbstractForce, ...] = (),
    control: Callable[[Array, Array, Array], Array] | None = None,
) -> Field:
    """The function (t, (q, v), args) ↦ (q̇, v̇) that solvers of differential equations take, such as diffrax's.

    On quaternion joints q̇ = d(q ⊕ εv)/dε keeps the length of the quaternion up to the error of the solver.

    Args:
        model: the model.
        forces: what acts beside gravity, the model's own springs and the control.
        control: the joint forces as a function of (t, q, v); none by default.
    """

    def field(t: Array, y: tuple[Array, Array], args: object = None) -> tuple[Array, Array]:
        q, v = y
        tau = jnp.zeros_like(v) if control is None else control(t, q, v)
        q_dot = jax.jvp(lambda dv: integrate(model, q, dv), (jnp.zeros_like(v),), (v,))[1]
        return q_dot, accelerations(model, forces, q, v, tau)

    return field


def accelerations(
    model: Model, forces: tuple[AbstractForce, ...], q: Float[Array, " nq"], v: Float[Array, " nv"], tau: Array
) -> Float[Array, " nv"]:
    """v̇ under the joint forces τ and all other forces."""
    if not forces:
        return forward_dynamics(model, q, v, tau)
    wrench, force = applied_forces(model, forces, q, v)
    return forward_dynamics(model, q, v, tau + force, wrench)
