"""What a body weighs, as users and files give it, and whether that is possible."""

from __future__ import annotations

import dataclasses

import numpy as np

from .placement import Placement, finite_vector

_POINT = 1e-12
"""Moments below this times the mass (a radius of gyration of a micrometre) count as those of a point mass, in m²."""


@dataclasses.dataclass(frozen=True)
class BodyInertia:
    """What a body weighs: mass, centre of mass and rotational inertia about it, in the body frame.

    The inertia is a 3×3 matrix, or three principal moments along the body axes.
    """

    mass: float
    com: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: object = (0.0, 0.0, 0.0)

    @staticmethod
    def box(mass: float, size, com=(0.0, 0.0, 0.0)) -> BodyInertia:
        """A solid box with edges ``size`` along the body axes."""
        x, y, z = (float(edge) ** 2 for edge in size)
        return BodyInertia(mass, com, (mass * (y + z) / 12, mass * (x + z) / 12, mass * (x + y) / 12))

    @staticmethod
    def sphere(mass: float, radius: float, com=(0.0, 0.0, 0.0)) -> BodyInertia:
        """A solid ball."""
        return BodyInertia(mass, com, (0.4 * mass * radius**2,) * 3)

    @staticmethod
    def rod(mass: float, end, radius: float = 0.0) -> BodyInertia:
        """A solid cylinder from the body's origin to the point ``end``."""
        end = np.asarray(end, float)
        length = float(np.linalg.norm(end))
        axis = end / length
        along, across = 0.5 * mass * radius**2, mass * (length**2 / 12 + radius**2 / 4)
        matrix = across * np.eye(3) + (along - across) * np.outer(axis, axis)
        return BodyInertia(mass, tuple(end / 2), matrix)

    @property
    def matrix(self) -> np.ndarray:
        """The rotational inertia as a 3×3 matrix."""
        array = np.asarray(self.inertia, dtype=float)
        return np.diag(array) if array.shape == (3,) else array

    @property
    def is_zero(self) -> bool:
        """Whether nothing is there: neither mass nor inertia."""
        return self.mass == 0.0 and not np.any(self.matrix)

    def moved(self, placement: Placement) -> BodyInertia:
        """The same inertia in the parent frame of ``placement``."""
        R = placement.matrix
        return BodyInertia(self.mass, tuple(placement.point(self.com)), R @ self.matrix @ R.T)

    def __add__(self, other: BodyInertia) -> BodyInertia:
        """Two bodies welded together, about their common centre of mass (parallel-axis theorem)."""
        mass = self.mass + other.mass
        share = 0.5 if mass == 0.0 else other.mass / mass
        apart = np.asarray(other.com, float) - np.asarray(self.com, float)
        com = np.asarray(self.com, float) + share * apart
        reduced = 0.0 if mass == 0.0 else self.mass * other.mass / mass
        J = self.matrix + other.matrix + reduced * (apart @ apart * np.eye(3) - np.outer(apart, apart))
        return BodyInertia(mass, tuple(com), J)


def check_inertia(name: str, inertia: BodyInertia) -> None:
    """Raise a ``ValueError`` unless a rigid body can have this inertia."""
    mass = float(inertia.mass)
    if not np.isfinite(mass) or mass <= 0.0:
        raise ValueError(
            f"The mass of {name!r} is {mass}; it must be positive, and a link without mass has no inertia at all."
        )
    finite_vector(inertia.com, 3, f"the centre of mass of {name!r}")
    matrix = inertia.matrix
    if matrix.shape != (3, 3) or not np.all(np.isfinite(matrix)):
        raise ValueError(f"The inertia of {name!r} is {inertia.inertia!r}; give a finite 3×3 matrix or three moments.")
    scale = max(np.abs(matrix).max(), 1e-300)
    if np.abs(matrix - matrix.T).max() > 1e-9 * scale:
        raise ValueError(f"The inertia of {name!r} is not symmetric: {matrix.tolist()}.")
    moments = np.linalg.eigvalsh(matrix)
    slack = _POINT * mass
    if moments[0] < -1e-9 * scale - slack:
        raise ValueError(
            f"The inertia of {name!r} has a negative principal moment: {moments.tolist()}; check its signs."
        )
    if moments[2] > (moments[0] + moments[1]) * (1 + 1e-6) + slack:
        raise ValueError(
            f"The principal moments {moments.tolist()} of {name!r} violate the triangle inequality: the largest must "
            "not exceed the sum of the others; check the inertia's frame and its signs."
        )
