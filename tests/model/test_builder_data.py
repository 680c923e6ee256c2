"""What a builder adds besides bodies: shapes, frames, loops, actuators and keyframes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim


@pytest.fixture
def builder():
    builder = jaxsim.ModelBuilder()
    ball = jaxsim.BodyInertia.sphere(1.0, 0.1)
    builder.add_body("arm", 0, jaxsim.Revolute("y"), inertia=ball)
    builder.add_body("hand", "arm", jaxsim.Spherical(), (0, 0, 1), inertia=ball)
    return builder


def test_models_carry_nothing_by_default(builder):
    model = builder.build()
    containers = (model.geometry, model.frames, model.loops, model.actuation, model.keyframes)
    assert [len(container) for container in containers] == [0] * 5
    assert [jax.tree.leaves(container) for container in containers] == [[]] * 5
    assert model.coupling is None


def test_frames_are_found_by_name(builder):
    turn = jaxsim.Placement.from_rpy((0.1, 0.2, 0.3), (0, 0, np.pi / 2))
    builder.add_frame("tip", "hand", turn)
    model = builder.build()
    q = jnp.array([np.pi / 2, 1, 0, 0, 0])
    R, p = jaxsim.frame_pose(model, q, "tip")
    np.testing.assert_allclose(p, [1 + 0.3, 0.2, -0.1], atol=1e-12)
    np.testing.assert_allclose(R @ np.array([1.0, 0, 0]), [0, 1, 0], atol=1e-12)
    J = jaxsim.jacobian(model, q, "tip", (1.0, 0, 0))
    np.testing.assert_allclose(J, jaxsim.jacobian(model, q, "hand", (0.1, 1.2, 0.3)), atol=1e-12)
    with pytest.raises(ValueError, match="There is no body 'toe'"):
        jaxsim.frame_pose(model, q, "toe")
    with pytest.raises(ValueError, match="already is a frame named 'tip'"):
        builder.add_frame("tip", "arm")


def test_actuators_map_controls_to_joint_forces(builder):
    builder.add_actuator("motor", "arm", gear=3.0, control_range=(-1, 1))
    builder.add_actuator("servo", "arm", gear=2.0, gain=5.0, bias=(0.5, -5.0, -0.1), force_range=(-4, 4))
    builder.add_actuator("ball", "hand", gear=(1.0, 2.0, 3.0))
    model = builder.build()
    q, v = jnp.array([0.3, 1, 0, 0, 0]), jnp.array([0.7, 0, 0, 0])
    forces = model.actuation.forces
    np.testing.assert_allclose(forces(q, v, jnp.array([0.5, 0.25, 2.0])), [1.5 + 2 * (1.25 + 0.5 - 3 - 0.14), 2, 4, 6])
    np.testing.assert_allclose(forces(q, v, jnp.array([9.0, 99.0, 0.0])), [3 + 8, 0, 0, 0])
    np.testing.assert_allclose(model.actuation.matrix, [[3, 10, 0], [0, 0, 1], [0, 0, 2], [0, 0, 3]])
    grad = jax.grad(lambda a: a.forces(q, v, jnp.array([0.5, 0.25, 2.0]))[0])(model.actuation)
    assert float(grad.gear[0, 0]) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="u must have shape"):
        forces(q, v, jnp.zeros(2))
    with pytest.raises(ValueError, match="takes 3 finite numbers"):
        builder.add_actuator("bad", "hand", gear=1.0)
    with pytest.raises(ValueError, match="pulls on its length"):
        builder.add_actuator("bad", "hand", gear=(1.0, 1.0, 1.0), bias=(0, -1, 0))


def test_no_actuators_give_no_forces(builder):
    model = builder.build()
    np.testing.assert_allclose(model.actuation.forces(model.neutral(), jnp.ones(4), jnp.zeros(0)), np.zeros(4))


def test_keyframes_are_checked(builder):
    builder.add_keyframe("home", [0.5, 1, 0, 0, 0])
    model = builder.build()
    np.testing.assert_allclose(model.keyframes["home"].q, [0.5, 1, 0, 0, 0])
    np.testing.assert_allclose(model.keyframes["home"].v, np.zeros(4))
    builder.add_keyframe("bad", [0.5])
    with pytest.raises(ValueError, match="Q of the keyframe 'bad'"):
        builder.build()


def test_shapes_and_loops_are_checked(builder):
    with pytest.raises(ValueError, match="There is no shape 'cube'"):
        builder.add_geometry("arm", "cube", 1.0)
    with pytest.raises(ValueError, match="size of a box"):
        builder.add_geometry("arm", "box", (1.0, 2.0))
    with pytest.raises(ValueError, match="needs a Mesh"):
        builder.add_geometry("arm", "mesh", (1.0, 1.0, 1.0))
    with pytest.raises(ValueError, match="no loop closure 'rope'"):
        builder.add_loop("rope", "arm", "hand")
    with pytest.raises(ValueError, match="'leg', which has not been added"):
        builder.add_geometry("leg", "sphere", 1.0)
    builder.add_geometry("arm", "sphere", 0.2, (0, 0, 0.5))
    builder.add_loop("connect", "world", "hand", (0, 0, 2))
    model = builder.build()
    np.testing.assert_allclose(model.geometry.size, [[0.2, 0, 0]])
    assert model.loops.loops[0].body_b == 2


def test_data_survives_transformations(builder):
    """Models with data pass through jit, vmap and astype, and their leaves are differentiable."""
    builder.add_geometry("arm", "sphere", 0.2)
    builder.add_frame("tip", "hand", (0.1, 0, 0))
    builder.add_actuator("motor", "arm")
    builder.add_keyframe("home", [0.5, 1, 0, 0, 0])
    model = builder.build()
    assert model.astype(jnp.float32).geometry.size.dtype == jnp.float32
    pair = jax.tree.map(lambda leaf: jnp.stack([leaf, 2 * leaf]), model)
    heights = jax.jit(jax.vmap(lambda m: jaxsim.frame_pose(m, m.keyframes["home"].q, "tip")[1][2]))(pair)
    assert heights.shape == (2,)
    grad = jax.grad(lambda m: jaxsim.frame_pose(m, m.neutral(), "tip")[1][0])(model)
    np.testing.assert_allclose(grad.frames.position, [[1, 0, 0]])
