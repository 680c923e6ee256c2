"""URDF files: what is read, what is refused, and in which words."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim

INERTIAL = (
    '<inertial><origin xyz="{xyz}" rpy="{rpy}"/><mass value="{mass}"/>'
    '<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"/></inertial>'
)


def inertial(mass=1.0, moments=(0.1, 0.12, 0.15), xyz="0 0 0", rpy="0 0 0") -> str:
    ixx, iyy, izz = moments
    return INERTIAL.format(mass=mass, ixx=ixx, iyy=iyy, izz=izz, xyz=xyz, rpy=rpy)


def link(name, *content) -> str:
    return f'<link name="{name}">{"".join(content)}</link>'


def joint(name, kind, parent, child, *content) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{"".join(content)}</joint>'


def robot(*content) -> str:
    return f'<robot name="r">{"".join(content)}</robot>'


LIMIT = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'
ARM = (
    link("base", inertial()),
    link("upper", inertial(2.0, xyz="0 0 0.5")),
    link("tool", inertial(0.5, (0.01, 0.02, 0.02), xyz="0.1 0 0", rpy="0.3 0 0")),
    joint(
        "shoulder",
        "revolute",
        "base",
        "upper",
        LIMIT,
        '<axis xyz="0 2 0"/>',
        '<dynamics damping="0.1" friction="0.2"/>',
    ),
    joint("flange", "fixed", "upper", "tool", '<origin xyz="0 0 1" rpy="0 0.4 0"/>'),
)


def test_an_arm_is_read_completely():
    model = jaxsim.load_urdf(robot(*ARM))
    assert model.body_names == ("world", "upper")
    assert model.joint_names == ("", "shoulder")
    assert model.frames.names == ("base", "tool")
    np.testing.assert_allclose(model.joints[0].axis, [[0, 1, 0]])
    for field, value in (("lower", -1), ("upper", 2), ("effort_limit", 3), ("velocity_limit", 4)):
        np.testing.assert_allclose(getattr(model, field), [value])
    np.testing.assert_allclose(model.damping, [0.1])
    np.testing.assert_allclose(model.friction, [0.2])


def test_merged_links_weigh_what_they_weighed_apart():
    """A fixed link that is merged gives the same dynamics as one that is kept, and stays known by name."""
    merged, kept = (jaxsim.load_urdf(robot(*ARM), floating=True, merge_fixed=merge) for merge in (True, False))
    assert kept.body_names == ("world", "base", "upper", "tool")
    assert merged.body_names == ("world", "base", "upper")
    q = jnp.array([0.1, 0.2, 0.3, 0.5, 0.5, -0.5, 0.5, 0.7])
    v, a = jnp.arange(7.0) - 3.0, jnp.arange(7.0) / 3.0

    @jax.jit
    def evaluate(model):
        J = jaxsim.jacobian(model, q, "tool", (0.1, 0.2, 0.3))
        return jaxsim.inverse_dynamics(model, q, v, a), jaxsim.frame_pose(model, q, "tool"), J

    for got, expected in zip(*(jax.tree.leaves(evaluate(model)) for model in (merged, kept)), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14)


def test_the_inertial_frame_may_be_turned():
    """A box of unlike edges, described in a frame turned by a right angle about z, has its x and y moments swapped."""
    text = robot(link("box", inertial(1.0, (0.1, 0.2, 0.25), "0.3 0 0", f"0 0 {np.pi / 2}")))
    model = jaxsim.load_urdf(text, floating=True)
    np.testing.assert_allclose(model.inertia[1], np.diag([0.2, 0.1, 0.25]), atol=1e-15)
    np.testing.assert_allclose(model.com[1], [0.3, 0, 0])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("revolute", "Revolute"),
        ("continuous", "Revolute"),
        ("prismatic", "Prismatic"),
        ("floating", "Free"),
        ("planar", "Free2D"),
        ("fixed", "Fixed"),
    ],
)
def test_every_type_of_joint(kind, expected):
    text = robot(link("a"), link("b", inertial()), joint("j", kind, "a", "b", LIMIT, '<axis xyz="0 0 1"/>'))
    model = jaxsim.load_urdf(text, merge_fixed=False)
    assert type(model.joints[model.topology.groups.index((2,)) if kind != "fixed" else 0]).__name__ == expected
    bounded = bool(jnp.all(jnp.isfinite(model.lower))) and model.nq == 1
    assert bounded == (kind in ("revolute", "prismatic"))


def test_a_planar_joint_moves_across_its_normal():
    axis = np.array([1.0, 2.0, -2.0]) / 3
    text = robot(link("a"), link("b", inertial()), joint("j", "planar", "a", "b", '<axis xyz="1 2 -2"/>'))
    model = jaxsim.load_urdf(text)
    J = np.asarray(jax.jit(lambda q: jaxsim.jacobian(model, q, "b"))(jnp.array([0.3, -0.2, 0.9])))
    np.testing.assert_allclose(axis @ J[3:, :2], 0, atol=1e-14)
    np.testing.assert_allclose(J[3:, :2].T @ J[3:, :2], np.eye(2), atol=1e-14)
    np.testing.assert_allclose(J[:3, 2], axis, atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(np.column_stack([J[3:, :2], axis])), 1)


def test_floating_means_what_it_says():
    arm = robot(*ARM)
    assert [jaxsim.load_urdf(arm, floating=f).nv for f in (None, False, True)] == [1, 1, 7]
    free = robot(link("world"), link("b", inertial()), joint("root", "floating", "world", "b"))
    assert [jaxsim.load_urdf(free, floating=f).nv for f in (None, False, True)] == [6, 0, 6]
    bolted = robot(link("world"), *ARM, joint("bolts", "fixed", "world", "base"))
    assert jaxsim.load_urdf(bolted).body_names == ("world", "upper")
    assert jaxsim.load_urdf(bolted, floating=True).body_names == ("world", "world_link", "upper")
    assert jaxsim.load_urdf(bolted, merge_fixed=False).body_names == ("world", "base", "upper", "tool")


def test_shapes_colours_and_meshes(tmp_path):
    visuals = "".join(
        f'<visual name="{i}"><origin xyz="{i} 0 0"/><geometry>{shape}</geometry><material name="red"/></visual>'
        for i, shape in enumerate(
            [
                '<box size="1 2 3"/>',
                '<sphere radius="0.5"/>',
                '<cylinder radius="0.1" length="2"/>',
                '<capsule radius="0.2" length="3"/>',
                '<mesh filename="package://pack/meshes/a.stl" scale="2 2 2"/>',
            ]
        )
    )
    collision = '<collision><geometry><mesh filename="b.obj"/></geometry></collision>'
    red = '<material name="red"><color rgba="1 0 0 1"/></material>'
    text = robot(red, link("base"), link("part", inertial(), visuals, collision), ARM_JOINT)
    (tmp_path / "pack" / "meshes").mkdir(parents=True)
    (tmp_path / "pack" / "meshes" / "a.stl").write_bytes(b"solid")
    (tmp_path / "r.urdf").write_text(text)
    model = jaxsim.load_urdf(tmp_path / "r.urdf")
    shapes = model.geometry.shapes
    assert [shape.kind for shape in shapes] == ["box", "sphere", "cylinder", "capsule", "mesh", "mesh"]
    assert [shape.visual for shape in shapes] == [True] * 5 + [False]
    assert [shape.collision for shape in shapes] == [False] * 5 + [True]
    assert {shape.body for shape in shapes} == {1}
    assert shapes[0].rgba == (1, 0, 0, 1)
    sizes = [[1, 2, 3], [0.5, 0, 0], [0.1, 2, 0], [0.2, 3, 0], [2, 2, 2], [1, 1, 1]]
    np.testing.assert_allclose(model.geometry.size, sizes)
    np.testing.assert_allclose(model.geometry.position[:, 0], [0, 1, 2, 3, 4, 0])
    assert shapes[4].mesh.path() == tmp_path / "pack" / "meshes" / "a.stl"
    with pytest.raises(FileNotFoundError, match=r"'b\.obj' was not found"):
        shapes[5].mesh.path()
    elsewhere = jaxsim.load_urdf(text, package_dirs=[tmp_path])
    assert elsewhere.geometry.shapes[4].mesh.path().is_file()


ARM_JOINT = joint("j", "revolute", "base", "part", LIMIT)


def test_what_has_no_effect_is_named_in_one_warning():
    extras = '<gazebo/><gazebo/><transmission name="t"/><material name="m"><texture filename="f"/></material>'
    sensor = link("base", "<contact><stiffness/></contact><intertial/>")
    moved = joint("j", "revolute", "base", "part", LIMIT, '<safety_controller k_velocity="1"/>')
    text = robot(extras, sensor, link("part", inertial()), moved)
    with pytest.warns(UserWarning, match="left out") as caught:
        jaxsim.load_urdf(text)
    (warning,) = caught
    for name in ("<gazebo> (2×)", "<transmission>", "<texture>", "<contact>", "<safety_controller>"):
        assert name in str(warning.message)
    assert "unknown and ignored: <intertial> in <link>" in str(warning.message)


TWO = link("a"), link("b", inertial())
BROKEN = {
    "no link": (robot(), "no <link>"),
    "wrong root": ("<sdf/>", "the root element is <sdf>"),
    "missing parent": (robot(*TWO, joint("j", "fixed", "x", "b")), "parent link 'x', which the file does not define"),
    "missing child": (robot(*TWO, joint("j", "fixed", "a", "x")), "child link 'x'"),
    "no child": (robot(*TWO, '<joint name="j" type="fixed"><parent link="a"/></joint>'), "has no <child>"),
    "two roots": (robot(*TWO), "2 root links, 'a', 'b'"),
    "two parents": (
        robot(*TWO, link("c"), joint("j", "fixed", "a", "b"), joint("k", "fixed", "c", "b")),
        "'b' is the child of two joints, 'j' and 'k'",
    ),
    "cycle": (
        robot(link("root"), *TWO, joint("j", "fixed", "a", "b"), joint("k", "fixed", "b", "a")),
        "'a', 'b' form a cycle",
    ),
    "own parent": (robot(link("a"), joint("j", "fixed", "a", "a")), "'a' form a cycle"),
    "same link twice": (robot(link("a"), link("a")), "same name as the one on line 1"),
    "same joint twice": (
        robot(*TWO, link("c"), joint("j", "fixed", "a", "b"), joint("j", "fixed", "a", "c")),
        "same name",
    ),
    "nameless link": (robot("<link/>"), "has no name"),
    "unknown type": (robot(*TWO, joint("j", "hinge", "a", "b")), 'type="hinge"; the types are revolute'),
    "no type": (robot(*TWO, '<joint name="j"><parent link="a"/><child link="b"/></joint>'), 'type=""'),
    "zero axis": (robot(*TWO, joint("j", "continuous", "a", "b", '<axis xyz="0 0 0"/>')), "no direction"),
    "two numbers": (robot(*TWO, joint("j", "continuous", "a", "b", '<axis xyz="0 1"/>')), "must be 3 finite numbers"),
    "letters": (robot(*TWO, joint("j", "fixed", "a", "b", '<origin xyz="0 0 1m"/>')), 'xyz="0 0 1m"'),
    "NaN": (robot(*TWO, joint("j", "fixed", "a", "b", '<origin xyz="0 0 nan"/>')), 'xyz="0 0 nan"'),
    "infinite": (robot(*TWO, joint("j", "fixed", "a", "b", '<origin xyz="0 0 inf"/>')), "finite"),
    "Python number": (robot(*TWO, joint("j", "fixed", "a", "b", '<origin xyz="0 0 1_0"/>')), "1_0"),
    "NaN mass": (robot(link("a", inertial("nan"))), 'value="nan"'),
    "negative mass": (robot(link("a", inertial(-1))), "a mass must be positive"),
    "no mass": (robot(link("a", "<inertial><inertia/></inertial>")), "has no <mass>"),
    "no inertia": (robot(link("a", '<inertial><mass value="1"/></inertial>')), "has no <inertia>"),
    "no moment": (robot(link("a", '<inertial><mass value="1"/><inertia ixx="1"/></inertial>')), "no attribute izz"),
    "two inertials": (robot(link("a", inertial(), inertial())), "has 2 <inertial> elements; keep one"),
    "swapped limits": (
        robot(*TWO, joint("j", "revolute", "a", "b", '<limit lower="1" upper="0" effort="1" velocity="1"/>')),
        "lower limit 1.0 above the upper limit 0.0",
    ),
    "negative damping": (
        robot(*TWO, joint("j", "continuous", "a", "b", '<dynamics damping="-1"/>')),
        "damping -1.0; it must not be negative",
    ),
    "negative radius": (
        robot(link("a", '<visual><geometry><sphere radius="-1"/></geometry></visual>')),
        "size of a sphere",
    ),
    "no shape": (robot(link("a", "<visual><geometry/></visual>")), "holds 0 shapes"),
    "no mesh file": (robot(link("a", "<visual><geometry><mesh/></geometry></visual>")), "has no filename"),
    "follows nobody": (robot(*TWO, joint("j", "continuous", "a", "b", '<mimic joint="k"/>')), "mimics the joint 'k'"),
    "follows itself": (robot(*TWO, joint("j", "continuous", "a", "b", '<mimic joint="j"/>')), "circle"),
    "misplaced world": (robot(link("a"), link("world"), joint("j", "fixed", "a", "world")), "rename it"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_refused_in_a_sentence(case, tmp_path):
    text, sentence = BROKEN[case]
    path = tmp_path / "broken.urdf"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"broken\.urdf") as caught:
        jaxsim.load_urdf(path)
    assert sentence in str(caught.value)


def test_all_problems_are_listed_at_once():
    text = robot(*TWO, joint("j", "hinge", "a", "x", '<origin xyz="0"/>'), joint("k", "fixed", "y", "b"))
    with pytest.raises(ValueError, match="4 problems") as caught:
        jaxsim.load_urdf(text)
    for part in ('type="hinge"', 'xyz="0"', "'x'", "'y'"):
        assert part in str(caught.value)


DOUBTFUL = {
    "triangle": (link("b", inertial(1, (0.1, 0.1, 0.3))), "triangle inequality"),
    "negative moment": (link("b", inertial(1, (-0.1, 0.1, 0.1))), "negative principal moment"),
    "zero mass": (link("b", inertial(0)), "mass of 'b' is 0.0"),
    "nothing to move": (link("b"), "joint 'j' of link 'b' (line 1) moves no mass at all"),
}


@pytest.mark.parametrize("case", DOUBTFUL)
def test_impossible_bodies_are_refused_unless_one_insists(case):
    body, sentence = DOUBTFUL[case]
    text = robot(link("a"), body, joint("j", "continuous", "a", "b"))
    with pytest.raises(ValueError, match=r"strict=False") as caught:
        jaxsim.load_urdf(text)
    assert sentence in str(caught.value)
    with pytest.warns(UserWarning) as warned:  # noqa: PT030
        model = jaxsim.load_urdf(text, strict=False)
    assert sentence in str(warned[0].message)
    assert model.nv == 1


def test_joints_that_move_nothing_do_not_spoil_the_others():
    """Loaded in spite of a hand without mass, an arm moves as if the hand were not there."""
    arm = link("a"), link("b", inertial(xyz="0.3 0 0")), joint("j", "continuous", "a", "b", '<axis xyz="0 1 0"/>')
    hand = link("c"), joint("k", "continuous", "b", "c", '<axis xyz="0 0 1"/>')
    with pytest.warns(UserWarning, match="'k' of link 'c'"):
        model = jaxsim.load_urdf(robot(*arm, *hand), strict=False)
    fall = jax.jit(lambda model: jaxsim.forward_dynamics(model, *jnp.zeros((3, model.nv))))
    got, expected = fall(model), fall(jaxsim.load_urdf(robot(*arm)))
    np.testing.assert_allclose(got, [expected[0], 0], atol=1e-12)


def test_impossible_parts_of_possible_bodies_are_mentioned():
    """Dummy inertias on fixed links are common; merged into a real body they do no harm."""
    dummy = link("b", inertial(1e-6, (1e-6, 1e-6, 3e-6)))
    text = robot(
        link("root"), link("a", inertial()), dummy, joint("j", "continuous", "root", "a"), joint("k", "fixed", "a", "b")
    )
    with pytest.warns(UserWarning, match="inertia of 'b'"):
        model = jaxsim.load_urdf(text)
    assert float(model.mass[1]) == pytest.approx(1 + 1e-6)


def test_massless_links_between_joints_are_fine():
    text = robot(
        link("a"),
        link("b"),
        link("c", inertial()),
        joint("j", "continuous", "a", "b"),
        joint("k", "prismatic", "b", "c", LIMIT),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jaxsim.load_urdf(text).nv == 2


def test_xacro_and_loops_are_refused():
    text = robot("<xacro:include filename='x'/>", "<loop_joint name='l'/>", link("a"))
    with pytest.raises(ValueError, match="2 problems") as caught:
        jaxsim.load_urdf(text)
    assert "expand the file with xacro" in str(caught.value)
    assert "closes a loop" in str(caught.value)
