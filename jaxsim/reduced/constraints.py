"""Equations between configurations, on maximal or on reduced coordinates (Sueda, §2.9)."""

from __future__ import annotations

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..dynamics import forward_kinematics
from ..model import Model, integrate
from ..spatial import Mat3, Quaternion, so3


class AbstractEquation(eqx.Module):
    """g(q) = 0; rows must be independent wherever the motion goes."""

    @abc.abstractmethod
    def value(self, model: Model, q: Array) -> Float[Array, " m"]:
        """g(q)."""


class LoopClosure(AbstractEquation):
    """One of the model's loops: the origins of two frames coincide, and for a weld their axes too (eq. 2.102).

    Attributes:
        loop: which of the model's loops.
        directions: along which directions of frame a the origins are held together; all three by default. A planar
            loop needs the two across its hinges, since the third holds already (eq. 2.101).
    """

    loop: int = eqx.field(static=True, default=0)
    directions: tuple[tuple[float, float, float], ...] = eqx.field(
        static=True, default=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    )

    def value(self, model: Model, q: Array) -> Float[Array, " m"]:
        if not 0 <= self.loop < len(model.loops):
            raise ValueError(f"There is no loop {self.loop}; the model has {len(model.loops)}, counted from 0.")
        loops, poses = model.loops, forward_kinematics(model, q)
        static = loops.loops[self.loop]
        ends = []
        for body, position, orientation in (
            (static.body_a, loops.position_a, loops.orientation_a),
            (static.body_b, loops.position_b, loops.orientation_b),
        ):
            R, p = poses.rotation[body], poses.position[body]
            turn = Quaternion.from_array(jnp.asarray(orientation)[self.loop]).to_matrix().to_array()
            ends.append((R @ turn, p + R @ jnp.asarray(position)[self.loop]))
        (Ra, xa), (Rb, xb) = ends
        apart = jnp.asarray(np.array(self.directions), q.dtype) @ (Ra.T @ (xb - xa))
        if static.kind == "connect":
            return apart
        return jnp.concatenate([apart, so3.log(Mat3.from_array(Ra.T @ Rb)).to_array()])


class JointRelation(AbstractEquation):
    """A q = b on the coordinates themselves (eq. 2.107): rows of A and b, for joints with flat coordinates."""

    matrix: Float[Array, "m nq"]
    offset: Float[Array, " m"]

    def value(self, model: Model, q: Array) -> Float[Array, " m"]:
        return jnp.asarray(self.matrix) @ q - jnp.asarray(self.offset)


Equations = tuple[AbstractEquation, ...]


def values(model: Model, equations: Equations, q: Array) -> Float[Array, " m"]:
    """g of all equations, one under the other."""
    return jnp.concatenate([jnp.zeros(0, q.dtype), *(equation.value(model, q) for equation in equations)])


def rows(model: Model, equations: Equations, q: Array) -> Float[Array, "m nv"]:
    """G = ∂g/∂q along q ⊕ δ, one vector–Jacobian product a row, each in linear time."""
    if not equations:
        return jnp.zeros((0, model.nv), q.dtype)
    return jax.jacrev(lambda dv: values(model, equations, integrate(model, q, dv)))(jnp.zeros(model.nv, q.dtype))


def rates(model: Model, equations: Equations, q: Array, v: Array) -> tuple[Array, Array]:
    """ġ = G v and Ġ v, by two derivatives along the motion."""
    zero = jnp.zeros_like(v)

    def speed(dv):
        at = integrate(model, q, dv)
        return jax.jvp(lambda d: values(model, equations, integrate(model, at, d)), (zero,), (v,))[1]

    return jax.jvp(speed, (zero,), (v,))
