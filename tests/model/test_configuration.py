import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from tests.samples import every_joint_tree, small_tree, state


def test_integrate_and_difference_are_inverse():
    model = every_joint_tree()
    sample = state(model)
    q1 = jax.jit(jaxsim.integrate)(model, sample.q, sample.v)
    np.testing.assert_allclose(jax.jit(jaxsim.difference)(model, sample.q, q1), sample.v, atol=1e-12)
    back = jax.jit(jaxsim.integrate)(model, sample.q, jnp.zeros(model.nv))
    np.testing.assert_allclose(back, sample.q, atol=1e-15)


def test_small_steps_add_up_to_one_large_step():
    model = small_tree()
    sample = state(model)
    step, q = jax.jit(jaxsim.integrate), sample.q
    for _ in range(8):
        q = step(model, q, sample.v / 8)
    np.testing.assert_allclose(q, step(model, sample.q, sample.v), atol=1e-13)


def test_flat_coordinates_are_added():
    model = jaxsim.robots.arm()
    sample = state(model)
    np.testing.assert_array_equal(jaxsim.integrate(model, sample.q, sample.v), sample.q + sample.v)
    np.testing.assert_array_equal(jaxsim.difference(model, sample.q, sample.v), sample.v - sample.q)


def test_quaternions_keep_unit_length():
    model = small_tree()
    sample = state(model)
    q = jax.jit(jaxsim.integrate)(model, sample.q, 3.0 * sample.v)
    np.testing.assert_allclose(jnp.linalg.norm(q[3:7]), 1.0, rtol=1e-14)
    np.testing.assert_allclose(jnp.linalg.norm(q[8:12]), 1.0, rtol=1e-14)


def test_the_free_joint_moves_along_its_body_twist():
    builder = jaxsim.ModelBuilder()
    builder.add_body("body", 0, jaxsim.Free(), None, jaxsim.BodyInertia.sphere(1.0, 0.1))
    model = builder.build()
    # a quarter turn about z while moving ahead at constant body velocity: a quarter of a circle of radius 2/π
    q = jax.jit(jaxsim.integrate)(model, model.neutral(), jnp.array([0, 0, jnp.pi / 2, 1.0, 0, 0]))
    np.testing.assert_allclose(q[:3], [2 / np.pi, 2 / np.pi, 0], atol=1e-15)
    np.testing.assert_allclose(q[3:], [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-15)


def test_random_configurations_respect_limits_where_there_are_any():
    model = jaxsim.robots.quadruped()
    q = jax.vmap(lambda key: jaxsim.random_configuration(model, key))(jax.random.split(jax.random.key(0), 200))
    bounded = np.isfinite(model.lower)
    assert bounded.sum() == 12
    assert np.all(q[:, bounded] >= model.lower[bounded])
    assert np.all(q[:, bounded] <= model.upper[bounded])
    spread = (q.max(axis=0) - q.min(axis=0))[bounded] / (model.upper - model.lower)[bounded]
    assert np.all(spread > 0.9)
    np.testing.assert_allclose(jnp.linalg.norm(q[:, 3:7], axis=1), 1.0, rtol=1e-14)


def test_random_configurations_differ_from_joint_to_joint_and_from_key_to_key():
    model = jaxsim.robots.chain(20)
    a, b = (np.asarray(jaxsim.random_configuration(model, jax.random.key(seed))) for seed in (0, 1))
    assert len(np.unique(np.concatenate([a, b]))) == 40


def test_the_gradient_of_difference_is_finite_at_equal_configurations():
    model = small_tree()
    q = state(model).q

    def there_and_back(dv):
        return jaxsim.difference(model, q, jaxsim.integrate(model, q, dv))

    J = jax.jit(jax.jacrev(there_and_back))(jnp.zeros(model.nv))
    np.testing.assert_allclose(J, np.eye(model.nv), atol=1e-14)
