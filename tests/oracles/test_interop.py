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


def state(model, seed):
    """A configuration, a velocity, an acceleration and forces."""
    q = jaxsim.random_configuration(model, jax.random.key(seed))
    return q, *jax.random.normal(jax.random.key(seed + 1), (3, model.nv))


@pytest.mark.parametrize("engine", CASES)
def test_there_and_back(engine):
    pair, convert = CASES[engine]
    model, other = pair()
    conversion = convert(model, other)
    q, v, a, tau = state(model, 1)
    J = jax.random.normal(jax.random.key(3), (6, model.nv))

    @jax.jit
    def both_ways(q, v, a, tau, J):
        there = (
            conversion.configuration(q),
            conversion.velocity(q, v),
            conversion.acceleration(model, q, v, a),
            conversion.forces(q, tau),
            conversion.jacobian(q, J),
        )
        their_q, their_v, their_a, their_tau, their_J = there
        back = (
            conversion.from_configuration(their_q),
            conversion.from_velocity(q, their_v),
            conversion.from_acceleration(model, q, v, their_a),
            conversion.from_forces(q, their_tau),
            conversion.from_jacobian(q, their_J),
        )
        return there, back

    (_, their_v, _, their_tau, their_J), back = jax.tree.map(np.asarray, both_ways(q, v, a, tau, J))
    turn = np.abs(back[0] - np.asarray(q))
    np.testing.assert_allclose(np.minimum(turn, np.abs(turn - 2 * np.pi)), 0, atol=1e-14)
    for got, expected in zip(back[1:], (v, a, tau, J), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-13)
    assert their_tau @ their_v == pytest.approx(float(tau @ v))
    for x, y in ((their_v, v), (their_J, J)):
        assert np.abs(x - np.asarray(y)).max() > 0.1


def along_the_path(model, conversion, bodies, q, v, a, h=1e-6):
    """The rate of their configuration, their velocity and acceleration, forces and Jacobians, from our side."""

    @jax.jit
    def run(q, v, a):
        ahead, behind = (conversion.configuration(jaxsim.integrate(model, q, s * h * v)) for s in (1, -1))
        return (
            (ahead - behind) / (2 * h),
            conversion.configuration(q),
            conversion.velocity(q, v),
            conversion.acceleration(model, q, v, a),
            conversion.forces(q, jaxsim.inverse_dynamics(model, q, v, a)),
            [jaxsim.jacobian(model, q, body) for body in bodies],
        )

    return jax.tree.map(np.asarray, run(q, v, a))


def test_pinocchio_moves_along_the_same_path():
    """Configurations move as in Pinocchio; joint forces of all kinds of joints and Jacobians are Pinocchio's."""
    pin = pytest.importorskip("pinocchio")
    model, other = pinocchio_pair()
    conversion = jaxsim.interop.pinocchio(model, other)
    q, v, a, _ = state(model, 4)
    rate, their_q, their_v, their_a, their_tau, Js = along_the_path(model, conversion, "abcd", q, v, a)
    h, data = 1e-6, other.createData()
    their_ahead, their_behind = (pin.integrate(other, their_q, s * h * their_v) for s in (1, -1))
    np.testing.assert_allclose(rate, (their_ahead - their_behind) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(their_tau, pin.rnea(other, data, their_q, their_v, their_a), rtol=1e-11, atol=1e-11)
    pin.computeJointJacobians(other, data, their_q)
    pin.framesForwardKinematics(other, data, their_q)
    for body, J in zip("abcd", Js, strict=True):
        their_J = pin.getFrameJacobian(other, data, other.getFrameId(body), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(conversion.jacobian(q, J), their_J, atol=1e-12)
        np.testing.assert_allclose(conversion.from_jacobian(q, their_J), J, atol=1e-12)


def test_mujoco_moves_along_the_same_path():
    """Configurations move as in MuJoCo; inverse dynamics and Jacobians of all kinds of joints are MuJoCo's."""
    mujoco = pytest.importorskip("mujoco")
    model, other = mujoco_pair()
    other.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    conversion = jaxsim.interop.mujoco(model, other)
    q, v, a, _ = state(model, 6)
    rate, their_q, their_v, their_a, their_tau, Js = along_the_path(model, conversion, "abc", q, v, a)
    h, data, ends = 1e-6, mujoco.MjData(other), []
    for sign in (1, -1):
        ends.append(their_q.copy())
        mujoco.mj_integratePos(other, ends[-1], their_v, sign * h)
    np.testing.assert_allclose(rate, (ends[0] - ends[1]) / (2 * h), atol=1e-8)
    data.qpos[:], data.qvel[:], data.qacc[:] = their_q, their_v, their_a
    mujoco.mj_inverse(other, data)
    np.testing.assert_allclose(their_tau, data.qfrc_inverse, rtol=1e-11, atol=1e-11)
    for body, J in zip("abc", Js, strict=True):
        their_J = np.zeros((6, other.nv))
        mujoco.mj_jacBody(other, data, their_J[:3], their_J[3:], other.body(body).id)
        np.testing.assert_allclose(conversion.jacobian(q, J), their_J, atol=1e-12)
        np.testing.assert_allclose(conversion.from_jacobian(q, their_J), J, atol=1e-12)


FOLLOWER = """
<robot name="f">
  <link name="base"/>
  <link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="first" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
    <mimic joint="last" multiplier="-2" offset="0.5"/></joint>
  <joint name="last" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
    <origin xyz="1 0 0"/></joint>
</robot>"""


def test_followers_may_have_coordinates_elsewhere():
    """Pinocchio can give joints that mimic coordinates of their own; velocities fill them in, forces come from both."""
    pin = pytest.importorskip("pinocchio")
    model, other = jaxsim.load(FOLLOWER), pin.buildModelFromXML(FOLLOWER)
    conversion = jaxsim.interop.pinocchio(model, other)
    q, v, a = (jnp.array([x]) for x in (0.3, 0.7, -0.2))
    _, their_q, their_v, their_a, their_tau, (J,) = along_the_path(model, conversion, "b", q, v, a)
    angles = 0.5 - 2 * 0.3, 0.3
    np.testing.assert_allclose(their_q, [f(x) for x in angles for f in (np.cos, np.sin)], rtol=1e-14)
    np.testing.assert_allclose((their_v, their_a), [[-1.4, 0.7], [0.4, -0.2]], rtol=1e-14)
    data = other.createData()
    tau = pin.rnea(other, data, their_q, their_v, their_a)
    np.testing.assert_allclose(their_tau, [0, -2 * tau[0] + tau[1]], rtol=1e-12)
    np.testing.assert_allclose(conversion.from_forces(q, tau), [-2 * tau[0] + tau[1]], rtol=1e-12)
    their_J = pin.computeFrameJacobian(
        other, data, their_q, other.getFrameId("b"), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    )
    np.testing.assert_allclose(conversion.from_jacobian(q, their_J), J, atol=1e-13)
    for theirs, ours in ((conversion.from_configuration(their_q), q), (conversion.from_velocity(q, their_v), v)):
        np.testing.assert_allclose(theirs, ours, rtol=1e-14)


def test_mujoco_accelerations_follow_its_velocities():
    """d/dt of MuJoCo's velocity along a motion with constant acceleration in our coordinates."""
    model, other = mujoco_pair()
    conversion = jaxsim.interop.mujoco(model, other)
    q = jaxsim.random_configuration(model, jax.random.key(8))
    v, a = jax.random.normal(jax.random.key(9), (2, model.nv))

    def velocity(t):
        return conversion.velocity(jaxsim.integrate(model, q, t * v + 0.5 * t**2 * a), v + t * a)

    rate = jax.jit(lambda: jax.jvp(velocity, (0.0,), (1.0,))[1])()
    np.testing.assert_allclose(jax.jit(conversion.acceleration)(model, q, v, a), rate, atol=1e-12)


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
