"""The cones' closed forms are those of the equations that they stand for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.maximal import Frictionless, LinearCone, SecondOrderCone
from jaxsim.maximal.blocks import block_jacobian

CONES = {"smooth": Frictionless(), "second order": SecondOrderCone(), "linear": LinearCone(6)}


@pytest.mark.parametrize("name", CONES)
def test_contacts_are_condensed_by_the_inverse_of_their_equations(name):
    cone, rng, count = CONES[name], np.random.default_rng(0), 4
    mu, c, dc = (
        jnp.full(count, 0.7),
        rng.normal(size=(count, cone.directions)),
        rng.normal(size=(count, cone.directions)),
    )
    inside = cone.guess(jnp.asarray(rng.uniform(0.5, 3.0, count)), mu)
    y = inside * (1.0 + 0.3 * rng.uniform(size=inside.shape))
    r = jnp.asarray(rng.normal(size=y.shape))

    @jax.jit
    def check(y, r):
        P = block_jacobian(lambda y: cone.residual(y, c, mu), y)
        R = block_jacobian(lambda c: cone.residual(y, c, mu), jnp.asarray(c))
        solved = cone.solve(y, r, mu)
        return jnp.einsum("npq,nq->np", P, solved) - r, cone.driven(jnp.asarray(dc), mu) - jnp.einsum(
            "npk,nk->np", R, dc
        )

    for error in check(y, r):
        np.testing.assert_allclose(error, 0.0, atol=1e-13)
