"""Strands and sheets of masses and springs, free or attached to bodies (Sueda, §2.8).

Nodes are point masses on translational joints of the world, and springs between them are forces: the mass matrix of the
nodes is the identity block of eq. 2.96, and every integrator that takes forces moves rigid bodies and nodes in the same
step. Attached nodes are points of bodies and have no coordinates of their own.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence

import jax.numpy as jnp
import numpy as np

from ..forces import Spring
from ..joints import Translational
from ..model import BodyInertia, ModelBuilder

Anchor = tuple[int, Sequence[float]]
"""A body and a point in its frame; body 0 is the world."""


@dataclasses.dataclass(frozen=True)
class Deformable:
    """Nodes and springs that were added to a model.

    Attributes:
        nodes: where each node is: its body, or the body that it is attached to, and the point in that body's frame.
        springs: the forces between them, for an integrator.
    """

    nodes: tuple[Anchor, ...]
    springs: tuple[Spring, ...]


def add_strand(
    builder: ModelBuilder,
    name: str,
    positions,
    mass: float,
    stiffness: float,
    damping: float = 0.0,
    rest_length: float | None = None,
    attached: Mapping[int, Anchor] | None = None,
) -> Deformable:
    """A chain of nodes at ``positions`` (n, 3) in the world, with springs between neighbours.

    Args:
        builder: the model that the nodes are added to.
        name: a name; the nodes are called name0, name1, …
        positions: where the nodes are when all joints are at rest.
        mass: the mass of each free node.
        stiffness: the tension of a spring at unit strain, in N.
        damping: the tension at unit rate of strain.
        rest_length: the length of a spring without tension; as placed by default.
        attached: the nodes that are points of bodies: node → (body, point).
    """
    at = np.asarray(positions, float)
    pairs = list(itertools.pairwise(range(len(at))))
    return _connect(builder, name, at, mass, pairs, (stiffness, damping, rest_length), attached or {})


def add_sheet(
    builder: ModelBuilder,
    name: str,
    positions,
    mass: float,
    stiffness: float,
    damping: float = 0.0,
    attached: Mapping[int, Anchor] | None = None,
) -> Deformable:
    """A grid of nodes at ``positions`` (rows, columns, 3), with springs along the grid and across its cells.

    Nodes are numbered row by row; all springs are at rest as placed. Arguments are those of ``add_strand``.
    """
    at = np.asarray(positions, float)
    rows, columns = at.shape[:2]
    number = np.arange(rows * columns).reshape(rows, columns)
    pairs = [
        *zip(number[:, :-1].flat, number[:, 1:].flat, strict=True),
        *zip(number[:-1].flat, number[1:].flat, strict=True),
        *zip(number[:-1, :-1].flat, number[1:, 1:].flat, strict=True),
        *zip(number[:-1, 1:].flat, number[1:, :-1].flat, strict=True),
    ]
    return _connect(builder, name, at.reshape(-1, 3), mass, pairs, (stiffness, damping, None), attached or {})


def _connect(builder: ModelBuilder, name: str, at: np.ndarray, mass: float, pairs, law, attached) -> Deformable:
    stiffness, damping, rest_length = law
    nodes: list[Anchor] = []
    for i, position in enumerate(at):
        if i in attached:
            nodes.append(attached[i])
            continue
        body = builder.add_body(f"{name}{i}", 0, Translational(), tuple(position), BodyInertia(mass))
        nodes.append((body, (0.0, 0.0, 0.0)))
    springs = []
    for a, b in pairs:
        length = float(np.linalg.norm(at[b] - at[a])) if rest_length is None else rest_length
        (first, x), (second, y) = nodes[a], nodes[b]
        springs.append(Spring((first, second), jnp.asarray(np.array([x, y], float)), stiffness, length, damping))
    return Deformable(tuple(nodes), tuple(springs))
