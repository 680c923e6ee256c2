"""Second derivatives of inverse dynamics in closed form (Singh et al. 2022, appendix B).

Every entry belongs to three coordinates on one path from the root, k ⪯ j ⪯ i, and is a product of a vector of the pair
(i, j) with a column of k. Entries with coordinates on different branches vanish.
"""

from __future__ import annotations

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
from .chunked import in_chunks
from .ground_frame import Columns, Composites, Rows, body_motion, carried
from .inverse_dynamics_derivatives import inverse_dynamics_derivatives, passive_stiffness
from .subspace_rates import along_varying, varying


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
    columns, alone, _ = body_motion(model, q, v, a, f_ext)
    rows, composites = carried(model, columns, alone)
    features = jax.lax.optimization_barrier(_features(model.topology, columns, rows, composites))
    result = in_chunks(lambda *features: _assemble(model.topology, *features), features, chunk=_chunk(model.nv))
    result = _with_varying_joints(model, q, v, a, f_ext, InverseDynamicsSecondDerivatives(*result))
    if model.topology.ball_springs:
        curve = jax.jacfwd(lambda dv: passive_stiffness(model, integrate(model, q, dv), v))(jnp.zeros_like(v))
        result = eqx.tree_at(lambda r: r.qq, result, result.qq - curve)
    return result


def _chunk(nv: int) -> int:
    """How many worlds are assembled at a time: about half a megabyte of output."""
    return max(1, 2048 // max(nv, 1) ** 2)


def _features(tree: Topology, columns: Columns, rows: Rows, composites: Composites) -> tuple[Array, ...]:
    """Everything that the coordinates contribute, as a few arrays in the order of the velocities.

    For each i: 2B[s; I], the rates of I and 2B along s (the matrices 𝒜 and ℬ of appendix B), and the rows.
    """
    I, B, s = composites.inertia, composites.coriolis, columns.s
    BS = Coriolis.of(s, I)
    D1 = I.rate(s)
    D2 = Coriolis.of(columns.psi_dot, I) + B.rate(s)
    return tuple(
        jnp.stack(jnp.broadcast_arrays(*jax.tree.leaves(group)))[:, tree.moving]
        for group in (BS, (D1.first_moment, D1.second_moment), D2, rows, columns)
    )


def _assemble(tree: Topology, BS, D1, D2, rows, columns) -> tuple[Array, ...]:
    """The four tensors from the pair vectors and the columns; X[i, j, k] below is a vector of (i, j) times one of k."""
    alpha_beta, kappa_rho, xi, gamma, chi, zeta, omega = _pair_vectors(BS, D1, D2, rows, columns)
    s, psi, p = columns[:6].T, columns[np.r_[6:9, 12:18]].T, columns[np.r_[0:3, 18:24]].T

    def times(vector, column):
        return jnp.einsum("ijf,kf->ijk", vector, column)

    M1, M2 = times(alpha_beta[..., 3:], s), times(kappa_rho[..., 3:], s)
    return (
        _place_qq(tree, times(alpha_beta, psi), times(kappa_rho, psi), times(xi, s)),
        _place_vv(tree, times(gamma, s[:, :3]), times(chi, s), M1, M2),
        _place_qv(
            tree,
            times(gamma, psi[:, :3]),
            times(alpha_beta, p),
            times(kappa_rho, p),
            times(zeta, s),
            times(omega, s),
        ),
        _place_aq(tree, M1, M2),
    )


def _pair_vectors(BS, D1, D2, rows, columns) -> tuple[Array, ...]:
    """The vectors of all pairs (i, j): (α, β), (κ, ρ), ξ, γ, 2B[s_i]s_j, ζ and ω, of 9, 9, 6, 3, 6, 6 and 6 components.

    α = −2B[s_i]ᵀψ̇_j + s_j×*(2Bᵀs_i), β = s_j×*I s_i, γ = −2B[s_i]ᵀs_j, κ = D2ᵀs_j, ρ = D1 s_j,
    ξ = D2 ψ̇_j + D1 ψ̈_j + s_j×*T3_i, ζ = 2B[s_i]ψ̇_j + s_j×*T4_i, ω = D2 s_j + D1 p_j.
    """
    BS, D1, D2, rows = (x[:, :, None] for x in (BS, D1, D2, rows))
    s, psi_dot, psi_ddot, p = (Motion(Vec3(*x[:3]), Vec3(*x[3:])) for x in columns[:, None, :].reshape(4, 6, 1, -1))
    BS, D2 = (Coriolis(Mat3(*x[:9]), Vec3(*x[9:])) for x in (BS, D2))
    D1 = Inertia(0.0, Vec3(*D1[:3]), Sym3(*D1[3:]))
    IS, BT = Force(Vec3(*rows[:3]), Vec3(*rows[3:6])), Vec3(*rows[6:9])
    T3, T4 = (Force(Vec3(*x[:3]), Vec3(*x[3:])) for x in (rows[9:15], rows[15:]))
    alpha = s.angular.cross(BT) - BS.apply_transposed(psi_dot)
    xi = D2.apply(psi_dot) + D1.apply(psi_ddot) + s.cross_force(T3)
    zeta = BS.apply(psi_dot) + s.cross_force(T4)
    vectors = (
        (alpha, s.cross_force(IS)),
        (D2.apply_transposed(s), D1.apply(s)),
        xi,
        -BS.apply_transposed(s),
        BS.apply(s),
        zeta,
        D2.apply(s) + D1.apply(p),
    )
    return tuple(jnp.stack(jnp.broadcast_arrays(*jax.tree.leaves(vector)), axis=-1) for vector in vectors)


def _place_qq(tree: Topology, A1, A2, A3) -> Array:
    """∂²τ_a/∂q_b∂q_c by the order of a, b and c on their path."""
    le, lt = tree.precedes, tree.strictly_precedes
    return _choose(
        (_ordered(le, le, "abc"), A1),
        (_ordered(le, lt, "acb"), A1.transpose(0, 2, 1)),
        (_ordered(lt, le, "bac"), A2.transpose(1, 0, 2)),
        (_ordered(lt, le, "cab"), A2.transpose(1, 2, 0)),
        (_ordered(le, lt, "bca"), A3.transpose(2, 0, 1)),
        (_ordered(lt, lt, "cba"), A3.transpose(2, 1, 0)),
    )


def _place_vv(tree: Topology, V1, V2, M1, M2) -> Array:
    """∂²τ_a/∂v_b∂v_c; two coordinates of one block have rows of their own."""
    le, lt = tree.precedes, tree.strictly_precedes
    same = le & ~lt
    return _choose(
        (_ordered(le, lt, "abc"), V1),
        (_ordered(le, lt, "acb"), V1.transpose(0, 2, 1)),
        (_ordered(le, same, "abc"), -M2),
        (_ordered(lt, le, "bac"), -V1.transpose(1, 0, 2)),
        (_ordered(lt, le, "cab"), -V1.transpose(1, 2, 0)),
        (_ordered(lt, lt, "bca"), V2.transpose(2, 0, 1)),
        (_ordered(lt, lt, "cba"), V2.transpose(2, 1, 0)),
        (_ordered(same, lt, "bca"), M1.transpose(2, 0, 1) + M1.transpose(2, 1, 0)),
    )


def _place_qv(tree: Topology, C1, C2, C3, C4, C5) -> Array:
    """∂²τ_a/∂q_b∂v_c."""
    le, lt = tree.precedes, tree.strictly_precedes
    return _choose(
        (_ordered(le, le, "acb"), C1.transpose(0, 2, 1)),
        (_ordered(le, lt, "abc"), C2),
        (_ordered(lt, le, "cab"), -C1.transpose(1, 2, 0)),
        (_ordered(lt, le, "bac"), C3.transpose(1, 0, 2)),
        (_ordered(le, lt, "cba"), C4.transpose(2, 1, 0)),
        (_ordered(lt, lt, "bca"), C5.transpose(2, 0, 1)),
    )


def _place_aq(tree: Topology, M1, M2) -> Array:
    """∂M_ab/∂q_c, zero for c before both."""
    le, lt = tree.precedes, tree.strictly_precedes
    return _choose(
        (_ordered(le, lt, "acb"), M1.transpose(0, 2, 1)),
        (_ordered(le, lt, "bca"), M1.transpose(2, 0, 1)),
        (_ordered(lt, le, "cab"), M2.transpose(1, 2, 0)),
        (_ordered(lt, lt, "cba"), M2.transpose(2, 1, 0)),
    )


def _ordered(upper: np.ndarray, lower: np.ndarray, order: str) -> np.ndarray:
    """The mask over (a, b, c) of ``upper[i, j] & lower[j, k]`` with i, j, k the letters of ``order``."""
    i, j, k = order
    return np.einsum(f"{i}{j},{j}{k}->abc", upper.astype(np.uint8), lower.astype(np.uint8)).astype(bool)


def _choose(*cases: tuple[np.ndarray, Array]) -> Array:
    """The value of the one case that holds, zero where none does."""
    which = np.zeros(cases[0][0].shape, np.uint8)
    for number, (mask, _) in enumerate(cases, start=1):
        which[mask] = number
    result = jnp.zeros((), cases[0][1].dtype)
    for number, (_, value) in enumerate(cases, start=1):
        result = jnp.where(which == number, value, result)
    return result


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
