import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim import robots
from jaxsim.model.robots.random_tree import every_joint

ROBOTS = {
    # builder, bodies (the world left out), degrees of freedom, mass
    "pendulum": (lambda: robots.pendulum(links=12), 12, 12, 12.0),
    "chain": (lambda: robots.chain(5, jaxsim.Spherical(), mass=2.0), 5, 15, 10.0),
    "quadruped": (robots.quadruped, 13, 18, 12.0),
    "fixed quadruped": (lambda: robots.quadruped(floating=False), 13, 12, 12.0),
    "humanoid": (robots.humanoid, 30, 35, 64.0),
    "fixed humanoid": (lambda: robots.humanoid(floating=False), 30, 29, 64.0),
    "cartpole": (robots.cartpole, 2, 2, 1.1),
    "acrobot": (robots.acrobot, 2, 2, 2.0),
    "arm": (robots.arm, 7, 7, 15.5),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_size_and_mass(name):
    build, bodies, nv, mass = ROBOTS[name]
    model = build()
    assert (model.num_bodies, model.nv) == (bodies + 1, nv)
    assert len(set(model.body_names)) == bodies + 1
    np.testing.assert_allclose(np.sum(model.mass), mass, rtol=1e-14)


def test_the_pendulum_hangs_down():
    model = robots.pendulum(links=3, length=0.5)
    position = jax.jit(jaxsim.forward_kinematics)(model, model.neutral()).position
    np.testing.assert_allclose(position[1:], [[0, 0, 0], [0, 0, -0.5], [0, 0, -1.0]])
    np.testing.assert_allclose(jax.jit(jaxsim.gravity_forces)(model, model.neutral()), 0.0, atol=1e-15)


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_walkers_are_symmetric(name):
    """Standing still, left and right balance: the centre of mass is over the middle."""
    model = ROBOTS[name][0]()
    com = jax.jit(jaxsim.center_of_mass)(model, model.neutral())
    np.testing.assert_allclose(com[1], 0.0, atol=1e-15)


def test_the_cart_pole_hangs_at_zero_and_the_cart_slides_along_x():
    model = robots.cartpole()
    poses = jax.jit(jaxsim.forward_kinematics)(model, jnp.array([0.3, 0.0]))
    np.testing.assert_allclose(poses.position[1], [0.3, 0, 0])
    com = jax.jit(jaxsim.center_of_mass)
    hanging, upright = (com(model, jnp.array([0.0, angle]))[2] for angle in (0.0, jnp.pi))
    np.testing.assert_allclose([hanging, upright], [-0.05 / 1.1, 0.05 / 1.1], rtol=1e-12)


def test_only_the_second_joint_of_the_acrobot_is_driven():
    np.testing.assert_array_equal(robots.acrobot().effort_limit, [0.0, np.inf])


def test_random_trees_contain_every_joint_and_depend_only_on_the_key():
    kinds = every_joint()
    model = robots.random_tree(len(kinds), 7)
    assert {type(joint) for joint in model.joints} == {type(joint) for joint in kinds}
    again, other = robots.random_tree(len(kinds), 7), robots.random_tree(len(kinds), 8)
    np.testing.assert_array_equal(model.mass, again.mass)
    assert np.any(model.mass != other.mass)


def test_every_joint_of_the_package_is_in_the_list():
    """Composites of lists stay out; a joint added to the package must be added to the list."""
    exported = {kind for kind in vars(jaxsim.joints).values() if isinstance(kind, type) and hasattr(kind, "transform")}
    abstract = {kind for kind in exported if kind.__name__.startswith("Abstract")}
    assert exported - abstract == {type(joint) for joint in every_joint()}


def test_random_trees_take_keys_and_joints():
    model = robots.random_tree(4, jax.random.key(3), joints=(jaxsim.Revolute("x"), jaxsim.Prismatic("y")))
    assert model.nv == 4
    assert [type(joint) for joint in model.joints] == [jaxsim.Revolute, jaxsim.Prismatic]


def test_a_chain_without_links_is_refused():
    with pytest.raises(ValueError, match="at least one link, but 0"):
        robots.chain(0)
