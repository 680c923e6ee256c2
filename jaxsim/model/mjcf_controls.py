"""The actuators and keyframes of a compiled MuJoCo model."""

from __future__ import annotations

import numpy as np

from ..joints import Free
from .builder import ModelBuilder
from .mjcf_bodies import Bodies, unique_names
from .mjcf_tendons import fixed_tendon
from .placement import rotation_matrix


def add_actuators(mujoco, compiled, bodies: Bodies, builder: ModelBuilder) -> None:
    """Add the actuators on joints and on fixed tendons."""
    m, bits = compiled, mujoco.mjtDisableBit
    names = unique_names(mujoco, compiled, "actuator")
    clamped = not m.opt.disableflags & bits.mjDSBL_CLAMPCTRL
    for i in usable_actuators(mujoco, compiled):
        joints = _pulled(mujoco, m, i)
        ball = m.jnt_type[next(iter(joints))] == mujoco.mjtJoint.mjJNT_BALL
        affine = m.actuator_biastype[i] == mujoco.mjtBias.mjBIAS_AFFINE
        builder.add_actuator(
            names[i],
            {bodies.link_of(joint): coefficient for joint, coefficient in joints.items()},
            gear=m.actuator_gear[i, :3] if ball else m.actuator_gear[i, 0],
            gain=float(m.actuator_gainprm[i, 0]),
            bias=tuple(m.actuator_biasprm[i, :3]) if affine else (0.0, 0.0, 0.0),
            control_range=m.actuator_ctrlrange[i] if m.actuator_ctrllimited[i] and clamped else (-np.inf, np.inf),
            force_range=m.actuator_forcerange[i] if m.actuator_forcelimited[i] else (-np.inf, np.inf),
        )


def _pulled(mujoco, m, i: int) -> dict[int, float]:
    """The joints that an actuator acts on, and with which coefficients: its own, or those of its fixed tendon."""
    target = int(m.actuator_trnid[i, 0])
    if m.actuator_trntype[i] != mujoco.mjtTrn.mjTRN_TENDON:
        return {target: 1.0}
    return fixed_tendon(mujoco, m, target) or {}


def usable_actuators(mujoco, compiled) -> list[int]:
    """The actuators that can be taken over."""
    return [i for i in range(compiled.nu) if not actuator_problem(mujoco, compiled, i)]


def actuator_problem(mujoco, compiled, i: int) -> str:
    """Why an actuator cannot be taken over; empty if it can: a fixed gain, an affine or no bias, and no memory."""
    m, bias = compiled, mujoco.mjtBias
    if problem := _transmission_problem(mujoco, m, i):
        return problem
    if m.actuator_dyntype[i] != mujoco.mjtDyn.mjDYN_NONE:
        return "has internal dynamics"
    if m.actuator_gaintype[i] != mujoco.mjtGain.mjGAIN_FIXED:
        return "has a gain that depends on the state"
    if int(m.actuator_biastype[i]) not in (int(bias.mjBIAS_NONE), int(bias.mjBIAS_AFFINE)):
        return "has a bias that is not affine"
    for field in ("armature", "damping", "dampingpoly", "delay"):
        if np.any(getattr(m, f"actuator_{field}", np.zeros((m.nu, 1)))[i]):
            return f"has {field}"
    return ""


def _transmission_problem(mujoco, m, i: int) -> str:
    """Why the force of an actuator cannot be brought to joints; empty if it can."""
    kind, target, trn = int(m.actuator_trntype[i]), int(m.actuator_trnid[i, 0]), mujoco.mjtTrn
    if kind == trn.mjTRN_TENDON:
        return "acts on a spatial tendon" if fixed_tendon(mujoco, m, target) is None else ""
    if kind not in (int(trn.mjTRN_JOINT), int(trn.mjTRN_JOINTINPARENT)):
        return "acts neither on a joint nor on a fixed tendon"
    if m.jnt_type[target] == mujoco.mjtJoint.mjJNT_FREE:
        return "acts on a free joint"
    if m.jnt_type[target] == mujoco.mjtJoint.mjJNT_BALL:
        if kind == trn.mjTRN_JOINTINPARENT:
            return "acts on a ball joint in the parent's frame"
        if m.actuator_biastype[i] != mujoco.mjtBias.mjBIAS_NONE and m.actuator_biasprm[i, 1]:
            return "is a position servo on a ball joint"
    return ""


def add_keyframes(compiled, bodies: Bodies, builder: ModelBuilder) -> None:
    """Add the file's keyframes, and the configuration MuJoCo starts from as ``"qpos0"``."""
    m = compiled
    names = unique_names(bodies.mujoco, m, "key")
    kept = usable_actuators(bodies.mujoco, m)
    states = [(name, m.key_qpos[k], m.key_qvel[k], m.key_ctrl[k][kept]) for k, name in enumerate(names)]
    if "qpos0" not in names:
        states.append(("qpos0", m.qpos0, np.zeros(m.nv), np.zeros(len(kept))))
    for name, qpos, qvel, ctrl in states:
        builder.add_keyframe(name, *_state(bodies, np.array(qpos), np.array(qvel)), ctrl)


def _state(bodies: Bodies, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A state of MuJoCo's in our coordinates: free joints added or fixed, followers left out, twists in body frames."""
    m, q, v = bodies.compiled, [], []
    moved = {link.name: link for link in bodies.links}
    for body in range(1, m.nbody):
        if body == bodies.freed:
            q.append(np.concatenate([m.body_pos[body], m.body_quat[body]]))
            v.append(np.zeros(6))
        for j in range(m.body_jntadr[body], m.body_jntadr[body] + m.body_jntnum[body]):
            link = bodies.joint_links[j]
            if link is None or j in bodies.followers:
                continue
            joint = moved[link].joint
            assert joint is not None
            at_q, at_v = m.jnt_qposadr[j], m.jnt_dofadr[j]
            q_j, v_j = qpos[at_q : at_q + joint.nq], qvel[at_v : at_v + joint.nv]
            if isinstance(joint, Free):
                R = rotation_matrix(q_j[3:] / np.linalg.norm(q_j[3:]))
                v_j = np.concatenate([v_j[3:], R.T @ v_j[:3]])
            q.append(q_j)
            v.append(v_j)
    return np.concatenate([np.zeros(0), *q]), np.concatenate([np.zeros(0), *v])
