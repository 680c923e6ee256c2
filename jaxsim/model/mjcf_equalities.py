"""The equalities of a compiled MuJoCo model: loop closures, and joints that follow others.

MuJoCo holds all equalities by soft constraints. Here ``connect`` and ``weld`` are kept as loop closures, and a linear
``joint`` equality becomes an exact coupling of coordinates.
"""

from __future__ import annotations

import numpy as np

from .builder import ModelBuilder
from .coupling import Follower
from .links import Assembly
from .mjcf_bodies import Bodies, unique_names
from .placement import Placement


def _active(mujoco, m, kind: int) -> list[int]:
    """The equalities of a kind that hold from the start."""
    if m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_EQUALITY:
        return []
    return [i for i in range(m.neq) if m.eq_type[i] == kind and m.eq_active0[i]]


def add_loops(mujoco, compiled, bodies: Bodies, assembly: Assembly, builder: ModelBuilder) -> None:
    """Add the active ``connect`` and ``weld`` equalities as loop closures."""
    m, names = compiled, unique_names(mujoco, compiled, "equality")
    kinds = dict.fromkeys(_active(mujoco, m, mujoco.mjtEq.mjEQ_CONNECT), "connect")
    kinds |= dict.fromkeys(_active(mujoco, m, mujoco.mjtEq.mjEQ_WELD), "weld")
    for i, kind in sorted(kinds.items()):
        data = np.array(m.eq_data[i])
        ends = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
        if m.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE:
            frames = [Placement(tuple(m.site_pos[site]), m.site_quat[site]) for site in ends]
            ends = int(m.site_bodyid[ends[0]]), int(m.site_bodyid[ends[1]])
        elif kind == "connect":
            frames = [Placement(tuple(data[:3])), Placement(tuple(data[3:6]))]
        else:
            frames = [Placement(tuple(data[3:6]), data[6:10]), Placement(tuple(data[:3]))]
        hosts, places = [], []
        for body, frame in zip(ends, frames, strict=True):
            host, offset = assembly.hosts[bodies.names[body]]
            hosts.append(host.name)
            places.append(offset @ bodies.frames[body] @ frame)
        builder.add_loop(kind, *hosts, *places, name=names[i])


def followers(mujoco, compiled) -> tuple[dict[int, Follower], dict[int, str]]:
    """MuJoCo's joints that follow others, and the ``joint`` equalities that cannot be taken over, with the reasons.

    An equality says q₁ − q₁⁰ = a₀ + a₁ (q₂ − q₂⁰) + a₂ (q₂ − q₂⁰)² + …, with the configuration q⁰ that MuJoCo starts
    from; the first joint follows the second if it is linear.
    """
    m, found, problems = compiled, {}, {}
    for i in _active(mujoco, m, mujoco.mjtEq.mjEQ_JOINT):
        joint, leader, a = int(m.eq_obj1id[i]), int(m.eq_obj2id[i]), m.eq_data[i, :5]
        root = leader
        while root in found:
            root = found[root].leader
        if leader < 0:
            problems[i] = "holds a joint in place; leave the joint out"
        elif np.any(a[2:]):
            problems[i] = "is not linear; keep the first two coefficients of polycoef"
        elif joint in found or root == joint:
            problems[i] = "couples joints that others couple already; remove it"
        else:
            starts = m.qpos0[m.jnt_qposadr[[joint, leader]]]
            found[joint] = Follower(joint, leader, float(a[1]), float(starts[0] + a[0] - a[1] * starts[1]))
    return found, problems
