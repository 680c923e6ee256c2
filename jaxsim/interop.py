"""Coordinates of Pinocchio and MuJoCo: quaternion order, velocity order and frame.

| | jaxsim | Pinocchio | MuJoCo |
|---|---|---|---|
| quaternion | wxyz | xyzw | wxyz |
| free joint, velocity | (ω, v) in the body frame | (v, ω) in the body frame | (v in the world, ω in the body frame) |
| continuous joint | angle | (cos, sin) | angle |
| planar joint | (x, y, θ), v = q̇ | (x, y, cos, sin), v in the body frame | three joints |
| rows of a Jacobian | (angular, linear) | (linear, angular) | (jacp, jacr) = (linear, angular) |

Joints are matched by name, so the order of the bodies may differ.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .model import Model, integrate
from .model.describe import joint_kinds
from .spatial import Quaternion


@dataclasses.dataclass(frozen=True)
class _Block:
    """A joint: how its coordinates convert, and where they begin in our and in their q and v."""

    law: str
    q: int
    v: int
    their_q: int
    their_v: int


class Conversion(eqx.Module):
    """Converts between the coordinates of a model and those of the same model in another engine.

    Velocities convert by v_theirs = T(q) v with an orthogonal T, so that forces convert alike and Jacobians by J Tᵀ.
    In all methods q is our configuration. Made by ``pinocchio`` and ``mujoco``.
    """

    blocks: tuple[_Block, ...] = eqx.field(static=True)

    def configuration(self, q: Float[Array, " nq"]) -> Float[Array, " n"]:
        """Our configuration as theirs."""
        parts: dict[int, Array] = {}
        for b in self.blocks:
            size = _OUR_SIZE[b.law][0]
            parts[b.their_q] = _to_theirs(b.law, q[b.q : b.q + size])
        return jnp.concatenate([parts[at] for at in sorted(parts)]) if parts else q

    def from_configuration(self, q: Float[Array, " n"]) -> Float[Array, " nq"]:
        """Their configuration as ours."""
        q = jnp.asarray(q)
        parts = {b.q: _from_theirs(b.law, q[b.their_q : b.their_q + _THEIR_SIZE[b.law]]) for b in self.blocks}
        return jnp.concatenate([parts[at] for at in sorted(parts)]) if parts else q

    def matrix(self, q: Float[Array, " nq"]) -> Float[Array, "nv nv"]:
        """T(q), orthogonal, with v_theirs = T(q) v."""
        nv = sum(_OUR_SIZE[b.law][1] for b in self.blocks)
        T = jnp.zeros((nv, nv), q.dtype)
        same = [(b.their_v, b.v) for b in self.blocks if _OUR_SIZE[b.law][1] == 1]
        if same:
            rows, columns = np.array(same).T
            T = T.at[rows, columns].set(1.0)
        for b in self.blocks:
            nq, size = _OUR_SIZE[b.law]
            if size > 1:
                block = _velocity_block(b.law, q[b.q : b.q + nq])
                T = T.at[b.their_v : b.their_v + size, b.v : b.v + size].set(block)
        return T

    def velocity(self, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """Our velocity as theirs: T v."""
        return self.matrix(q) @ v

    def from_velocity(self, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """Their velocity as ours: Tᵀ v."""
        return self.matrix(q).T @ jnp.asarray(v)

    def acceleration(self, model: Model, q, v, a) -> Float[Array, " nv"]:
        """Our acceleration as theirs: T a + Ṫ v, with our v."""
        return self.matrix(q) @ a + self._drift(model, q, v)

    def from_acceleration(self, model: Model, q, v, a) -> Float[Array, " nv"]:
        """Their acceleration as ours: Tᵀ (a − Ṫ v), with our v."""
        return self.matrix(q).T @ (jnp.asarray(a) - self._drift(model, q, v))

    def forces(self, q: Float[Array, " nq"], tau: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """Our joint forces as theirs: T τ, so that the power τᵀv is the same."""
        return self.matrix(q) @ tau

    def from_forces(self, q: Float[Array, " nq"], tau: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """Their joint forces as ours: Tᵀ τ."""
        return self.matrix(q).T @ jnp.asarray(tau)

    def jacobian(self, q: Float[Array, " nq"], J: Float[Array, "6 nv"]) -> Float[Array, "6 nv"]:
        """Our Jacobian (world axes, at the point) as theirs: linear rows first, columns by Tᵀ."""
        return jnp.concatenate([J[3:], J[:3]]) @ self.matrix(q).T

    def from_jacobian(self, q: Float[Array, " nq"], J: Float[Array, "6 nv"]) -> Float[Array, "6 nv"]:
        """Their Jacobian (linear rows first, world axes, at the point) as ours."""
        J = jnp.asarray(J)
        return jnp.concatenate([J[3:], J[:3]]) @ self.matrix(q)

    def _drift(self, model: Model, q, v) -> Array:
        """Ṫ v along the motion."""
        zero = jnp.zeros_like(v)
        return jax.jvp(lambda dv: self.matrix(integrate(model, q, dv)) @ v, (zero,), (v,))[1]


def pinocchio(model: Model, other: Any) -> Conversion:
    """The conversion to the coordinates of a ``pinocchio.Model``, built with ``mimic=True`` if joints mimic others."""
    laws = {(1, 1): "same", (2, 1): "angle", (7, 6): "free_xyzw"}
    blocks = []
    for name, kind, at_q, at_v in _moving_joints(model):
        index = other.getJointId(name)
        if index >= other.njoints:
            raise ValueError(f"The Pinocchio model has no joint {name!r}; its joints are {', '.join(other.names)}.")
        theirs = other.joints[index]
        law = laws.get((theirs.nq, theirs.nv), "planar" if kind == "free2d" else "ball_xyzw")
        blocks.append(_Block(law, at_q, at_v, theirs.idx_q, theirs.idx_v))
    return _checked(model, blocks, other.nq, "Pinocchio")


def mujoco(model: Model, other: Any) -> Conversion:
    """The conversion to the coordinates of a ``mujoco.MjModel``."""
    names = [other.joint(i).name or f"joint{i}" for i in range(other.njnt)]
    blocks = []
    for name, kind, at_q, at_v in _moving_joints(model):
        if name not in names:
            raise ValueError(f"The MuJoCo model has no joint {name!r}; its joints are {', '.join(names)}.")
        index = names.index(name)
        law = {"free": "free_world", "spherical": "ball_wxyz"}.get(kind, "same")
        blocks.append(_Block(law, at_q, at_v, int(other.jnt_qposadr[index]), int(other.jnt_dofadr[index])))
    return _checked(model, blocks, other.nq, "MuJoCo")


def _moving_joints(model: Model) -> Iterator[tuple[str, str, int, int]]:
    """The name, the kind and the first coordinates in q and v of every joint with coordinates of its own."""
    kinds = joint_kinds(model)
    followers = set() if model.coupling is None else {v for _, v in model.coupling.followers}
    for body in range(1, model.num_bodies):
        if model.topology.joint_nv[body] and int(model.topology.v_start[body]) not in followers:
            at_q, at_v = model.coordinates_of(body)
            yield model.joint_names[body], kinds[body].partition("(")[0], at_q.start, at_v.start


def _checked(model: Model, blocks: list[_Block], their_nq: int, engine: str) -> Conversion:
    sizes = [_OUR_SIZE[b.law] for b in blocks]
    ours = sum(nq for nq, _ in sizes), sum(nv for _, nv in sizes)
    theirs = sum(_THEIR_SIZE[b.law] for b in blocks)
    if ours != (model.nq, model.nv) or theirs != their_nq:
        raise ValueError(
            f"The joints of the {engine} model do not match: {theirs} of its {their_nq} coordinates belong to joints "
            "of this model; load the same file with the same root joint, and mimic joints as such."
        )
    return Conversion(tuple(blocks))


_OUR_SIZE = {
    "same": (1, 1),
    "angle": (1, 1),
    "free_xyzw": (7, 6),
    "free_world": (7, 6),
    "ball_xyzw": (4, 3),
    "ball_wxyz": (4, 3),
    "planar": (3, 3),
}
_THEIR_SIZE = {name: size[0] for name, size in _OUR_SIZE.items()} | {"angle": 2, "planar": 4}


def _to_theirs(law: str, q: Array) -> Array:
    if law == "angle":
        return jnp.stack([jnp.cos(q[0]), jnp.sin(q[0])])
    if law == "planar":
        return jnp.concatenate([q[:2], jnp.stack([jnp.cos(q[2]), jnp.sin(q[2])])])
    if law in ("free_xyzw", "ball_xyzw"):
        return jnp.concatenate([q[:-4], jnp.roll(q[-4:], -1)])
    return q


def _from_theirs(law: str, q: Array) -> Array:
    if law == "angle":
        return jnp.arctan2(q[1:], q[:1])
    if law == "planar":
        return jnp.concatenate([q[:2], jnp.arctan2(q[3:], q[2:3])])
    if law in ("free_xyzw", "ball_xyzw"):
        return jnp.concatenate([q[:-4], jnp.roll(q[-4:], 1)])
    return q


def _velocity_block(law: str, q: Array) -> Array:
    """The block of T(q) of one joint."""
    if law.startswith("ball"):
        return jnp.eye(3, dtype=q.dtype)
    if law == "planar":
        c, s = jnp.cos(q[2]), jnp.sin(q[2])
        return jnp.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    eye, zero = jnp.eye(3, dtype=q.dtype), jnp.zeros((3, 3), q.dtype)
    R = Quaternion.from_array(q[3:]).to_matrix().to_array() if law == "free_world" else eye
    return jnp.block([[zero, R], [eye, zero]])
