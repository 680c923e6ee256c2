"""Damaged MJCF files: every one is the model that MuJoCo sees or a clean error."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings

import jaxsim
from jaxsim.model.placement import rotation_matrix
from tests.model.mutations import REPEATABLE, damaged
from tests.model.weights import pseudo_inertia, total_pseudo_inertia

mujoco = pytest.importorskip("mujoco")
MJCF = """<mujoco>
  <compiler angle="radian"/>
  <option gravity="0 0 -9.81"/>
  <default><joint damping="0.1"/></default>
  <worldbody>
    <body name="torso" pos="0 0 1" euler="0.1 0.2 0.3"><freejoint name="root"/><geom type="box" size="0.1 0.2 0.3"/>
      <body name="arm" pos="0.1 0.2 0"><joint name="a1" axis="1 1 0" pos="0 0 0.1" ref="0.3" stiffness="3"/>
        <joint name="a2" axis="0 1 0" range="-1 1"/><geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.05"/>
        <body name="plate" pos="0 0 0.3"><geom type="sphere" size="0.05"/><site name="tip" pos="0 0 0.1"/></body></body>
      <body name="leg" pos="0 0 -0.3"><joint name="b" type="ball" pos="0 0.1 0"/>
        <geom type="ellipsoid" size="0.1 0.2 0.1"/>
        <body name="foot" pos="0 0 -0.2"><joint name="s" type="slide" axis="0 0 1" ref="0.1"/><geom size="0.05"/></body>
      </body></body>
  </worldbody>
  <equality><weld name="w" body1="plate" body2="foot"/></equality>
  <actuator><motor name="m" joint="a1" gear="2" ctrlrange="-1 1"/></actuator>
  <keyframe><key name="k" qpos="0 0 1 1 0 0 0 0.1 0.2 1 0 0 0 0.3"/></keyframe>
</mujoco>"""


def rest_poses(model) -> list[np.ndarray]:
    """The poses of the bodies at "qpos0", without JAX."""
    q = np.asarray(model.keyframes["qpos0"].q)
    kinds = {
        body: (joint, row)
        for joint, g in zip(model.joints, model.topology.groups, strict=True)
        for row, body in enumerate(g)
    }
    poses = [np.eye(4)]
    for body in range(1, model.num_bodies):
        place, move = np.eye(4), np.eye(4)
        place[:3, :3] = rotation_matrix(np.asarray(model.orientation[body]))
        place[:3, 3] = model.position[body]
        (joint, row), x = kinds[body], q[model.coordinates_of(body)[0]]
        kind = type(joint).__name__
        if kind in ("Free", "Spherical"):
            move[:3, :3] = rotation_matrix(x[-4:] / np.linalg.norm(x[-4:]))
            move[:3, 3] = x[:3] if kind == "Free" else 0
        elif kind != "Fixed":
            axis = np.asarray(joint.axis[row])
            turn = np.concatenate([[np.cos(x[0] / 2)], np.sin(x[0] / 2) * axis])
            move[:3, :3] = rotation_matrix(turn) if kind == "Revolute" else np.eye(3)
            move[:3, 3] = axis * x[0] if kind == "Prismatic" else 0
        poses.append(poses[model.topology.parents[body]] @ place @ move)
    return poses


def judge(text: str) -> str:
    """Load a text and say what came of it; anything but MuJoCo's model or a clean error fails."""
    outcome = attempt(text)
    if isinstance(outcome, FileNotFoundError):
        assert not text.lstrip().startswith("<")
        return "no text"
    if isinstance(outcome, ValueError):
        assert str(outcome).startswith("the XML text")
        return "refused"
    compiled = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(compiled)
    mujoco.mj_kinematics(compiled, data)
    assert (outcome.nq, outcome.nv) == (compiled.nq, compiled.nv)
    poses = rest_poses(outcome)
    scale = max(np.abs(data.xpos).max(), 1.0)
    for i in range(1, compiled.nbody):
        name = compiled.body(i).name or f"body{i}"
        body, point = outcome.attachment(name) if name in (*outcome.frames.names, *outcome.body_names) else (None, None)
        if body is not None:
            got = poses[body][:3, :3] @ np.asarray(point) + poses[body][:3, 3]
            np.testing.assert_allclose(got, data.xpos[i], atol=1e-9 * scale)
    theirs = np.zeros((4, 4))
    for i in range(1, compiled.nbody):
        if compiled.body_weldid[i]:
            T = np.eye(4)
            T[:3, :3], T[:3, 3] = data.ximat[i].reshape(3, 3), data.xipos[i]
            theirs += pseudo_inertia(compiled.body_mass[i], T, np.diag(compiled.body_inertia[i]))
    ours = total_pseudo_inertia(outcome, poses)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max(initial=0.0))
    return "loaded"


def attempt(text: str):
    """The model, or the error that says why there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return jaxsim.load_mjcf(text)
        except (ValueError, FileNotFoundError) as error:
            return error


def test_the_undamaged_file_is_right():
    assert judge(MJCF) == "loaded"


QUICK = settings(REPEATABLE, max_examples=80)


@QUICK
@given(damaged(MJCF))
def test_damaged_files_are_right_or_refused(text):
    judge(text)


@pytest.mark.slow
@settings(QUICK, max_examples=1500, derandomize=False)
@given(damaged(MJCF))
def test_many_damaged_files_are_right_or_refused(text):
    judge(text)
