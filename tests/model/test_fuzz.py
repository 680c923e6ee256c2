"""Damaged URDF files: every one is a correct model or a clean error."""

import dataclasses
import math
import time
import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings

import jaxsim
from jaxsim.model.placement import rotation_matrix
from tests.model.mutations import REPEATABLE, damaged
from tests.model.weights import pseudo_inertia, total_pseudo_inertia

URDF = """<robot name="r">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"><inertial><origin xyz="0.1 0 0.2" rpy="0.1 0.2 0.3"/><mass value="2.5"/>
    <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.12" iyz="0" izz="0.15"/></inertial></link>
  <link name="a"><inertial><mass value="1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry><material name="red"/></visual></link>
  <link name="b"><inertial><mass value="0.5"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="c"><inertial><mass value="0.7"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <link name="tip"/>
  <joint name="j1" type="revolute"><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><parent link="base"/><child link="a"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="2" effort="3" velocity="4"/>
    <dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="j2" type="prismatic"><origin xyz="0 1 0"/><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="1" effort="3" velocity="4"/></joint>
  <joint name="j3" type="continuous"><origin rpy="1 0 0"/><parent link="a"/><child link="c"/>
    <mimic joint="j1" multiplier="0.5" offset="0"/></joint>
  <joint name="j4" type="fixed"><origin xyz="0 0 0.5"/><parent link="c"/><child link="tip"/></joint>
</robot>"""

FREEDOMS = {"revolute": 1, "continuous": 1, "prismatic": 1, "fixed": 0, "floating": 6, "planar": 3}


def pose(node) -> np.ndarray:
    """The homogeneous matrix of an <origin>, by rotations about the fixed axes x, y, z."""
    origin = node.find("origin")
    xyz, rpy = (
        [float(x) for x in (origin.get(key, "0 0 0") if origin is not None else "0 0 0").split()]
        for key in ("xyz", "rpy")
    )
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(x), math.sin(x)) for x in rpy)
    T = np.eye(4)
    T[:3, :3] = (
        np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    )
    T[:3, 3] = xyz
    return T


@dataclasses.dataclass
class Reading:
    """Another reading of the same file: what stands where at rest, what it weighs, and how it can move."""

    nv: int
    places: dict[str, np.ndarray]
    axes: dict[str, np.ndarray]
    weights: np.ndarray


def read(text: str) -> Reading:
    root = ET.fromstring(text)
    above = {joint.find("child").get("link"): joint for joint in root.findall("joint")}

    def place(name):
        return place(above[name].find("parent").get("link")) @ pose(above[name]) if name in above else np.eye(4)

    places = {link.get("name"): place(link.get("name")) for link in root.findall("link")}
    movable = [joint for joint in root.findall("joint") if joint.get("type") != "fixed"]
    axes = {}
    for joint in movable:
        if joint.get("type") in ("revolute", "continuous", "prismatic"):
            node = joint.find("axis")
            axis = np.array([float(x) for x in (node.get("xyz", "1 0 0") if node is not None else "1 0 0").split()])
            axes[joint.get("name")] = places[joint.find("child").get("link")][:3, :3] @ axis / np.linalg.norm(axis)
    weights = np.zeros((4, 4))
    for link in root.findall("link"):
        node = link.find("inertial")
        if node is not None:
            J = [[float(node.find("inertia").get("i" + min(a, b) + max(a, b))) for b in "xyz"] for a in "xyz"]
            T = places[link.get("name")] @ pose(node)
            weights += pseudo_inertia(float(node.find("mass").get("value")), T, np.array(J))
    nv = sum(FREEDOMS[joint.get("type")] for joint in movable if joint.find("mimic") is None)
    return Reading(nv, places, axes, weights)


def rest_poses(model) -> list[np.ndarray]:
    """The poses of the bodies when all joints are at rest, without JAX."""
    poses = [np.eye(4)]
    for body in range(1, model.num_bodies):
        T = np.eye(4)
        T[:3, :3] = rotation_matrix(np.asarray(model.orientation[body]))
        T[:3, 3] = model.position[body]
        poses.append(poses[model.topology.parents[body]] @ T)
    return poses


def is_right(model, text: str) -> None:
    """The model says what the file says, and nothing in it is impossible."""
    reading = read(text)
    assert "Free" in [type(joint).__name__ for joint in model.joints]
    assert model.nv in (reading.nv, reading.nv + 6)  # a massless root above a floating joint is not freed again
    poses = rest_poses(model)
    for name, place in reading.places.items():
        known = "world_link" if name == "world" and "world_link" in model.body_names else name
        body, position = (int(x) if i == 0 else np.asarray(x) for i, x in enumerate(model.attachment(known)))
        np.testing.assert_allclose(
            poses[body][:3, :3] @ position + poses[body][:3, 3], place[:3, 3], rtol=1e-9, atol=1e-9
        )
    for joint, bodies in zip(model.joints, model.topology.groups, strict=True):
        for axis, body in zip(getattr(joint, "axis", ()), bodies, strict=False):
            expected = reading.axes[model.joint_names[body]]
            np.testing.assert_allclose(poses[body][:3, :3] @ np.asarray(axis), expected, atol=1e-9)
    weights = total_pseudo_inertia(model, poses)
    np.testing.assert_allclose(weights, reading.weights, rtol=1e-9, atol=1e-9 * np.abs(reading.weights).max())
    for leaf in (model.mass, model.com, model.inertia, model.position, model.damping):
        assert np.all(np.isfinite(leaf))
    moments = np.linalg.eigvalsh(np.asarray(model.inertia))
    assert np.all(moments[:, 2] <= (moments[:, 0] + moments[:, 1]) * (1 + 1e-5) + 1e-11 * np.asarray(model.mass))


def judge(text: str) -> str:
    """Load a text and say what came of it; anything but a right model or a clean error fails."""
    started = time.perf_counter()
    outcome = attempt(text)
    assert time.perf_counter() - started < 30
    if isinstance(outcome, FileNotFoundError):
        assert not text.lstrip().startswith("<")
        return "no text"
    if isinstance(outcome, ValueError):
        assert str(outcome).startswith("the XML text")
        assert len(str(outcome)) < 20_000
        return "refused"
    is_right(outcome, text)
    return "loaded"


def attempt(text: str):
    """The model, or the error that says why there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return jaxsim.load_urdf(text, floating=True)
        except (ValueError, FileNotFoundError) as error:
            return error


def test_the_undamaged_file_is_right():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        is_right(jaxsim.load_urdf(URDF, floating=True), URDF)


QUICK = settings(REPEATABLE, max_examples=150)


@QUICK
@given(damaged(URDF))
def test_damaged_files_are_right_or_refused(text):
    judge(text)


@pytest.mark.slow
@settings(QUICK, max_examples=2000, derandomize=False)
@given(damaged(URDF))
def test_many_damaged_files_are_right_or_refused(text):
    judge(text)


@QUICK
@given(damaged("<robot><link name='a'/></robot>"))
def test_tiny_files_are_right_or_refused(text):
    judge(text)
