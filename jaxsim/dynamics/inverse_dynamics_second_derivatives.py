"""Second derivatives of inverse dynamics in closed form (Singh et al. 2022, appendix B).

Every entry belongs to three coordinates on one path from the root, k ⪯ j ⪯ i, and is a product of a vector of the pair
(i, j) with a column of k. Entries with coordinates on different branches vanish.
"""

from __future__ import annotations

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..model import Model, integrate
from ..model.on_tree import on_tree
from ..model.shapes import check
from ..model.topology import Topology
from ..spatial import Coriolis, Force, Inertia, Mat3, Motion, Sym3, Vec3
from .chunked import in_chunks, worlds_in_cache
from .ground_frame import GroundFrame, ground_frame
from .inverse_dynamics_derivatives import inverse_dynamics_derivatives, passive_stiffness
from .subspace_rates import along_varying, varying
from .triples import pairs, table


class InverseDynamicsSecondDerivatives(eqx.Module):
    """The second derivatives of the joint forces; the first index is that of τ.

    In ``qq[i, j, k]`` = ∂²τ_i/∂q_j∂q_k the k-th derivative is the outer one: it is the derivative along q ⊕ δ e_k of
    the first derivative ∂τ_i/∂q_j. For two different coordinates j, k of one quaternion joint the order matters, and
    qq[:, j, k] − qq[:, k, j] is the first derivative along the bracket e_k×e_j; all other entries are symmetric.

    Attributes:
        qq: entry (i, j, k) is ∂²τ_i/∂q_j∂q_k.
        vv: entry (i, j, k) is ∂²τ_i/∂v_j∂v_k.
        qv: entry (i, j, k) is ∂²τ_i/∂q_j∂v_k.
        aq: entry (i, j, k) is ∂²τ_i/∂a_j∂q_k = ∂M_ij/∂q_k.
    """

    qq: Float[Array, "nv nv nv"]
    vv: Float[Array, "nv nv nv"]
    qv: Float[Array, "nv nv nv"]
    aq: Float[Array, "nv nv nv"]


@on_tree("every_axis")
def inverse_dynamics_second_derivatives(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    a: Float[Array, " nv"],
    f_ext: Float[Array, "nb 6"] | None = None,
) -> InverseDynamicsSecondDerivatives:
    """All second derivatives of τ = ``inverse_dynamics(model, q, v, a, f_ext)``; those not listed vanish.

    Args:
        model: the model.
        q: the configuration.
        v: the velocity.
        a: the acceleration.
        f_ext: external wrenches (moment, force) on the bodies, each in its body's frame at its body's origin.
    """
    check(model, q=q, v=v, a=a)
    ground = ground_frame(model, q, v, a, f_ext)
    features = jax.lax.optimization_barrier(_features(model.topology, ground))
    chunk = worlds_in_cache(4 * model.nv**3, megabytes=1.1)
    result = in_chunks(lambda *features: _assemble(model.topology, *features), features, chunk)
    result = _with_varying_joints(model, q, v, a, f_ext, InverseDynamicsSecondDerivatives(*result))
    if model.topology.ball_springs:
        curve = jax.jacfwd(lambda dv: passive_stiffness(model, integrate(model, q, dv), v))(jnp.zeros_like(v))
        result = eqx.tree_at(lambda r: r.qq, result, result.qq - curve)
    return result


def _features(tree: Topology, ground: GroundFrame) -> tuple[Array, ...]:
    """Everything that the coordinates contribute, as a few arrays in the order of the velocities.

    For each i: 2B[s; I], the rates of I and 2B along s (the matrices 𝒜 and ℬ of appendix B), and the rows.
    """
    I, B, columns = ground.composites.inertia, ground.composites.coriolis, ground.columns
    BS = Coriolis.of(columns.s, I)
    D1 = I.rate(columns.s)
    D2 = Coriolis.of(columns.psi_dot, I) + B.rate(columns.s)
    return tuple(
        jnp.stack(jnp.broadcast_arrays(*jax.tree.leaves(group)))[:, tree.moving]
        for group in (BS, (D1.first_moment, D1.second_moment), D2, ground.rows, columns)
    )


def _assemble(tree: Topology, BS, D1, D2, rows, columns) -> list[Array]:
    """The four tensors: products of the vectors of all pairs with the columns, each put where it belongs."""
    three, six, nine = _pair_vectors(tree, BS, D1, D2, rows, columns)
    s, psi, p = columns[:6], columns[np.r_[6:9, 12:18]], columns[np.r_[0:3, 18:24]]
    products = [nine @ psi, nine @ p, six @ s, three @ s[:3], three @ psi[:3]]
    flat = jnp.concatenate([*(product.reshape(-1) for product in products), jnp.zeros(1, s.dtype)])
    return [flat.at[table].get(mode="promise_in_bounds") for table in _tables(tree)]


def _pair_vectors(tree: Topology, BS, D1, D2, rows, columns) -> tuple[Array, Array, Array]:
    """The vectors of all pairs j ⪯ i, by the number of their components, one kind after the other.

    Those of three are γ, −γ; of six ξ, ζ, ω, χ, β, ρ, −ρ; of nine (α, β), (κ, ρ), with
    α = −2B[s_i]ᵀψ̇_j + s_j×*(2Bᵀs_i), β = s_j×*I s_i, γ = −2B[s_i]ᵀs_j, κ = D2ᵀs_j, ρ = D1 s_j,
    ξ = D2 ψ̇_j + D1 ψ̈_j + s_j×*T3_i, ζ = 2B[s_i]ψ̇_j + s_j×*T4_i, ω = D2 s_j + D1 p_j, and χ = 2B[s_i]s_j or, for i and
    j of one block, s_j×*I s_i + s_i×*I s_j.
    """
    i, j = pairs(tree)
    BS, D1, D2, rows_i = (x[:, i] for x in (BS, D1, D2, rows))
    s, psi_dot, psi_ddot, p = (_motion(x) for x in columns[:, j].reshape(4, 6, -1))
    BS, D2 = (Coriolis(Mat3(*x[:9]), Vec3(*x[9:])) for x in (BS, D2))
    D1 = Inertia(0.0, Vec3(*D1[:3]), Sym3(*D1[3:]))
    IS, BT, T3, T4 = _force(rows_i[:6]), Vec3(*rows_i[6:9]), _force(rows_i[9:15]), _force(rows_i[15:])
    alpha = s.angular.cross(BT) - BS.apply_transposed(psi_dot)
    beta, rho, gamma = s.cross_force(IS), D1.apply(s), -BS.apply_transposed(s)
    xi = D2.apply(psi_dot) + D1.apply(psi_ddot) + s.cross_force(T3)
    zeta = BS.apply(psi_dot) + s.cross_force(T4)
    omega = D2.apply(s) + D1.apply(p)
    symmetric = beta + _motion(columns[:6, i]).cross_force(_force(rows[:6, j]))
    one_block = ~tree.strictly_precedes[i, j]
    chi = jax.tree.map(lambda x, y: jnp.where(one_block, x, y), symmetric, BS.apply(s))
    return (
        _side_by_side(gamma, -gamma),
        _side_by_side(xi, zeta, omega, chi, beta, rho, -rho),
        _side_by_side((alpha, beta), (D2.apply_transposed(s), rho)),
    )


def _motion(x: Array) -> Motion:
    return Motion(Vec3(*x[:3]), Vec3(*x[3:]))


def _force(x: Array) -> Force:
    return Force(Vec3(*x[:3]), Vec3(*x[3:]))


def _side_by_side(*kinds) -> Array:
    """The vectors of all pairs as the rows of one matrix, kind after kind."""
    rows = [jnp.stack(jnp.broadcast_arrays(*jax.tree.leaves(kind)), axis=-1) for kind in kinds]
    return jnp.concatenate(rows)


@functools.cache
def _tables(tree: Topology) -> tuple[np.ndarray, ...]:
    """Where the entries of qq, vv, qv and aq stand among the products, by the order of a, b and c on their path."""
    le, lt = tree.precedes, tree.strictly_precedes
    same = le & ~lt
    # the products in the order in which they are formed
    A1, A2, C2, C3, A3, C4, C5, V2, M1, M2, M2_minus, V1, V1_minus, C1, C1_minus = range(15)
    qq = [("abc", le, le, A1), ("acb", le, lt, A1), ("bac", lt, le, A2), ("cab", lt, le, A2), ("bca", le, lt, A3),
          ("cba", lt, lt, A3)]  # fmt: skip
    vv = [("abc", le, lt, V1), ("acb", le, lt, V1), ("abc", le, same, M2_minus), ("bac", lt, le, V1_minus),
          ("cab", lt, le, V1_minus), ("bca", le, lt, V2), ("cba", lt, lt, V2)]  # fmt: skip
    qv = [("acb", le, le, C1), ("abc", le, lt, C2), ("cab", lt, le, C1_minus), ("bac", lt, le, C3),
          ("cba", le, lt, C4), ("bca", lt, lt, C5)]  # fmt: skip
    aq = [("acb", le, lt, M1), ("bca", le, lt, M1), ("cab", lt, le, M2), ("cba", lt, lt, M2)]
    return tuple(table(tree, cases, nothing=15) for cases in (qq, vv, qv, aq))


def _with_varying_joints(model: Model, q, v, a, f_ext, result: InverseDynamicsSecondDerivatives):
    """The entries of coordinates whose joint's subspace depends on q: first derivatives, differentiated along them."""
    at = varying(model)
    if not at.size:
        return result

    def first(dq, dv):
        return inverse_dynamics_derivatives(model, integrate(model, q, dq), v + dv, a, f_ext)

    by_q, by_v = along_varying(first, at, v)
    return InverseDynamicsSecondDerivatives(
        qq=result.qq.at[:, at].set(by_q.dq.transpose(0, 2, 1)).at[:, :, at].set(by_q.dq),
        vv=result.vv.at[:, at].set(by_v.dv.transpose(0, 2, 1)).at[:, :, at].set(by_v.dv),
        qv=result.qv.at[:, at].set(by_q.dv.transpose(0, 2, 1)).at[:, :, at].set(by_v.dq),
        aq=result.aq.at[:, :, at].set(by_q.da),
    )
