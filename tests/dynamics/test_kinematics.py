import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from tests.samples import relative_error, small_tree, state

kinematics, velocities = jax.jit(jaxsim.forward_kinematics), jax.jit(jaxsim.body_velocities)


@pytest.fixture(scope="module")
def case():
    model = small_tree()
    s = state(model)
    return model, s, kinematics(model, s.q)


def quaternion_matrix(q):
    w, x, y, z = np.asarray(q) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def turn(axis, angle):
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    return quaternion_matrix([np.cos(angle / 2), *(np.sin(angle / 2) * np.array([x, y, z]))])


def test_poses_are_products_along_the_path(case):
    """Placement, then joint, from the root; each transform written out by hand."""
    model, s, poses = case
    q = np.asarray(s.q)
    joint = {
        "base": (quaternion_matrix(q[3:7]), q[:3]),
        "arm": (turn((0.2, 0.9, 0.1), q[7]), 0),
        "ball": (quaternion_matrix(q[8:12]), 0),
        "mount": (np.eye(3), 0),
        "hand": (turn((0, 0, 1), q[12]), 0),
        "mast": (turn((1, 0, 0), q[13]), 0),
    }
    R, p = [np.eye(3)], [np.zeros(3)]
    for body in range(1, model.num_bodies):
        parent = model.topology.parents[body]
        turned, moved = joint[model.body_names[body]]
        at = quaternion_matrix(model.orientation[body])
        R.append(R[parent] @ at @ turned)
        p.append(p[parent] + R[parent] @ (np.asarray(model.position[body]) + at @ (np.zeros(3) + moved)))
    np.testing.assert_allclose(poses.rotation, R, atol=1e-14)
    np.testing.assert_allclose(poses.position, p, atol=1e-14)


def test_velocities_are_the_derivatives_of_the_poses(case):
    """Ṙ = R [ω]× and ṗ = R v, in the frame of each body."""
    model, s, poses = case

    def moved(dv):
        return jaxsim.forward_kinematics(model, jaxsim.integrate(model, s.q, dv))

    rates = jax.jit(lambda v: jax.jvp(moved, (jnp.zeros_like(v),), (v,))[1])(s.v)
    twist = velocities(model, s.q, s.v)
    skew = jnp.cross(twist[:, None, :3], jnp.eye(3)[None]).transpose(0, 2, 1)
    assert relative_error(rates.rotation, poses.rotation @ skew) < 1e-13
    assert relative_error(rates.position, jnp.einsum("bij,bj->bi", poses.rotation, twist[:, 3:])) < 1e-13


def test_the_world_stays_where_it_is(case):
    model, s, poses = case
    np.testing.assert_array_equal(poses.rotation[0], np.eye(3))
    np.testing.assert_array_equal(poses.position[0], np.zeros(3))
    np.testing.assert_array_equal(velocities(model, s.q, s.v)[0], np.zeros(6))


def test_unnormalised_quaternions_are_read_by_direction(case):
    model, s, poses = case
    scaled = s.q.at[3:7].multiply(1.7).at[8:12].multiply(0.6)
    again = kinematics(model, scaled)
    np.testing.assert_allclose(again.rotation, poses.rotation, atol=1e-14)


def test_single_precision_agrees_with_double(case):
    model, s, poses = case
    single = kinematics(model.astype(jnp.float32), s.q.astype(jnp.float32))
    assert single.rotation.dtype == single.position.dtype == jnp.float32
    np.testing.assert_allclose(single.rotation, poses.rotation, atol=1e-6)
    np.testing.assert_allclose(single.position, poses.position, atol=1e-6)
