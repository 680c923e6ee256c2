"""Shapes on bodies, for viewers and for contact; the dynamics does not look at them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .placement import Placement, finite_vector

SIZES = {
    "box": "three edge lengths",
    "sphere": "a radius",
    "cylinder": "a radius and a length along z",
    "capsule": "a radius and the length along z between the centres of its caps",
    "ellipsoid": "three semi-axes",
    "plane": "nothing: the plane is infinite, its normal is z",
    "mesh": "three scale factors",
}
"""The kinds of shapes and what their sizes mean."""

_COUNT = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "ellipsoid": 3, "plane": 0, "mesh": 3}


@dataclasses.dataclass(frozen=True)
class Mesh:
    """A reference to a mesh file, resolved only when it is asked for.

    Attributes:
        uri: the reference as it stands in the model file: a path, ``file://…`` or ``package://name/…``.
        directory: the directory of the model file, ``None`` for a model that came as text.
        package_dirs: where packages are looked for.
    """

    uri: str
    directory: str | None = None
    package_dirs: tuple[str, ...] = ()

    def path(self) -> Path:
        """The file on disk; a ``FileNotFoundError`` lists the places that were tried."""
        candidates = self._candidates()
        for candidate in candidates:
            if candidate.is_file():
                return candidate
        tried = ", ".join(str(candidate) for candidate in candidates) or "nowhere"
        raise FileNotFoundError(
            f"The mesh {self.uri!r} was not found (tried {tried}); pass the directory that holds the package in "
            "package_dirs."
        )

    def _candidates(self) -> list[Path]:
        scheme, separator, rest = self.uri.partition("://")
        if not separator or scheme == "file":
            path = Path(rest if separator else self.uri)
            return [path if path.is_absolute() or self.directory is None else Path(self.directory) / path]
        package, _, inside = rest.partition("/")
        roots = [Path(root) for root in self.package_dirs]
        ancestors = [] if self.directory is None else [Path(self.directory), *Path(self.directory).parents]
        named = [root / inside for root in [*roots, *ancestors] if root.name == package]
        return named + [root / package / inside for root in [*roots, *ancestors]]


@dataclasses.dataclass(frozen=True)
class Shape:
    """What is static about a shape: its kind, the body that carries it, and what it is for."""

    kind: str
    body: int
    name: str = ""
    visual: bool = True
    collision: bool = True
    rgba: tuple[float, float, float, float] | None = None
    mesh: Mesh | None = None


@dataclasses.dataclass(frozen=True)
class _Shapes:
    """The static side of all shapes, which every compiled call hashes: the hash is computed once."""

    items: tuple[Shape, ...] = ()

    @functools.cached_property
    def _hash(self) -> int:
        return hash(self.items)

    def __hash__(self) -> int:
        return self._hash


class Geometry(eqx.Module):
    """All shapes of a model; the i-th row of each array belongs to the i-th shape.

    Attributes:
        size: what ``SIZES`` says for the kind of the shape, padded with zeros.
        position: where the shape's frame stands in the body's frame, and
        orientation: how it is turned there, as a quaternion wxyz.
    """

    size: Float[Array, "n 3"] | tuple[()] = ()
    position: Float[Array, "n 3"] | tuple[()] = ()
    orientation: Float[Array, "n 4"] | tuple[()] = ()
    _static: _Shapes = eqx.field(default=_Shapes(), static=True)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The static side of the shapes."""
        return self._static.items

    def __len__(self) -> int:
        return len(self.shapes)


@dataclasses.dataclass(frozen=True)
class PlacedShape:
    """A shape with its numbers, before they are stacked."""

    shape: Shape
    size: np.ndarray
    placement: Placement


def placed_shape(shape: Shape, size, placement: Placement) -> PlacedShape:
    """Check a shape: its kind is known, its size fits and is finite, a mesh has a reference."""
    if shape.kind not in SIZES:
        raise ValueError(f"There is no shape {shape.kind!r}; the shapes are {', '.join(SIZES)}.")
    if (shape.kind == "mesh") != (shape.mesh is not None):
        raise ValueError(f"The shape {shape.name or shape.kind!r} needs a Mesh exactly if its kind is 'mesh'.")
    count = _COUNT[shape.kind]
    values = finite_vector(np.atleast_1d(np.asarray(size, float)), count, f"the size of a {shape.kind}")
    if shape.kind != "mesh" and np.any(values < 0):
        raise ValueError(f"The size of a {shape.kind} is {size!r}; give {SIZES[shape.kind]}, none negative.")
    return PlacedShape(shape, values, placement)


def stack_geometry(items: Sequence[PlacedShape], dtype) -> Geometry:
    """All shapes as one ``Geometry``."""
    if not items:
        return Geometry()
    return Geometry(
        jnp.asarray([np.pad(item.size, (0, 3 - len(item.size))) for item in items], dtype),
        jnp.asarray([item.placement.position for item in items], dtype),
        jnp.asarray([item.placement.quaternion for item in items], dtype),
        _Shapes(tuple(item.shape for item in items)),
    )
