"""Moving on the configuration manifold: integrate, difference, random."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .model import Model, from_groups
from .on_tree import on_tree
from .rows import take_rows
from .shapes import check


@on_tree("configuration")
def integrate(model: Model, q: Float[Array, " nq"], dv: Float[Array, " nv"]) -> Float[Array, " nq"]:
    """q ⊕ dv: the configuration reached from q along the tangent displacement dv.

    For joints with flat coordinates this is q + dv; for quaternion joints T(q ⊕ dv) = T(q) exp(S dv).
    """
    check(model, q=q, v=dv)
    if all(joint.is_euclidean for joint in model.joints):
        return q + dv
    topology = model.topology
    groups = zip(model.joints, topology.q_rows, topology.v_rows, strict=True)
    parts = [
        joint.integrate([take_rows(q, r) for r in q_rows], [take_rows(dv, r) for r in v_rows])
        for joint, q_rows, v_rows in groups
    ]
    return from_groups(parts, topology.q_rows, q.dtype)


@on_tree("tangent")
def difference(model: Model, q0: Float[Array, " nq"], q1: Float[Array, " nq"]) -> Float[Array, " nv"]:
    """q1 ⊖ q0: the tangent displacement dv with q0 ⊕ dv = q1."""
    check(model, q=q0)
    check(model, q=q1)
    if all(joint.is_euclidean for joint in model.joints):
        return q1 - q0
    topology = model.topology
    groups = zip(model.joints, topology.q_rows, strict=True)
    parts = [
        joint.difference([take_rows(q0, r) for r in rows], [take_rows(q1, r) for r in rows]) for joint, rows in groups
    ]
    return from_groups(parts, topology.v_rows, q0.dtype)


@on_tree("configuration")
def random_configuration(model: Model, key: jax.Array) -> Float[Array, " nq"]:
    """A random configuration: within the limits where both are finite, else wherever the joint's own law draws it."""
    topology = model.topology
    parts = []
    for index, (joint, bodies) in enumerate(zip(model.joints, topology.groups, strict=True)):
        keys = jax.random.split(jax.random.fold_in(key, index), len(bodies))
        parts.append(jax.vmap(lambda j, k: tuple(jnp.asarray(c, model.dtype) for c in j.random(k)))(joint, keys))
    q = from_groups(parts, topology.q_rows, model.dtype)
    bounded = jnp.isfinite(model.lower) & jnp.isfinite(model.upper)
    share = jax.random.uniform(jax.random.fold_in(key, len(parts)), (model.nq,), dtype=model.dtype)
    low, high = (jnp.where(bounded, bound, 0) for bound in (model.lower, model.upper))
    return jnp.where(bounded, low + share * (high - low), q)
