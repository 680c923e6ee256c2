"""Several constraints as one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ...model import Model
from ...spatial import Force, Motion, Pose, Vec3
from .base import AbstractConstraint


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Anchors:
    """Points fixed in bodies: the element that carries each (−1 for the world), and where in its frame."""

    local: Float[Array, "k 3"]
    element: np.ndarray = dataclasses.field(metadata={"static": True})

    def positions(self, pose: Pose) -> Float[Array, "k 3"]:
        """y in the world frame, for the poses of all elements."""
        here: Pose = jax.tree.map(lambda leaf: leaf[self.element], pose)
        return self._or_in_world(here.point(Vec3.from_array(self.local)).to_array(), self.local)

    def velocities(self, twist: Motion, y: Float[Array, "k 3"]) -> Float[Array, "k 3"]:
        """ẏ = v̄ + ω×y, for the twists of all elements in the world frame."""
        here: Motion = jax.tree.map(lambda leaf: leaf[self.element], twist)
        moved = here.linear + here.angular.cross(Vec3.from_array(y))
        return self._or_in_world(moved.to_array(), jnp.zeros_like(y))

    def wrenches(self, y: Float[Array, "k 3"], f: Float[Array, "k 3"]) -> Force:
        """The wrenches (y×f, f) of forces at the points, in the world frame."""
        force = Vec3.from_array(f)
        return Force(Vec3.from_array(y).cross(force), force)

    def carriers(self, count: int) -> np.ndarray:
        """Which of the elements carries each point, (k, count)."""
        return self.element[:, None] == np.arange(count)

    def _or_in_world(self, moving: Array, fixed: Array) -> Array:
        return jnp.where((self.element >= 0)[:, None], moving, fixed)


class ConstraintSet(eqx.Module):
    """The equations of several constraints, one after the other."""

    items: tuple[AbstractConstraint, ...]

    def size(self, model: Model) -> int:
        """The number m of equations."""
        return sum(item.size(model) for item in self.items)

    def anchors(self, model: Model) -> Anchors:
        """The points of all constraints."""
        found = [model.attachment(body, point) for item in self.items for body, point in item.anchors(model)]
        last = model.topology.elements.last_of_body
        element = np.array([last[body] if body else -1 for body, _ in found])
        return Anchors(jnp.stack([point for _, point in found]), element)

    def is_holonomic(self, model: Model) -> Bool[np.ndarray, " m"]:
        """Which of the equations are about positions."""
        kinds = [np.full(item.size(model), item.is_holonomic) for item in self.items]
        return np.concatenate(kinds)

    def force_is_constant(self, model: Model) -> bool:
        """Whether all forces depend on the multipliers alone."""
        return all(item.force_is_constant(model) for item in self.items)

    def value(self, model: Model, y: Float[Array, "k 3"]) -> Float[Array, " m"]:
        """h(y), and zeros for the constraints on velocities."""

        def of(item, y):
            return item.value(model, y) if item.is_holonomic else jnp.zeros(item.size(model), y.dtype)

        return jnp.concatenate([of(item, y[points]) for item, points, _ in self._parts(model)])

    def rate(self, model: Model, y: Float[Array, "k 3"], y_dot: Float[Array, "k 3"]) -> Float[Array, " m"]:
        """What has to vanish of the velocities."""
        parts = self._parts(model)
        return jnp.concatenate([item.rate(model, y[points], y_dot[points]) for item, points, _ in parts])

    def force(self, model: Model, y: Float[Array, "k 3"], multipliers: Float[Array, " m"]) -> Float[Array, "k 3"]:
        """The forces at the points, (∂ rate/∂ẏ)ᵀλ."""
        parts = self._parts(model)
        return jnp.concatenate([item.force(model, y[points], multipliers[rows]) for item, points, rows in parts])

    def _parts(self, model: Model) -> Iterator[tuple[AbstractConstraint, slice, slice]]:
        point = row = 0
        for item in self.items:
            k, m = len(item.anchors(model)), item.size(model)
            yield item, slice(point, point + k), slice(row, row + m)
            point, row = point + k, row + m
