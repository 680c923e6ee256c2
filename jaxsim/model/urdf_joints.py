"""The joints of a URDF file: the tree they make, how they move, and what they follow."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

import numpy as np

from ..joints import AbstractJoint, Free, Free2D, Prismatic, Revolute
from .report import Report
from .safe_xml import Node
from .urdf_elements import Elements

_JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")


@dataclasses.dataclass
class Joint:
    """A ``<joint>``: its name, type and place in the tree, and the node it came from."""

    name: str
    type: str
    parent: str
    child: str
    node: Node


def named(root: Node, tag: str, report: Report) -> dict[str, Node]:
    """The nodes with this tag by name."""
    nodes: dict[str, Node] = {}
    for node in root.all(tag):
        name = node.attributes.get("name", "")
        if not name:
            report.error(f"{node} has no name; give it one.")
        elif name in nodes:
            report.error(f"{node} has the same name as the one on line {nodes[name].line}; names must be unique.")
        nodes[name] = node
    if not nodes and tag == "link":
        report.error("the robot has no <link>; add at least one.")
    return nodes


def read_joints(root: Node, elements: Elements) -> list[Joint]:
    """The joints in the order of the file."""
    joints = []
    for name, node in named(root, "joint", elements.report).items():
        kind = node.attributes.get("type", "")
        if kind not in _JOINT_TYPES:
            elements.report.error(f'{node} has type="{kind}"; the types are {", ".join(_JOINT_TYPES)}.')
        ends = [elements.only(node, tag, required=True) for tag in ("parent", "child")]
        parent, child = ("" if end is None else end.attributes.get("link", "") for end in ends)
        joints.append(Joint(name, kind, parent, child, node))
    return joints


def check_tree(links: Collection[str], joints: list[Joint], report: Report) -> None:
    """Whether the joints make one tree of all links."""
    above: dict[str, Joint] = {}
    for joint in joints:
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                report.error(f"{joint.node} has the {role} link {link!r}, which the file does not define; add it.")
        if joint.child in above:
            report.error(
                f"the link {joint.child!r} is the child of two joints, {above[joint.child].name!r} and {joint.name!r}; "
                "a URDF is a tree, remove one."
            )
        above[joint.child] = joint
    roots = [name for name in links if name not in above]
    if len(roots) > 1:
        report.error(f"the file has {len(roots)} root links, {', '.join(map(repr, roots))}; join them by joints.")
    reached, stack = set(roots), list(roots)
    below: dict[str, list[str]] = {}
    for joint in joints:
        below.setdefault(joint.parent, []).append(joint.child)
    while stack:
        fresh = [link for link in below.get(stack.pop(), []) if link not in reached]
        reached.update(fresh)
        stack.extend(fresh)
    if stuck := [link for link in links if link not in reached and above[link].parent in links]:
        path, link = {}, stuck[0]
        while link not in path and link in above:
            path[link] = above[link].parent
            link = path[link]
        loop = sorted(path) if link not in path else sorted(_cycle(path, link))
        report.error(f"the links {', '.join(map(repr, loop))} form a cycle; a URDF is a tree, break it.")


def _cycle(parent: dict[str, str], start: str) -> list[str]:
    links, link = [start], parent[start]
    while link != start:
        links.append(link)
        link = parent[link]
    return links


def joint_kind(joint: Joint, elements: Elements) -> AbstractJoint | None:
    """How the child moves; ``None`` if it does not."""
    axis = elements.numbers(elements.only(joint.node, "axis"), "xyz", 3, (1.0, 0.0, 0.0))
    if joint.type in ("fixed", "floating"):
        return None if joint.type == "fixed" else Free()
    length = np.linalg.norm(axis)
    if length < 1e-12:
        elements.report.error(f"{joint.node} has the axis {axis.tolist()}, which has no direction.")
        return None
    axis = axis / length
    if joint.type == "planar":
        return Free2D(_plane(axis))
    return Prismatic(axis) if joint.type == "prismatic" else Revolute(axis)


def _plane(normal: np.ndarray) -> np.ndarray:
    """Two axes across the normal and the normal: what the least rotation that takes z there makes of x, y and z."""
    x, y, z = normal
    if z < -1 + 1e-9:
        return np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])
    k = 1 / (1 + z)
    return np.array([[1 - k * x * x, -k * x * y, -x], [-k * x * y, 1 - k * y * y, -y], [x, y, z]])


def coordinates(joint: Joint, elements: Elements) -> dict:
    """Damping, friction and limits of a joint's coordinates."""
    elements.leave_out(joint.node, {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"})
    limit, dynamics = elements.only(joint.node, "limit"), elements.only(joint.node, "dynamics")
    data = {
        "damping": elements.number(dynamics, "damping", 0.0),
        "friction": elements.number(dynamics, "friction", 0.0),
        "velocity_limit": elements.number(limit, "velocity", np.inf, finite=False),
        "effort_limit": elements.number(limit, "effort", np.inf, finite=False),
    }
    for name, value in data.items():
        if value < 0.0:
            elements.report.error(f"{joint.node} has the {name.replace('_', ' ')} {value}; it must not be negative.")
    if joint.type in ("fixed", "floating", "planar"):
        if joint.type != "fixed" and data["damping"]:
            elements.report.unsupported(f"{joint.node} has damping, which has no meaning for a {joint.type} joint.")
        return {}
    if joint.type == "continuous" or limit is None:
        if joint.type != "continuous":
            elements.report.note(f"{joint.node} has no <limit> and is taken as unlimited.")
        return data
    # the URDF specification gives a missing bound the value zero
    lower, upper = (elements.number(limit, end, 0.0, finite=False) for end in ("lower", "upper"))
    if lower > upper:
        elements.report.error(f"{joint.node} has the lower limit {lower} above the upper limit {upper}; swap them.")
    return data | {"lower": lower, "upper": upper}


def followers(joints: list[Joint], elements: Elements) -> dict[str, tuple[str, float, float]]:
    """The links whose joints mimic others: child link → (leader's child link, multiplier, offset)."""
    by_name = {joint.name: joint for joint in joints}
    followers = {}
    for joint in joints:
        mimic = elements.only(joint.node, "mimic")
        if mimic is None:
            continue
        if joint.type == "fixed":
            elements.report.left_out("<mimic> of a fixed joint")
            continue
        multiplier, offset = elements.number(mimic, "multiplier", 1.0), elements.number(mimic, "offset", 0.0)
        leader = by_name.get(mimic.attributes.get("joint", ""))
        movable = ("revolute", "continuous", "prismatic")
        if leader is None or leader.type not in movable or joint.type not in movable:
            elements.report.error(
                f"{joint.node} mimics the joint {mimic.attributes.get('joint', '')!r}; both must exist and be "
                "revolute, continuous or prismatic."
            )
            continue
        followers[joint.child] = (leader.child, multiplier, offset)
    return followers
