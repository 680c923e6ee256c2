"""The measured order of an integrator: how fast its error at a fixed time falls with the step."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import jaxsim


@functools.partial(jax.jit, static_argnums=0)
def _after(kind, model, q, v, dt, steps):
    """The state after a number of steps, which is not static, so that one compilation serves all step sizes."""
    integrator = kind(dt)

    def step(_, state):
        return integrator.step(model, state)[0]

    return jax.lax.fori_loop(0, steps, step, integrator.init(model, q, v))


def errors(kind, model, q, v, duration, counts, reference):
    """The distance on the manifold between coarse runs and a fine one, positions and velocities together."""
    truth = _after(kind, model, q, v, duration / reference, reference)
    difference = jax.jit(jaxsim.difference)
    result = []
    for count in counts:
        end = _after(kind, model, q, v, duration / count, count)
        apart = jnp.concatenate([difference(model, truth.q, end.q), end.v - truth.v])
        result.append(float(jnp.linalg.norm(apart)))
    return np.array(result)


def slope(errors, counts) -> float:
    """The exponent p of error ∝ count^(−p), between the two finest runs."""
    return float(np.log(errors[-2] / errors[-1]) / np.log(counts[-1] / counts[-2]))
