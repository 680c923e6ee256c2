"""Directional derivatives and pullbacks of a step, by everything that it depends on, beside finite differences."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class StepDerivatives(NamedTuple):
    """A derivative along one direction by forward mode and by differences, and the pullback of one covector."""

    forward: jax.Array
    difference: jax.Array
    pulled: Any
    direction: Any
    weights: jax.Array

    def pairing(self) -> float:
        """⟨pullback of the weights, direction⟩, which forward mode gives as ⟨weights, derivative⟩."""
        pairs = zip(jax.tree.leaves(self.pulled), jax.tree.leaves(self.direction), strict=True)
        return sum(float(jnp.sum(a * b)) for a, b in pairs)


def step_derivatives(outcome, at, seed: int = 0) -> StepDerivatives:
    """Differentiate ``outcome``, a function of all leaves of ``at`` with a vector as its value, at ``at``."""
    inexact, rest = eqx.partition(at, eqx.is_inexact_array)
    rng = np.random.default_rng(seed)
    # limits are infinite: they have no neighbours
    direction = jax.tree.map(lambda leaf: jnp.where(jnp.isfinite(leaf), rng.normal(size=leaf.shape), 0.0), inexact)

    def f(inexact):
        return outcome(eqx.combine(inexact, rest))

    weights = jnp.asarray(rng.normal(size=jax.eval_shape(f, inexact).shape))

    @jax.jit
    def everything(inexact, direction):
        def moved(by):
            return f(jax.tree.map(lambda a, d: a + by * d, inexact, direction))

        values = jax.lax.map(moved, jnp.array([-2e-4, -1e-4, 1e-4, 2e-4]))
        along = jax.linearize(f, inexact)[1]
        return values, along(direction), jax.linear_transpose(along, inexact)(weights)[0]

    values, forward, pulled = everything(inexact, direction)
    difference = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / 12e-4
    return StepDerivatives(forward, difference, pulled, direction, weights)
