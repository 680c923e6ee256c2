"""The elements of a URDF file, one at a time: numbers, origins, inertias, shapes, joint data."""

from __future__ import annotations

import re

import numpy as np

from .body_inertia import BodyInertia
from .geometry import Mesh, PlacedShape, Shape, placed_shape
from .placement import Placement
from .report import LARGEST, Report
from .safe_xml import Node

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)

_ATTRIBUTES = {
    "origin": {"xyz", "rpy"},
    "mass": {"value"},
    "inertia": {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"},
    "inertial": {"name"},
    "box": {"size"},
    "sphere": {"radius"},
    "cylinder": {"radius", "length"},
    "capsule": {"radius", "length"},
    "mesh": {"filename", "scale"},
    "axis": {"xyz"},
    "limit": {"lower", "upper", "effort", "velocity"},
    "dynamics": {"damping", "friction"},
    "mimic": {"joint", "multiplier", "offset"},
    "parent": {"link"},
    "child": {"link"},
}
"""The attributes that are read; others are reported as left out."""


HARMLESS = {
    "calibration",
    "collision_checking",
    "contact",
    "gazebo",
    "ros2_control",
    "safety_controller",
    "self_filter",
    "sensor",
    "surface",
    "texture",
    "transmission",
    "verbose",
}
"""Elements of URDF and of its common extensions that do not change the dynamics."""


class Elements:
    """Reads elements and tells a report what is wrong with them; a default stands in so that reading can go on."""

    def __init__(self, report: Report, directory: str | None, package_dirs: tuple[str, ...]):
        self.report = report
        self.directory = directory
        self.package_dirs = package_dirs
        self.materials: dict[str, tuple[float, float, float, float]] = {}

    def only(self, node: Node, tag: str, required: bool = False) -> Node | None:
        """The one child with this tag."""
        found = list(node.all(tag))
        if len(found) > 1:
            self.report.error(f"{node} has {len(found)} <{tag}> elements; keep one.")
        if not found:
            if required:
                self.report.error(f"{node} has no <{tag}>; add one.")
            return None
        for attribute in found[0].attributes.keys() - _ATTRIBUTES.get(tag, found[0].attributes.keys()):
            self.report.unknown(f"attribute {attribute} of <{tag}>")
        return found[0]

    def leave_out(self, node: Node, known: set[str]) -> None:
        """Report the children of a node that are not among the known ones."""
        for child in node.children:
            if child.tag in HARMLESS:
                self.report.left_out(f"<{child.tag}>")
            elif child.tag not in known:
                self.report.unknown(f"<{child.tag}> in <{node.tag}>")

    def numbers(self, node: Node | None, attribute: str, count: int, default, finite: bool = True) -> np.ndarray:
        """``count`` numbers; without a default the attribute is required."""
        if node is None or attribute not in node.attributes:
            if default is None and node is not None:
                self.report.error(f"{node} has no attribute {attribute}; give {_count(count)}.")
            return np.zeros(count) if default is None else np.asarray(default, float).reshape(count)
        words = node.attributes[attribute].split()
        good = len(words) == count and all(_NUMBER.fullmatch(word) for word in words)
        values = np.array([float(word) for word in words]) if good else np.zeros(count)
        if not good or np.any(np.isnan(values)) or (finite and np.any(np.abs(values) > LARGEST)):
            kind = "finite " if finite else ""
            shown = node.attributes[attribute]
            self.report.error(f'{node} has {attribute}="{shown[:80]}"; it must be {_count(count, kind)}.')
            return np.zeros(count) if default is None else np.asarray(default, float).reshape(count)
        return values

    def number(self, node: Node | None, attribute: str, default: float | None, finite: bool = True) -> float:
        """One number; without a default the attribute is required."""
        return float(self.numbers(node, attribute, 1, default, finite)[0])

    def origin(self, node: Node) -> Placement:
        """The ``<origin>`` of a node: xyz and roll, pitch, yaw about fixed axes."""
        origin = self.only(node, "origin")
        xyz, rpy = self.numbers(origin, "xyz", 3, np.zeros(3)), self.numbers(origin, "rpy", 3, np.zeros(3))
        return Placement.from_rpy(tuple(xyz), rpy)

    def inertia(self, link: Node) -> BodyInertia | None:
        """The ``<inertial>`` of a link, in the link's frame."""
        inertial = self.only(link, "inertial")
        if inertial is None:
            return None
        self.leave_out(inertial, {"origin", "mass", "inertia"})
        mass = self.number(self.only(inertial, "mass", required=True), "value", None)
        if mass < 0.0:
            self.report.error(f"{link} has the mass {mass}; a mass must be positive.")
        node = self.only(inertial, "inertia", required=True)
        entries = {key: self.number(node, key, None) for key in sorted(_ATTRIBUTES["inertia"])}
        J = np.array([[entries["i" + "".join(sorted(row + column))] for column in "xyz"] for row in "xyz"])
        return BodyInertia(mass, inertia=J).moved(self.origin(inertial))

    def shapes(self, link: Node) -> list[PlacedShape]:
        """The shapes of a link; one that is drawn and collides with the same numbers is two shapes, as in the file."""
        shapes = []
        for node in link.children:
            if node.tag in ("visual", "collision"):
                self.leave_out(node, {"origin", "geometry", "material"})
                shape = self._shape(node)
                shapes += [] if shape is None else [shape]
        return shapes

    def _shape(self, node: Node) -> PlacedShape | None:
        geometry = self.only(node, "geometry", required=True)
        known = {"box", "sphere", "cylinder", "capsule", "mesh"}
        if geometry is None:
            return None
        self.leave_out(geometry, known)
        solids = [child.tag for child in geometry.children if child.tag in known]
        if len(solids) != 1:
            if len(solids) > 1 or not geometry.children:
                self.report.error(
                    f"{geometry} holds {len(solids)} shapes; it must hold one of {', '.join(sorted(known))}."
                )
            return None
        solid = self.only(geometry, solids[0])
        assert solid is not None
        mesh = None
        if solid.tag == "box":
            size = self.numbers(solid, "size", 3, None)
        elif solid.tag == "mesh":
            size, mesh = self.numbers(solid, "scale", 3, np.ones(3)), self._mesh(solid)
        else:
            names = ("radius",) if solid.tag == "sphere" else ("radius", "length")
            size = np.array([self.number(solid, name, None) for name in names])
        drawn = node.tag == "visual"
        name = node.attributes.get("name", "")
        shape = Shape(solid.tag, 0, name, drawn, not drawn, self._color(node) if drawn else None, mesh)
        try:
            return placed_shape(shape, size, self.origin(node))
        except ValueError as error:
            self.report.error(f"{solid}: {error}")
            return None

    def _mesh(self, node: Node) -> Mesh:
        if not node.attributes.get("filename"):
            self.report.error(f"{node} has no filename; give the path of the mesh.")
        return Mesh(node.attributes.get("filename", ""), self.directory, self.package_dirs)

    def _color(self, node: Node) -> tuple[float, float, float, float] | None:
        material = self.only(node, "material")
        if material is None:
            return None
        return self.material(material) or self.materials.get(material.attributes.get("name", ""))

    def material(self, node: Node) -> tuple[float, float, float, float] | None:
        """The colour of a material; textures are left out."""
        self.leave_out(node, {"color"})
        color = self.only(node, "color")
        if color is None or "rgba" not in color.attributes:
            return None
        r, g, b, a = self.numbers(color, "rgba", 4, (0.5, 0.5, 0.5, 1.0))
        return float(r), float(g), float(b), float(a)


def _count(count: int, kind: str = "") -> str:
    return f"one {kind}number" if count == 1 else f"{count} {kind}numbers"
