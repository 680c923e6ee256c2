"""The coordinates of one step: displacements ξ from the configuration at its start.

Joints with flat coordinates move along q = q₀ + ξ. Rotations by quaternion use Cayley's map, re-centred at every step:
R = R₀ (𝟙 + k(θ̂ + ½θ̂²)) with k = 1/(1 + ¼|θ|²), whose angular velocity in the body is J θ̇ with J = k(𝟙 − ½θ̂). A free
joint adds the translation x = x₀ + ξ_x along the parent's axes, so that free flight is exact.
"""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..joints import AbstractJoint, Free, Spherical
from ..model import Model
from ..model.model import from_groups
from ..spatial import Quaternion, Vec3


@dataclasses.dataclass(frozen=True)
class Part:
    """The joints of one kind at one place in the chains of their group, with their rows in q, in v and in the sweeps.

    Attributes:
        joint: the stacked joints.
        q_rows: the indices of their coordinates in q, (nq, joints).
        v_rows: the indices of their coordinates in v, (nv, joints).
        last: the last element of each joint, which sees the joint's whole motion.
    """

    joint: AbstractJoint
    q_rows: np.ndarray
    v_rows: np.ndarray
    last: np.ndarray

    @property
    def is_ball(self) -> bool:
        """Whether the joint turns by a quaternion."""
        return isinstance(self.joint, Spherical | Free)


def parts(model: Model) -> list[Part]:
    """The simple joints of a model; raises for a joint that is neither a screw nor a quaternion joint."""
    topology = model.topology
    table = topology.elements
    element = {key: i for i, key in enumerate(zip(table.body, table.part, table.column, strict=True))}
    found = []
    for group, (joint, bodies) in enumerate(zip(model.joints, topology.groups, strict=True)):
        q_rows, v_rows = topology.q_rows[group], topology.v_rows[group]
        for index, simple in enumerate(joint.parts()):
            last = np.array([element[body, index, max(simple.nv, 1) - 1] for body in bodies])
            part = Part(simple, q_rows[: simple.nq], v_rows[: simple.nv], last)
            if not (part.is_ball or simple.nv == 0 or simple.screw() is not None):
                raise ValueError(
                    f"Variational integrators do not know the joint {type(simple).__name__}; use screw joints "
                    "(revolute, prismatic, helical and chains of them), spherical and free joints."
                )
            found.append(part)
            q_rows, v_rows = q_rows[simple.nq :], v_rows[simple.nv :]
    return found


def ball_parts(model: Model) -> list[Part]:
    """The parts that turn by a quaternion."""
    return [part for part in parts(model) if part.is_ball]


def retract(model: Model, q0: Float[Array, " nq"], xi: Float[Array, " nv"]) -> Float[Array, " nq"]:
    """The configuration at the displacement ξ from q₀, with unit quaternions."""
    found = parts(model)
    if not any(part.is_ball for part in found):
        return q0 + xi
    return from_groups([_moved(part, q0, xi) for part in found], [part.q_rows for part in found], q0.dtype)


def velocity(
    model: Model, q: Float[Array, " nq"], xi: Float[Array, " nv"], rate: Float[Array, " nv"]
) -> Float[Array, " nv"]:
    """The velocity v at q = retract(q₀, ξ) when the displacement changes at the given rate."""
    found = parts(model)
    if not any(part.is_ball for part in found):
        return rate
    return from_groups([_velocity(part, q, xi, rate) for part in found], [part.v_rows for part in found], q.dtype)


def rate_at_start(model: Model, q0: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nv"]:
    """The rate ξ̇ at ξ = 0 of a motion with velocity v."""
    for part in ball_parts(model):
        if isinstance(part.joint, Free):
            turned = _rotation(part, q0).rotate(Vec3(*(v[r] for r in part.v_rows[3:])))
            for row, component in zip(part.v_rows[3:], (turned.x, turned.y, turned.z), strict=True):
                v = v.at[row].set(component)
    return v


def cayley(theta: Vec3) -> Quaternion:
    """The quaternion (1, ½θ)/√(1 + ¼|θ|²)."""
    return Quaternion.from_parts(jnp.ones_like(jnp.asarray(theta.x)), theta * 0.5).normalised()


def cayley_velocity(theta: Vec3, rate: Vec3) -> Vec3:
    """J θ̇ = k (θ̇ − ½ θ×θ̇), the angular velocity in the body."""
    return (rate - theta.cross(rate) * 0.5) * (1.0 / (1.0 + theta.norm_squared() * 0.25))


def _moved(part: Part, q0: Array, xi: Array) -> list:
    x = [xi[r] for r in part.v_rows]
    if not part.is_ball:
        return [q0[r] + dx for r, dx in zip(part.q_rows, x, strict=True)]
    turned = _rotation(part, q0).normalised() * cayley(Vec3(*x[:3]))
    shifted = [q0[r] + dx for r, dx in zip(part.q_rows[:-4], x[3:], strict=True)]
    return [*shifted, turned.w, turned.x, turned.y, turned.z]


def _velocity(part: Part, q: Array, xi: Array, rate: Array) -> list:
    x, dx = ([array[r] for r in part.v_rows] for array in (xi, rate))
    if not part.is_ball:
        return dx
    w = cayley_velocity(Vec3(*x[:3]), Vec3(*dx[:3]))
    if not dx[3:]:
        return [w.x, w.y, w.z]
    u = _rotation(part, q).conjugate().rotate(Vec3(*dx[3:]))
    return [w.x, w.y, w.z, u.x, u.y, u.z]


def _rotation(part: Part, q: Array) -> Quaternion:
    return Quaternion(*(q[r] for r in part.q_rows[-4:]))
