"""Which properties of a model are to be found, as one pytree of free numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..model import Model
from .log_cholesky import inertias_from_log_cholesky, log_cholesky

Theta = dict[str, Array]

_POSITIVE = "damping", "friction", "armature", "stiffness"


class Parametrisation(eqx.Module):
    """Free numbers θ for chosen properties of a model; every θ is a model that can exist.

    Inertias are in log-Cholesky coordinates; damping, dry friction, armature and stiffness are e^θ, hence positive,
    with a start of at least ``floor``; a length is the distance of a body's joint from its parent, times e^θ.

    Attributes:
        model: the model from which everything else is taken.
        inertia: the bodies whose mass, centre of mass and inertia are free.
        lengths: the bodies whose placement in the parent is scaled.
        properties: which of damping, friction, armature and stiffness are free, each for all degrees of freedom.
        floor: the smallest start of these.
    """

    model: Model
    inertia: tuple[int, ...] = eqx.field(static=True)
    lengths: tuple[int, ...] = eqx.field(static=True)
    properties: tuple[str, ...] = eqx.field(static=True)
    floor: float = eqx.field(static=True)

    def __init__(
        self,
        model: Model,
        inertia: Sequence[int | str] | bool = True,
        lengths: Sequence[int | str] = (),
        properties: Sequence[str] = (),
        floor: float = 1e-3,
    ):
        """Choose the free properties; ``inertia=True`` takes all bodies."""
        for name in properties:
            if name not in _POSITIVE:
                raise ValueError(f"There is no property {name!r} to identify; use {', '.join(_POSITIVE)}.")
        bodies = range(1, model.num_bodies) if inertia is True else (inertia or ())
        self.model = model
        self.inertia = tuple(model.body_index(body) for body in bodies)
        self.lengths = tuple(model.body_index(body) for body in lengths)
        self.properties, self.floor = tuple(properties), floor

    def initial(self) -> Theta:
        """θ of the model itself."""
        model, at = self.model, np.array(self.inertia, int)
        theta = {"inertia": jax.vmap(log_cholesky)(model.mass[at], model.com[at], model.inertia[at])}
        bad = [
            model.body_names[i]
            for i, row in zip(at, np.asarray(theta["inertia"]), strict=True)
            if not np.isfinite(row).all()
        ]
        if bad:
            raise ValueError(
                f"The bodies {', '.join(bad)} have no extent; give them an inertia, or do not identify it."
            )
        for name in self.properties:
            theta[name] = jnp.log(jnp.maximum(getattr(model, name), self.floor))
        return theta | {"lengths": jnp.zeros(len(self.lengths), model.dtype)}

    def build(self, theta: Theta) -> Model:
        """The model with these properties."""
        model, at = self.model, np.array(self.inertia, int)
        mass, com, inertia = jax.vmap(inertias_from_log_cholesky)(theta["inertia"])
        scale = jnp.ones(model.num_bodies, model.dtype).at[np.array(self.lengths, int)].set(jnp.exp(theta["lengths"]))
        return dataclasses.replace(
            model,
            mass=model.mass.at[at].set(mass),
            com=model.com.at[at].set(com),
            inertia=model.inertia.at[at].set(inertia),
            position=model.position * scale[:, None],
            **{name: jnp.exp(theta[name]) for name in self.properties},
        )
