"""Models from URDF files, in pure Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..joints import Free
from .builder import ModelBuilder
from .links import WORLD, Assembly, Link
from .model import Model
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
    links = {name: _read_link(name, node, elements) for name, node in named(root, "link", report).items()}
    joints = read_joints(root, elements)
    _hang(links, joints, elements)
    mimics = followers(joints, elements)
    check_tree(links, joints, report)
    report.raise_errors()
    assembly = Assembly(_in_order(links, joints, floating), merge_fixed)
    assembly.check(report, {follower: leader for follower, (leader, _, _) in mimics.items()})
    report.raise_errors()
    builder = ModelBuilder(check_inertias=False)
    try:
        assembly.fill(builder)
        for follower, (leader, multiplier, offset) in mimics.items():
            builder.add_mimic(follower, leader, multiplier, offset)
        model = builder.build(dtype, strict)
    except ValueError as error:
        raise ValueError(f"{source.name}: {error}") from None
    report.warn()
    return model


def _report_extensions(root: Node, elements: Elements) -> None:
    """Read the materials, and report what a robot contains besides links, joints and materials."""
    refused = set()
    for node in root.children:
        if node.tag == "material":
            color = elements.material(node)
            if color is not None and "name" in node.attributes:
                elements.materials[node.attributes["name"]] = color
        elif node.tag.startswith("xacro:"):
            refused.add(node.tag)
            elements.report.unsupported(f"{node} is a xacro macro; expand the file with xacro first.")
        elif node.tag in ("loop_joint", "drake:linear_bushing_rpy", "drake:ball_constraint"):
            refused.add(node.tag)
            elements.report.unsupported(f"{node} closes a loop, which URDF loading does not support; use MJCF.")
    elements.leave_out(root, {"link", "joint", "material", *refused})


def _read_link(name: str, node: Node, elements: Elements) -> Link:
    """What a link carries; how it hangs in the tree is filled in by its joint."""
    elements.leave_out(node, {"inertial", "visual", "collision", "gravity", "kinematic"})
    for tag, values in (("gravity", ("0", "false")), ("kinematic", ("1", "true"))):
        if any(child.text.strip().lower() in values for child in node.all(tag)):
            elements.report.unsupported(f"{node} has <{tag}>{values[1]}</{tag}>, which is not supported; remove it.")
    inertia, shapes = elements.inertia(node), elements.shapes(node)
    return Link(name, WORLD, None, "root_joint", inertia=inertia, shapes=shapes, where=f"line {node.line}")


def _hang(links: dict[str, Link], joints: list[Joint], elements: Elements) -> None:
    """Read how every link hangs on its parent."""
    for joint in joints:
        kind, data, place = joint_kind(joint, elements), coordinates(joint, elements), elements.origin(joint.node)
        if joint.child in links:
            link = links[joint.child]
            link.parent, link.joint_name = joint.parent, joint.name
            link.joint, link.coordinates, link.placement = kind, data, place
        if joint.child == WORLD:
            elements.report.error(f"the link {WORLD!r} must be the root of the tree or have another name; rename it.")


def _in_order(links: dict[str, Link], joints: list[Joint], floating: bool | None) -> list[Link]:
    """The links depth first in the order of the file, with the root freed or fixed as asked."""
    children: dict[str, list[str]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint.child)
    root = next(name for name in links if name not in {joint.child for joint in joints})
    below = [links[name] for name in children.get(root, [])]
    if floating is False:
        for link in below:
            link.joint = None if isinstance(link.joint, Free) else link.joint
    top = links[root]
    empty = top.inertia is None or top.inertia.is_zero
    already_free = empty and bool(below) and all(isinstance(link.joint, Free) for link in below)
    if floating is True and not already_free:
        top.joint = Free()
        if root == WORLD:
            top.name = "world_link"
            for link in below:
                link.parent = top.name
    order, stack = [], [root]
    while stack:
        name = stack.pop()
        order.append(links[name])
        stack.extend(reversed(children.get(name, [])))
    return order
