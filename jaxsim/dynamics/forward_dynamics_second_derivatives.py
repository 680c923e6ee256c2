"""Second derivatives of forward dynamics, from those of inverse dynamics."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import Model
from .aba import forward_dynamics
from .forward_dynamics_derivatives import forward_dynamics_derivatives
from .inverse_dynamics_second_derivatives import inverse_dynamics_second_derivatives


class ForwardDynamicsSecondDerivatives(eqx.Module):
    """The second derivatives of the acceleration; the first index is that of a.

    The order of differentiation is that of ``InverseDynamicsSecondDerivatives``: the last index is the outer one.

    Attributes:
        qq: entry (i, j, k) is ∂²a_i/∂q_j∂q_k.
        vv: entry (i, j, k) is ∂²a_i/∂v_j∂v_k.
        qv: entry (i, j, k) is ∂²a_i/∂q_j∂v_k.
        tauq: entry (i, j, k) is ∂²a_i/∂τ_j∂q_k = ∂(M⁻¹)_ij/∂q_k.
    """

    qq: Float[Array, "nv nv nv"]
    vv: Float[Array, "nv nv nv"]
    qv: Float[Array, "nv nv nv"]
    tauq: Float[Array, "nv nv nv"]


def forward_dynamics_second_derivatives(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    tau: Float[Array, " nv"],
    f_ext: Float[Array, "nb 6"] | None = None,
) -> ForwardDynamicsSecondDerivatives:
    """All second derivatives of a = ``forward_dynamics(model, q, v, tau, f_ext)``; those not listed vanish.

    Differentiating τ = ID(q, v, a(q, v, τ)) twice,
    ∂²a/∂q_j∂q_k = −M⁻¹ (∂²ID/∂q_j∂q_k + ∂M/∂q_k ∂a/∂q_j + ∂M/∂q_j ∂a/∂q_k), and likewise for the others.

    Args:
        model: the model.
        q: the configuration.
        v: the velocity.
        tau: the joint forces.
        f_ext: external wrenches (moment, force) on the bodies, each in its body's frame at its body's origin.
    """
    a = forward_dynamics(model, q, v, tau, f_ext)
    first = forward_dynamics_derivatives(model, q, v, tau, f_ext)
    second = inverse_dynamics_second_derivatives(model, q, v, a, f_ext)

    def solved(tensor):
        return -jnp.einsum("im,mjk->ijk", first.dtau, tensor)

    turn = jnp.einsum("imk,mj->ijk", second.aq, first.dq)
    return ForwardDynamicsSecondDerivatives(
        qq=solved(second.qq + turn + turn.transpose(0, 2, 1)),
        vv=solved(second.vv),
        qv=solved(second.qv + jnp.einsum("imj,mk->ijk", second.aq, first.dv)),
        tauq=solved(jnp.einsum("imk,mj->ijk", second.aq, first.dtau)),
    )
