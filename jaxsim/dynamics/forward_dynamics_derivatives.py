"""First derivatives of forward dynamics, from those of inverse dynamics."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import Model
from .aba import forward_dynamics
from .inverse_dynamics_derivatives import inverse_dynamics_derivatives
from .inverse_inertia import inverse_mass_product


class ForwardDynamicsDerivatives(eqx.Module):
    """The derivatives of the acceleration; row i belongs to a_i, column j to the j-th tangent coordinate.

    Attributes:
        dq: ∂a/∂q along q ⊕ δ.
        dv: ∂a/∂v.
        dtau: ∂a/∂τ, the inverse of the mass matrix.
    """

    dq: Float[Array, "nv nv"]
    dv: Float[Array, "nv nv"]
    dtau: Float[Array, "nv nv"]


def forward_dynamics_derivatives(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    tau: Float[Array, " nv"],
    f_ext: Float[Array, "nb 6"] | None = None,
) -> ForwardDynamicsDerivatives:
    """All first derivatives of a = ``forward_dynamics(model, q, v, tau, f_ext)``.

    Differentiating τ = ID(q, v, a) gives ∂a/∂τ = M⁻¹, ∂a/∂q = −M⁻¹ ∂ID/∂q and ∂a/∂v = −M⁻¹ ∂ID/∂v at that a (Singh et
    al. 2022, [13, §V]). The columns of M⁻¹, an output, come from the O(n) solve.

    Args:
        model: the model.
        q: the configuration.
        v: the velocity.
        tau: the joint forces.
        f_ext: external wrenches (moment, force) on the bodies, each in its body's frame at its body's origin.
    """
    a = forward_dynamics(model, q, v, tau, f_ext)
    inverse = inverse_dynamics_derivatives(model, q, v, a, f_ext)
    dtau = inverse_mass_matrix(model, q)
    return ForwardDynamicsDerivatives(-dtau @ inverse.dq, -dtau @ inverse.dv, dtau)


def inverse_mass_matrix(model: Model, q: Float[Array, " nq"]) -> Float[Array, "nv nv"]:
    """M(q)⁻¹ column by column, all columns in one pair of sweeps."""
    dtype = jnp.result_type(q, model.dtype)
    return jax.vmap(lambda x: inverse_mass_product(model, q, x), out_axes=1)(jnp.eye(model.nv, dtype=dtype))
