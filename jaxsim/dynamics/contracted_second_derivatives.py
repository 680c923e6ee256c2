"""Second derivatives of the dynamics along one cotangent, without forming the tensors.

With the motion μ conjugate to the joint forces, μ_i = μ_λ + s_i λ_i, the sums over i in λᵀ ∂²τ become three more
composites, and each entry is a product of a row and a column, as in the first derivatives.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import Model, integrate
from ..model.on_tree import on_tree
from ..model.shapes import check
from ..spatial import Coriolis, Force, Motion
from ..sweep import leaf_to_root, root_to_leaf
from .aba import forward_dynamics
from .chunked import in_chunks, worlds_in_cache
from .elements import per_element
from .forward_dynamics_derivatives import forward_dynamics_derivatives
from .ground_frame import GroundFrame, block_sum, first_of_block, ground_frame
from .inverse_dynamics_derivatives import first_order_features, stack_moving
from .inverse_inertia import inverse_mass_product
from .passive import passive_forces
from .rnea import inverse_dynamics
from .subspace_rates import along_varying, varying


class ContractedSecondDerivatives(eqx.Module):
    """λᵀ ∂²τ; the order of differentiation is that of ``InverseDynamicsSecondDerivatives``.

    Attributes:
        qq: entry (j, k) is Σ_i λ_i ∂²τ_i/∂q_j∂q_k.
        vv: entry (j, k) is Σ_i λ_i ∂²τ_i/∂v_j∂v_k.
        qv: entry (j, k) is Σ_i λ_i ∂²τ_i/∂q_j∂v_k.
        aq: entry (j, k) is Σ_i λ_i ∂²τ_i/∂a_j∂q_k.
    """

    qq: Float[Array, "nv nv"]
    vv: Float[Array, "nv nv"]
    qv: Float[Array, "nv nv"]
    aq: Float[Array, "nv nv"]


class ContractedForwardSecondDerivatives(eqx.Module):
    """λᵀ ∂²a; the order of differentiation is that of ``ForwardDynamicsSecondDerivatives``.

    Attributes:
        qq: entry (j, k) is Σ_i λ_i ∂²a_i/∂q_j∂q_k.
        vv: entry (j, k) is Σ_i λ_i ∂²a_i/∂v_j∂v_k.
        qv: entry (j, k) is Σ_i λ_i ∂²a_i/∂q_j∂v_k.
        tauq: entry (j, k) is Σ_i λ_i ∂²a_i/∂τ_j∂q_k.
    """

    qq: Float[Array, "nv nv"]
    vv: Float[Array, "nv nv"]
    qv: Float[Array, "nv nv"]
    tauq: Float[Array, "nv nv"]


@on_tree("every_axis")
def contracted_inverse_dynamics_second_derivatives(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    a: Float[Array, " nv"],
    cotangent: Float[Array, " nv"],
    f_ext: Float[Array, "nb 6"] | None = None,
) -> ContractedSecondDerivatives:
    """λᵀ ∂²τ for τ = ``inverse_dynamics(model, q, v, a, f_ext)`` and the cotangent λ, in O(n d).

    With φ = μ_λ×s, h = Σ I μ, b = Σ (2B)ᵀμ, 𝓑 = Σ 2B[μ; I] over the subtree, U = −𝓑ᵀψ̇ + s×*b + 2Bᵀφ, Y = s×*h + Iφ and
    V = −𝓑ᵀs, for j ⪯ i: qq_ij = U_i·ψ̇_j + Y_i·ψ̈_j + T3_i·φ_j, vv_ij = V_i·s_j, ∂v_i∂q_j: V_i·ψ̇_j + T4_i·φ_j,
    ∂v_j∂q_i: U_i·s_j + Y_i·p_j, ∂a_i∂q_j: I s_i·φ_j and ∂a_j∂q_i: Y_i·s_j.

    Args:
        model: the model.
        q: the configuration.
        v: the velocity.
        a: the acceleration.
        cotangent: λ.
        f_ext: external wrenches (moment, force) on the bodies, each in its body's frame at its body's origin.
    """
    check(model, q=q, v=v, a=a, x=cotangent)
    ground = ground_frame(model, q, v, a, f_ext)
    phi, own = _contracted_rows(model, ground, cotangent)
    features = (*first_order_features(model, ground.columns, ground.rows), stack_moving(model, phi), *own)
    features = jax.lax.optimization_barrier(features)
    chunk = worlds_in_cache(4 * model.nv**2, megabytes=1.5)
    result = in_chunks(lambda *features: _assemble(model, *features), features, chunk)
    result = _with_varying_joints(model, q, v, a, cotangent, f_ext, ContractedSecondDerivatives(*result))
    if model.topology.ball_springs:
        zero = jnp.zeros_like(v)

        def stiffness(outer):
            moved = integrate(model, q, outer)
            return jax.grad(lambda inner: cotangent @ passive_forces(model, integrate(model, moved, inner), v))(zero)

        result = eqx.tree_at(lambda r: r.qq, result, result.qq - jax.jacfwd(stiffness)(zero))
    return result


def contracted_forward_dynamics_second_derivatives(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    tau: Float[Array, " nv"],
    cotangent: Float[Array, " nv"],
    f_ext: Float[Array, "nb 6"] | None = None,
) -> ContractedForwardSecondDerivatives:
    """λᵀ ∂²a for a = ``forward_dynamics(model, q, v, tau, f_ext)``: −λᵀM⁻¹ times the second derivatives of τ along a.

    What DDP needs of the dynamics, without a tensor.

    Args:
        model: the model.
        q: the configuration.
        v: the velocity.
        tau: the joint forces.
        cotangent: λ.
        f_ext: external wrenches (moment, force) on the bodies, each in its body's frame at its body's origin.
    """
    a = forward_dynamics(model, q, v, tau, f_ext)
    first = forward_dynamics_derivatives(model, q, v, tau, f_ext)
    weight = inverse_mass_product(model, q, cotangent)
    W = contracted_inverse_dynamics_second_derivatives(model, q, v, a, weight, f_ext)
    turn = first.dq.T @ W.aq
    return ContractedForwardSecondDerivatives(
        qq=-(W.qq + turn + turn.T), vv=-W.vv, qv=-(W.qv + W.aq.T @ first.dv), tauq=-first.dtau.T @ W.aq
    )


def _contracted_rows(model: Model, ground: GroundFrame, cotangent):
    """φ of every coordinate, and (U, Y), V and s×*h as arrays in the order of the velocities."""
    columns, alone, composites = ground.columns, ground.alone, ground.composites
    tree, dtype = model.topology, jnp.result_type(alone.inertia.mass)
    drive = block_sum(model, columns.s * per_element(model, cotangent))

    def outward(mu_before: Motion, x):
        s, drive, first, alone = x
        mu = mu_before + drive * first
        B = Coriolis.of(mu, alone.inertia)
        return mu, ((mu - drive).cross(s), alone.inertia.apply(mu), alone.coriolis.apply_transposed(mu), B)

    def inward(from_children, x):
        (h, b, B), (columns, phi, composites, h_own, b_own, B_own) = from_children, x
        h, b, B, s = h + h_own, b + b_own, B + B_own, columns.s
        U = s.angular.cross(b) - B.apply_transposed(columns.psi_dot) + composites.coriolis.apply_transposed(phi)
        held = s.cross_force(h)
        return (h, b, B), (U, held + composites.inertia.apply(phi), -B.apply_transposed(s), held)

    phi, h, b, B = root_to_leaf(tree, outward, (columns.s, drive, first_of_block(model), alone), Motion.zero(), dtype)
    zero = Force.zero(), Force.zero().angular, Coriolis.zero()
    _, (U, Y, V, held) = leaf_to_root(tree, inward, (columns, phi, composites, h, b, B), zero, dtype)
    return phi, (stack_moving(model, U, Y), stack_moving(model, V), stack_moving(model, held))


def _assemble(model: Model, left, T3, T4, psi, p, s, phi, UY, V, held) -> tuple[Array, ...]:
    """Products of rows and columns under the masks of the tree."""
    le, lt = model.topology.precedes, model.topology.strictly_precedes

    def place(lower, upper):
        return jnp.where(le, lower, jnp.where(lt.T, upper, 0))

    qq = UY @ psi.T + T3 @ phi.T
    vv = V @ s[:, :3].T
    one_block = vv - held @ s.T
    v_after = psi[:, :3] @ V.T + phi @ T4.T
    q_after = UY @ p.T
    return (
        place(qq, qq.T),
        jnp.where(le & ~lt, one_block, place(vv, vv.T)),
        jnp.where(le.T, v_after, jnp.where(lt, q_after, 0)),
        place(left[:, 3:] @ phi.T, s @ UY[:, 3:].T),
    )


def _with_varying_joints(model: Model, q, v, a, cotangent, f_ext, result: ContractedSecondDerivatives):
    """The entries of coordinates whose joint's subspace depends on q: the O(n) gradient, differentiated along them."""
    at = varying(model)
    if not at.size:
        return result

    def first(outer, dv):
        moved = integrate(model, q, outer)

        def power(inner, v, a):
            return cotangent @ inverse_dynamics(model, integrate(model, moved, inner), v, a, f_ext)

        return jax.grad(power, argnums=(0, 1, 2))(jnp.zeros_like(v), v + dv, a)

    (qq, qv, qa), (vq, vv, _) = along_varying(first, at, v)
    return ContractedSecondDerivatives(
        qq=result.qq.at[at].set(qq.T).at[:, at].set(qq),
        vv=result.vv.at[at].set(vv.T).at[:, at].set(vv),
        qv=result.qv.at[at].set(qv.T).at[:, at].set(vq),
        aq=result.aq.at[:, at].set(qa),
    )
