"""Hyper-reduced coordinates: a model whose configuration is any smooth function of fewer coordinates (Sueda, §2.7)."""

from __future__ import annotations

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics import inverse_dynamics, mass_matrix
from ..forces.applied import Forces, applied_forces
from ..model import Model, difference


class AbstractCoordinates(eqx.Module):
    """q = φ(y) for flat coordinates y."""

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """The number of coordinates y."""

    @abc.abstractmethod
    def configuration(self, y: Float[Array, " n"]) -> Float[Array, " nq"]:
        """φ(y), any smooth function."""


class LinearCoordinates(AbstractCoordinates):
    """q = G y + b, as joints that follow others have it (eq. 2.88); for joints with flat coordinates."""

    matrix: Float[Array, "nq n"]
    offset: Float[Array, " nq"] | float = 0.0

    @property
    def size(self) -> int:
        return self.matrix.shape[1]

    def configuration(self, y: Float[Array, " n"]) -> Float[Array, " nq"]:
        return self.matrix @ y + self.offset


def map_velocity(model: Model, coordinates: AbstractCoordinates, y: Array, rate: Array) -> Array:
    """v = J ẏ, the velocity on the configuration manifold."""
    at = coordinates.configuration(y)
    return jax.jvp(lambda y: _chart(model, at, coordinates, y), (y,), (rate,))[1]


def map_motion(model: Model, coordinates: AbstractCoordinates, y, rate, acceleration) -> tuple[Array, Array, Array]:
    """q, v = J ẏ and a = J ÿ + J̇ ẏ (eq. 2.89)."""
    q = coordinates.configuration(y)

    v, a = jax.jvp(lambda y, rate: map_velocity(model, coordinates, y, rate), (y, rate), (rate, acceleration))
    return q, v, a


def reduced_forces(
    model: Model,
    coordinates: AbstractCoordinates,
    y: Float[Array, " n"],
    rate: Float[Array, " n"],
    acceleration: Float[Array, " n"],
    forces: Forces = (),
) -> Float[Array, " n"]:
    """Jᵀ(ID(q, v, a) − f): the forces on y that its motion needs (eq. 2.90)."""
    q, v, a = map_motion(model, coordinates, y, rate, acceleration)
    wrench, force = applied_forces(model, forces, q, v)
    needed = inverse_dynamics(model, q, v, a, wrench) - force
    return _transposed(model, coordinates, y, needed)


def reduced_accelerations(
    model: Model,
    coordinates: AbstractCoordinates,
    y: Float[Array, " n"],
    rate: Float[Array, " n"],
    force: Float[Array, " n"],
    forces: Forces = (),
) -> Float[Array, " n"]:
    """ÿ = (JᵀMJ)⁻¹(u − Jᵀ(ID(q, v, J̇ẏ) − f)) under the forces u on y (eq. 2.90)."""
    J = jax.vmap(lambda e: map_velocity(model, coordinates, y, e))(jnp.eye(coordinates.size, dtype=y.dtype))
    M = J @ mass_matrix(model, coordinates.configuration(y)) @ J.T
    needed = reduced_forces(model, coordinates, y, rate, jnp.zeros_like(rate), forces)
    return jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(M), force - needed)


def _chart(model: Model, at: Array, coordinates: AbstractCoordinates, y: Array) -> Array:
    return difference(model, at, coordinates.configuration(y))


def _transposed(model: Model, coordinates: AbstractCoordinates, y: Array, tau: Array) -> Array:
    """Jᵀ τ."""
    at = coordinates.configuration(y)
    return jax.vjp(lambda y: _chart(model, at, coordinates, y), y)[1](tau)[0]
