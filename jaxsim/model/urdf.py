"""Models from URDF files, in pure Python."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from ..joints import Free
from .builder import ModelBuilder
from .links import WORLD, Assembly, Link
from .model import Model
from .placement import Placement
from .report import Report
from .safe_xml import Node, Source, parse, read_source
from .urdf_elements import Elements
from .urdf_joints import Joint, check_tree, coordinates, followers, joint_kind, named, read_joints


def load_urdf(
    path_or_text: str | Path,
    floating: bool | None = None,
    merge_fixed: bool = True,
    package_dirs: Sequence[str | Path] = (),
    *,
    strict: bool = True,
    dtype=None,
) -> Model:
    """The model of a URDF file or of URDF text.

    Args:
        path_or_text: a path, or the XML itself.
        floating: ``True`` gives the root link a free joint, ``False`` fixes it to the world; ``None`` does what the
            file says, which is a fixed root unless the file has a joint of type ``floating`` above it.
        merge_fixed: whether links on fixed joints become part of their parents. They stay known by name in
            ``model.frames``.
        package_dirs: where ``package://`` references of meshes are looked for, when meshes are asked for.
        strict: whether what is unsupported or impossible and changes the physics is an error; ``False`` makes it a
            warning.
        dtype: the floating-point type of the leaves, JAX's default if ``None``.

    Raises:
        ValueError: one that lists everything that is wrong with the file or not supported.
    """
    return urdf_model(read_source(path_or_text), floating, merge_fixed, package_dirs, strict, dtype)


def urdf_model(source: Source, floating, merge_fixed, package_dirs, strict, dtype, root: Node | None = None) -> Model:
    """The model of a source that has been read."""
    root = parse(source) if root is None else root
    report = Report(source.name, strict)
    if root.tag != "robot":
        report.error(f"the root element is <{root.tag}>, but a URDF begins with <robot>.")
        report.raise_errors()
    elements = Elements(report, source.directory, tuple(str(directory) for directory in package_dirs))
    _report_extensions(root, elements)
    nodes, joints = named(root, "link", report), read_joints(root, elements)
    check_tree(nodes, joints, report)
    report.raise_errors()
    links, mimics = _links(nodes, joints, elements, floating)
    report.raise_errors()
    assembly = Assembly(links, merge_fixed)
    assembly.check(report, {follower: leader for follower, (leader, _, _) in mimics.items()})
    report.raise_errors()
    builder = ModelBuilder(check_inertias=False)
    try:
        assembly.fill(builder)
        for follower, (leader, multiplier, offset) in mimics.items():
            builder.add_mimic(follower, leader, multiplier, offset)
        model = builder.build(dtype)
    except ValueError as error:
        raise ValueError(f"{source.name}: {error}") from None
    report.warn()
    return model


def _report_extensions(root: Node, elements: Elements) -> None:
    """Read the materials, and report what a robot contains besides links, joints and materials."""
    for node in root.children:
        if node.tag == "material":
            color = elements.material(node)
            if color is not None and "name" in node.attributes:
                elements.materials[node.attributes["name"]] = color
        elif node.tag.startswith("xacro:"):
            elements.report.unsupported(f"{node} is a xacro macro; expand the file with xacro first.")
        elif node.tag in ("loop_joint", "drake:linear_bushing_rpy", "drake:ball_constraint"):
            elements.report.unsupported(f"{node} closes a loop, which URDF loading does not support; use MJCF.")
        elif node.tag not in ("link", "joint"):
            elements.report.left_out(f"<{node.tag}>")


def _links(nodes: dict[str, Node], joints: list[Joint], elements: Elements, floating: bool | None):
    """The links in the order of the tree, and the followers: child link → (leader's child link, multiplier, offset)."""
    children: dict[str, list[Joint]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    root = next(name for name in nodes if name not in {joint.child for joint in joints})
    links = [_root_link(root, nodes[root], children.get(root, []), elements, floating)]
    rename = {root: links[0].name}
    stack = list(reversed(children.get(root, [])))
    while stack:
        joint = stack.pop()
        if floating is False and joint.type == "floating" and joint.parent == root:
            joint = dataclasses.replace(joint, type="fixed")
        if joint.child == WORLD:
            elements.report.error(f"the link {WORLD!r} must be the root of the tree or have another name; rename it.")
        parent = rename.get(joint.parent, joint.parent)
        links.append(_link(joint.child, nodes[joint.child], parent, joint, elements))
        stack.extend(reversed(children.get(joint.child, [])))
    return links, followers(joints, elements)


def _root_link(name: str, node: Node, below: list[Joint], elements: Elements, floating: bool | None) -> Link:
    inertia = elements.inertia(node)
    empty = inertia is None or inertia.is_zero
    already_free = empty and bool(below) and all(joint.type == "floating" for joint in below)
    free = floating is True and not already_free
    link = _link(name, node, WORLD, None, elements, inertia)
    if free:
        return dataclasses.replace(link, name="world_link" if name == WORLD else name, joint=Free())
    return link


def _link(name: str, node: Node, parent: str, joint: Joint | None, elements: Elements, inertia=None) -> Link:
    elements.leave_out(node, {"inertial", "visual", "collision", "gravity", "kinematic"})
    for tag, values in (("gravity", ("0", "false")), ("kinematic", ("1", "true"))):
        if any(child.text.strip().lower() in values for child in node.all(tag)):
            elements.report.unsupported(f"{node} has <{tag}>{values[1]}</{tag}>, which is not supported; remove it.")
    inertia = elements.inertia(node) if joint is not None else inertia
    kind, data, place = None, {}, Placement()
    if joint is not None:
        kind, data, place = joint_kind(joint, elements), coordinates(joint, elements), elements.origin(joint.node)
    return Link(
        name,
        parent,
        kind,
        "root_joint" if joint is None else joint.name,
        place,
        inertia,
        data,
        elements.shapes(node),
        where=f"line {node.line}",
    )
