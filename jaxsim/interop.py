"""Coordinates of Pinocchio and MuJoCo: quaternion order, velocity order and frame.

| | jaxsim | Pinocchio | MuJoCo |
|---|---|---|---|
| quaternion | wxyz | xyzw | wxyz |
| free joint, velocity | (ω, v) in the body frame | (v, ω) in the body frame | (v in the world, ω in the body frame) |
| continuous joint | angle | (cos, sin) | angle |
| planar joint | (x, y, θ), v = q̇ | (x, y, cos, sin), v in the body frame | three joints |
| rows of a Jacobian | (angular, linear) | (linear, angular) | (jacp, jacr) = (linear, angular) |

Joints are matched by name, so the order of the bodies may differ. Joints that mimic others have no coordinates here;
where the other engine gives them some, as MuJoCo does, they are filled in.
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
from .model.coupling import Coupling
from .model.describe import joint_kinds
from .spatial import Quaternion


@dataclasses.dataclass(frozen=True)
class _Block:
    """A joint: how its coordinates convert, and where they begin in q and v of our tree and in theirs."""

    law: str
    q: int
    v: int
    their_q: int
    their_v: int
    follows: bool = False


class Conversion(eqx.Module):
    """Converts between the coordinates of a model and those of the same model in another engine.

    Velocities convert by v_theirs = T(q) v with an orthogonal T, so that forces convert alike and Jacobians by J Tᵀ.
    If joints that follow others have coordinates in the other engine alone, T has more rows than columns; then T⁺,
    which leaves the followers out, takes the place of Tᵀ: our forces act on the leaders, and the Jacobian that we give
    has no columns of followers. In all methods q is our configuration. Made by ``pinocchio`` and ``mujoco``.
    """

    blocks: tuple[_Block, ...] = eqx.field(static=True)
    coupling: Coupling | None = None

    def configuration(self, q: Float[Array, " nq"]) -> Float[Array, " n"]:
        """Our configuration as theirs."""
        tree = self._tree(q)
        blocks = sorted(self.blocks, key=lambda b: b.their_q)
        return _concatenated([_to_theirs(b.law, tree[b.q : b.q + _OUR_SIZE[b.law][0]]) for b in blocks], q)

    def from_configuration(self, q: Float[Array, " n"]) -> Float[Array, " nq"]:
        """Their configuration as ours."""
        q = jnp.asarray(q)
        own = sorted((b for b in self.blocks if not b.follows), key=lambda b: b.q)
        return _concatenated([_from_theirs(b.law, q[b.their_q : b.their_q + _THEIR_SIZE[b.law]]) for b in own], q)

    def matrix(self, q: Float[Array, " nq"]) -> Float[Array, "n nv"]:
        """T(q), with v_theirs = T(q) v."""
        T = self._of_tree(q)
        return T if self.coupling is None else self.coupling.forces(T.T).T

    def inverse(self, q: Float[Array, " nq"]) -> Float[Array, "nv n"]:
        """T⁺(q), with v = T⁺(q) v_theirs: the transpose of T unless joints follow others."""
        T = self._of_tree(q)
        return T.T if self.coupling is None else T.T[self.coupling.own_v]

    def _tree(self, q: Array) -> Array:
        return q if self.coupling is None else self.coupling.configuration(q)

    def _of_tree(self, q: Array) -> Array:
        """T in the coordinates of our tree."""
        tree = self._tree(q)
        n = sum(_OUR_SIZE[b.law][1] for b in self.blocks)
        T = jnp.zeros((n, n if self.coupling is None else len(self.coupling.v_source)), q.dtype)
        same = [(b.their_v, b.v) for b in self.blocks if _OUR_SIZE[b.law][1] == 1]
        if same:
            rows, columns = np.array(same).T
            T = T.at[rows, columns].set(1.0)
        for b in self.blocks:
            nq, size = _OUR_SIZE[b.law]
            if size > 1:
                block = _velocity_block(b.law, tree[b.q : b.q + nq])
                T = T.at[b.their_v : b.their_v + size, b.v : b.v + size].set(block)
        return T

    def velocity(self, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " n"]:
        """Our velocity as theirs: T v."""
        return self.matrix(q) @ v

    def from_velocity(self, q: Float[Array, " nq"], v: Float[Array, " n"]) -> Float[Array, " nv"]:
        """Their velocity as ours: T⁺ v."""
        return self.inverse(q) @ jnp.asarray(v)

    def acceleration(self, model: Model, q, v, a) -> Float[Array, " n"]:
        """Our acceleration as theirs: T a + Ṫ v, with our v."""
        return self.matrix(q) @ a + self._drift(model, q, v)

    def from_acceleration(self, model: Model, q, v, a) -> Float[Array, " nv"]:
        """Their acceleration as ours: T⁺ (a − Ṫ v), with our v."""
        return self.inverse(q) @ (jnp.asarray(a) - self._drift(model, q, v))

    def forces(self, q: Float[Array, " nq"], tau: Float[Array, " nv"]) -> Float[Array, " n"]:
        """Our joint forces as theirs: (T⁺)ᵀ τ, so that the power τᵀv is the same."""
        return self.inverse(q).T @ tau

    def from_forces(self, q: Float[Array, " nq"], tau: Float[Array, " n"]) -> Float[Array, " nv"]:
        """Their joint forces as ours: Tᵀ τ."""
        return self.matrix(q).T @ jnp.asarray(tau)

    def jacobian(self, q: Float[Array, " nq"], J: Float[Array, "6 nv"]) -> Float[Array, "6 n"]:
        """Our Jacobian (world axes, at the point) as theirs: linear rows first, columns by T⁺."""
        return jnp.concatenate([J[3:], J[:3]]) @ self.inverse(q)

    def from_jacobian(self, q: Float[Array, " nq"], J: Float[Array, "6 n"]) -> Float[Array, "6 nv"]:
        """Their Jacobian (linear rows first, world axes, at the point) as ours: columns by T."""
        J = jnp.asarray(J)
        return jnp.concatenate([J[3:], J[:3]]) @ self.matrix(q)

    def _drift(self, model: Model, q, v) -> Array:
        """Ṫ v along the motion."""
        zero = jnp.zeros_like(v)
        return jax.jvp(lambda dv: self.matrix(integrate(model, q, dv)) @ v, (zero,), (v,))[1]


def pinocchio(model: Model, other: Any) -> Conversion:
    """The conversion to the coordinates of a ``pinocchio.Model``."""
    laws = {(1, 1): "same", (2, 1): "angle", (7, 6): "free_xyzw"}
    blocks = []
    for joint in _moving_joints(model):
        index = other.getJointId(joint.name)
        if index >= other.njoints:
            names = ", ".join(other.names)
            raise ValueError(f"The Pinocchio model has no joint {joint.name!r}; its joints are {names}.")
        theirs = other.joints[index]
        if joint.follows and "Mimic" in theirs.shortname():
            continue
        law = laws.get((theirs.nq, theirs.nv), "planar" if joint.kind == "free2d" else "ball_xyzw")
        blocks.append(_Block(law, joint.q, joint.v, theirs.idx_q, theirs.idx_v, joint.follows))
    return _checked(model, blocks, other.nq, "Pinocchio")


def mujoco(model: Model, other: Any) -> Conversion:
    """The conversion to the coordinates of a ``mujoco.MjModel``."""
    names = [other.joint(i).name or f"joint{i}" for i in range(other.njnt)]
    blocks = []
    for joint in _moving_joints(model):
        if joint.name not in names:
            raise ValueError(f"The MuJoCo model has no joint {joint.name!r}; its joints are {', '.join(names)}.")
        index = names.index(joint.name)
        law = {"free": "free_world", "spherical": "ball_wxyz"}.get(joint.kind, "same")
        starts = int(other.jnt_qposadr[index]), int(other.jnt_dofadr[index])
        blocks.append(_Block(law, joint.q, joint.v, *starts, joint.follows))
    return _checked(model, blocks, other.nq, "MuJoCo")


@dataclasses.dataclass(frozen=True)
class _Joint:
    """A joint with degrees of freedom, and where its coordinates begin in q and v of the tree."""

    name: str
    kind: str
    q: int
    v: int
    follows: bool


def _moving_joints(model: Model) -> Iterator[_Joint]:
    kinds, topology = joint_kinds(model), model.topology
    followers = set() if model.coupling is None else {v for _, v in model.coupling.followers}
    for body in range(1, model.num_bodies):
        if topology.joint_nv[body]:
            q, v = int(topology.q_start[body]), int(topology.v_start[body])
            yield _Joint(model.joint_names[body], kinds[body].partition("(")[0], q, v, v in followers)


def _checked(model: Model, blocks: list[_Block], their_nq: int, engine: str) -> Conversion:
    sizes = [_OUR_SIZE[b.law] for b in blocks if not b.follows]
    ours = sum(nq for nq, _ in sizes), sum(nv for _, nv in sizes)
    theirs = sum(_THEIR_SIZE[b.law] for b in blocks)
    if ours != (model.nq, model.nv) or theirs != their_nq:
        raise ValueError(
            f"The joints of the {engine} model do not match: {theirs} of its {their_nq} coordinates belong to joints "
            "of this model; load the same file with the same root joint."
        )
    return Conversion(tuple(blocks), model.coupling)


def _concatenated(parts: list[Array], q: Array) -> Array:
    return jnp.concatenate(parts) if parts else q


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
