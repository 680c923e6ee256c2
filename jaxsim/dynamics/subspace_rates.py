"""What the derivatives of the dynamics need of joints whose motion subspace depends on the configuration.

For a joint with the subspace S(q), a displacement along its k-th tangent direction also changes its velocity S q̇ and
its acceleration S q̈ + Ṡ q̇ in the child's frame. All of it is evaluated before any sweep, for all joints of one kind at
once; for joints with a constant subspace everything here is the literal zero.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..model import Model
from ..spatial import Motion
from .elements import Part, in_sweep_order, parts_of
from .rule import vanishes

Tree = Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SubspaceRates:
    """The motion that the joint of each element adds on its own account, in the child's frame, stacked over elements.

    Attributes:
        bias: Ṡ q̇ of the element's whole block.
        velocity: Σ_m ∂S_m/∂q_k q̇_m for the element k.
        acceleration: Σ_m ∂S_m/∂q_k q̈_m + ∂(Ṡ q̇)/∂q_k.
        bias_rate: ∂(Ṡ q̇)/∂q̇_k.
        columns: ∂S_m/∂q_k for the m-th element of the block of k, one motion for each m.
    """

    bias: Motion
    velocity: Motion
    acceleration: Motion
    bias_rate: Motion
    columns: tuple[Motion, ...]


def subspace_rates(model: Model, q: jax.Array, v: jax.Array, a: jax.Array) -> SubspaceRates:
    """Evaluate the subspace derivatives of all joints and put them in sweep order."""
    width = model.topology.block_members.shape[-1] if model.topology.elements.count else 1
    moving, driven = parts_of(model, q, v), parts_of(model, q, a)
    rows = [_rates(part, accelerated.v or [], width) for part, accelerated in zip(moving, driven, strict=True)]
    return in_sweep_order(model, moving, rows)


def varying(model: Model) -> np.ndarray:
    """The velocity coordinates of joints whose subspace depends on q, found without evaluating anything."""
    at = []

    def trace(q):
        for part in parts_of(model, q, None):
            at.append((part, not vanishes(part.joint.subspace_derivative(part.q))))

    jax.eval_shape(trace, model.neutral())
    table = model.topology.elements
    bodies = {(body, part.index) for part, varies in at if varies for body in part.bodies}
    mask = np.array([key in bodies for key in zip(table.body, table.part, strict=True)], dtype=bool)
    return np.flatnonzero(mask[model.topology.moving]) if mask.size else np.zeros(0, int)


def along_varying(function: Callable, at: np.ndarray, like: jax.Array) -> tuple[Tree, Tree]:
    """The derivatives of ``function(dq, dv)`` at zero along the coordinates ``at`` of dq, and along those of dv.

    The direction is the last axis of the results; all directions go through one evaluation.
    """
    zero = jnp.zeros_like(like)
    unit = jnp.eye(like.shape[0], dtype=like.dtype)[at]
    along = jnp.concatenate([unit, jnp.zeros_like(unit)]), jnp.concatenate([jnp.zeros_like(unit), unit])
    both = jax.vmap(lambda *e: jax.jvp(function, (zero, zero), e)[1], out_axes=-1)(*along)
    return jax.tree.map(lambda x: x[..., : at.size], both), jax.tree.map(lambda x: x[..., at.size :], both)


def _rates(part: Part, a: list[jax.Array], width: int) -> list[SubspaceRates]:
    """The rates of the elements of one part."""
    joint, q, v = part.joint, part.q, part.v or []
    zero = Motion.zero()
    derivative = joint.subspace_derivative(q)
    if vanishes(derivative):
        return [SubspaceRates(zero, zero, zero, zero, (zero,) * width) for _ in range(max(joint.nv, 1))]
    bias = joint.bias(q, v)
    rows = []
    for k in range(joint.nv):
        columns = tuple(derivative[m][k] for m in range(joint.nv))
        along = [jnp.ones_like(rate) if m == k else jnp.zeros_like(rate) for m, rate in enumerate(v)]
        still = [jnp.zeros_like(rate) for rate in v]
        velocity = sum((column * rate for column, rate in zip(columns, v, strict=True)), zero)
        push = sum((column * rate for column, rate in zip(columns, a, strict=True)), zero)
        turn = jax.jvp(lambda dv: _arrays(joint.bias(joint.integrate(q, dv), v), q[0]), (still,), (along,))[1]
        bias_rate = jax.jvp(lambda v: _arrays(joint.bias(q, v), q[0]), (v,), (along,))[1]
        rows.append(SubspaceRates(bias, velocity, push + turn, bias_rate, columns + (zero,) * (width - joint.nv)))
    return rows


def _arrays(motion: Motion, like: jax.Array) -> Motion:
    """The motion with arrays in place of literal components."""
    return jax.tree.map(lambda leaf: jnp.broadcast_to(jnp.asarray(leaf, like.dtype), like.shape), motion)
