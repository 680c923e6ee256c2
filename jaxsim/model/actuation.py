"""Actuators: the map from controls to joint forces."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .placement import finite_vector


class Actuation(eqx.Module):
    """The actuators of a model: f = k u + b₀ + b₁ l + b₂ l̇ and τ = Gᵀ f.

    G holds the gears, l = G q is the length of an actuator (defined on joints of one degree of freedom). A motor has
    k = 1 and b = 0, so that τ = Gᵀ u; a position servo has k = −b₁ = kp; a velocity servo k = −b₂ = kv.

    Attributes:
        gear: G, one row an actuator, in newton or newton metre for a unit of f.
        gain: k.
        bias: (b₀, b₁, b₂).
        control_lower: the lower bounds of the controls, and
        control_upper: the upper ones.
        force_lower: the lower bounds of the actuator forces f, and
        force_upper: the upper ones.
        names: the names of the actuators.
        coordinates: for each actuator, the pair of its indices in q and v; (−1, −1) if it drives a ball joint.
    """

    gear: Float[Array, "nu nv"] | tuple[()] = ()
    gain: Float[Array, " nu"] | tuple[()] = ()
    bias: Float[Array, "nu 3"] | tuple[()] = ()
    control_lower: Float[Array, " nu"] | tuple[()] = ()
    control_upper: Float[Array, " nu"] | tuple[()] = ()
    force_lower: Float[Array, " nu"] | tuple[()] = ()
    force_upper: Float[Array, " nu"] | tuple[()] = ()
    names: tuple[str, ...] = eqx.field(default=(), static=True)
    coordinates: tuple[tuple[int, int], ...] = eqx.field(default=(), static=True)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def matrix(self) -> Float[Array, "nv nu"]:
        """The linear map from controls to joint forces, τ = matrix @ u for motors: Gᵀ diag(k)."""
        return (jnp.asarray(self.gear) * jnp.asarray(self.gain)[:, None]).T

    def forces(self, q: Float[Array, " nq"], v: Float[Array, " nv"], u: Float[Array, " nu"]) -> Float[Array, " nv"]:
        """The joint forces τ = Gᵀ f of the controls u, with u and f kept within their bounds."""
        if jnp.shape(u) != (len(self),):
            raise ValueError(f"u must have shape {(len(self),)} for this model, but it has shape {jnp.shape(u)}.")
        if not len(self):
            return jnp.zeros_like(v)
        gear, bias = jnp.asarray(self.gear), jnp.asarray(self.bias)
        at_q, at_v = np.array(self.coordinates).T
        length = jnp.where(at_q < 0, 0.0, gear[np.arange(len(self)), at_v] * q[at_q])
        u = jnp.clip(u, jnp.asarray(self.control_lower), jnp.asarray(self.control_upper))
        f = jnp.asarray(self.gain) * u + bias[:, 0] + bias[:, 1] * length + bias[:, 2] * (gear @ v)
        return gear.T @ jnp.clip(f, jnp.asarray(self.force_lower), jnp.asarray(self.force_upper))


@dataclasses.dataclass(frozen=True)
class Actuator:
    """One actuator, before it is stacked: the gears stand at ``velocity`` and after."""

    name: str
    velocity: int
    configuration: int
    gear: np.ndarray
    gain: float
    bias: np.ndarray
    control_range: tuple[float, float]
    force_range: tuple[float, float]


def actuator(name: str, nv: int, gear, gain: float, bias, control_range, force_range) -> Actuator:
    """Check an actuator on a joint of nv degrees of freedom; where the joint's coordinates begin is filled in later."""
    gears = np.atleast_1d(np.asarray(gear, float))
    if nv == 0 or gears.shape != (nv,) or not np.all(np.isfinite(gears)):
        raise ValueError(f"The gear of the actuator {name!r} is {gear!r}; its joint takes {nv} finite numbers.")
    law = finite_vector(bias, 3, f"the bias of the actuator {name!r}")
    if nv > 1 and law[1]:
        raise ValueError(f"The actuator {name!r} pulls on its length, which its joint of {nv} freedoms has not.")
    (u_low, u_high), (f_low, f_high) = control_range, force_range
    return Actuator(name, 0, 0, gears, float(gain), law, (float(u_low), float(u_high)), (float(f_low), float(f_high)))


def stack_actuators(items: Sequence[Actuator], nv: int, dtype) -> Actuation:
    """All actuators of a model with nv degrees of freedom."""
    if not items:
        return Actuation()
    gear = np.zeros((len(items), nv))
    for row, item in zip(gear, items, strict=True):
        row[item.velocity : item.velocity + len(item.gear)] = item.gear
    arrays = (
        gear,
        [item.gain for item in items],
        [item.bias for item in items],
        *np.array([item.control_range for item in items]).T,
        *np.array([item.force_range for item in items]).T,
    )
    single = [len(item.gear) == 1 for item in items]
    return Actuation(
        *(jnp.asarray(array, dtype) for array in arrays),
        names=tuple(item.name for item in items),
        coordinates=tuple(
            (item.configuration, item.velocity) if one else (-1, -1) for item, one in zip(items, single, strict=True)
        ),
    )
