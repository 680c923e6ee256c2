"""Each simple joint against the formula that defines it."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.linalg import expm

from jaxsim import joints
from jaxsim.spatial import Quaternion
from tests.joints.joint_table import columns, homogeneous

close = functools.partial(np.testing.assert_allclose, rtol=0, atol=2e-15)
A = np.array([0.3, -0.5, 0.8]) / np.sqrt(0.98)
q1, q2, q3 = 0.7, -1.1, 0.4


def hat(screw):
    w, v = screw[:3], screw[3:]
    return np.array([[0, -w[2], w[1], v[0]], [w[2], 0, -w[0], v[1]], [-w[1], w[0], 0, v[2]], [0, 0, 0, 0]])


def screw_motion(w, v, q):
    return expm(jnp.asarray(hat(np.concatenate([np.broadcast_to(w, 3), np.broadcast_to(v, 3)])) * q), max_squarings=8)


X, Y, Z = np.eye(3)
EXPECTED = {
    "fixed": (joints.Fixed(), (), np.eye(4)),
    "revolute": (joints.Revolute((3, -5, 8)), (q1,), screw_motion(A, 0, q1)),
    "revolute -y": (joints.Revolute("-y"), (q1,), screw_motion(-Y, 0, q1)),
    "prismatic": (joints.Prismatic((3, -5, 8)), (q1,), screw_motion(0, A, q1)),
    "helical": (joints.Helical((3, -5, 8), 0.25), (q1,), screw_motion(A, 0.25 * A, q1)),
    "cylindrical": (joints.Cylindrical("x"), (q1, q2), screw_motion(X, 0, q1) @ screw_motion(0, X, q2)),
    "planar": (joints.Planar(("z", "x")), (q1, q2), screw_motion(0, q1 * Z + q2 * X, 1)),
    "translational": (joints.Translational(), (q1, q2, q3), screw_motion(0, (q1, q2, q3), 1)),
    "universal": (joints.Universal(), (q1, q2), screw_motion(X, 0, q1) @ screw_motion(Y, 0, q2)),
    "free 2d": (joints.Free2D(), (q1, q2, q3), screw_motion(0, q1 * X + q2 * Y, 1) @ screw_motion(Z, 0, q3)),
    "euler": (
        joints.EulerSpherical("ZYX"),
        (q1, q2, q3),
        screw_motion(Z, 0, q1) @ screw_motion(Y, 0, q2) @ screw_motion(X, 0, q3),
    ),
    "exponential": (joints.ExponentialSpherical(), (q1, q2, q3), screw_motion((q1, q2, q3), 0, 1)),
    "spherical": (
        joints.Spherical(),
        2.5 * np.concatenate([[np.cos(q1 / 2)], A * np.sin(q1 / 2)]),
        screw_motion(A, 0, q1),
    ),
    "free": (
        joints.Free(),
        np.concatenate([[1, 2, 3], 0.3 * np.array([np.cos(q1 / 2), *(A * np.sin(q1 / 2))])]),
        screw_motion(0, (1, 2, 3), 1) @ screw_motion(A, 0, q1),
    ),
    "composite": (
        joints.Composite(joints.Revolute("x"), joints.Prismatic("y")),
        (q1, q2),
        screw_motion(X, 0, q1) @ screw_motion(0, Y, q2),
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_transform(name):
    joint, q, T = EXPECTED[name]
    close(homogeneous(joint.transform(tuple(q))), T)


def test_universal_subspace_as_printed():
    """Sueda, eq. 2.43."""
    c2, s2 = np.cos(q2), np.sin(q2)
    close(columns(joints.Universal().subspace((q1, q2)))[:3], [[c2, 0], [0, 1], [s2, 0]])


def test_free_2d_subspace_as_printed():
    """Sueda, eq. 3.44."""
    c, s = np.cos(q3), np.sin(q3)
    expected = np.zeros((6, 3))
    expected[2:5] = [[0, 0, 1], [c, s, 0], [-s, c, 0]]
    close(columns(joints.Free2D().subspace((q1, q2, q3))), expected)


def test_free_velocity_is_the_body_twist():
    close(columns(joints.Free().subspace(joints.Free().neutral())), np.eye(6), atol=0)
    close(columns(joints.Spherical().subspace(joints.Spherical().neutral())), np.eye(6)[:, :3], atol=0)


@pytest.mark.parametrize("joint", [joints.Free(), joints.Spherical()])
def test_integrating_keeps_quaternions_at_unit_length(joint):
    q = joint.integrate(tuple(2.0 * np.array(joint.neutral())), [0.3] * joint.nv)
    close(Quaternion(*q[-4:]).norm_squared(), 1.0)


def test_free_integrates_along_screws():
    """The same twist applied twice is twice the twist: q ⊕ dv ⊕ dv = q ⊕ 2dv."""
    joint = joints.Free()
    q, dv = joint.random(jax.random.key(0)), np.array([0.3, -0.2, 0.9, 1.0, 2.0, -1.0])
    twice = joint.integrate(joint.integrate(q, dv), dv)
    close(jnp.stack(twice), jnp.stack(joint.integrate(q, 2 * dv)), atol=4e-15)


def test_random_rotations_are_uniform():
    """The mean of R and of each squared entry over SO(3) are 0 and 1/3, here within 4 standard errors."""
    joint = joints.Spherical()
    keys = jax.random.split(jax.random.key(1), 4000)
    R = jax.vmap(lambda key: joint.transform(joint.random(key)).rotation.to_array())(keys)
    close(jnp.mean(R, 0), np.zeros((3, 3)), atol=4 * np.sqrt(1 / 3 / 4000))
    close(jnp.mean(R**2, 0), np.full((3, 3), 1 / 3), atol=4 * np.sqrt((1 / 5 - 1 / 9) / 4000))
    # the angle has density (1 − cos θ)/π, hence mean π/2 + 2/π
    angle = jnp.arccos(jnp.clip((jnp.trace(R, axis1=1, axis2=2) - 1) / 2, -1, 1))
    close(jnp.mean(angle), np.pi / 2 + 2 / np.pi, atol=4 * 0.65 / np.sqrt(4000))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: joints.Revolute("w"), "The axis 'w' is not one of"),
        (lambda: joints.Revolute("--x"), "The axis '--x' is not one of"),
        (lambda: joints.Prismatic((1.0, 2.0)), "An axis has three components"),
        (lambda: joints.Prismatic(np.zeros((2, 3))), "An axis has three components"),
        (lambda: joints.Revolute(jnp.zeros(2)), "An axis has three components"),
        (lambda: joints.Revolute((0.0, 0.0, 0.0)), "has no direction"),
        (lambda: joints.Revolute((np.nan, 0.0, 1.0)), "has no direction"),
        (lambda: joints.Helical("z", np.inf), "The pitch inf is not a finite number"),
        (lambda: joints.Universal(("x",)), "has 2 axes"),
        (lambda: joints.Planar(("x", "-x")), "are not independent"),
        (lambda: joints.Translational(((1, 0, 0), (0, 1, 0), (1, 1, 0))), "are not independent"),
        (lambda: joints.EulerSpherical("XXY"), "The chart 'XXY' is unknown"),
        (lambda: joints.EulerSpherical(3), "The chart 3 is unknown"),
        (lambda: joints.SplineCurve(np.zeros((3, 3))), r"shape \(3, 3\); give at least four"),
        (lambda: joints.SplineCurve(np.zeros((4, 2))), "with 3 components each"),
        (lambda: joints.SplineCurve(np.full((4, 3), np.nan)), "are not all finite"),
        (lambda: joints.SplineCurve(np.zeros((5, 3)), np.ones((4, 4))), "There are 5 control positions but 4"),
        (lambda: joints.SplineSurface(np.zeros((4, 3, 3))), "give at least four along each"),
        (lambda: joints.SplineSurface(np.zeros((4, 4, 3)), np.zeros((4, 5, 3))), "but the control angles"),
    ],
)
def test_wrong_input_is_refused_in_one_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_composites_are_made_of_joints():
    with pytest.raises(TypeError, match="A composite is made of two joints"):
        joints.Composite(joints.Revolute(), "y")


def test_axes_may_be_traced():
    """An axis of any length can be an argument of a compiled function and be differentiated."""

    def height(axis):
        return joints.Revolute(axis).transform((0.5,)).rotation.xz

    gradient = jax.jit(jax.grad(height))(jnp.array([0.0, 2.0, 0.0]))
    # R_xz = sin(½) a_y + (1 − cos(½)) a_x a_z with a = axis/|axis|
    close(gradient, [0.0, 0.0, 0.0])
    close(jax.jit(height)(jnp.array([0.0, 2.0, 0.0])), np.sin(0.5))
