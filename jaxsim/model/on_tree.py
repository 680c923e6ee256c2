"""Functions of plain trees that also serve models whose joints mimic others."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from .coupling import Coupling
from .model import Model
from .shapes import check

Function = TypeVar("Function", bound=Callable)

_CONFIGURATIONS = ("q", "q0", "q1")
_TANGENTS = ("v", "a", "dv", "x", "cotangent")
_CHECKED_AS = {"q0": "q", "q1": "q", "dv": "v", "cotangent": "x"}

_RESULTS: dict[str, Callable[[Coupling, jax.Array], jax.Array]] = {
    "unchanged": lambda coupling, y: y,
    "configuration": lambda coupling, y: y[coupling.own_q],
    "tangent": lambda coupling, y: y[coupling.own_v],
    "forces": lambda coupling, y: coupling.forces(y),
    "columns": lambda coupling, y: coupling.forces(y.T).T,
    "matrix": lambda coupling, y: coupling.forces(coupling.forces(y).T),
    "first_axis": lambda coupling, y: jax.tree.map(coupling.forces, y),
    "every_axis": lambda coupling, y: jax.tree.map(lambda leaf: _every_axis(coupling, leaf), y),
}


def _every_axis(coupling: Coupling, y: jax.Array) -> jax.Array:
    """Gᵀ along each axis."""
    for axis in range(y.ndim):
        y = jnp.moveaxis(coupling.forces(jnp.moveaxis(y, axis, 0)), 0, axis)
    return y


def on_tree(result: str) -> Callable[[Function], Function]:
    """Run a function on the tree of a coupled model: q ↦ G q + b and v ↦ G v go in, and ``result`` says what comes out.

    Joint forces come back by Gᵀ (``"forces"``), Jacobians by J G (``"columns"``), the mass matrix by Gᵀ M G
    (``"matrix"``), derivatives of forces by Gᵀ along the first axis or along every axis of each of their arrays
    (``"first_axis"``, ``"every_axis"``), coordinates by leaving out the followers (``"configuration"``,
    ``"tangent"``); what does not live in the coordinates comes back ``"unchanged"`` (Sueda, eqs. 2.89–2.90). A model
    without followers is not touched.

    Arguments are recognised by their names: q, q0, q1 are configurations, v, a, dv, x and
    cotangent are vectors of the tangent space.
    """
    back = _RESULTS[result]

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def run(model: Model, *args, **kwargs):
            if model.coupling is None:
                return function(model, *args, **kwargs)
            given = signature.bind(model, *args, **kwargs).arguments
            for name in given.keys() & {*_CONFIGURATIONS, *_TANGENTS}:
                check(model, **{_CHECKED_AS.get(name, name): given[name]})
                expand = model.coupling.configuration if name in _CONFIGURATIONS else model.coupling.tangent
                given[name] = expand(jnp.asarray(given[name]))
            given["model"] = tree(model)
            return back(model.coupling, function(**given))

        return run  # pyright: ignore[reportReturnType]

    return decorate


def tree(model: Model) -> Model:
    """The tree of a coupled model as a plain model: springs, dampers, rotors and limits stay on the leaders."""
    if model.coupling is None:
        return model
    own_q, own_v = model.coupling.own_q, model.coupling.own_v
    nq, nv = model.topology.nq, model.topology.nv

    def spread(leaf: ArrayLike, size: int, own, rest: float) -> jax.Array:
        return jnp.full(size, rest, model.dtype).at[own].set(leaf)

    fields = {
        name: spread(getattr(model, name), nv, own_v, 0.0) for name in ("stiffness", "damping", "armature", "friction")
    }
    fields |= {name: spread(getattr(model, name), nv, own_v, jnp.inf) for name in ("velocity_limit", "effort_limit")}
    ends = {"lower": -jnp.inf, "upper": jnp.inf, "spring_reference": 0.0}
    fields |= {name: spread(getattr(model, name), nq, own_q, rest) for name, rest in ends.items()}
    return dataclasses.replace(model, coupling=None, **fields)
