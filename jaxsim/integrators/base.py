"""What every integrator answers: ``init`` makes its state, ``step`` advances it and reports how it went.

An integrator's state always has ``q``, ``v`` and ``t``; methods that need more (momentum, history, a warm start) define
a state of their own with further fields. The states are pytrees, so one ``rollout`` serves all of them.
"""

from __future__ import annotations

import abc
from typing import Any, Protocol, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..model import Model
from ..model.shapes import check


class StateLike(Protocol):
    """What rollouts read of a state."""

    @property
    def q(self) -> Array: ...
    @property
    def v(self) -> Array: ...
    @property
    def t(self) -> Array: ...


class State(eqx.Module):
    """A point of the trajectory: configuration, velocity and time."""

    q: Float[Array, " nq"]
    v: Float[Array, " nv"]
    t: Float[Array, ""]


class Info(eqx.Module):
    """How a step went.

    Attributes:
        converged: whether the step was solved; if not, the state has kept its last good value.
        residual: how far from solved, in the units of the method's tolerance.
        iterations: how many iterations it took; 0 for explicit methods.
    """

    converged: Bool[Array, ""]
    residual: Float[Array, ""]
    iterations: Int[Array, ""]


class AbstractIntegrator(eqx.Module):
    """A method that advances a state by one time step ``dt``."""

    dt: eqx.AbstractVar[Any]

    @abc.abstractmethod
    def init(self, model: Any, q: Array, v: Array, t: float = 0.0) -> Any:
        """The state at configuration q and velocity v."""

    @abc.abstractmethod
    def step(self, model: Any, state: Any, tau: Array | None = None) -> tuple[Any, Any]:
        """The state one time step later under the joint forces τ (none for ``None``), and how the step went."""


def initial_state(model: Model, q, v, t=0.0) -> State:
    """The state (q, v, t) with all entries of the model's floating-point type."""
    q, v = jnp.asarray(q), jnp.asarray(v)
    dtype = jnp.result_type(q, v, model.dtype)
    check(model, q=q, v=v)
    return State(jnp.asarray(q, dtype), jnp.asarray(v, dtype), jnp.asarray(t, dtype))


def joint_forces(model: Model, state: StateLike, tau: Array | None) -> Array:
    """τ, or zeros for ``None``."""
    if tau is None:
        return jnp.zeros(model.nv, state.v.dtype)
    check(model, tau=tau)
    return jnp.asarray(tau, state.v.dtype)


S = TypeVar("S")


def keep_if_finite(old: S, new: S) -> tuple[S, Info]:
    """The new state of an explicit step if all of it is finite, else the old one, with the report of which it is."""
    leaves = jax.tree.leaves(new)
    good = jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in leaves]))
    kept = jax.tree.map(lambda a, b: jnp.where(good, a, b), new, old)
    residual = jnp.where(good, 0.0, jnp.inf).astype(leaves[0].dtype)
    return kept, Info(good, residual, jnp.zeros((), jnp.int32))
