"""What a compiled MuJoCo model contains that is not taken over."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .mjcf_bodies import unique_names
from .mjcf_controls import actuator_problem
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
    "body": ("pos", "quat", "mass", "inertia", "ipos", "iquat"),
    "joint": ("pos", "axis", "stiffness"),
    "geom": ("pos", "quat", "size"),
    "site": ("pos", "quat"),
}
_FIELDS = {"body": "body", "joint": "jnt", "geom": "geom", "site": "site"}


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


def _impossible(mujoco, m) -> Iterator[str]:
    """Numbers that MuJoCo compiles although nothing can come of them."""
    for kind, fields in _NUMBERS.items():
        for field in fields:
            values = getattr(m, f"{_FIELDS[kind]}_{field}")
            good = np.abs(values) <= LARGEST
            wrong = np.flatnonzero(~(good if good.ndim == 1 else good.all(axis=1)))
            if len(wrong):
                names = _names(mujoco, m, kind, wrong)
                yield f"the {field} of {kind} {names} is not finite or beyond {LARGEST:g}; correct it."
    axes = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    lengths = np.linalg.norm(m.jnt_axis, axis=1)
    flat = [j for j in range(m.njnt) if int(m.jnt_type[j]) in axes and not abs(lengths[j] - 1) < 1e-6]
    if flat:
        yield f"the axis of joint {_names(mujoco, m, 'joint', flat)} has no direction; give a vector other than zero."


def _elements(mujoco, m) -> Iterator[str]:
    for count, kind in (("ntendon", "tendon"), ("nflex", "flex"), ("nplugin", "plugin")):
        if getattr(m, count):
            names = _names(mujoco, m, kind, range(getattr(m, count)))
            yield f"it has {kind}s ({names}), which are not supported; remove them."
    if m.nmocap:
        names = _names(mujoco, m, "body", np.flatnonzero(m.body_mocapid >= 0))
        yield f"it has mocap bodies ({names}), which are not supported; remove mocap or the bodies."
    if np.any(m.body_gravcomp):
        names = _names(mujoco, m, "body", np.flatnonzero(m.body_gravcomp))
        yield f"it compensates gravity on bodies ({names}), which is not supported; remove gravcomp."
    if m.opt.density or m.opt.viscosity:
        yield (
            f"it has a medium of density {m.opt.density} and viscosity {m.opt.viscosity}, which is not supported; "
            "set both to zero."
        )
    supported = int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD)
    others = [i for i in range(m.neq) if int(m.eq_type[i]) not in supported and m.eq_active0[i]]
    if others:
        names = ", ".join(unique_names(mujoco, m, "equality")[i] for i in others)
        yield f"it has equalities other than connect and weld ({names}), which are not supported; remove them."


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
            yield f"the actuator {names[i]!r} {problem}, which is not supported; make it a motor on a joint."
    if m.opt.disableactuator:
        yield "it disables groups of actuators, which is not supported; remove them."


def _names(mujoco, m, kind: str, indices) -> str:
    objects = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
    return ", ".join(mujoco.mj_id2name(m, objects, int(i)) or f"{kind} {int(i)}" for i in indices)
