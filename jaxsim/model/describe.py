"""A model in words: its tree, joints, masses and limits."""

from __future__ import annotations

from typing import TextIO

import numpy as np

from ..joints import AbstractJoint
from .model import Model


def describe(model: Model, file: TextIO | None = None) -> None:
    """Print the model as a table with one row a body: the tree, the joints, their coordinates, masses and limits.

    >>> jaxsim.describe(jaxsim.robots.pendulum(links=2))
    """
    print(description(model), file=file)


def description(model: Model) -> str:
    """What ``describe`` prints."""
    kinds = joint_kinds(model)
    rows = [("body", "joint", "q", "v", "mass [kg]", "limits")]
    for body, indent in _tree(model):
        at_q, at_v = model.coordinates_of(body)
        follows = _follows(model, body)
        name = f"{indent}{model.body_names[body]}"
        joint = f"{kinds[body]} {model.joint_names[body]}" if body else ""
        rows.append(
            (name, joint + follows, _span(at_q), _span(at_v), f"{float(model.mass[body]):.4g}", _limits(model, at_q))
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(
        [_summary(model), "", table[0], "-" * sum(widths, 2 * len(widths) - 2), *table[1:], *_extras(model)]
    )


def joint_kinds(model: Model) -> list[str]:
    """The name of the kind of joint above each body; empty for the world."""
    kinds = [""] * model.num_bodies
    for joint, bodies in zip(model.joints, model.topology.groups, strict=True):
        for row, body in enumerate(bodies):
            kinds[body] = type(joint).__name__.lower() + _axis(joint, row)
    return kinds


def _axis(joint: AbstractJoint, row: int) -> str:
    axis = getattr(joint, "axis", None)
    if axis is None:
        return ""
    numbers = np.asarray(axis)[row]
    letters = [f"{sign}{letter}" for sign in ("", "-") for letter in "xyz"]
    for letter, unit in zip(letters, np.concatenate([np.eye(3), -np.eye(3)]), strict=True):
        if np.allclose(numbers, unit, atol=1e-6):
            return f"({letter})"
    return "(" + " ".join(f"{number:.3g}" for number in numbers) + ")"


def _tree(model: Model) -> list[tuple[int, str]]:
    """The bodies depth first in the order of their indices, with an indent that draws the tree."""
    children: list[list[int]] = [[] for _ in range(model.num_bodies)]
    for body in range(1, model.num_bodies):
        children[model.topology.parents[body]].append(body)
    rows, stack = [], [(0, "", "")]
    while stack:
        body, lead, branch = stack.pop()
        rows.append((body, lead + branch))
        below = lead + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
        last = children[body][-1:]
        stack.extend((child, below, "└─ " if [child] == last else "├─ ") for child in reversed(children[body]))
    return rows


def _span(span: slice) -> str:
    size = span.stop - span.start
    return "" if size == 0 else str(span.start) if size == 1 else f"{span.start}:{span.stop}"


def _limits(model: Model, at_q: slice) -> str:
    lower, upper = np.asarray(model.lower[at_q]), np.asarray(model.upper[at_q])
    if at_q.stop == at_q.start or not (np.isfinite(lower) | np.isfinite(upper)).any():
        return ""
    return ", ".join(f"[{low:.4g}, {high:.4g}]" for low, high in zip(lower, upper, strict=True))


def _follows(model: Model, body: int) -> str:
    """How the joint of a body follows another one; empty if it does not."""
    coupling, start = model.coupling, int(model.topology.q_start[body])
    followers = [] if coupling is None else [q for q, _ in coupling.followers]
    if coupling is None or start not in followers or model.topology.joint_nq[body] == 0:
        return ""
    leading = coupling.own_q[coupling.q_source[start]]
    leader = next(b for b in range(model.num_bodies) if model.topology.q_start[b + 1] > leading)
    index = followers.index(start)
    ratio, offset = float(coupling.multiplier[index]), float(coupling.offset[index])
    name = model.joint_names[leader] if ratio == 1.0 else f"{ratio:.4g} {model.joint_names[leader]}"
    return f" = {name}" + (f" {'-' if offset < 0 else '+'} {abs(offset):.4g}" if offset else "")


def _summary(model: Model) -> str:
    gravity = ", ".join(f"{component:.4g}" for component in np.asarray(model.gravity))
    mass = float(np.sum(np.asarray(model.mass)))
    return (
        f"{model.num_bodies - 1} bodies, nq = {model.nq}, nv = {model.nv}, total mass {mass:.6g} kg, "
        f"gravity ({gravity}) m/s²"
    )


def _extras(model: Model) -> list[str]:
    """One line for each kind of data that the model carries besides the tree."""
    shapes = [f"{shape.kind}" for shape in model.geometry.shapes]
    counts = ", ".join(f"{shapes.count(kind)} {kind}" for kind in dict.fromkeys(shapes))
    lists = {
        "shapes": counts,
        "frames": ", ".join(
            f"{name} (on {model.body_names[body]})"
            for name, body in zip(model.frames.names, model.frames.bodies, strict=True)
        ),
        "loops": ", ".join(
            f"{loop.kind} {model.body_names[loop.body_a]}–{model.body_names[loop.body_b]}" for loop in model.loops.loops
        ),
        "actuators": ", ".join(model.actuation.names),
        "keyframes": ", ".join(model.keyframes.names),
    }
    lines = [f"{title}: {text}" for title, text in lists.items() if text]
    return ["", *lines] if lines else []
