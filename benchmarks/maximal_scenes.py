"""The mechanisms of the experiments in maximal coordinates, and how their figures are drawn."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib
import numpy as np

from jaxsim.maximal import WORLD, MaximalState, Mechanism, MechanismBuilder

matplotlib.use("agg")
import matplotlib.pyplot as plt

G = 9.81
PIN = "cylindrical_free_orientation"
"""Closes a loop of hinges in a plane with two rows instead of five, of which three would be redundant."""


def add_rod(builder: MechanismBuilder, length: float = 1.0, mass: float = 1.0) -> int:
    moment = mass * length**2 / 12
    return builder.add_body(mass, (moment + 1e-3 * mass, moment + 1e-3 * mass, 2e-3 * mass))


def along(start, end) -> list[float]:
    """The configuration of a rod in the yz-plane whose top (+z) is at ``start`` and whose bottom is at ``end``."""
    (y0, z0), (y1, z1) = start, end
    angle = np.arctan2(y1 - y0, -(z1 - z0))
    return [0.0, (y0 + y1) / 2, (z0 + z1) / 2, np.cos(angle / 2), np.sin(angle / 2), 0.0, 0.0]


def linkage(rods: Sequence[tuple], hinges: Sequence[tuple], closers: Sequence[tuple] = ()):
    """Rods between points of the yz-plane with hinges (parent, child, point); closers are pins of two rows."""
    builder, q = MechanismBuilder(), []
    for start, end in rods:
        add_rod(builder, float(np.hypot(end[0] - start[0], end[1] - start[1])))
        q.append(along(start, end))
    for kind, joints in (("revolute", hinges), (PIN, closers)):
        for parent, child, point in joints:
            ends = [_local(q, body, point) for body in (parent, child)]
            builder.add_joint(kind, parent, child, anchor_parent=ends[0], anchor_child=ends[1], axis="x",
                              orientation=_relative(q, parent, child))  # fmt: skip
    return builder.build(), jnp.asarray(q)


def _local(q, body, point):
    if body == WORLD:
        return (0.0, point[0], point[1])
    y, z = point[0] - q[body][1], point[1] - q[body][2]
    c, s = _turn(q, body)
    return (0.0, c * y + s * z, -s * y + c * z)


def _turn(q, body):
    angle = 2.0 * np.arctan2(q[body][4], q[body][3])
    return np.cos(angle), np.sin(angle)


def _relative(q, parent, child):
    half = [0.0 if body == WORLD else np.arctan2(q[body][4], q[body][3]) for body in (parent, child)]
    return (np.cos(half[1] - half[0]), np.sin(half[1] - half[0]), 0.0, 0.0)


def pendulum(n: int, kind: str = "revolute", scale: float = 1.0):
    """n rods of 1 m and 1 kg, times ``scale``, stretched out horizontally (Brüdigam et al. 2023, §7.2)."""
    builder = MechanismBuilder()
    for i in range(n):
        add_rod(builder, scale, scale)
        top = (0, 0, 0) if i == 0 else (0, 0, -scale / 2)
        builder.add_joint(kind, i - 1 if i else WORLD, i, anchor_parent=top, anchor_child=(0, 0, scale / 2), axis="x")
    return builder.build(), jnp.asarray([along((scale * i, 0.0), (scale * (i + 1), 0.0)) for i in range(n)])


def three_link_loop():
    """Rods of 1, √½ and 1 m between two pivots 1 m apart (Fig. 7a)."""
    elbow = (0.0, -1.0)
    angle = 0.75 * np.pi - np.arccos(0.75)
    knee = (elbow[0] + np.sqrt(0.5) * np.sin(angle), elbow[1] - np.sqrt(0.5) * np.cos(angle))
    rods = [((0.0, 0.0), elbow), (elbow, knee), (knee, (1.0, 0.0))]
    return linkage(rods, [(WORLD, 0, (0, 0)), (0, 1, elbow), (1, 2, knee)], [(WORLD, 2, (1.0, 0.0))])


def double_four_bar():
    """Five rods of 1 m upright between three pivots; singular whenever they all lie in one line."""
    feet, heads = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)], [(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)]
    rods = [*zip(feet, heads, strict=True), (heads[0], heads[1]), (heads[1], heads[2])]
    hinges = [(WORLD, i, foot) for i, foot in enumerate(feet)] + [(0, 3, heads[0]), (1, 4, heads[1])]
    return linkage(rods, hinges, [(1, 3, heads[1]), (2, 4, heads[2])])


def chain_of_loops(n: int):
    """n four-link loops, inclined, each hanging from the bar of the one above it: two rods and a bar."""
    rods, hinges, closers, above = [], [], [], WORLD
    for i in range(n):
        tops = [(0.6 * i + side, -0.8 * i) for side in (0.0, 1.0)]
        ends = [(y + 0.6, z - 0.8) for y, z in tops]
        first = len(rods)
        rods += [(tops[0], ends[0]), (tops[1], ends[1]), (ends[0], ends[1])]
        hinges += [(above, first, tops[0]), (above, first + 1, tops[1]), (first, first + 2, ends[0])]
        closers.append((first + 1, first + 2, ends[1]))
        above = first + 2
    return linkage(rods, hinges, closers)


def row_of_spheres(n: int):
    """n spheres on the ground, each touching the next."""
    builder, radius = MechanismBuilder(), 0.1
    for i in range(n):
        builder.add_body(1.0, (0.4 * radius**2,) * 3)
        builder.add_sphere_on_plane(i, radius=radius, friction=0.5)
    for i in range(n - 1):
        builder.add_capsule_on_capsule(i, i + 1, radius, radius, friction=0.5)
    return builder.build(), jnp.asarray([[(2 * radius + 1e-4) * i, 0, radius + 1e-4, 1.0, 0, 0, 0] for i in range(n)])


def box(friction: float = 0.5, half: float = 0.25, mass: float = 1.0):
    builder = MechanismBuilder()
    builder.add_box_on_plane(builder.add_body(mass, (2 / 3 * mass * half**2,) * 3), (half,) * 3, friction=friction)
    return builder.build()


@eqx.filter_jit
def advance(mechanism: Mechanism, integrator, state: MaximalState, steps: int, observe: Callable):
    """Many steps, of which only ``observe(mechanism, state, info)`` is kept."""

    def step(state, _):
        state, info = integrator.step(mechanism, state)
        return state, observe(mechanism, state, info)

    return jax.lax.scan(step, state, None, length=steps)


def energies(mechanism: Mechanism, q, v):
    """K + V of a state; with V at the middle of the interval of v the error is of second order."""
    return mechanism.kinetic_energy(v) + mechanism.potential_energy(q)


def save(figure, name: str) -> None:
    """Write a figure next to the scripts."""
    path = pathlib.Path(__file__).parent / "figures" / f"maximal_{name}.png"
    path.parent.mkdir(exist_ok=True)
    for axes in figure.axes:
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"drawn: {path.name}")
