"""The actuators, loop closures and keyframes of a compiled MuJoCo model."""

from __future__ import annotations

import numpy as np

from ..joints import Free
from .builder import ModelBuilder
from .links import Assembly
from .mjcf_bodies import Bodies, unique_names
from .placement import Placement, rotation_matrix


def add_loops(mujoco, compiled, bodies: Bodies, assembly: Assembly, builder: ModelBuilder) -> None:
    """Add the active ``connect`` and ``weld`` equalities as loop closures."""
    m, names = compiled, unique_names(mujoco, compiled, "equality")
    if m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_EQUALITY:
        return
    kinds = {int(mujoco.mjtEq.mjEQ_CONNECT): "connect", int(mujoco.mjtEq.mjEQ_WELD): "weld"}
    for i in range(m.neq):
        if int(m.eq_type[i]) not in kinds or not m.eq_active0[i]:
            continue
        kind, data = kinds[int(m.eq_type[i])], np.array(m.eq_data[i])
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


def add_actuators(mujoco, compiled, bodies: Bodies, builder: ModelBuilder) -> None:
    """Add the actuators on joints; those on joints that were fixed are dropped."""
    m, bits = compiled, mujoco.mjtDisableBit
    names = unique_names(mujoco, compiled, "actuator")
    clamped = not m.opt.disableflags & bits.mjDSBL_CLAMPCTRL
    for i in driven_joints(mujoco, compiled):
        joint = int(m.actuator_trnid[i, 0])
        link = bodies.joint_links[joint]
        if link is None:
            continue
        ball = m.jnt_type[joint] == mujoco.mjtJoint.mjJNT_BALL
        affine = m.actuator_biastype[i] == mujoco.mjtBias.mjBIAS_AFFINE
        builder.add_actuator(
            names[i],
            link,
            gear=m.actuator_gear[i, :3] if ball else m.actuator_gear[i, 0],
            gain=float(m.actuator_gainprm[i, 0]),
            bias=tuple(m.actuator_biasprm[i, :3]) if affine else (0.0, 0.0, 0.0),
            control_range=m.actuator_ctrlrange[i] if m.actuator_ctrllimited[i] and clamped else (-np.inf, np.inf),
            force_range=m.actuator_forcerange[i] if m.actuator_forcelimited[i] else (-np.inf, np.inf),
        )


def driven_joints(mujoco, compiled) -> list[int]:
    """The actuators that can be taken over: on a joint, with a fixed gain, an affine or no bias, and no memory."""
    return [i for i in range(compiled.nu) if not actuator_problem(mujoco, compiled, i)]


def actuator_problem(mujoco, compiled, i: int) -> str:
    """Why an actuator cannot be taken over; empty if it can."""
    m, trn, bias = compiled, mujoco.mjtTrn, mujoco.mjtBias
    if int(m.actuator_trntype[i]) not in (int(trn.mjTRN_JOINT), int(trn.mjTRN_JOINTINPARENT)):
        return "does not act on a joint"
    kind = m.jnt_type[m.actuator_trnid[i, 0]]
    if kind == mujoco.mjtJoint.mjJNT_FREE:
        return "acts on a free joint"
    if kind == mujoco.mjtJoint.mjJNT_BALL:
        if m.actuator_trntype[i] == trn.mjTRN_JOINTINPARENT:
            return "acts on a ball joint in the parent's frame"
        if m.actuator_biastype[i] != bias.mjBIAS_NONE and m.actuator_biasprm[i, 1]:
            return "is a position servo on a ball joint"
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


def add_keyframes(compiled, bodies: Bodies, builder: ModelBuilder) -> None:
    """Add the file's keyframes, and the configuration MuJoCo starts from as ``"qpos0"``."""
    m = compiled
    names = unique_names(bodies.mujoco, m, "key")
    kept = driven_joints(bodies.mujoco, m)
    kept = [i for i in kept if bodies.joint_links[m.actuator_trnid[i, 0]] is not None]
    states = [(name, m.key_qpos[k], m.key_qvel[k], m.key_ctrl[k][kept]) for k, name in enumerate(names)]
    if "qpos0" not in names:
        states.append(("qpos0", m.qpos0, np.zeros(m.nv), np.zeros(len(kept))))
    for name, qpos, qvel, ctrl in states:
        builder.add_keyframe(name, *_state(bodies, np.array(qpos), np.array(qvel)), ctrl)


def _state(bodies: Bodies, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A state of MuJoCo's in our coordinates: free joints that were added or fixed, and twists in the body frame."""
    m, q, v = bodies.compiled, [], []
    moved = {link.name: link for link in bodies.links}
    for body in range(1, m.nbody):
        if body == bodies.freed:
            q.append(np.concatenate([m.body_pos[body], m.body_quat[body]]))
            v.append(np.zeros(6))
        for j in range(m.body_jntadr[body], m.body_jntadr[body] + m.body_jntnum[body]):
            link = bodies.joint_links[j]
            if link is None:
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
