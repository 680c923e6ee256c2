"""Every public function under jit, vmap and both modes of differentiation, compiled once."""

import collections
import functools
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from tests.public_functions import DERIVATIVES, ELSEWHERE, FUNCTIONS
from tests.samples import relative_error, state, tiny_tree

BATCH = 3

QUICK = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "energy", "integrate")
functions_of_most_use = pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in FUNCTIONS]
)
"""Every function, those of less use marked as slow."""


TRACES = collections.Counter()
"""How often each function was traced, hence compiled."""


@functools.cache
def jitted(name):
    def counted(model, sample):
        TRACES[name] += 1
        return FUNCTIONS[name](model, sample)

    return jax.jit(counted)


@functools.cache
def worlds():
    """A batch of models with different leaves and of states."""
    model = tiny_tree()
    factors = 1.0 + 0.1 * jnp.arange(BATCH)
    models = jax.vmap(lambda c: jax.tree.map(lambda x: jnp.where(jnp.isfinite(x), c * x, x), model))(factors)
    samples = [state(model, seed) for seed in range(BATCH)]
    return models, jax.tree.map(lambda *x: jnp.stack(x), *samples)


@functools.cache
def built_anew():
    """The same tree, not the same object."""
    return tiny_tree.__wrapped__()


def one(tree, i):
    return jax.tree.map(lambda x: x[i], tree)


def assert_close(got, expected, tolerance):
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert relative_error(a, b) < tolerance


def test_the_table_holds_every_public_function():
    public = {name for name, value in vars(jaxsim).items() if inspect.isfunction(value)}
    known = {name.partition(",")[0] for name in (*FUNCTIONS, *DERIVATIVES)} | set(ELSEWHERE)
    assert public - {"rnea", "aba", "crba"} == known


@functions_of_most_use
def test_vmap_over_models_and_states(name):
    models, samples = worlds()
    together = jax.jit(jax.vmap(FUNCTIONS[name]))(models, samples)
    for i in range(BATCH):
        assert_close(one(together, i), jitted(name)(one(models, i), one(samples, i)), 1e-12)
    first = jax.tree.leaves(one(together, 0))
    changed = [np.any(a != b) for a, b in zip(first, jax.tree.leaves(one(together, 1)), strict=True)]
    assert any(changed), "different worlds must give different results"


@pytest.mark.parametrize("axes", [(None, 0), (0, None)], ids=["states", "models"])
@pytest.mark.parametrize("name", ["forward_dynamics"])
def test_vmap_over_one_of_them(name, axes):
    models, samples = worlds()
    args = [one(x, 0) if axis is None else x for x, axis in zip((models, samples), axes, strict=True)]
    together = jax.jit(jax.vmap(FUNCTIONS[name], axes))(*args)
    for i in range(BATCH):
        single = [one(x, 0 if axis is None else i) for x, axis in zip((models, samples), axes, strict=True)]
        assert_close(one(together, i), jitted(name)(*single), 1e-12)


@functions_of_most_use
def test_both_modes_agree_with_each_other_and_with_differences(name):
    """⟨ȳ, J ẋ⟩ by jvp, by vjp and by central differences, over all leaves of the model and the state at once."""
    model, sample = (one(x, 0) for x in worlds())
    # limits are infinite and not used; a perturbation of them would spoil the pairing with NaN
    tangent = jax.tree.map(
        lambda x: jnp.where(jnp.isfinite(x), jax.random.normal(jax.random.key(x.size), x.shape), 0.0), (model, sample)
    )

    @jax.jit
    def paired(model, sample, tangent):
        value, forward = jax.jvp(FUNCTIONS[name], (model, sample), tangent)
        weights = jax.tree.map(lambda y: jnp.cos(jnp.arange(y.size, dtype=y.dtype)).reshape(y.shape), value)
        backward = jax.vjp(FUNCTIONS[name], model, sample)[1](weights)

        def pair(a, b):
            return sum(jnp.vdot(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))

        return weights, pair(weights, forward), pair(backward, tangent), backward

    weights, forward, backward, gradients = paired(model, sample, tangent)
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(gradients))
    np.testing.assert_allclose(forward, backward, rtol=1e-10, atol=1e-12)
    h = 1e-5
    ahead, behind = (
        jitted(name)(*jax.tree.map(lambda x, t, step=step: x + step * t, (model, sample), tangent)) for step in (h, -h)
    )
    change = sum(
        float(jnp.vdot(w, a - b)) / (2 * h)
        for w, a, b in zip(*map(jax.tree.leaves, (weights, ahead, behind)), strict=True)
    )
    np.testing.assert_allclose(forward, change, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_not_weakly_typed(name):
    for leaf in jax.tree.leaves(jax.eval_shape(FUNCTIONS[name], tiny_tree(), state(tiny_tree()))):
        assert not leaf.weak_type


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_compilation_serves_all_leaves(name):
    """Other masses, a model built anew, NumPy arrays, and results fed back as arguments."""
    models, samples = worlds()
    function = jitted(name)
    function(one(models, 0), one(samples, 0))
    traced = TRACES[name]
    function(one(models, 1), one(samples, 2))
    function(built_anew(), one(samples, 1))
    function(built_anew(), jax.tree.map(np.asarray, one(samples, 1)))
    moved = jaxsim.integrate(built_anew(), samples.q[0], samples.v[0])
    function(built_anew(), one(samples, 1)._replace(q=moved))
    assert TRACES[name] == traced > 0


def test_simulations_are_not_compiled_again_when_only_leaves_change():
    models, samples = worlds()
    traces = []

    def control(t, state):
        traces.append(t)
        return -state.v

    for i in range(BATCH):
        jaxsim.simulate(one(models, i), samples.q[i], samples.v[i], duration=0.02, control=control)
    assert len(traces) == 1
