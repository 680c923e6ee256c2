"""MJCF models: mass matrix, forces and kinematics are those of MuJoCo."""

import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim

mujoco = pytest.importorskip("mujoco")

DIRECTORY = Path(__file__).parent / "mjcf"
NAMES = sorted(path.stem for path in DIRECTORY.glob("*.xml"))
LATER = ("hand", "quadruped", "tumblers", "humanoid", "gripper", "joint_stack", "arm_on_rail")
STATES = 10
TOLERANCE = 1e-9


def load(name: str, **options) -> jaxsim.Model:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(left out, without effect|Mocap bodies stay|are renamed)")
        return jaxsim.load(DIRECTORY / f"{name}.xml", **options)


def random_states(compiled, rng):
    """Configurations, velocities, accelerations and controls of MuJoCo's."""
    q = rng.normal(size=(STATES, compiled.nq))
    for row in q:
        mujoco.mj_normalizeQuat(compiled, row)
    v, a = rng.normal(size=(2, STATES, compiled.nv))
    return q, v, a, 2 * rng.normal(size=(STATES, compiled.nu))


def theirs(compiled, q, v, a, u):
    data = mujoco.MjData(compiled)
    data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, u
    mujoco.mj_forward(compiled, data)
    columns = []
    for unit in np.eye(compiled.nv):
        column = np.zeros(compiled.nv)
        mujoco.mj_mulM(compiled, data, column, unit)
        columns.append(column)
    result = {
        "mass matrix": np.array(columns),
        "bias": data.qfrc_bias.copy(),
        "passive": data.qfrc_passive.copy(),
        "actuators": data.qfrc_actuator.copy(),
    }
    data.qacc[:] = a
    mujoco.mj_inverse(compiled, data)
    return result | {
        "inverse": data.qfrc_inverse.copy(),
        "positions": np.concatenate([data.xpos[1:], data.site_xpos]),
        "rotations": np.concatenate([data.xmat[1:], data.site_xmat]).reshape(-1, 3, 3),
    }


def ours(model, conversion, names, q, v, a, u):
    """The state in MuJoCo's coordinates, T, and all that is compared, in our coordinates."""
    q = conversion.from_configuration(q)
    v = conversion.from_velocity(q, v)
    # without acceleration of MuJoCo's coordinates ours may accelerate: its free bodies move in the world's axes
    still = conversion.from_acceleration(model, q, v, jnp.zeros_like(a))
    a = conversion.from_acceleration(model, q, v, a)
    inverse, bias = jax.vmap(lambda a: jaxsim.inverse_dynamics(model, q, v, a))(jnp.stack([a, still]))
    passive = jaxsim.passive_forces(model, q, v)
    controls = model.actuation.forces(q, v, u)
    poses = jaxsim.forward_kinematics(model, q)
    frames = [poses.of(model, name) for name in names]
    state = conversion.configuration(q), conversion.velocity(q, v), conversion.acceleration(model, q, v, a)
    return (
        state,
        conversion.matrix(q),
        {
            "mass matrix": jaxsim.mass_matrix(model, q),
            "bias": bias + passive - model.armature * still,
            "passive": passive,
            "actuators": jnp.clip(controls, -model.effort_limit, model.effort_limit),
            "inverse": inverse,
            "positions": jnp.stack([p for _, p in frames]),
            "rotations": jnp.stack([R for R, _ in frames]),
        },
    )


def in_our_coordinates(T, key, value):
    """MuJoCo's result in our coordinates: Tᵀ f and Tᵀ M T, with its velocity T v."""
    if key == "mass matrix":
        return T.T @ value @ T
    return value if key in ("positions", "rotations") else T.T @ value


def frame_names(compiled) -> list[str]:
    """All bodies and sites, as the model knows them."""
    bodies = [compiled.body(i).name for i in range(1, compiled.nbody)]
    sites = [compiled.site(i).name for i in range(compiled.nsite)]
    return bodies + [f"{name}_site" if name in bodies else name for name in sites]


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LATER)) for n in NAMES])
def test_agrees_with_mujoco(name):
    compiled = mujoco.MjModel.from_xml_path(str(DIRECTORY / f"{name}.xml"))
    compiled.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    model = load(name)
    conversion = jaxsim.interop.mujoco(model, compiled)
    names = frame_names(compiled)
    q, v, a, u = (jnp.asarray(column) for column in random_states(compiled, np.random.default_rng(0)))
    run = jax.jit(jax.vmap(lambda *state: ours(model, conversion, names, *state)))
    states, Ts, got = jax.tree.map(np.asarray, run(q, v, a, u))
    for i, state in enumerate(zip(*states, np.asarray(u), strict=True)):
        for key, value in theirs(compiled, *state).items():
            expected = in_our_coordinates(Ts[i], key, value)
            scale = max(np.abs(expected).max(initial=0.0), 1e-3)
            np.testing.assert_allclose(got[key][i], expected, rtol=0, atol=TOLERANCE * scale, err_msg=f"{name}: {key}")
    if model.coupling is None:
        for there, back in zip((q, v, a), states, strict=True):
            np.testing.assert_allclose(back, there, atol=1e-12)


def test_loops_close_where_mujoco_closes_them():
    """The frames of every closure are as far apart, and turned against each other, as MuJoCo measures."""
    compiled = mujoco.MjModel.from_xml_path(str(DIRECTORY / "four_bar.xml"))
    model, data = load("four_bar"), mujoco.MjData(compiled)
    kinds = [("pin", "connect"), ("glue", "weld"), ("site_pin", "connect"), ("site_glue", "weld")]
    assert [(loop.name, loop.kind) for loop in model.loops.loops] == kinds
    conversion = jaxsim.interop.mujoco(model, compiled)
    run = jax.jit(lambda q: (conversion.configuration(q), jaxsim.forward_kinematics(model, q)))
    start = model.keyframes["qpos0"].q
    for q in (start, jaxsim.random_configuration(model, jax.random.key(0))):
        data.qpos[:], poses = run(q)
        mujoco.mj_forward(compiled, data)
        residuals = data.efc_pos[: data.nefc][data.efc_type[: data.nefc] == mujoco.mjtConstraint.mjCNSTR_EQUALITY]
        gaps = []
        for i, loop in enumerate(model.loops.loops):
            sides = (loop.body_a, model.loops.position_a[i], model.loops.orientation_a[i])
            others = (loop.body_b, model.loops.position_b[i], model.loops.orientation_b[i])
            (x_a, R_a), (x_b, R_b) = (placed(poses, *side) for side in (sides, others))
            gaps.append(x_a - x_b)
            if loop.kind == "weld":
                turn = np.zeros(4)
                mujoco.mju_mat2Quat(turn, (R_b.T @ R_a).ravel())
                gaps.append(turn[1:] * np.sign(turn[0]))
        size = np.concatenate(gaps)
        angular = np.isin(np.arange(len(size)), [6, 7, 8, 15, 16, 17])
        np.testing.assert_allclose(size[~angular], residuals[~angular], atol=1e-9)
        lengths = [np.linalg.norm(np.reshape(x[angular], (2, 3)), axis=1) for x in (size, residuals)]
        np.testing.assert_allclose(*lengths, atol=1e-9)
    np.testing.assert_allclose(residuals.shape, (18,))


def placed(poses, body, position, orientation):
    """The origin and the axes of a frame on a body."""
    R = np.asarray(poses.rotation[body])
    turn = jaxsim.spatial.Quaternion.from_array(orientation).to_matrix().to_array()
    return np.asarray(poses.position[body]) + R @ np.asarray(position), R @ np.asarray(turn)


def test_coupled_joints_satisfy_mujocos_equalities():
    """Whatever our coordinates are, MuJoCo finds its linear equalities of joints and tendons fulfilled."""
    compiled = mujoco.MjModel.from_xml_path(str(DIRECTORY / "gripper.xml"))
    model, data = load("gripper"), mujoco.MjData(compiled)
    assert model.nv == 3
    conversion = jaxsim.interop.mujoco(model, compiled)
    for q in np.random.default_rng(0).normal(size=(3, 3)):
        data.qpos[:] = conversion.configuration(jnp.asarray(q))
        mujoco.mj_forward(compiled, data)
        equalities = data.efc_type[: data.nefc] == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        np.testing.assert_allclose(data.efc_pos[: data.nefc][equalities], np.zeros(2), atol=1e-14)
    opened = model.keyframes["open"]
    np.testing.assert_allclose(opened.q, [0.1, 0.2, 0.04])
    np.testing.assert_allclose(opened.u, [0.04, 0, 0.2])


def test_keyframes_are_states_of_ours():
    compiled = mujoco.MjModel.from_xml_path(str(DIRECTORY / "humanoid.xml"))
    model = load("humanoid")
    conversion = jaxsim.interop.mujoco(model, compiled)
    assert model.keyframes.names == ("squat", "qpos0")
    for name, q, v in (("squat", compiled.key_qpos[0], compiled.key_qvel[0]), ("qpos0", compiled.qpos0, None)):
        key = model.keyframes[name]
        np.testing.assert_allclose(conversion.configuration(key.q), q)
        np.testing.assert_allclose(conversion.velocity(key.q, key.v), np.zeros(compiled.nv) if v is None else v)
    with pytest.raises(ValueError, match="There is no keyframe 'stand'; the keyframes are: squat, qpos0"):
        model.keyframes["stand"]


def test_unmerged_bodies_have_mujocos_masses():
    compiled = mujoco.MjModel.from_xml_path(str(DIRECTORY / "quadruped.xml"))
    model = load("quadruped", merge_fixed=False)
    masses = dict(zip(model.body_names, np.asarray(model.mass), strict=True))
    for i in range(1, compiled.nbody):
        assert masses[compiled.body(i).name] == pytest.approx(compiled.body_mass[i])
    merged = load("quadruped")
    assert "FR_foot" in merged.frames
    assert float(merged.mass.sum()) == pytest.approx(float(model.mass.sum()))


def test_roots_are_freed_and_fixed_on_request():
    free = load("arm_on_rail")
    assert free.nv == 3
    with pytest.raises(ValueError, match=r"floating=True cannot free the body 'carriage'.*'rail'"):
        load("arm_on_rail", floating=True)
    fixed = load("quadruped", floating=False)
    assert fixed.nv == 9
    np.testing.assert_allclose(fixed.keyframes["qpos0"].q, np.zeros(9))
    hand = load("hand", floating=True)
    assert hand.nv == 11 + 6
    np.testing.assert_allclose(hand.keyframes["qpos0"].q[:7], [0, 0, 0.3, 1, 0, 0, 0])
    q = hand.keyframes["qpos0"].q
    rooted = load("hand")
    poses, expected = jaxsim.forward_kinematics(hand, q), jaxsim.forward_kinematics(rooted, q[7:])
    for name in ("palm", "thumb2", "index_tip"):
        for got, wanted in zip(poses.of(hand, name), expected.of(rooted, name), strict=True):
            np.testing.assert_allclose(got, wanted, atol=1e-12)
