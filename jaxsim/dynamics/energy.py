"""Energy, momentum and centre of mass."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..model import Model
from ..model.on_tree import on_tree
from ..model.shapes import check
from ..spatial import Force, Inertia
from .elements import elements, inertias
from .kinematics import element_velocities, world_poses
from .passive import spring_energy


class Energy(eqx.Module):
    """Kinetic and potential energy.

    Attributes:
        kinetic: that of the bodies and of the rotors (armature), ½ vᵀ M v.
        potential: that of gravity, zero for a mass at the world's origin, and of the joint springs.
    """

    kinetic: Float[Array, ""]
    potential: Float[Array, ""]

    @property
    def total(self) -> Float[Array, ""]:
        """The sum of both."""
        return self.kinetic + self.potential


@on_tree("unchanged")
def energy(model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Energy:
    """T = ½ Σ φᵀ I φ + ½ Σ armature v² and V = −Σ m gᵀc + ½ Σ k (q ⊖ q_rest)²."""
    check(model, q=q, v=v)
    dtype = jnp.result_type(q, v, model.dtype)
    element, inertia = elements(model, q), inertias(model)
    twist = element_velocities(model, element, v, dtype)
    rotors = 0.5 * jnp.sum(model.armature * v**2)
    kinetic = 0.5 * jnp.sum(jnp.asarray(twist.dot(inertia.apply(twist)))) + rotors
    first_moment = _first_moment(model, element, inertia, dtype)
    return Energy(kinetic, spring_energy(model, q) - first_moment @ model.gravity)


@on_tree("unchanged")
def center_of_mass(model: Model, q: Float[Array, " nq"]) -> Float[Array, " 3"]:
    """c = Σ mᵢ cᵢ / Σ mᵢ, the centre of mass of all bodies, in the world; the origin for a model without mass."""
    check(model, q=q)
    dtype = jnp.result_type(q, model.dtype)
    mass = jnp.sum(model.mass)
    weight = jnp.where(mass > 0, mass, 1)
    return _first_moment(model, elements(model, q), inertias(model), dtype) / weight


@on_tree("unchanged")
def momentum(model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " 6"]:
    """h = Σ Xᵢ* Iᵢ φᵢ, the total momentum (angular about the world's origin, linear) of the bodies, in world axes."""
    check(model, q=q, v=v)
    dtype = jnp.result_type(q, v, model.dtype)
    element = elements(model, q)
    twist = element_velocities(model, element, v, dtype)
    carried: Force = world_poses(model, element, dtype) @ inertias(model).apply(twist)
    return jnp.sum(carried.to_array(), axis=0)


def _first_moment(model: Model, element, inertia: Inertia, dtype) -> Float[Array, " 3"]:
    """Σ m c in the world."""
    pose = world_poses(model, element, dtype)
    moments = pose.rotation.apply(inertia.first_moment) + pose.position * inertia.mass
    return jnp.sum(moments.to_array(), axis=0)
