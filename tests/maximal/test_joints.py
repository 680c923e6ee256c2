"""Joint constraints: their Jacobians, what each kind leaves free, and what holds when mechanisms move."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.integrators.maximal_variational import MaximalVariational
from jaxsim.maximal import WORLD, MaximalState, MechanismBuilder
from jaxsim.maximal.blocks import block_jacobian
from jaxsim.maximal.body import start_momentum
from jaxsim.maximal.joint import KINDS, joint_constraints, joint_coordinates
from jaxsim.maximal.joint_jacobian import constraint_jacobian, drift_jacobian, motion_jacobian
from jaxsim.maximal.state import BodyPose
from jaxsim.rollout import rollout

DT = 0.01


def pair_of_every_kind():
    """Two free bodies and a joint between them, for every kind: a mechanism with all joints and no world."""
    builder = MechanismBuilder(gravity=(0, 0, 0))
    for kind in KINDS:
        a = builder.add_body(1.0, (0.1, 0.2, 0.25))
        b = builder.add_body(2.0, (0.3, 0.2, 0.15))
        builder.add_joint(
            kind, a, b, anchor_parent=(0.1, 0.2, 0.3), anchor_child=(-0.3, 0.1, -0.2), axis=(1.0, 2.0, 0.5), pitch=0.7
        )
    return builder.build()


def random_poses(n, seed=0):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(n, 7))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
    return jnp.asarray(q)


def assembled(mechanism):
    """A configuration in which all joints hold: both frames of every joint coincide."""
    q = []
    joints = mechanism.joints
    for j in range(mechanism.num_joints):
        a = BodyPose.from_array(random_poses(1, seed=j)[0])
        orientation = a.orientation * _quaternion(joints.frame_a[j]) * _quaternion(joints.frame_b[j]).conjugate()
        anchor = a.point(_vector(joints.anchor_a[j]))
        position = anchor - orientation.rotate(_vector(joints.anchor_b[j]))
        q += [a.to_array(), BodyPose(position, orientation).to_array()]
    return jnp.stack(q)


def _quaternion(array):
    return BodyPose.from_array(jnp.concatenate([jnp.zeros(3), array])).orientation


def _vector(array):
    return BodyPose.from_array(jnp.concatenate([array, jnp.zeros(4)])).position


EVERY = pair_of_every_kind()
JACOBIAN = jax.jit(lambda poses: constraint_jacobian(EVERY.joints, *poses))


def test_jacobian_is_the_derivative_of_the_constraint():
    joints = EVERY.joints
    poses = EVERY.pair(random_poses(EVERY.num_bodies), joints.bodies)

    @jax.jit
    def both(a, b):
        zero = jnp.zeros((joints.num_joints, 6))
        by_ad = (
            block_jacobian(lambda x: joint_constraints(joints, a.displaced(x), b), zero),
            block_jacobian(lambda x: joint_constraints(joints, a, b.displaced(x)), zero),
        )
        return constraint_jacobian(joints, a, b), by_ad

    for ours, theirs in zip(*both(*poses), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-14)


def test_motion_jacobian_is_the_rate_of_the_free_coordinates():
    # Small joint angles, where the rate of the rotation vector is the relative angular velocity.
    joints = EVERY.joints
    poses = EVERY.pair(assembled(EVERY), joints.bodies)

    @jax.jit
    def both(a, b):
        zero = jnp.zeros((joints.num_joints, 6))
        by_ad = (
            block_jacobian(lambda x: joint_coordinates(joints, a.displaced(x), b), zero),
            block_jacobian(lambda x: joint_coordinates(joints, a, b.displaced(x)), zero),
        )
        return motion_jacobian(joints, a, b), by_ad

    for ours, theirs in zip(*both(*poses), strict=True):
        np.testing.assert_allclose(ours[joints.free], theirs[joints.free], atol=1e-13)


def test_drift_jacobian_is_the_derivative_of_the_drift():
    v = jnp.asarray(np.random.default_rng(0).normal(size=(4, 6)) * 5)
    pose = BodyPose.from_array(random_poses(4))
    start = pose.drifted(v, DT)

    def displacement(dv):
        end = pose.drifted(v + dv, DT)
        turn = (start.orientation.conjugate() * end.orientation).vector.to_array() * 2.0
        return jnp.concatenate([turn, (end.position - start.position).to_array()], axis=-1)

    numeric = jax.jit(lambda dv: block_jacobian(displacement, dv))(jnp.zeros_like(v))
    np.testing.assert_allclose(numeric, DT * drift_jacobian(v, DT), atol=1e-16)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_and_free_coordinates_complement_each_other(kind):
    j = list(KINDS).index(kind)
    rows, free = EVERY.joints.rows[j], EVERY.joints.free[j]
    assert rows.sum() + free.sum() == 6
    G_a, G_b = JACOBIAN(EVERY.pair(assembled(EVERY), EVERY.joints.bodies))
    both = np.concatenate([G_a[j], G_b[j]], axis=-1)
    assert np.linalg.matrix_rank(both, tol=1e-9) == rows.sum()


def test_bodies_follow_from_joint_coordinates():
    # A chain of all kinds from the world; every third joint has its parent further out than its child.
    builder = MechanismBuilder()
    for i, kind in enumerate(KINDS):
        body = builder.add_body(1.0, (0.1, 0.2, 0.25))
        pair = (body, i - 1) if i % 3 == 1 else (i - 1, body)
        builder.add_joint(
            kind, *pair, anchor_parent=(0.1, 0.2, 0.3), anchor_child=(-0.3, 0.1, -0.2), axis=(1, 2, 0.5), pitch=0.7
        )
    mechanism = builder.build()
    rng = np.random.default_rng(4)
    theta, rates = (jnp.asarray(rng.uniform(-1.0, 1.0, mechanism.num_controls)) for _ in range(2))

    @jax.jit
    def there_and_back(theta, rates):
        q, v = mechanism.to_maximal(theta, rates)
        state = MaximalState(q, v, jnp.zeros(()), jnp.zeros((mechanism.num_joints, 6)))
        _, drift = jax.jvp(lambda x: mechanism.violation(_displaced(q, x)), (jnp.zeros_like(v),), (v,))
        return mechanism.to_minimal(state), mechanism.violation(q), drift

    back, violation, drift = there_and_back(theta, rates)
    np.testing.assert_allclose(back[0], theta, atol=1e-13)
    np.testing.assert_allclose(back[1], rates, atol=1e-12)
    np.testing.assert_allclose(violation, 0.0, atol=1e-13)
    np.testing.assert_allclose(drift, 0.0, atol=1e-12)


def _displaced(q, x):
    return BodyPose.from_array(q).displaced(x).to_array()


@pytest.fixture(scope="module")
def run():
    """All kinds at once, drifting freely from any start under internal control forces."""
    integrator = MaximalVariational(DT)
    u = jnp.asarray(np.random.default_rng(3).normal(size=EVERY.num_controls))

    @jax.jit
    def run(q, v):
        return rollout(EVERY, integrator, integrator.init(EVERY, q, v), jnp.broadcast_to(u, (40, len(u))))

    return run


@pytest.fixture(scope="module")
def flight(run):
    v = np.random.default_rng(2).normal(size=(EVERY.num_bodies, 6))
    return run(assembled(EVERY), jnp.asarray(v))


@pytest.mark.slow
def test_no_joint_drifts(flight):
    assert flight.converged
    assert jnp.max(flight.info.violation) < 1e-11
    moved = jax.vmap(EVERY.coordinates)(flight.q)
    assert jnp.all(jnp.max(jnp.abs(moved - moved[0]), axis=0) > 1e-3)


@pytest.mark.slow
def test_internal_forces_conserve_momentum(flight):
    p = jax.vmap(lambda v: start_momentum(EVERY.mass, EVERY.inertia, v, DT))(flight.v)
    angular, linear = p[..., :3], p[..., 3:]
    pose = BodyPose.from_array(flight.q)
    spin = pose.orientation.rotate(_vector_of(angular)).to_array() + jnp.cross(flight.q[..., :3], linear)
    pairs = (len(p), EVERY.num_joints, 2, 3)
    for momentum in (linear, spin):
        total = momentum.reshape(pairs).sum(axis=2)
        np.testing.assert_allclose(total, jnp.broadcast_to(total[0], total.shape), atol=2e-11)


@pytest.mark.slow
def test_a_spin_too_fast_for_the_time_step_is_reported(run):
    # An interval holds the momentum Jω√(1 − (Δtω/2)²) about a principal axis, at most J/Δt.
    trajectory = run(assembled(EVERY), jnp.zeros((EVERY.num_bodies, 6)).at[:2, 2].set(3.0 / DT))
    assert not jnp.any(trajectory.info.converged)
    assert jnp.all(trajectory.q == trajectory.q[0])


def _vector_of(array):
    return BodyPose.from_array(jnp.concatenate([array, jnp.zeros((*array.shape[:-1], 4))], axis=-1)).position


def test_bad_input_is_named():
    builder = MechanismBuilder()
    with pytest.raises(ValueError, match="mass -1"):
        builder.add_body(-1.0, (1, 1, 1))
    with pytest.raises(ValueError, match="triangle"):
        builder.add_body(1.0, (1, 1, 3))
    body = builder.add_body(1.0, (1, 1, 1))
    with pytest.raises(ValueError, match="no joint kind 'hinge'"):
        builder.add_joint("hinge", WORLD, body)
    with pytest.raises(ValueError, match="no body 4"):
        builder.add_joint("revolute", WORLD, 4)
    with pytest.raises(ValueError, match="friction coefficient 0"):
        builder.add_sphere_on_plane(body, friction=0.0)
    with pytest.raises(ValueError, match="6 free"):
        builder.add_joint("floating", WORLD, body, limits=(0, 1))
    with pytest.raises(ValueError, match="'body0' hangs on no joint"):
        builder.build().to_maximal(jnp.zeros(0))
    with pytest.raises(ValueError, match="7 numbers"):
        MaximalVariational(DT).init(builder.build(), jnp.zeros(3))
