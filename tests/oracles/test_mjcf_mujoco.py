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


@pytest.mark.parametrize("name", NAMES)
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
    """At qpos0 the frames of the connect coincide, and those of the weld are as far apart as MuJoCo measures."""
    compiled = mujoco.MjModel.from_xml_path(str(DIRECTORY / "four_bar.xml"))
    data = mujoco.MjData(compiled)
    mujoco.mj_forward(compiled, data)
    model = load("four_bar")
    assert [(loop.name, loop.kind) for loop in model.loops.loops] == [("pin", "connect"), ("glue", "weld")]
    q = model.keyframes["qpos0"].q
    poses = jaxsim.forward_kinematics(model, q)
    gaps = []
    for i, loop in enumerate(model.loops.loops):
        a, b = loop.body_a, loop.body_b
        gap = poses.position[a] + poses.rotation[a] @ model.loops.position_a[i]
        gaps.append(gap - poses.position[b] - poses.rotation[b] @ model.loops.position_b[i])
    np.testing.assert_allclose(gaps[0], np.zeros(3), atol=1e-12)
    kinds = data.efc_type[: data.nefc] == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    weld = data.efc_pos[: data.nefc][kinds][3:6]
    np.testing.assert_allclose(gaps[1], weld, atol=1e-9)
    R_a, R_b = (poses.rotation[body] for body in (model.loops.loops[1].body_a, model.loops.loops[1].body_b))
    turn = [
        jaxsim.spatial.Quaternion.from_array(rows[1]) for rows in (model.loops.orientation_a, model.loops.orientation_b)
    ]
    R_a, R_b = R_a @ turn[0].to_matrix().to_array(), R_b @ turn[1].to_matrix().to_array()
    plate, free = (data.body(name).xmat.reshape(3, 3) for name in ("plate", "free"))
    relative = np.zeros(9)
    mujoco.mju_quat2Mat(relative, np.full(4, 0.5))
    np.testing.assert_allclose(R_b.T @ R_a, free.T @ plate @ relative.reshape(3, 3), atol=1e-9)


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
