"""The two loops over the tree against plain Python recursions on random trees."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim.spatial import Vec3
from jaxsim.sweep import leaf_to_root, root_to_leaf

TREES = {
    "chain": jaxsim.robots.chain(9),
    "random": jaxsim.robots.random_tree(25, 5, joints=(jaxsim.Revolute("x"), jaxsim.Fixed())),
    "bushy": jaxsim.robots.random_tree(25, 6, joints=(jaxsim.Prismatic("x"),), branching=1.0),
    "joints of several degrees": jaxsim.robots.random_tree(8, 7, joints=(jaxsim.Spherical(), jaxsim.Universal())),
}


@pytest.fixture(params=TREES)
def topology(request):
    return TREES[request.param].topology


def weights(topology):
    return np.random.default_rng(0).normal(size=topology.elements.count)


def test_root_to_leaf_passes_the_parents_state(topology):
    """Products along the path do not commute with anything that a wrong order would do."""
    x = weights(topology)

    def step(parent, x):
        state = 0.5 * parent + x
        return state, Vec3(state, parent, 0.0)

    out = root_to_leaf(topology, step, jnp.asarray(x), 3.0, jnp.float64)
    expected = np.zeros(topology.elements.count)
    for i, parent in enumerate(topology.elements.parent):
        expected[i] = 0.5 * (3.0 if parent < 0 else expected[parent]) + x[i]
    np.testing.assert_allclose(out.x, expected, rtol=1e-14)
    above = [3.0 if parent < 0 else expected[parent] for parent in topology.elements.parent]
    np.testing.assert_allclose(out.y, above, rtol=1e-14)


def test_leaf_to_root_adds_up_the_children(topology):
    x = weights(topology)

    def step(children, x):
        return 0.5 * children + x, children

    total, out = leaf_to_root(topology, step, jnp.asarray(x), 0.0, jnp.float64)
    below, given = np.zeros(topology.elements.count), 0.0
    for i in reversed(range(topology.elements.count)):
        contribution, parent = 0.5 * below[i] + x[i], topology.elements.parent[i]
        if parent >= 0:
            below[parent] += contribution
        else:
            given += contribution
    np.testing.assert_allclose(out, below, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(total, given, rtol=1e-13)


def test_the_sweeps_are_transposes_of_each_other(topology):
    """What leaf_to_root collects is the gradient of what root_to_leaf hands out."""
    x = jnp.asarray(weights(topology))

    def handed_out(y):
        return jnp.vdot(x, root_to_leaf(topology, lambda p, y: (0.5 * p + y, 0.5 * p + y), y, 0.0, jnp.float64))

    def collect(children, x):
        return 0.5 * (children + x), children + x

    _, collected = leaf_to_root(topology, collect, x, 0.0, jnp.float64)
    np.testing.assert_allclose(jax.grad(handed_out)(jnp.zeros_like(x)), collected, rtol=1e-13, atol=1e-14)


def test_python_numbers_reach_the_step_as_they_are():
    topology = TREES["chain"].topology
    seen = []

    def step(parent, x):
        seen.append(x)
        return parent + x.x + x.y, x.x

    out = root_to_leaf(topology, step, Vec3(jnp.ones(9), 2.0, 0.0), 0.0, jnp.float64)
    assert seen[0].y == 2.0
    assert isinstance(seen[0].y, float)
    np.testing.assert_array_equal(out, np.ones(9))


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_states_have_the_asked_type(dtype):
    topology = TREES["random"].topology
    x = jnp.ones(topology.elements.count, dtype)
    out = root_to_leaf(topology, lambda p, x: (p + x, p + x), x, 0.0, dtype)
    total, _ = leaf_to_root(topology, lambda c, x: (c + x, c), x, 0.0, dtype)
    assert out.dtype == total.dtype == dtype
    assert float(total) == topology.elements.count
