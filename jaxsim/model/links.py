"""The links of a model file as a tree, and the bodies they make.

Every loader reads its file into a list of links, parents first. Links that are fixed to their parents are merged into
them on request; then the links become the bodies of a ``ModelBuilder``.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..joints import AbstractJoint
from .body_inertia import BodyInertia, check_inertia
from .builder import ModelBuilder
from .geometry import PlacedShape
from .placement import Placement
from .report import Report

WORLD = "world"

_ROTOR = 1e-9
"""The armature of joints that move no mass, in files that are loaded in spite of them."""


@dataclasses.dataclass
class Link:
    """A link of a file: how it hangs on its parent, what it weighs and what it carries.

    Attributes:
        name: its name, unique in the file.
        parent: the name of its parent, ``"world"`` for the world.
        joint: how it moves; ``None`` if it is fixed to its parent.
        joint_name: the name of that joint.
        placement: where the joint stands in the parent's frame.
        inertia: what it weighs, ``None`` for nothing.
        coordinates: the data of the joint's coordinates, as ``ModelBuilder.add_body`` takes them.
        shapes: its shapes, placed in its own frame; their body index is filled in later.
        frames: named frames in its own frame.
        where: the place in the file, for messages.
    """

    name: str
    parent: str
    joint: AbstractJoint | None
    joint_name: str
    placement: Placement = dataclasses.field(default_factory=Placement)
    inertia: BodyInertia | None = None
    coordinates: dict = dataclasses.field(default_factory=dict)
    shapes: list[PlacedShape] = dataclasses.field(default_factory=list)
    frames: list[tuple[str, Placement]] = dataclasses.field(default_factory=list)
    where: str = ""

    @property
    def label(self) -> str:
        """The link in a message."""
        return f"link {self.name!r}" + (f" ({self.where})" if self.where else "")


class Assembly:
    """Links as bodies: which body every link became part of, and where it stands there.

    A root link named ``"world"`` that is fixed is the world itself.
    """

    def __init__(self, links: list[Link], merge_fixed: bool):
        self.world = Link(WORLD, "", None, "")
        self.bodies: list[Link] = []
        self.hosts: dict[str, tuple[Link, Placement]] = {WORLD: (self.world, Placement())}
        self.merged: list[Link] = []
        for link in links:
            if link.name == WORLD:
                self.world.shapes, self.world.frames = list(link.shapes), list(link.frames)
                continue
            host, offset = self.hosts[link.parent]
            placement = offset @ link.placement
            if link.joint is None and merge_fixed:
                self.hosts[link.name] = host, placement
                self._merge(link, host, placement)
            else:
                body = dataclasses.replace(
                    link, parent=host.name, placement=placement, shapes=list(link.shapes), frames=list(link.frames)
                )
                self.hosts[link.name] = body, Placement()
                self.bodies.append(body)

    def _merge(self, link: Link, host: Link, placement: Placement) -> None:
        self.merged.append(link)
        host.frames.append((link.name, placement))
        host.frames.extend((name, placement @ inner) for name, inner in link.frames)
        host.shapes.extend(dataclasses.replace(s, placement=placement @ s.placement) for s in link.shapes)
        if link.inertia is not None:
            moved = link.inertia.moved(placement)
            host.inertia = moved if host.inertia is None else host.inertia + moved

    def check(self, report: Report, leaders: dict[str, str]) -> None:
        """Whether every body can have its inertia, and whether every joint has something to move.

        For those who insist, joints that have nothing to move get a rotor of no weight.

        Args:
            report: where problems go.
            leaders: the links whose joints follow those of others, and these others.
        """
        if odd := [repr(link.name) for link in self.merged if _inertia_problem(link)]:
            report.note(
                f"No rigid body can have the inertia of {', '.join(odd)}; as parts of what they are fixed to they do "
                "no harm."
            )
        for body in self.bodies:
            if problem := _inertia_problem(body):
                report.unsupported(problem)
        loaded = {WORLD}
        for body in reversed(self.bodies):
            if (body.inertia is not None and body.inertia.mass > 0) or body.name in loaded:
                loaded |= {body.name, body.parent}
        driven = {leader for follower, leader in leaders.items() if follower in loaded}
        for body in self.bodies:
            idle = body.name not in loaded | driven | set(leaders) and not np.any(body.coordinates.get("armature", 0.0))
            if body.joint is not None and body.joint.nv and idle:
                report.unsupported(
                    f"The joint {body.joint_name!r} of {body.label} moves no mass at all, so its acceleration is "
                    "undefined; give the link an inertia or make the joint fixed."
                )
                body.coordinates = body.coordinates | {"armature": _ROTOR}

    def fill(self, builder: ModelBuilder) -> None:
        """Add all bodies, shapes and frames to a builder."""
        for body in self.bodies:
            inertia = None if body.inertia is None or body.inertia.is_zero else body.inertia
            builder.add_body(
                body.name, body.parent, body.joint, body.placement, inertia, body.joint_name, **body.coordinates
            )
        for body in (self.world, *self.bodies):
            for item in body.shapes:
                s = item.shape
                builder.add_geometry(
                    body.name, s.kind, item.size, item.placement, s.name, s.visual, s.collision, s.rgba, s.mesh
                )
            for name, placement in body.frames:
                builder.add_frame(name, body.name, placement)


def _inertia_problem(link: Link) -> str:
    """The sentence that says why no body can have the inertia of a link; empty if one can."""
    if link.inertia is None or link.inertia.is_zero:
        return ""
    try:
        check_inertia(link.name, link.inertia)
    except ValueError as error:
        return f"{error}" + (f" ({link.where})" if link.where else "")
    return ""
