"""Conversions to Pinocchio's and MuJoCo's coordinates, in both directions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim

URDF = """
<robot name="all">
  <link name="base"/>
  <link name="a"><inertial><origin xyz="0.1 0 0" rpy="1 2 3"/><mass value="1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.12" iyz="0" izz="0.15"/></inertial></link>
  <link name="b"><inertial><mass value="2"/>
    <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.12" iyz="0" izz="0.15"/></inertial></link>
  <link name="c"><inertial><mass value="3"/>
    <inertia ixx="0.1" ixy="0" ixz="0.02" iyy="0.12" iyz="0" izz="0.15"/></inertial></link>
  <link name="d"><inertial><mass value="1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.12" iyz="0" izz="0.15"/></inertial></link>
  <joint name="z_free" type="floating"><parent link="base"/><child link="a"/>
    <origin xyz="0 0 1" rpy="0.1 0.2 0.3"/></joint>
  <joint name="y_wheel" type="continuous"><parent link="a"/><child link="b"/>
    <axis xyz="1 2 3"/><origin xyz="0.1 0 0"/></joint>
  <joint name="x_plane" type="planar"><parent link="b"/><child link="c"/>
    <axis xyz="0 0 1"/><origin rpy="1 0 0"/></joint>
  <joint name="a_slide" type="prismatic"><parent link="a"/><child link="d"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""

MJCF = """
<mujoco><worldbody>
  <body name="a"><freejoint name="root"/><geom size="0.1"/>
    <body name="b" pos="0.3 0 0"><joint name="ball" type="ball"/><geom type="box" size="0.1 0.2 0.3"/>
      <body name="c" pos="0 0.3 0"><joint name="hinge" axis="1 1 0"/><geom size="0.1" pos="0.1 0 0"/></body>
    </body></body>
</worldbody></mujoco>"""


def pinocchio_pair():
    pin = pytest.importorskip("pinocchio")
    return jaxsim.load(URDF), pin.buildModelFromXML(URDF)


def mujoco_pair():
    mujoco = pytest.importorskip("mujoco")
    return jaxsim.load(MJCF), mujoco.MjModel.from_xml_string(MJCF)


CASES = {"pinocchio": (pinocchio_pair, jaxsim.interop.pinocchio), "mujoco": (mujoco_pair, jaxsim.interop.mujoco)}


@pytest.mark.parametrize("engine", CASES)
def test_there_and_back(engine):
    pair, convert = CASES[engine]
    model, other = pair()
    conversion = convert(model, other)
    q = jaxsim.random_configuration(model, jax.random.key(1))
    v, a, tau = jax.random.normal(jax.random.key(2), (3, model.nv))
    J = jax.random.normal(jax.random.key(3), (6, model.nv))
    their_v = conversion.velocity(q, v)
    back = conversion.from_configuration(conversion.configuration(q))
    angle = np.abs(np.asarray(back) - np.asarray(q))
    np.testing.assert_allclose(np.minimum(angle, np.abs(angle - 2 * np.pi)), 0, atol=1e-14)
    np.testing.assert_allclose(conversion.from_velocity(q, their_v), v, atol=1e-14)
    np.testing.assert_allclose(
        conversion.from_acceleration(model, q, v, conversion.acceleration(model, q, v, a)), a, atol=1e-13
    )
    np.testing.assert_allclose(conversion.from_forces(q, conversion.forces(q, tau)), tau, atol=1e-14)
    np.testing.assert_allclose(conversion.from_jacobian(q, conversion.jacobian(q, J)), J, atol=1e-14)
    assert float(conversion.forces(q, tau) @ their_v) == pytest.approx(float(tau @ v))
    changed = [np.abs(np.asarray(x) - np.asarray(y)).max() for x, y in ((their_v, v), (conversion.jacobian(q, J), J))]
    assert min(changed) > 0.1


def test_pinocchio_moves_along_the_same_path():
    """Integrating a small velocity and differencing give Pinocchio's configuration, and Jacobians are Pinocchio's."""
    pin = pytest.importorskip("pinocchio")
    model, other = pinocchio_pair()
    conversion = jaxsim.interop.pinocchio(model, other)
    q = jaxsim.random_configuration(model, jax.random.key(4))
    v = jax.random.normal(jax.random.key(5), (model.nv,))
    their_q, their_v = (np.asarray(x) for x in (conversion.configuration(q), conversion.velocity(q, v)))
    h = 1e-6
    ahead, behind = (conversion.configuration(jaxsim.integrate(model, q, s * h * v)) for s in (1, -1))
    their_ahead, their_behind = (pin.integrate(other, their_q, s * h * their_v) for s in (1, -1))
    np.testing.assert_allclose((ahead - behind) / (2 * h), (their_ahead - their_behind) / (2 * h), atol=1e-8)
    data = other.createData()
    pin.forwardKinematics(other, data, their_q, their_v, np.zeros(other.nv))
    pin.computeJointJacobians(other, data, their_q)
    pin.framesForwardKinematics(other, data, their_q)
    for body in ("a", "b", "c", "d"):
        J = pin.getFrameJacobian(other, data, other.getFrameId(body), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(conversion.jacobian(q, jaxsim.jacobian(model, q, body)), J, atol=1e-12)
        np.testing.assert_allclose(conversion.from_jacobian(q, J), jaxsim.jacobian(model, q, body), atol=1e-12)


def test_planar_floating_and_continuous_joints_have_pinocchios_dynamics():
    pin = pytest.importorskip("pinocchio")
    model, other = pinocchio_pair()
    conversion = jaxsim.interop.pinocchio(model, other)
    q = jaxsim.random_configuration(model, jax.random.key(6))
    v, a = jax.random.normal(jax.random.key(7), (2, model.nv))
    tau = conversion.forces(q, jax.jit(jaxsim.inverse_dynamics)(model, q, v, a))
    data = other.createData()
    theirs = (conversion.configuration(q), conversion.velocity(q, v), conversion.acceleration(model, q, v, a))
    np.testing.assert_allclose(tau, pin.rnea(other, data, *(np.asarray(x) for x in theirs)), rtol=1e-11)


def test_mujoco_accelerations_follow_its_velocities():
    """d/dt of MuJoCo's velocity along a motion with constant acceleration in our coordinates."""
    model, other = mujoco_pair()
    conversion = jaxsim.interop.mujoco(model, other)
    q = jaxsim.random_configuration(model, jax.random.key(8))
    v, a = jax.random.normal(jax.random.key(9), (2, model.nv))

    def velocity(t):
        return conversion.velocity(jaxsim.integrate(model, q, t * v + 0.5 * t**2 * a), v + t * a)

    rate = jax.jvp(velocity, (0.0,), (1.0,))[1]
    np.testing.assert_allclose(conversion.acceleration(model, q, v, a), rate, atol=1e-12)


def test_strangers_are_refused():
    _, other = mujoco_pair()
    with pytest.raises(ValueError, match="has no joint"):
        jaxsim.interop.mujoco(jaxsim.robots.pendulum(links=2), other)
    with pytest.raises(ValueError, match="do not match"):
        jaxsim.interop.mujoco(jaxsim.load(MJCF, floating=False), other)


def test_conversions_run_under_jit_and_vmap():
    model, other = mujoco_pair()
    conversion = jaxsim.interop.mujoco(model, other)
    qs = jax.vmap(lambda key: jaxsim.random_configuration(model, key))(jax.random.split(jax.random.key(0), 3))
    vs = jnp.ones((3, model.nv))
    batch = jax.jit(jax.vmap(conversion.velocity))(qs, vs)
    np.testing.assert_allclose(batch[1], conversion.velocity(qs[1], vs[1]), atol=1e-15)
