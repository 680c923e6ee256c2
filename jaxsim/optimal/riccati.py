"""The backward pass: the quadratic problem along a trajectory solved by Riccati's recursion."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from .box import box_qp, solve_free
from .expansion import Expansion


class Policy(eqx.Module):
    """δu_k = k + K δx_k.

    Attributes:
        feedforward: k.
        gains: K.
        positive: whether every Q_uu was positive definite; if not, the policy means nothing.
    """

    feedforward: Float[Array, "N nu"]
    gains: Float[Array, "N nu ndx"]
    positive: Bool[Array, ""]


def backward(
    expansion: Expansion, weight: Array, regularisation: Array, room: tuple[Array, Array] | None = None
) -> Policy:
    """The minimiser of the quadratic model with Q_uu + μ 𝟙, the gaps included, and with δu in ``room`` if it is given.

    Q = H + w C + [A B]ᵀ V' [A B] and q = g + [A B]ᵀ (v' + V' gap); k = −Q_uu⁻¹ q_u, K = −Q_uu⁻¹ Q_ux,
    V = Q_xx + Q_xu K + Kᵀ Q_ux + Kᵀ Q_uu K (Mastalli et al. 2020, eqs. 9 to 11).

    Args:
        expansion: the problem to second order.
        weight: w, how much of the curvature C of the dynamics counts: 1 for Newton's method, 0 for Gauss and Newton's.
        regularisation: μ.
        room: how far each control may go down and up, (N, nu) each.
    """
    n = expansion.costate.shape[-1]
    eye = jnp.eye(expansion.gradient.shape[-1] - n, dtype=expansion.gradient.dtype)

    def step(carry, x):
        v, V, positive = carry
        F, gap, g, H, C, bounds = x
        q = g + F.T @ (v + V @ gap)
        Q = H + weight * C + F.T @ V @ F
        Quu, Qux = Q[n:, n:] + regularisation * eye, Q[n:, :n]
        factor = jnp.linalg.cholesky(Quu)
        good = jnp.all(jnp.isfinite(factor))
        Quu = jnp.where(good, Quu, eye)
        k, K = _minimise(Quu, q[n:], Qux, bounds)
        cross = Qux.T @ K
        v = q[:n] + Qux.T @ k + K.T @ (q[n:] + Quu @ k)
        V = Q[:n, :n] + cross + cross.T + K.T @ Quu @ K
        return (v, 0.5 * (V + V.T), positive & good), (k, K)

    start = expansion.end_gradient, expansion.end_hessian, jnp.ones((), bool)
    stages = (
        expansion.jacobian,
        expansion.gap[1:],
        expansion.gradient,
        expansion.hessian,
        expansion.curvature,
        room,
    )
    (_, _, positive), (k, K) = jax.lax.scan(step, start, stages, reverse=True)
    return Policy(k, K, positive & jnp.all(jnp.isfinite(k)) & jnp.all(jnp.isfinite(K)))


def _minimise(Quu: Array, qu: Array, Qux: Array, bounds: tuple[Array, Array] | None) -> tuple[Array, Array]:
    if bounds is None:
        both = solve_free(Quu, jnp.ones(qu.shape, bool), -jnp.concatenate([qu[:, None], Qux], axis=1))
        return both[:, 0], both[:, 1:]
    k, free = box_qp(Quu, qu, *bounds)
    return k, solve_free(Quu, free, -Qux)


def slope(expansion: Expansion, policy: Policy) -> Array:
    """The derivative of the cost along the step that closes all gaps: Σ ∂l/∂z · δz of the linear problem."""
    n = expansion.costate.shape[-1]

    def step(dx, x):
        F, gap, g, k, K = x
        z = jnp.concatenate([dx, k + K @ dx])
        return F @ z + gap, g @ z

    stages = expansion.jacobian, expansion.gap[1:], expansion.gradient, policy.feedforward, policy.gains
    end, parts = jax.lax.scan(step, expansion.gap[0, :n], stages)
    return jnp.sum(parts) + expansion.end_gradient @ end
