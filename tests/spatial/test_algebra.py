"""Vectors, matrices, motions, forces, poses and inertias against plain arrays and each other."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.spatial import (
    ArticulatedInertia,
    Force,
    Inertia,
    Mat3,
    Motion,
    Pose,
    Quaternion,
    Sym3,
    Vec3,
)

close_to = functools.partial(np.testing.assert_allclose, rtol=0)

RNG = np.random.default_rng(0)
N = 20


def normal(*shape):
    return jnp.asarray(RNG.normal(size=(N, *shape)))


a, b = normal(3), normal(3)
A, B = normal(3, 3), normal(3, 3)
m, n, f = normal(6), normal(6), normal(6)
POSE = Pose(Quaternion.from_array(normal(4)).to_matrix(), Vec3.from_array(normal(3)))
OTHER = Pose(Quaternion.from_array(normal(4)).to_matrix(), Vec3.from_array(normal(3)))
vec, mat, motion, force = Vec3.from_array, Mat3.from_array, Motion.from_array, Force.from_array
ZERO, EYE = jnp.zeros((N, 3, 3)), jnp.broadcast_to(jnp.eye(3), (N, 3, 3))


def close(component_wise, array, atol=1e-14):
    close_to(component_wise.to_array(), array, atol=atol)


def times(matrix, vector):
    return jnp.einsum("nij,nj->ni", matrix, vector)


def block(A, B, C, D):
    return jnp.concatenate([jnp.concatenate([A, B], axis=2), jnp.concatenate([C, D], axis=2)], axis=1)


def skew(x):
    return Mat3.skew(vec(x)).to_array()


def adjoint(pose):
    """Ad: child to parent coordinates of motions."""
    R, px = pose.rotation.to_array(), skew(pose.position.to_array())
    return block(R, ZERO, px @ R, R)


def crossing(x):
    """The 6×6 array of x×."""
    return block(skew(x[:, :3]), ZERO, skew(x[:, 3:]), skew(x[:, :3]))


def transposed(x):
    return jnp.swapaxes(x, 1, 2)


def random_inertia():
    points = normal(5, 3)
    square = jnp.einsum("npi,npj->nij", points, points)
    about = jnp.trace(square, axis1=1, axis2=2)[:, None, None] * EYE - square
    return Inertia.from_center(jnp.abs(normal()) + 0.5, vec(normal(3)), Sym3.from_array(about))


def inertia_array(inertia):
    h, M = skew(inertia.first_moment.to_array()), inertia.mass[:, None, None] * EYE
    return block(inertia.second_moment.to_array(), h, -h, M)


def articulated_array(inertia):
    H = inertia.H.to_array()
    return block(inertia.J.to_array(), H, transposed(H), inertia.M.to_array())


def test_vectors():
    close(vec(a) + vec(b), a + b)
    close(vec(a) - vec(b), a - b)
    close(2.0 * -vec(a), -2 * a)
    close(vec(a).cross(vec(b)), jnp.cross(a, b))
    close_to(vec(a).dot(vec(b)), jnp.sum(a * b, 1), atol=1e-14)
    close_to(vec(a).norm_squared(), jnp.sum(a * a, 1), atol=1e-14)


def test_matrices():
    close(mat(A) + mat(B), A + B)
    close(mat(A) - mat(B) * 2.0, A - 2 * B)
    close(-mat(A).T, -transposed(A))
    close(mat(A).apply(vec(a)), times(A, a))
    close(mat(A).apply_transposed(vec(a)), times(transposed(A), a))
    close(mat(A).matmul(mat(B)), A @ B)
    close(Mat3.outer(vec(a), vec(b)), a[:, :, None] * b[:, None, :])
    close(Mat3.skew(vec(a)).apply(vec(b)), jnp.cross(a, b))
    close(Mat3.from_columns(*mat(A).columns()), A, atol=0)
    close(Mat3.from_columns(*mat(A).rows()).T, A, atol=0)
    close_to(mat(A).determinant(), jnp.linalg.det(A), atol=1e-13)
    close(mat(A).inverse().matmul(mat(A)), EYE, atol=1e-12)


def test_symmetric_matrices():
    S = A + transposed(A)
    sym, R = Sym3.from_array(S), POSE.rotation
    close(Sym3.from_array(A), S / 2)
    close(sym.apply(vec(a)), times(S, a))
    close(Sym3.congruence(R, sym), R.to_array() @ S @ transposed(R.to_array()))
    close(Sym3.outer(vec(a)), a[:, :, None] * a[:, None, :])
    product = -skew(a) @ skew(b)
    close(Sym3.cross_cross(vec(a), vec(b)), (product + transposed(product)) / 2)
    close((sym + sym - sym * 0.5), 1.5 * S)


def test_cross_products():
    close(motion(m).cross(motion(n)), times(crossing(m), n))
    close(motion(m).cross_force(force(f)), -times(transposed(crossing(m)), f))
    close(motion(m).cross(motion(m)), 0 * m)


def test_jacobi_identity():
    x, y, z = motion(m), motion(n), motion(f)
    close(x.cross(y.cross(z)) + y.cross(z.cross(x)) + z.cross(x.cross(y)), 0 * m, atol=1e-13)


def test_force_cross_is_dual_to_motion_cross():
    """(x×y)·f = −y·(x×*f)."""
    x, y, g = motion(m), motion(n), force(f)
    close_to(x.cross(y).dot(g), -y.dot(x.cross_force(g)), atol=1e-13)


def test_poses_carry_motions_and_forces():
    X = adjoint(POSE)
    close(POSE @ motion(m), times(X, m))
    close(POSE @ force(f), times(transposed(jnp.linalg.inv(X)), f), atol=1e-13)
    close(POSE.inv() @ motion(m), times(jnp.linalg.inv(X), m), atol=1e-13)
    close(POSE.inv() @ force(f), times(transposed(X), f))


def test_power_does_not_depend_on_the_frame():
    power = motion(m).dot(force(f))
    close_to((POSE @ motion(m)).dot(POSE @ force(f)), power, atol=1e-13)
    close_to((POSE.inv() @ force(f)).dot(POSE.inv() @ motion(m)), power, atol=1e-13)


def test_poses_form_a_group():
    both = POSE @ OTHER
    close(both.inverse().rotation, (OTHER.inverse() @ POSE.inverse()).rotation.to_array())
    close((POSE.inverse() @ POSE).position, 0 * a)
    close((POSE.inverse() @ POSE).rotation, EYE)
    close(both @ motion(m), (POSE @ (OTHER @ motion(m))).to_array(), atol=1e-13)
    close(both.point(vec(a)), POSE.point(OTHER.point(vec(a))).to_array())
    close(POSE.inverse() @ motion(m), (POSE.inv() @ motion(m)).to_array())


def test_poses_preserve_cross_products():
    close(POSE @ motion(m).cross(motion(n)), (POSE @ motion(m)).cross(POSE @ motion(n)).to_array(), atol=1e-13)


def test_inertia_acts_as_its_array():
    inertia = random_inertia()
    array = inertia_array(inertia)
    close(inertia.apply(motion(m)), times(array, m), atol=1e-13)
    assert np.all(np.linalg.eigvalsh(array) > 0)
    close((inertia + inertia).apply(motion(m)), 2 * times(array, m), atol=1e-13)


def test_inertia_about_the_centre_of_mass_is_block_diagonal():
    inertia = random_inertia()
    center = Pose(Mat3.identity(), inertia.first_moment * (1.0 / inertia.mass))
    moved = inertia.transformed(center.inverse())
    close(moved.first_moment, 0 * a, atol=1e-13)
    again = Inertia.from_center(moved.mass, Vec3.zero(), moved.second_moment).transformed(center)
    close_to(inertia_array(again), inertia_array(inertia), atol=1e-13)


@pytest.mark.parametrize("articulated", [False, True])
def test_transformed_inertias(articulated):
    inertia = random_inertia()
    X = jnp.linalg.inv(adjoint(POSE))
    if articulated:
        U = force(f)
        inertia = ArticulatedInertia.from_inertia(inertia).minus_outer(U, 0.3)
        array, moved = articulated_array(inertia), articulated_array(inertia.transformed(POSE))
        close(inertia.apply(motion(m)), times(array, m), atol=1e-13)
    else:
        array, moved = inertia_array(inertia), inertia_array(inertia.transformed(POSE))
    close_to(moved, transposed(X) @ array @ X, atol=3e-13)


def test_articulated_inertias():
    inertia = random_inertia()
    lifted = ArticulatedInertia.from_inertia(inertia)
    array = inertia_array(inertia)
    close_to(articulated_array(lifted), array, atol=0)
    close_to(articulated_array(lifted + lifted), 2 * array, atol=1e-14)
    reduced = articulated_array(lifted.minus_outer(force(f), 0.7))
    close_to(reduced, array - 0.7 * f[:, :, None] * f[:, None, :], atol=1e-14)


def test_kinetic_energy_does_not_depend_on_the_frame():
    inertia = random_inertia()
    energy = motion(m).dot(inertia.apply(motion(m)))
    moved = POSE @ motion(m)
    np.testing.assert_allclose(moved.dot(inertia.transformed(POSE).apply(moved)), energy, rtol=1e-12)


def test_constants():
    close(Vec3.zero(), jnp.zeros(3), atol=0)
    close(Motion.zero(), jnp.zeros(6), atol=0)
    close(Force.zero(), jnp.zeros(6), atol=0)
    close(Sym3.diagonal(2.0), 2 * jnp.eye(3), atol=0)
    close(Pose.identity() @ motion(m), m, atol=0)
    close(Inertia.zero().apply(motion(m)), jnp.zeros(6), atol=0)


def test_single_precision_stays_single():
    narrow = jax.tree.map(lambda x: x.astype(jnp.float32), (POSE, motion(m), force(f), random_inertia()))
    pose, x, g, inertia = narrow
    results = (pose @ x, pose.inv() @ g, inertia.transformed(pose).apply(x), x.cross(x), x.cross_force(g))
    for leaf in jax.tree.leaves(results):
        assert leaf.dtype == jnp.float32
