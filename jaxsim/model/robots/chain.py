"""Serial chains."""

from __future__ import annotations

from ...joints import AbstractJoint, Revolute
from ..builder import BodyInertia, ModelBuilder
from ..model import Model


def chain(n: int, joint: AbstractJoint | None = None, length: float = 1.0, mass: float = 1.0) -> Model:
    """A chain of n equal rods hanging down from the world, each on a joint of the same kind.

    Args:
        n: the number of rods.
        joint: the joint above each rod; revolute about y by default.
        length: the length of a rod, in m.
        mass: the mass of a rod, in kg.
    """
    if n < 1:
        raise ValueError(f"A chain needs at least one link, but {n} were asked for.")
    joint = Revolute("y") if joint is None else joint
    builder = ModelBuilder()
    end = (0.0, 0.0, -length)
    for i in range(n):
        where = end if i else (0.0, 0.0, 0.0)
        builder.add_body(f"link{i + 1}", i, joint, where, BodyInertia.rod(mass, end, 0.05 * length))
    return builder.build()


def pendulum(links: int = 1, length: float = 1.0, mass: float = 1.0) -> Model:
    """A planar pendulum of equal rods that swings about y; q = 0 hangs down."""
    return chain(links, Revolute("y"), length, mass)
