"""Hybrid dynamics: some joints are driven by force, others by acceleration."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ..model import Model
from ..model.shapes import check
from .aba import articulated
from .coupled import coupled_hybrid_dynamics
from .passive import passive_forces


def hybrid_dynamics(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    tau: Float[Array, " nv"],
    a: Float[Array, " nv"],
    prescribed: Bool[Array, " nv"],
    f_ext: Float[Array, "nb 6"] | None = None,
) -> tuple[Float[Array, " nv"], Float[Array, " nv"]]:
    """Solve τ = ID(q, v, a) where each degree of freedom gives either τ or a (Sueda, Alg. 9).

    With nothing prescribed this is ``forward_dynamics``, with everything prescribed ``inverse_dynamics``.

    Args:
        model: the model.
        q: the configuration.
        v: the velocity.
        tau: the joint forces; used where ``prescribed`` is false.
        a: the accelerations; used where ``prescribed`` is true.
        prescribed: which degrees of freedom have their acceleration given.
        f_ext: external wrenches (moment, force) on the bodies, each in its body's frame at its body's origin.

    Returns:
        All joint forces and all accelerations, (τ, a).
    """
    check(model, q=q, v=v, tau=tau, a=a, prescribed=prescribed)
    mask = jnp.asarray(prescribed, bool)
    if model.coupling is not None:
        return coupled_hybrid_dynamics(model, q, v, tau, a, mask, f_ext)
    passive = passive_forces(model, q, v)
    known = jnp.where(mask, a, 0)
    acceleration, total, _ = articulated(model, q, v, jnp.where(mask, 0, tau + passive), f_ext, (mask, known))
    force = jnp.where(mask, total + model.armature * known - passive, tau)
    return force, jnp.where(mask, a, acceleration)
