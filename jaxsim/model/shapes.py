"""One clear sentence for an argument of the wrong shape."""

from __future__ import annotations

import jax.numpy as jnp

from .model import Model

_MEANING: dict[str, tuple[tuple[str | int, ...], str]] = {
    "q": (("nq",), "a configuration"),
    "v": (("nv",), "a velocity"),
    "a": (("nv",), "an acceleration"),
    "tau": (("nv",), "a vector of joint forces"),
    "x": (("nv",), "a vector of the tangent space"),
    "y": (("num_bodies", 6), "one wrench a body (the world included)"),
    "f_ext": (("num_bodies", 6), "one wrench a body (the world included)"),
    "prescribed": (("nv",), "one flag a degree of freedom"),
    "joint_matrix": (("nv",), "one entry a degree of freedom"),
    "body_matrix": (("num_bodies", 6, 6), "one 6×6 matrix a body (the world included)"),
}


def check(model: Model, **arguments) -> None:
    """Raise a ``ValueError`` naming the first argument whose shape does not fit the model."""
    for name, value in arguments.items():
        sizes, meaning = _MEANING[name]
        expected = tuple(size if isinstance(size, int) else getattr(model, size) for size in sizes)
        if jnp.shape(value) != expected:
            raise ValueError(
                f"{name} is {meaning} and must have shape {expected} for this model, but it has shape "
                f"{jnp.shape(value)}; batches go through jax.vmap."
            )
