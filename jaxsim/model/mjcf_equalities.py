"""The equalities of a compiled MuJoCo model: loop closures, and joints that follow others.

MuJoCo holds all equalities by soft constraints. Here ``connect`` and ``weld`` are kept as loop closures, and a linear
equality of two joints becomes an exact coupling of coordinates.
"""

from __future__ import annotations

import numpy as np

from .builder import ModelBuilder
from .coupling import Follower
from .links import Assembly
from .mjcf_bodies import Bodies, unique_names
from .mjcf_tendons import fixed_tendon
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
    """MuJoCo's joints that follow others, and the equalities that cannot be taken over, with the reasons.

    Measured from the configuration q⁰ that MuJoCo starts from, q₁ − q₁⁰ = a₀ + a₁ (q₂ − q₂⁰): the first joint follows
    the second, or the second the first if the first one follows another already.
    """
    m, kinds = compiled, mujoco.mjtEq
    found: dict[int, Follower] = {}
    problems: dict[int, str] = {}
    for i in sorted(_active(mujoco, m, kinds.mjEQ_JOINT) + _active(mujoco, m, kinds.mjEQ_TENDON)):
        pair = _joint_pair(m, i) if m.eq_type[i] == kinds.mjEQ_JOINT else _tendon_pair(mujoco, m, i)
        if isinstance(pair, str):
            problems[i] = pair
            continue
        joint, leader, a0, a1 = pair
        if joint in found and a1:
            joint, leader, a0, a1 = leader, joint, -a0 / a1, 1 / a1
        if joint in found or _root(leader, found) == joint:
            problems[i] = "couples joints that others couple already; remove it"
        else:
            start, start_leader = m.qpos0[m.jnt_qposadr[[joint, leader]]]
            found[joint] = Follower(joint, leader, a1, float(start + a0 - a1 * start_leader))
    return found, problems


_Pair = tuple[int, int, float, float]
"""A joint, the one it follows, a₀ and a₁."""


def _joint_pair(m, i: int) -> _Pair | str:
    """The pair of a ``joint`` equality, or what is wrong with it."""
    a = m.eq_data[i, :5]
    if m.eq_obj2id[i] < 0:
        return "holds a joint in place, which is not supported; leave the joint out"
    if np.any(a[2:]):
        return "is not linear, which is not supported; keep the first two coefficients of polycoef"
    return int(m.eq_obj1id[i]), int(m.eq_obj2id[i]), float(a[0]), float(a[1])


def _tendon_pair(mujoco, m, i: int) -> _Pair | str:
    """The pair of a ``tendon`` equality that holds the length c₁ q₁ + c₂ q₂ of one fixed tendon, or what is wrong."""
    tendon = fixed_tendon(mujoco, m, int(m.eq_obj1id[i])) if m.eq_obj2id[i] < 0 else None
    if tendon is None or len(tendon) != 2 or not all(tendon.values()):
        return "couples other than two joints by one fixed tendon, which is not supported; remove it"
    (leader, c), (joint, c_joint) = tendon.items()
    return joint, leader, float(m.eq_data[i, 0]) / c_joint, -c / c_joint


def _root(joint: int, found: dict[int, Follower]) -> int:
    """The joint that leads all those before this one."""
    while joint in found:
        joint = found[joint].leader
    return joint
