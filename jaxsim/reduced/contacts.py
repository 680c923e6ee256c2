"""One-sided constraints: limits of joints and points above planes, with the directions in which they rub."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..dynamics import forward_kinematics
from ..forces.joint import flat_coordinates
from ..model import Model, integrate


class PlaneContacts(eqx.Module):
    """Points of bodies above a plane through the origin of the world.

    Attributes:
        bodies: the bodies.
        points: one point a body, in its frame.
        friction: μ of each point; a single number serves all.
        normal: the unit normal of the plane.
        height: where the plane is along the normal.
    """

    bodies: tuple[int, ...] = eqx.field(static=True, default=())
    points: Float[Array, "n 3"] | tuple[()] = ()
    friction: Float[Array, " n"] | float = 0.0
    normal: tuple[float, float, float] = eqx.field(static=True, default=(0.0, 0.0, 1.0))
    height: float = 0.0

    def __len__(self) -> int:
        return len(self.bodies)

    def positions(self, model: Model, q: Array) -> Float[Array, "n 3"]:
        """Where the points are in the world."""
        if not len(self):
            return jnp.zeros((0, 3), q.dtype)
        poses, at = forward_kinematics(model, q), np.array(self.bodies)
        points = jnp.asarray(self.points, q.dtype)
        return poses.position[at] + jnp.einsum("nij,nj->ni", poses.rotation[at], points)

    def gaps(self, model: Model, q: Array) -> Float[Array, " n"]:
        """The heights of the points above the plane."""
        return self.positions(model, q) @ jnp.asarray(self.normal, q.dtype) - self.height

    def directions(self, model: Model, q: Array) -> tuple[Float[Array, "n nv"], Float[Array, "n 2 nv"]]:
        """N and T with N v the normal velocities of the points and T v the two tangential ones (Sueda, eq. 1.91)."""
        if not len(self):
            return jnp.zeros((0, model.nv), q.dtype), jnp.zeros((0, 2, model.nv), q.dtype)
        J = jax.jacrev(lambda dv: self.positions(model, integrate(model, q, dv)))(jnp.zeros(model.nv, q.dtype))
        axes = self.axes()
        return jnp.einsum("i,niv->nv", axes[0], J), jnp.einsum("ti,niv->ntv", axes[1:], J)

    def axes(self) -> np.ndarray:
        """The normal and the two tangents of the plane, by rows."""
        n = np.array(self.normal)
        first = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
        first = first / np.linalg.norm(first)
        return np.stack([n, first, np.cross(n, first)])

    def wrenches(self, model: Model, q: Array, forces: Float[Array, "n 3"]) -> Float[Array, "nb 6"]:
        """What forces along the axes of the plane on the points do to the bodies, in the body frames."""
        at = np.array(self.bodies)
        inside = jnp.einsum("nji,nj->ni", forward_kinematics(model, q).rotation[at], forces @ self.axes())
        moments = jnp.cross(jnp.asarray(self.points, q.dtype), inside)
        total = jnp.zeros((model.num_bodies, 6), q.dtype)
        return total.at[at].add(jnp.concatenate([moments, inside], axis=1))


def limit_rows(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """The rows ±e_i of all joints with flat coordinates, and the coordinates that they look at."""
    coordinate, flat = flat_coordinates(model)
    at = np.flatnonzero(flat)
    one = np.eye(model.nv)[at]
    return np.concatenate([one, -one]), coordinate[at]


def limit_gaps(model: Model, q: Array, far: float = 1e3) -> Float[Array, " m"]:
    """q − lower and upper − q for all joints with flat coordinates; ``far`` where there is no limit."""
    _, at = limit_rows(model)
    gaps = jnp.concatenate([q[at] - model.lower[at], model.upper[at] - q[at]])
    return jnp.clip(jnp.where(jnp.isfinite(gaps), gaps, far), -far, far)
