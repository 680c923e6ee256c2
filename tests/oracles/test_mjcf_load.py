"""MJCF files: what is kept, what is refused, and in which words."""

import numpy as np
import pytest

import jaxsim

mujoco = pytest.importorskip("mujoco")


def mjcf(body: str = "", outside: str = "") -> str:
    return f"<mujoco><worldbody>{body}</worldbody>{outside}</mujoco>"


BODY = '<body name="b"><joint name="j"/><geom name="g" size="0.1"/><site name="s"/>{}</body>'
SIMPLE = BODY.format("")
PAIR = BODY.format('<body><joint name="k"/><geom size="0.1"/></body>')
TENDON = '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'

UNSUPPORTED = {
    "tendon": (
        mjcf(SIMPLE, '<tendon><fixed name="t" stiffness="1"><joint joint="j" coef="1"/></fixed></tendon>'),
        "armature or limits (t)",
    ),
    "gravcomp": (mjcf(SIMPLE.replace('name="b"', 'name="b" gravcomp="1"')), "compensates gravity on bodies (b)"),
    "medium": (mjcf(SIMPLE, '<option density="1.2"/>'), "medium of density 1.2"),
    "curved equality": (
        mjcf(PAIR, '<equality><joint name="e" joint1="j" joint2="k" polycoef="0 1 2 0 0"/></equality>'),
        "the equality 'e' is not linear",
    ),
    "lonely equality": (
        mjcf(PAIR, '<equality><joint name="e" joint1="j"/></equality>'),
        "the equality 'e' holds a joint in place",
    ),
    "equalities in a circle": (
        mjcf(PAIR, '<equality><joint joint1="j" joint2="k"/><joint name="e" joint1="k" joint2="j"/></equality>'),
        "the equality 'e' couples joints that others couple already",
    ),
    "tendon equality": (
        mjcf(PAIR, f'{TENDON}<equality><tendon name="e" tendon1="t"/></equality>'),
        "the equality 'e' couples other than two joints by one fixed tendon",
    ),
    "site actuator": (
        mjcf(SIMPLE, '<actuator><motor name="a" site="s"/></actuator>'),
        "'a' acts neither on a joint nor on a fixed tendon",
    ),
    "spatial tendon": (
        mjcf(
            '<site name="w"/>' + SIMPLE,
            '<tendon><spatial name="t"><site site="w"/><site site="s"/></spatial></tendon>'
            '<actuator><motor name="a" tendon="t"/></actuator>',
        ),
        "'a' acts on a spatial tendon",
    ),
    "activation": (
        mjcf(SIMPLE, '<actuator><intvelocity name="a" joint="j" actrange="0 1"/></actuator>'),
        "'a' has internal dynamics",
    ),
    "damper": (mjcf(SIMPLE, '<actuator><damper name="a" joint="j" ctrlrange="0 1"/></actuator>'), "'a' has a gain"),
    "free actuator": (
        mjcf(
            '<body><freejoint name="f"/><geom size="0.1"/></body>', '<actuator><motor name="a" joint="f"/></actuator>'
        ),
        "'a' acts on a free joint",
    ),
    "free armature": (
        mjcf('<body><joint name="f" type="free" armature="1"/><geom size="0.1"/></body>'),
        "free joint 'f' has armature",
    ),
    "free stiffness": (
        mjcf('<body><joint name="f" type="free" stiffness="1"/><geom size="0.1"/></body>'),
        "free joint 'f' has stiffness",
    ),
    "lopsided effort": (
        mjcf(SIMPLE.replace('name="j"', 'name="j" actuatorfrcrange="-1 2"')),
        "actuatorfrcrange -1.0 2.0; it must be symmetric",
    ),
}


@pytest.mark.parametrize("case", UNSUPPORTED)
def test_what_changes_the_physics_is_refused_unless_one_insists(case):
    text, sentence = UNSUPPORTED[case]
    with pytest.raises(ValueError, match="strict=False") as caught:
        jaxsim.load(text)
    assert sentence in str(caught.value)
    with pytest.warns(UserWarning, match="not supported|symmetric|equality"):
        jaxsim.load(text, strict=False)


def test_everything_unsupported_is_listed_at_once():
    outside = '<option viscosity="0.1"/>' + TENDON.replace("<fixed", '<fixed damping="1"')
    outside += '<actuator><motor name="a" site="s"/><intvelocity name="b" joint="j" actrange="0 1"/></actuator>'
    with pytest.raises(ValueError, match="4 problems") as caught:
        jaxsim.load(mjcf(SIMPLE, outside))
    for part in ("viscosity 0.1", "limits (t)", "actuator 'a'", "actuator 'b'"):
        assert part in str(caught.value)


def test_what_has_no_effect_is_named_in_one_warning():
    body = BODY.format('<camera name="c"/><light/><body name="n"><geom size="0.1"/></body>')
    outside = '<sensor><jointpos joint="j"/><jointvel joint="j"/></sensor>'
    outside += '<asset><texture name="x" type="2d" builtin="flat" width="4" height="4"/></asset>'
    outside += '<contact><exclude body1="b" body2="n"/></contact>'
    with pytest.warns(UserWarning, match="left out, without effect") as caught:
        jaxsim.load(mjcf(body, outside))
    (warning,) = caught
    for part in ("camera", "light", "sensor (2×)", "texture", "contact exclusion"):
        assert part in str(warning.message)


def test_idle_tendons_and_mocap_bodies_are_mentioned():
    """What measures and what marks does not pull: the model loads, and the warning says what became of it."""
    with pytest.warns(UserWarning, match="Mocap bodies stay where the file puts them: m") as caught:
        model = jaxsim.load(mjcf('<body name="m" mocap="true" pos="1 2 3"/>' + SIMPLE, TENDON))
    assert "tendon" in str(caught[0].message)
    assert (model.body_names, model.frames.names) == (("world", "b"), ("m", "s"))
    np.testing.assert_allclose(model.frames.position[0], [1, 2, 3])


def test_bodies_keep_their_names_where_sites_have_the_same():
    body = (
        '<body name="b"><joint pos="0 0 1"/><geom size="0.1"/><site name="b" pos="0 1 0"/><site name="b_site"/></body>'
    )
    with pytest.warns(UserWarning, match="renamed: 'b' is 'b_site_site'"):
        model = jaxsim.load(mjcf(body))
    np.testing.assert_allclose(model.attachment("b")[1], [0, 0, -1])
    np.testing.assert_allclose(model.attachment("b_site_site")[1], [0, 1, -1])


def test_joints_follow_by_equality():
    """The first joint follows the second, measured from where MuJoCo starts."""
    body = BODY.replace('name="j"', 'name="j" ref="10"').format(
        '<body name="c"><joint name="k" ref="20"/><geom size="0.1"/></body>'
    )
    outside = (
        '<equality><joint joint1="k" joint2="j" polycoef="0.1 2"/></equality><actuator><motor joint="k"/></actuator>'
    )
    model = jaxsim.load(mjcf(body, outside))
    assert model.nv == 1
    start = np.radians([10, 20]) + [0, 0.1]
    np.testing.assert_allclose(model.coupling.configuration(model.keyframes["qpos0"].q), start)
    np.testing.assert_allclose(model.actuation.matrix, [[2]])


def test_what_mujoco_refuses_is_passed_on(tmp_path):
    (tmp_path / "bad.xml").write_text(mjcf('<body><joint/><geom size="-1"/></body>'))
    with pytest.raises(ValueError, match=r"bad\.xml: MuJoCo does not compile it: .*size"):
        jaxsim.load(tmp_path / "bad.xml")
    with pytest.raises(ValueError, match="MuJoCo does not compile it"):
        jaxsim.load(mjcf("<link/>"))


def test_includes_are_resolved(tmp_path):
    (tmp_path / "part.xml").write_text(f"<mujoco>{SIMPLE}</mujoco>")
    (tmp_path / "whole.xml").write_text(mjcf('<include file="part.xml"/>'))
    assert jaxsim.load(tmp_path / "whole.xml").body_names == ("world", "b")


def test_shapes_have_full_lengths_and_colours():
    geoms = (
        '<geom type="box" size="1 2 3" rgba="1 0 0 1" group="3"/>'
        '<geom type="capsule" size="0.1 2" contype="0" conaffinity="0"/>'
        '<geom type="cylinder" size="0.1 2"/><geom type="ellipsoid" size="1 2 3"/><geom size="0.5" pos="1 2 3"/>'
    )
    model = jaxsim.load(mjcf(f'<geom type="plane" size="1 1 1"/><body name="b"><joint pos="0 0 1"/>{geoms}</body>'))
    kinds = [shape.kind for shape in model.geometry.shapes]
    assert kinds == ["plane", "box", "capsule", "cylinder", "ellipsoid", "sphere"]
    sizes = [[0, 0, 0], [2, 4, 6], [0.1, 4, 0], [0.1, 4, 0], [1, 2, 3], [0.5, 0, 0]]
    np.testing.assert_allclose(model.geometry.size, sizes)
    np.testing.assert_allclose(model.geometry.position[5], [1, 2, 2])
    box, capsule = model.geometry.shapes[1:3]
    assert (box.rgba, box.visual, box.collision) == ((1, 0, 0, 1), False, True)
    assert (capsule.visual, capsule.collision) == (True, False)
    assert [shape.body for shape in model.geometry.shapes] == [0, 1, 1, 1, 1, 1]


def test_meshes_stand_where_the_file_puts_them(tmp_path):
    """MuJoCo moves a mesh to its centre and principal axes; the shape is placed for the file as it is."""
    corners = [(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)]
    faces = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {face}" for face in faces]
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "box.obj").write_text("\n".join(lines))
    asset = '<compiler meshdir="meshes"/><asset><mesh name="m" file="box.obj" scale="0.1 0.1 0.1"/></asset>'
    body = '<body name="b" pos="0 0 1"><joint/><geom type="mesh" mesh="m" pos="1 2 3" euler="0 0 90"/></body>'
    (tmp_path / "r.xml").write_text(mjcf(body, asset))
    model = jaxsim.load(tmp_path / "r.xml")
    (shape,) = model.geometry.shapes
    assert shape.mesh.path() == tmp_path / "meshes" / "box.obj"
    np.testing.assert_allclose(model.geometry.size, [[0.1, 0.1, 0.1]])
    np.testing.assert_allclose(model.geometry.position, [[1, 2, 3]], atol=1e-7)
    np.testing.assert_allclose(np.abs(model.geometry.orientation), [[0.5**0.5, 0, 0, 0.5**0.5]], atol=1e-6)
    np.testing.assert_allclose(model.com[1], [1 - 0.1, 2 + 0.05, 3 + 0.15], atol=1e-7)


def test_unnamed_things_get_names():
    text = mjcf(
        '<body><joint/><geom size="0.1"/><body name="body1_"><joint name="joint0"/><geom size="0.1"/></body></body>'
    )
    model = jaxsim.load(text)
    assert model.body_names == ("world", "body1", "body1_")
    assert len(set(model.joint_names)) == 3


def test_flags_switch_forces_off():
    joint = '<joint stiffness="3" damping="2"/>'
    body = f'<body name="b">{joint}<geom size="0.1" pos="1 0 0"/></body>'
    off = '<option><flag gravity="disable" spring="disable" damper="disable"/></option>'
    with_all, without = jaxsim.load(mjcf(body)), jaxsim.load(mjcf(body, off))
    np.testing.assert_allclose([with_all.stiffness[0], with_all.damping[0], with_all.gravity[2]], [3, 2, -9.81])
    np.testing.assert_allclose([without.stiffness[0], without.damping[0], without.gravity[2]], [0, 0, 0])


def test_limits_are_kept():
    text = mjcf('<body><joint range="-90 45" actuatorfrcrange="-7 7" frictionloss="0.3"/><geom size="0.1"/></body>')
    model = jaxsim.load(text)
    np.testing.assert_allclose([model.lower[0], model.upper[0]], [-np.pi / 2, np.pi / 4])
    np.testing.assert_allclose([model.effort_limit[0], model.friction[0]], [7, 0.3])


def test_several_free_roots_cannot_be_freed_by_a_flag():
    free = '<body name="{0}"><joint axis="1 0 0"/><geom size="0.1"/></body>'
    with pytest.raises(ValueError, match="needs one root body, but the file has 'x', 'y'"):
        jaxsim.load(mjcf(free.format("x") + free.format("y")), floating=True)


def test_impossible_numbers_are_named():
    joint = '<joint name="j" axis="1e308 1 0" damping="1e300"/>'
    body = f'<body name="b" pos="0 0 1e300">{joint}<geom size="0.1"/></body>'
    body += '<body name="c"><joint name="k" type="slide" ref="1e308"/><geom size="0.1"/></body>'
    outside = '<actuator><motor name="m" joint="k" gear="1e300"/></actuator>'
    outside += '<keyframe><key name="home" qpos="1e300 0"/></keyframe>'
    with pytest.raises(ValueError, match="problems") as caught:
        jaxsim.load(mjcf(body, outside))
    for part in ("pos of body b", "axis of joint j", "damping of joint j", "ref of joint k"):
        assert f"the {part}" in str(caught.value)
    assert "the gear of actuator m" in str(caught.value)
    assert "the qpos of key home" in str(caught.value)
