import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from tests.samples import relative_error, small_tree, state

hybrid = jax.jit(jaxsim.hybrid_dynamics)
rnea = jax.jit(jaxsim.inverse_dynamics)


@pytest.fixture(scope="module")
def case():
    model = small_tree()
    return model, state(model)


def test_with_nothing_prescribed_it_is_forward_dynamics(case):
    model, s = case
    tau, a = hybrid(model, s.q, s.v, s.tau, s.a, jnp.zeros(model.nv, bool), s.f_ext)
    np.testing.assert_array_equal(tau, s.tau)
    assert relative_error(rnea(model, s.q, s.v, a, s.f_ext), s.tau) < 1e-12


def test_with_everything_prescribed_it_is_inverse_dynamics(case):
    model, s = case
    tau, a = hybrid(model, s.q, s.v, s.tau, s.a, jnp.ones(model.nv, bool), s.f_ext)
    np.testing.assert_array_equal(a, s.a)
    assert relative_error(tau, rnea(model, s.q, s.v, s.a, s.f_ext)) < 1e-13


@pytest.mark.parametrize("seed", range(5))
def test_mixed_it_solves_for_what_is_missing(case, seed):
    """Some degrees of freedom of one joint may be prescribed and others not."""
    model, s = case
    mask = np.random.default_rng(seed).random(model.nv) < 0.5
    tau, a = hybrid(model, s.q, s.v, s.tau, s.a, mask, s.f_ext)
    np.testing.assert_array_equal(a[mask], s.a[mask])
    np.testing.assert_array_equal(tau[~mask], s.tau[~mask])
    assert relative_error(rnea(model, s.q, s.v, a, s.f_ext), tau) < 1e-12


def test_what_is_not_used_has_no_influence(case):
    model, s = case
    mask = np.arange(model.nv) % 2 == 0
    spoilt = jnp.where(mask, jnp.nan, s.tau), jnp.where(mask, s.a, jnp.nan)
    given = jnp.where(mask, 0.0, s.tau), jnp.where(mask, s.a, 0.0)
    for got, expected in zip(
        hybrid(model, s.q, s.v, *spoilt, mask), hybrid(model, s.q, s.v, *given, mask), strict=True
    ):
        np.testing.assert_array_equal(got, expected)
