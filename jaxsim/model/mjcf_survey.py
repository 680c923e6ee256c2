"""What a compiled MuJoCo model contains that is not taken over."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .mjcf_bodies import unique_names
from .mjcf_controls import actuator_problem
from .mjcf_equalities import followers
from .mjcf_tendons import pulls
from .report import LARGEST, Report

_WITHOUT_EFFECT = {
    "nsensor": "sensor",
    "ncam": "camera",
    "nlight": "light",
    "ntex": "texture",
    "nskin": "skin",
    "nexclude": "contact exclusion",
    "npair": "contact pair",
    "nnumeric": "custom number",
    "ntext": "custom text",
    "ntuple": "custom tuple",
}


_NUMBERS = {
    "body": ("body", ("pos", "quat", "mass", "inertia", "ipos", "iquat")),
    "joint": ("jnt", ("pos", "axis", "stiffness")),
    "geom": ("geom", ("pos", "quat", "size")),
    "site": ("site", ("pos", "quat")),
    "actuator": ("actuator", ("gear", "gainprm", "biasprm")),
    "equality": ("eq", ("data",)),
    "key": ("key", ("qpos", "qvel", "ctrl")),
}
"""The numbers that are read, by the kind of object: the prefix of their arrays in a compiled model, and their names."""

_PER_DOF = ("damping", "armature", "frictionloss")

_FARTHEST = 1e6
"""References are absorbed in placements, where larger ones would leave no digits for what is left of a coordinate."""


def survey(mujoco, compiled, report: Report) -> None:
    """Report all that changes the physics and is unsupported, and all that has no effect on the dynamics."""
    for sentence in (*_elements(mujoco, compiled), *_joints(mujoco, compiled), *_actuators(mujoco, compiled)):
        report.unsupported(sentence)
    for sentence in _impossible(mujoco, compiled):
        report.error(sentence)
    for count, what in _WITHOUT_EFFECT.items():
        for _ in range(getattr(compiled, count)):
            report.left_out(what)
    for i in range(compiled.njnt):
        if compiled.jnt_limited[i] and compiled.jnt_type[i] == mujoco.mjtJoint.mjJNT_BALL:
            report.left_out("limit of a ball joint")
    for i in range(compiled.neq):
        if not compiled.eq_active0[i]:
            report.left_out("equality that is not active")
    used = {*compiled.actuator_trnid[compiled.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON, 0]}
    used |= {*compiled.eq_obj1id[compiled.eq_type == mujoco.mjtEq.mjEQ_TENDON]}
    for i in range(compiled.ntendon):
        if not pulls(compiled, i) and i not in used:
            report.left_out("tendon")
    if compiled.nmocap:
        names = _names(mujoco, compiled, "body", np.flatnonzero(compiled.body_mocapid >= 0))
        report.note(f"Mocap bodies stay where the file puts them: {names}.")


def _impossible(mujoco, m) -> Iterator[str]:
    """Numbers that MuJoCo compiles although nothing can come of them."""
    rows = [
        (kind, field, np.arange(len(getattr(m, f"{prefix}_{field}"))), getattr(m, f"{prefix}_{field}"))
        for kind, (prefix, fields) in _NUMBERS.items()
        for field in fields
    ]
    joint_of_q = np.searchsorted(m.jnt_qposadr, np.arange(m.nq), side="right") - 1
    rows.append(("joint", "springref", joint_of_q, m.qpos_spring))
    rows += [("joint", field, m.dof_jntid, getattr(m, f"dof_{field}")) for field in _PER_DOF]
    for kind, field, owners, values in rows:
        good = np.abs(values) <= LARGEST
        wrong = np.flatnonzero(~(good if good.ndim == 1 else good.all(axis=1)))
        if len(wrong):
            names = _names(mujoco, m, kind, dict.fromkeys(owners[wrong]))
            yield f"the {field} of {kind} {names} is not finite or beyond {LARGEST:g}; correct it."
    if not np.all(np.abs(m.opt.gravity) <= LARGEST):
        yield f"gravity is {m.opt.gravity.tolist()}; give three finite numbers."
    axes = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    lengths = np.linalg.norm(m.jnt_axis, axis=1)
    single = [j for j in range(m.njnt) if int(m.jnt_type[j]) in axes]
    if flat := [j for j in single if not abs(lengths[j] - 1) < 1e-6]:
        yield f"the axis of joint {_names(mujoco, m, 'joint', flat)} has no direction; give a vector other than zero."
    if far := [j for j in single if not abs(m.qpos0[m.jnt_qposadr[j]]) <= _FARTHEST]:
        yield f"the ref of joint {_names(mujoco, m, 'joint', far)} is not within ±{_FARTHEST:g}; correct it."


def _elements(mujoco, m) -> Iterator[str]:
    if pulling := [i for i in range(m.ntendon) if pulls(m, i)]:
        names = _names(mujoco, m, "tendon", pulling)
        yield (
            f"it has tendons with springs, dampers, friction, armature or limits ({names}), which are not supported; "
            "remove them."
        )
    for count, kind in (("nflex", "flex"), ("nplugin", "plugin")):
        if getattr(m, count):
            names = _names(mujoco, m, kind, range(getattr(m, count)))
            yield f"it has {kind}s ({names}), which are not supported; remove them."
    if np.any(m.body_gravcomp):
        names = _names(mujoco, m, "body", np.flatnonzero(m.body_gravcomp))
        yield f"it compensates gravity on bodies ({names}), which is not supported; remove gravcomp."
    if m.opt.density or m.opt.viscosity:
        yield (
            f"it has a medium of density {m.opt.density} and viscosity {m.opt.viscosity}, which is not supported; "
            "set both to zero."
        )
    yield from _equalities(mujoco, m)


def _equalities(mujoco, m) -> Iterator[str]:
    if m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_EQUALITY:
        return
    names, kinds = unique_names(mujoco, m, "equality"), mujoco.mjtEq
    for i, problem in followers(mujoco, m)[1].items():
        yield f"the equality {names[i]!r} {problem}."
    supported = {int(kind) for kind in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD, kinds.mjEQ_JOINT, kinds.mjEQ_TENDON)}
    active = [i for i in range(m.neq) if m.eq_active0[i]]
    if others := [names[i] for i in active if int(m.eq_type[i]) not in supported]:
        yield f"it has equalities of flexes ({', '.join(others)}), which are not supported; remove them."


def _joints(mujoco, m) -> Iterator[str]:
    names = unique_names(mujoco, m, "joint")
    for j in range(m.njnt):
        dofs = m.dof_jntid == j
        nonlinear = [getattr(m, "jnt_stiffnesspoly", np.zeros((m.njnt, 1)))[j]]
        nonlinear += [getattr(m, "dof_dampingpoly", np.zeros((m.nv, 1)))[dofs]]
        if any(np.any(coefficients) for coefficients in nonlinear):
            yield f"the joint {names[j]!r} has nonlinear stiffness or damping, which is not supported."
        if getattr(m, "jnt_plasticadr", np.full(m.njnt, -1))[j] >= 0:
            yield f"the joint {names[j]!r} has a plastic spring, which is not supported."
        if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE:
            if np.any(m.dof_armature[dofs]):
                yield f"the free joint {names[j]!r} has armature, which is not supported; use <freejoint/>."
            if m.jnt_stiffness[j]:
                yield f"the free joint {names[j]!r} has stiffness, which is not supported; use <freejoint/>."
        low, high = m.jnt_actfrcrange[j]
        if m.jnt_actfrclimited[j] and low != -high:
            yield f"the joint {names[j]!r} has actuatorfrcrange {low} {high}; it must be symmetric about zero."


def _actuators(mujoco, m) -> Iterator[str]:
    names = unique_names(mujoco, m, "actuator")
    if getattr(m, "nactuator", m.nu) != m.nu:
        yield "it has actuators with several controls, which are not supported."
    for i in range(m.nu):
        if problem := actuator_problem(mujoco, m, i):
            yield f"the actuator {names[i]!r} {problem}, which is not supported; make it a motor on joints."
    if m.opt.disableactuator:
        yield "it disables groups of actuators, which is not supported; remove them."


def _names(mujoco, m, kind: str, indices) -> str:
    objects = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
    return ", ".join(mujoco.mj_id2name(m, objects, int(i)) or f"{kind} {int(i)}" for i in indices)
