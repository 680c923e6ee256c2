"""First derivatives of inverse dynamics in closed form (Singh et al. 2022, eqs. 7–10)."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..model import Model, integrate
from ..model.on_tree import on_tree
from ..model.shapes import check
from ..spatial import Force, Motion
from .chunked import in_chunks, worlds_in_cache
from .ground_frame import Columns, Rows, ground_frame
from .passive import passive_forces


class InverseDynamicsDerivatives(eqx.Module):
    """The derivatives of the joint forces; row i belongs to τ_i, column j to the j-th tangent coordinate.

    Attributes:
        dq: ∂τ/∂q along q ⊕ δ: entry (i, j) is dτ_i(q ⊕ δ e_j)/dδ at δ = 0.
        dv: ∂τ/∂v.
        da: ∂τ/∂a, the mass matrix.
    """

    dq: Float[Array, "nv nv"]
    dv: Float[Array, "nv nv"]
    da: Float[Array, "nv nv"]


@on_tree("every_axis")
def inverse_dynamics_derivatives(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    a: Float[Array, " nv"],
    f_ext: Float[Array, "nb 6"] | None = None,
) -> InverseDynamicsDerivatives:
    """All first derivatives of τ = ``inverse_dynamics(model, q, v, a, f_ext)``, in O(n d) and one product of rows.

    For j on the path from the root to i (j ⪯ i), and for j strictly before i (j ≺ i),
    ∂τ_i/∂q_j = s_i·(2B_i ψ̇_j + I_i ψ̈_j) and ∂τ_j/∂q_i = s_j·(2B_i ψ̇_i + I_i ψ̈_i + s_i×*f_i);
    ∂τ_i/∂v_j = s_i·(2B_i s_j + I_i p_j) and ∂τ_j/∂v_i = s_j·(2B_i s_i + I_i p_i);
    ∂τ_i/∂a_j = s_i·I_i s_j. All other entries vanish.

    Args:
        model: the model.
        q: the configuration.
        v: the velocity.
        a: the acceleration.
        f_ext: external wrenches (moment, force) on the bodies, each in its body's frame at its body's origin.
    """
    check(model, q=q, v=v, a=a)
    ground = ground_frame(model, q, v, a, f_ext)
    features = jax.lax.optimization_barrier(first_order_features(model, ground.columns, ground.rows))
    chunk = worlds_in_cache(3 * model.nv**2, megabytes=1.5)
    dq, dv, da = in_chunks(lambda *features: _assemble(model, *features), features, chunk)
    dq = dq + _turned_axes(model, ground.turned, ground.composites.force) if ground.turned else dq
    return InverseDynamicsDerivatives(
        dq - passive_stiffness(model, q, v), dv + jnp.diag(model.damping), da + jnp.diag(model.armature)
    )


def first_order_features(model: Model, columns: Columns, rows: Rows) -> tuple[Array, ...]:
    """The row and column vectors of all coordinates, in the order of the velocities.

    Returns:
        (BT, IS), (T3), (T4), (ψ̇ angular, ψ̈), (s angular, p) and s.
    """
    return (
        stack_moving(model, rows.BT, rows.IS),
        stack_moving(model, rows.T3),
        stack_moving(model, rows.T4),
        stack_moving(model, columns.psi_dot.angular, columns.psi_ddot),
        stack_moving(model, columns.s.angular, columns.p),
        stack_moving(model, columns.s),
    )


def stack_moving(model: Model, *parts) -> Array:
    """Element-wise vectors side by side as one array, in the order of the velocities."""
    order = model.topology.moving
    whole = jnp.concatenate([part.to_array() for part in parts], axis=-1)
    return whole if np.array_equal(order, np.arange(model.topology.elements.count)) else whole[order]


def _assemble(model: Model, left, T3, T4, psi, p, s) -> tuple[Array, Array, Array]:
    """Products of rows and columns under the masks of the tree."""
    n = model.nv
    below, above = model.topology.precedes, model.topology.strictly_precedes.T
    inner = left @ jnp.concatenate([psi, p]).T
    outer = s @ jnp.concatenate([T3, T4, left[:, 3:]]).T

    def place(own, ancestors):
        return jnp.where(below, own, jnp.where(above, ancestors, 0))

    dq = place(inner[:, :n], outer[:, :n])
    dv = place(inner[:, n:], outer[:, n : 2 * n])
    mass = outer[:, 2 * n :]
    return dq, dv, place(mass.T, mass)


def _turned_axes(model: Model, turned: tuple[Motion, ...], force: Force) -> Array:
    """∂S_m/∂q_k · f for the coordinates m and k of one joint, where its subspace depends on q."""
    topology = model.topology
    table, members = topology.elements, topology.block_members
    result = jnp.zeros((model.nv + 1, model.nv + 1), jnp.result_type(force.linear.x))
    velocity = np.append(table.velocity, model.nv)
    for m, column in enumerate(turned):
        result = result.at[velocity[members[:, m]], table.velocity].add(column.dot(force))
    return result[:-1, :-1]


def passive_stiffness(model: Model, q, v) -> Array:
    """∂τ_passive/∂q, by the flat coordinates' stiffness or, for springs on quaternion joints, by differentiation."""
    if model.topology.ball_springs:
        zero = jnp.zeros_like(v)
        return jax.jacfwd(lambda dv: passive_forces(model, integrate(model, q, dv), v))(zero)
    flat = np.zeros(model.nv, model.dtype)
    for joint, rows in zip(model.joints, model.topology.v_rows, strict=True):
        flat[rows.reshape(-1)] = 1.0 if joint.is_euclidean else 0.0
    return -jnp.diag(model.stiffness * flat)
