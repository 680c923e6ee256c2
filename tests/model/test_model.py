import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from tests.samples import fixed_bodies, small_tree, state


def test_bodies_are_found_by_name_and_by_index():
    model = small_tree()
    assert model.body_index("ball") == 3
    assert model.body_index(3) == 3
    assert model.body_index("world") == 0


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("bal", "There is no body 'bal'; the bodies are world, base, arm"),
        (7, "There is no body 7; the indices go from 0 \\(the world\\) to 6"),
        (-1, "There is no body -1"),
    ],
)
def test_an_unknown_body_is_refused(body, sentence):
    model = small_tree()
    with pytest.raises(ValueError, match=sentence):
        model.body_index(body)
    with pytest.raises(ValueError, match=sentence):
        jax.eval_shape(lambda m, q: jaxsim.jacobian(m, q, body), model, model.neutral())


def test_the_neutral_configuration_is_that_of_the_joints():
    np.testing.assert_array_equal(small_tree().neutral(), [0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0])


def test_coordinates_of_a_body():
    model = small_tree()
    assert model.coordinates_of("base") == (slice(0, 7), slice(0, 6))
    assert model.coordinates_of("ball") == (slice(8, 12), slice(7, 10))
    assert model.coordinates_of("mount") == (slice(12, 12), slice(10, 10))


def test_a_model_in_single_precision_gives_results_in_single_precision():
    model = small_tree().astype(jnp.float32)
    sample = state(small_tree(), dtype=jnp.float32)
    assert model.dtype == jnp.float32
    assert model.neutral().dtype == jnp.float32
    assert jax.eval_shape(jaxsim.random_configuration, model, jax.random.key(0)).dtype == jnp.float32
    results = jax.eval_shape(lambda m, s: everything(m, s, 3), model, sample)
    types = {name: {leaf.dtype for leaf in jax.tree.leaves(result)} for name, result in results.items()}
    assert types == {name: {jnp.dtype(jnp.float32)} for name in types}


def test_the_static_side_is_hashable_and_leaves_do_not_enter_it():
    model = small_tree()
    heavier = eqx.tree_at(lambda m: m.mass, model, 2 * model.mass)
    assert jax.tree.structure(model) == jax.tree.structure(heavier)
    assert hash(jax.tree.structure(model)) == hash(jax.tree.structure(heavier))
    assert jax.tree.structure(model) != jax.tree.structure(fixed_bodies())


def test_every_leaf_is_a_differentiable_array():
    assert all(jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in jax.tree.leaves(small_tree()))


WRONG = {
    "q": lambda m, s: jaxsim.inverse_dynamics(m, s.q[:-1], s.v, s.a),
    "v": lambda m, s: jaxsim.inverse_dynamics(m, s.q, s.q, s.a),
    "a": lambda m, s: jaxsim.inverse_dynamics(m, s.q, s.v, s.a[None]),
    "tau": lambda m, s: jaxsim.forward_dynamics(m, s.q, s.v, 0.0),
    "f_ext": lambda m, s: jaxsim.forward_dynamics(m, s.q, s.v, s.tau, s.f_ext[1:]),
    "x": lambda m, s: jaxsim.inverse_mass_product(m, s.q, s.q),
    "y": lambda m, s: jaxsim.jacobian_transpose_product(m, s.q, s.f_ext[:, :3]),
    "prescribed": lambda m, s: jaxsim.hybrid_dynamics(m, s.q, s.v, s.tau, s.a, jnp.zeros(3, bool)),
    "body_matrix": lambda m, s: jaxsim.inverse_mass_product(m, s.q, s.v, jnp.zeros((6, 6))),
    "joint_matrix": lambda m, s: jaxsim.inverse_mass_product(m, s.q, s.v, None, jnp.zeros(3)),
}


@pytest.mark.parametrize("argument", WRONG)
def test_an_argument_of_the_wrong_shape_is_named(argument):
    model = small_tree()
    with pytest.raises(ValueError, match=rf"^{argument} .*must have shape .* but it has shape"):
        jax.eval_shape(WRONG[argument], model, state(model))


def test_the_sentence_tells_the_shape_and_points_to_vmap():
    model = small_tree()
    with pytest.raises(ValueError, match=r"shape \(14,\) for this model, but it has shape \(5, 14\).*jax.vmap"):
        jaxsim.forward_kinematics(model, jnp.zeros((5, 14)))


def everything(model, sample, body):
    """The result of every function of the configuration and its rates."""
    q, v, a, tau, f = sample
    nothing, no_matrix = jnp.zeros(model.nv, bool), jnp.zeros((model.num_bodies, 6, 6), q.dtype)
    return {
        "integrate": jaxsim.integrate(model, q, v),
        "difference": jaxsim.difference(model, q, q),
        "inverse dynamics": jaxsim.inverse_dynamics(model, q, v, a, f),
        "forward dynamics": jaxsim.forward_dynamics(model, q, v, tau, f),
        "mass matrix": jaxsim.mass_matrix(model, q),
        "inverse mass product": jaxsim.inverse_mass_product(model, q, v),
        "preconditioner": jaxsim.inverse_mass_product(model, q, v, no_matrix, v),
        "hybrid": jaxsim.hybrid_dynamics(model, q, v, tau, a, nothing, f),
        "bias": jaxsim.bias_forces(model, q, v),
        "gravity": jaxsim.gravity_forces(model, q),
        "passive": jaxsim.passive_forces(model, q, v),
        "poses": jaxsim.forward_kinematics(model, q),
        "velocities": jaxsim.body_velocities(model, q, v),
        "jacobian": jaxsim.jacobian(model, q, body),
        "jacobian derivative": jaxsim.jacobian_derivative(model, q, v, body),
        "jacobian rate product": jaxsim.jacobian_rate_product(model, q, v, v),
        "jacobian transpose product": jaxsim.jacobian_transpose_product(model, q, f),
        "energy": jaxsim.energy(model, q, v),
        "momentum": jaxsim.momentum(model, q, v),
        "center of mass": jaxsim.center_of_mass(model, q),
        "rollout": jaxsim.rollout(
            model, jaxsim.RungeKutta4(0.1), jaxsim.State(q, v, jnp.zeros((), q.dtype)), steps=2
        ).q,
    }


SMALLEST = {
    "the world alone": lambda: jaxsim.ModelBuilder().build(),
    "only fixed joints": fixed_bodies,
    "a single body": lambda: jaxsim.robots.pendulum(1),
}


@pytest.mark.parametrize("case", SMALLEST)
def test_the_smallest_models_work(case):
    model = SMALLEST[case]()
    results = jax.jit(everything, static_argnums=2)(model, state(model), model.num_bodies - 1)
    for name, result in results.items():
        assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(result)), name
    assert results["mass matrix"].shape == (model.nv, model.nv)
    assert results["jacobian"].shape == (6, model.nv)
    assert results["poses"].rotation.shape == (model.num_bodies, 3, 3)
    assert results["rollout"].shape == (3, model.nq)


def test_fixed_bodies_are_where_they_were_put():
    model = fixed_bodies()
    poses = jaxsim.forward_kinematics(model, jnp.zeros(0))
    np.testing.assert_allclose(poses.position, [[0, 0, 0], [1, 0, 0], [1, 0, 0.5]])
    np.testing.assert_allclose(jaxsim.center_of_mass(model, jnp.zeros(0)), [1, 0, 0])
    np.testing.assert_allclose(jaxsim.energy(model, jnp.zeros(0), jnp.zeros(0)).total, 0.0)


def test_replacing_leaves_leaves_nothing_stale():
    model = jaxsim.robots.pendulum(2)
    longer = dataclasses.replace(model, position=2 * model.position)
    z = jaxsim.forward_kinematics(longer, longer.neutral()).position[:, 2]
    np.testing.assert_allclose(z, [0.0, 0.0, -2.0])
