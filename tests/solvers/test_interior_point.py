"""The interior point follows the central path of a problem whose path is known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.solvers import AbstractConeProblem, interior_point


class Bounded(AbstractConeProblem):
    """min ½xᵀx − cᵀx with x ≥ 0: s = x, x − c − γ = 0, x∘γ = κ, so that x = (c + √(c² + 4κ))/2."""

    c: jax.Array

    def residual(self, w):
        x, gamma = w
        return x - self.c - gamma, x * gamma

    def unit(self, r):
        return jnp.zeros_like(r[0]), jnp.ones_like(r[1])

    def linearise(self, w):
        x, gamma = w

        def inverse(r):
            dx = (r[1] + x * r[0]) / (gamma + x)
            return dx, dx - r[0]

        return inverse

    def second_order(self, dw):
        return jnp.zeros_like(dw[0]), dw[0] * dw[1]

    def step_to_boundary(self, w, dw):
        ratios = [jnp.where(d < 0, -a / jnp.where(d < 0, d, 1.0), jnp.inf) for a, d in zip(w, dw, strict=True)]
        return jnp.min(jnp.stack(ratios))

    def mean_gap(self, w):
        return jnp.mean(w[0] * w[1])

    def admissible(self, w):
        return jnp.all(jnp.isfinite(w[0]))


@pytest.mark.parametrize("kappa", [1e-2, 1e-6, 1e-10])
def test_ends_on_the_central_path(kappa):
    c = jnp.array([2.0, -1.0, 0.0, 30.0])
    w, info = jax.jit(lambda c: interior_point(Bounded(c), (1.0 + 0 * c, 1.0 + 0 * c), kappa=kappa, tolerance=1e-12))(c)
    assert info.converged
    assert info.iterations < 25
    np.testing.assert_allclose(w[0], (c + jnp.sqrt(c**2 + 4 * kappa)) / 2, atol=1e-9)
    assert jnp.all(w[0] > 0)


def test_a_world_without_numbers_is_reported():
    def solve(c):
        return interior_point(Bounded(c), (jnp.ones(1), jnp.ones(1)), kappa=1e-8, tolerance=1e-10)

    w, info = jax.vmap(solve)(jnp.array([[1.0], [jnp.nan]]))
    np.testing.assert_array_equal(info.converged, [True, False])
    assert jnp.all(jnp.isfinite(w[0]))
