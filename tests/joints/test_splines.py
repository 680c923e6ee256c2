"""Spline joints: special cases, smoothness across knots, invariances."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim import joints
from jaxsim.spatial import Motion, Quaternion, Vec3, se3
from tests.joints.joint_table import JOINTS, closed_forms, columns, homogeneous

close = functools.partial(np.testing.assert_allclose, rtol=0)
BASIS = np.array([[1, -3, 3, -1], [4, 0, -6, 3], [1, 3, 3, -3], [0, 0, 0, 1]]) / 6
RNG = np.random.default_rng(3)


def powers(u):
    return np.array([1.0, u, u**2, u**3])


@pytest.mark.parametrize(("q", "segment"), [(0.3, 0), (1.0, 1), (1.8, 1), (2.5, 2), (3.0, 2), (-0.2, 0), (3.4, 2)])
def test_without_rotation_a_curve_is_the_b_spline_of_its_points(q, segment):
    """Sueda, eq. 2.69, with the segment that q lies in, and beyond the ends the last one continued."""
    points = RNG.normal(size=(6, 3))
    joint = joints.SplineCurve(points)
    expected = points[segment : segment + 4].T @ BASIS @ powers(q - segment)
    close(joint.transform((q,)).position.to_array(), expected, atol=2e-15)
    close(joint.transform((q,)).rotation.to_array(), np.eye(3), atol=1e-15)


def test_control_frames_along_a_screw_give_that_screw():
    """Frames exp(ξ i) make T(q) = exp(ξ (q + 1)), as B̃₂ + B̃₃ + B̃₄ = u + 1."""
    screw = Motion.from_array(jnp.array([0.3, -0.4, 0.2, 0.5, 1.0, -0.7]))
    poses = [se3.exp(screw * float(i)) for i in range(5)]
    joint = joints.SplineCurve(
        jnp.stack([pose.position.to_array() for pose in poses]),
        jnp.stack([Quaternion.from_matrix(pose.rotation).to_array() for pose in poses]),
    )
    for q in (0.0, 0.4, 1.0, 1.7):
        close(homogeneous(joint.transform((q,))), homogeneous(se3.exp(screw * (q + 1.0))), atol=5e-15)
        close(columns(joint.subspace((q,)))[:, 0], screw.to_array(), atol=5e-15)
        close(joint.bias((q,), (1.0,)).to_array(), 0.0, atol=1e-14)


def test_a_patch_is_the_tensor_product():
    """Sueda, eqs. 2.75 and 2.78."""
    positions, angles = RNG.normal(size=(2, 5, 4, 3))
    joint = joints.SplineSurface(positions, 0.3 * angles)
    weights = np.outer(BASIS @ powers(0.6), BASIS @ powers(0.2))
    f = [np.einsum("ab,abk->k", weights, x[1:5]) for x in (positions, 0.3 * angles)]
    pose = joint.transform((1.6, 0.2))
    close(pose.position.to_array(), f[0], atol=2e-15)
    reference = joints.EulerSpherical("XYZ").transform(f[1]).rotation
    close(pose.rotation.to_array(), reference.to_array(), atol=2e-15)


@pytest.mark.parametrize("name", ["spline_curve", "spline_surface"])
def test_smooth_across_knots(name):
    """T, S and ∂S/∂q of both sides meet at a knot."""
    joint = JOINTS[name]
    forms = jax.jit(lambda q: closed_forms(joint, q, jnp.ones(joint.nv)))
    step = 1e-12
    before, after = (forms(jnp.full(joint.nv, 1.0 + side * step)) for side in (-1, 1))
    for key in before:
        # what is left is the slope times 2e-12
        close(after[key], before[key], atol=1e-10)


def test_only_the_direction_of_control_quaternions_matters():
    joint = JOINTS["spline_curve"]
    scaled = joints.SplineCurve(joint.positions, joint.quaternions * jnp.array([1, -2, 0.5, -1, 3, -0.1])[:, None])
    close(homogeneous(scaled.transform((1.2,))), homogeneous(joint.transform((1.2,))), atol=5e-15)


def test_gradients_with_equal_control_frames_are_finite():
    """Where neighbouring frames agree, their logarithm is taken at zero."""

    def entry(positions, quaternions):
        pose = joints.SplineCurve(positions, quaternions).transform((0.5,))
        return pose.rotation.apply(Vec3(1.0, 2.0, 3.0)).x + pose.position.x

    identity = jnp.broadcast_to(jnp.array([1.0, 0.0, 0.0, 0.0]), (4, 4))
    gradients = jax.jit(jax.grad(entry, argnums=(0, 1)))(jnp.zeros((4, 3)), identity)
    assert all(np.all(np.isfinite(g)) for g in gradients)
    # the position moves with the weights of the basis
    close(gradients[0][:, 0], BASIS @ powers(0.5), atol=1e-15)


def test_range():
    assert joints.SplineCurve(np.zeros((6, 3))).segments == (3,)
    assert joints.SplineSurface(np.zeros((5, 8, 3))).segments == (2, 5)
    assert joints.SplineSurface(np.zeros((5, 8, 3))).neutral() == (1.0, 2.5)
