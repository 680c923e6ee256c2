"""One clear sentence for an argument of the wrong shape."""

from __future__ import annotations

import jax.numpy as jnp

from .model import Model

_MEANING = {
    "q": ("nq", "a configuration"),
    "v": ("nv", "a velocity"),
    "a": ("nv", "an acceleration"),
    "tau": ("nv", "a vector of joint forces"),
    "x": ("nv", "a vector of the tangent space"),
}


def check(model: Model, **arguments) -> None:
    """Raise a ``ValueError`` naming the first argument whose shape does not fit the model."""
    for name, value in arguments.items():
        if name == "f_ext":
            expected, meaning = (model.num_bodies, 6), "one wrench a body (the world included)"
        else:
            attribute, meaning = _MEANING[name]
            expected = (getattr(model, attribute),)
        if jnp.shape(value) != expected:
            raise ValueError(
                f"{name} is {meaning} and must have shape {expected} for this model, but it has shape "
                f"{jnp.shape(value)}; batches go through jax.vmap."
            )
