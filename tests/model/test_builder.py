"""What the builder makes of its input, and the one sentence with which it refuses the rest."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim import BodyInertia, Free, ModelBuilder, Placement, Prismatic, Revolute, Spherical

BALL = BodyInertia.sphere(1.0, 0.1)


def test_a_body_lands_where_it_was_put():
    builder = ModelBuilder(gravity=(1.0, 2.0, 3.0))
    first = builder.add_body("first", 0, Revolute("y"), (1.0, 2.0, 3.0), BodyInertia(2.0, (0.1, 0.2, 0.3), (3, 4, 5)))
    second = builder.add_body("second", "first", Prismatic("x"), Placement((0, 0, 1), (0, 2, 0, 0)), BALL)
    model = builder.build()
    assert (first, second) == (1, 2)
    assert (model.num_bodies, model.nq, model.nv) == (3, 2, 2)
    assert model.body_names == ("world", "first", "second")
    assert model.joint_names == ("", "first_joint", "second_joint")
    assert model.topology.parents == (-1, 0, 1)
    np.testing.assert_array_equal(model.position, [[0, 0, 0], [1, 2, 3], [0, 0, 1]])
    np.testing.assert_array_equal(model.orientation[2], [0, 1, 0, 0])
    np.testing.assert_array_equal(model.mass, [0, 2, 1])
    np.testing.assert_array_equal(model.com[1], [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(model.inertia[1], np.diag([3, 4, 5]))
    np.testing.assert_array_equal(model.gravity, [1, 2, 3])


def test_coordinate_data_is_spread_over_the_coordinates():
    builder = ModelBuilder()
    limits = {"lower": -1.0, "upper": [1.0, 2.0, 3.0, 4.0]}
    builder.add_body("ball", 0, Spherical(), None, BALL, damping=[1.0, 2.0, 3.0], armature=0.5, **limits)
    builder.add_body("slide", 1, Prismatic("x"), None, BALL, stiffness=7.0, spring_reference=0.3, effort_limit=9.0)
    model = builder.build()
    np.testing.assert_array_equal(model.damping, [1, 2, 3, 0])
    np.testing.assert_array_equal(model.armature, [0.5, 0.5, 0.5, 0])
    np.testing.assert_array_equal(model.stiffness, [0, 0, 0, 7])
    np.testing.assert_array_equal(model.spring_reference, [1, 0, 0, 0, 0.3])
    np.testing.assert_array_equal(model.lower, [-1, -1, -1, -1, -np.inf])
    np.testing.assert_array_equal(model.upper, [1, 2, 3, 4, np.inf])
    np.testing.assert_array_equal(model.effort_limit, [np.inf, np.inf, np.inf, 9])


def test_joints_of_one_kind_are_stacked():
    builder = ModelBuilder()
    for i, joint in enumerate((Revolute("x"), Prismatic("y"), Revolute("z"), Revolute((1, 1, 0)))):
        builder.add_body(f"b{i}", i, joint, None, BALL)
    model = builder.build()
    assert model.topology.groups == ((1, 3, 4), (2,))
    assert [type(joint) for joint in model.joints] == [Revolute, Prismatic]
    np.testing.assert_allclose(model.joints[0].axis, [[1, 0, 0], [0, 0, 1], [0.5**0.5, 0.5**0.5, 0]], rtol=1e-15)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_all_leaves_have_the_asked_type_and_none_is_weak(dtype):
    builder = ModelBuilder()
    builder.add_body("base", 0, Free(), None, BALL)
    builder.add_body("arm", 1, jaxsim.Helical("x", 0.2), None, BALL)
    for leaf in jax.tree.leaves(builder.build(dtype)):
        assert leaf.dtype == dtype
        assert not leaf.weak_type


def test_rotations_may_be_matrices_quaternions_or_roll_pitch_yaw():
    c, s = np.cos(0.7), np.sin(0.7)
    about_z = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    half_turn = np.diag([-1.0, -1.0, 1.0])
    builder = ModelBuilder()
    for i, rotation in enumerate((about_z, (np.cos(0.35), 0, 0, np.sin(0.35)), half_turn)):
        builder.add_body(f"b{i}", 0, None, Placement((0, 0, 0), rotation))
    builder.add_body("rpy", 0, None, Placement.from_rpy((0, 0, 0), (0.1, 0.2, 0.7)))
    poses = jax.jit(jaxsim.forward_kinematics)(builder.build(), jnp.zeros(0))
    np.testing.assert_allclose(poses.rotation[1], about_z, atol=1e-15)
    np.testing.assert_allclose(poses.rotation[2], about_z, atol=1e-15)
    np.testing.assert_allclose(poses.rotation[3], half_turn, atol=1e-15)
    Rx = np.array([[1, 0, 0], [0, np.cos(0.1), -np.sin(0.1)], [0, np.sin(0.1), np.cos(0.1)]])
    Ry = np.array([[np.cos(0.2), 0, np.sin(0.2)], [0, 1, 0], [-np.sin(0.2), 0, np.cos(0.2)]])
    np.testing.assert_allclose(poses.rotation[4], about_z @ Ry @ Rx, atol=1e-15)


def test_inertias_of_simple_bodies():
    box = BodyInertia.box(12.0, (1.0, 2.0, 3.0), (0.5, 0.0, 0.0))
    np.testing.assert_allclose(box.matrix, np.diag([13.0, 10.0, 5.0]))
    np.testing.assert_allclose(BodyInertia.sphere(5.0, 2.0).matrix, 8.0 * np.eye(3))
    rod = BodyInertia.rod(3.0, (0.0, 0.0, -2.0), 0.1)
    np.testing.assert_allclose(rod.com, (0, 0, -1))
    np.testing.assert_allclose(np.diag(rod.matrix), [1.0 + 0.0075, 1.0 + 0.0075, 0.015], rtol=1e-14)


REFUSED = {
    "duplicate name": (
        lambda b: b.add_body("a", 0, None),
        "already is a body named 'a'",
    ),
    "the world's name": (lambda b: b.add_body("world", 0, None), "already is a body named 'world'"),
    "unknown parent name": (lambda b: b.add_body("c", "b"), "parent of 'c' is 'b', which has not been added"),
    "unknown parent index": (lambda b: b.add_body("c", 2), "parent of 'c' is body 2, but only bodies 0 to 1 exist"),
    "negative parent index": (lambda b: b.add_body("c", -1), "is body -1, but only bodies 0 to 1 exist"),
    "no joint": (lambda b: b.add_body("c", 0, "revolute"), "joint of 'c' is 'revolute'; give a joint"),
    "negative mass": (lambda b: b.add_body("c", 0, None, None, BodyInertia(-1.0)), "mass of 'c' is -1.0"),
    "no mass": (lambda b: b.add_body("c", 0, None, None, BodyInertia(0.0)), "mass of 'c' is 0.0; it must be positive"),
    "NaN mass": (lambda b: b.add_body("c", 0, None, None, BodyInertia(np.nan)), "mass of 'c' is nan"),
    "infinite mass": (lambda b: b.add_body("c", 0, None, None, BodyInertia(np.inf)), "mass of 'c' is inf"),
    "NaN centre of mass": (
        lambda b: b.add_body("c", 0, None, None, BodyInertia(1.0, (0, np.nan, 0))),
        "centre of mass of 'c'",
    ),
    "NaN inertia": (
        lambda b: b.add_body("c", 0, None, None, BodyInertia(1.0, (0, 0, 0), (1, 1, np.nan))),
        "inertia of 'c' is .*give a finite",
    ),
    "wrong shape of the inertia": (
        lambda b: b.add_body("c", 0, None, None, BodyInertia(1.0, (0, 0, 0), np.eye(2))),
        "give a finite 3×3 matrix",
    ),
    "inertia not symmetric": (
        lambda b: b.add_body("c", 0, None, None, BodyInertia(1.0, (0, 0, 0), np.eye(3) + np.eye(3, k=1) * 0.1)),
        "inertia of 'c' is not symmetric",
    ),
    "negative moment": (
        lambda b: b.add_body("c", 0, None, None, BodyInertia(1.0, (0, 0, 0), (1.0, 1.0, -0.1))),
        "negative principal moment",
    ),
    "triangle inequality": (
        lambda b: b.add_body("c", 0, None, None, BodyInertia(1.0, (0, 0, 0), (1.0, 1.0, 2.1))),
        "'c' violate the triangle inequality",
    ),
    "NaN position": (lambda b: b.add_body("c", 0, None, (0, 0, np.nan)), "position of 'c' is .* 3 finite numbers"),
    "short position": (lambda b: b.add_body("c", 0, None, (0, 0)), "position of 'c' is .* 3 finite numbers"),
    "no rotation": (lambda b: b.add_body("c", 0, None, Placement((0, 0, 0), (0, 0, 0, 0))), "rotation of 'c'"),
    "a reflection": (
        lambda b: b.add_body("c", 0, None, Placement((0, 0, 0), -np.eye(3))),
        "rotation of 'c' is not a rotation matrix",
    ),
    "unknown keyword": (lambda b: b.add_body("c", 0, None, None, BALL, dampening=1.0), "does not know dampening"),
    "wrong number of entries": (
        lambda b: b.add_body("c", 0, Spherical(), None, BALL, damping=[1.0, 2.0]),
        "damping of 'c' is .* give one number or 3",
    ),
    "negative damping": (lambda b: b.add_body("c", 0, Revolute(), None, BALL, damping=-1.0), "must not be negative"),
    "NaN stiffness": (lambda b: b.add_body("c", 0, Revolute(), None, BALL, stiffness=np.nan), "none of them NaN"),
    "limits crossed": (
        lambda b: b.add_body("c", 0, Revolute(), None, BALL, lower=1.0, upper=-1.0),
        "lower limit of 'c' exceeds",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_input_is_refused_in_one_sentence(case):
    add, sentence = REFUSED[case]
    builder = ModelBuilder()
    builder.add_body("a", 0, None, None, BALL)
    with pytest.raises(ValueError, match=sentence):
        add(builder)
    assert builder.build().num_bodies == 2, "a refused body must leave no trace"


@pytest.mark.parametrize("gravity", [(0.0, 0.0), (0.0, 0.0, np.nan), -9.81])
def test_gravity_must_be_three_finite_numbers(gravity):
    with pytest.raises(ValueError, match=r"Gravity is .* 3 finite numbers"):
        ModelBuilder(gravity=gravity)


MOVES_NOTHING = {
    "no mass": (Revolute("x"), None),
    "a point on a free joint": (Free(), BodyInertia(1.0)),
    "a point on the axis": (Revolute("z"), BodyInertia(1.0, (0.0, 0.0, 0.3))),
    "a line in a ball joint": (Spherical(), BodyInertia.rod(1.0, (0.0, 1.0, 1.0))),
}


@pytest.mark.parametrize("case", MOVES_NOTHING)
def test_a_joint_that_moves_no_mass_is_refused(case):
    joint, inertia = MOVES_NOTHING[case]
    builder = ModelBuilder()
    carrier = builder.add_body("carrier", 0, Revolute("y"), None, BALL)
    builder.add_body("tip", carrier, joint, (0.0, 0.0, 1.0), inertia)
    with pytest.raises(ValueError, match="joint of 'tip' can move without moving any mass"):
        builder.build()


def test_massless_links_are_fine_where_something_beyond_them_is_moved():
    builder = ModelBuilder()
    gimbal = builder.add_body("gimbal", 0, Revolute("x"))
    builder.add_body("wheel", gimbal, Revolute("y"), None, BALL)
    builder.add_body("motor", 0, Revolute("z"), armature=0.1)
    builder.add_body("bob", 0, Revolute("y"), None, BodyInertia(1.0, (0.0, 0.0, -1.0)))
    model = builder.build()
    a = jax.jit(jaxsim.forward_dynamics)(model, jnp.zeros(4), jnp.zeros(4), jnp.ones(4))
    # a ball of 1 kg and 0.1 m, a rotor, and a point of 1 kg at 1 m
    np.testing.assert_allclose(a, [1 / 0.004, 1 / 0.004, 10.0, 1.0], rtol=1e-12)
