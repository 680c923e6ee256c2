"""Actuators: the map from controls to joint forces."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .placement import finite_vector


class Actuation(eqx.Module):
    """The actuators of a model: f = k u + b₀ + b₁ l + b₂ l̇ and τ = Gᵀ f.

    G holds the gears, l = G q is the length of an actuator (defined on joints of one degree of freedom); an actuator
    that pulls several joints at once, as a tendon does, has several entries in its row. A motor has k = 1 and b = 0,
    so that τ = Gᵀ u; a position servo has k = −b₁ = kp; a velocity servo k = −b₂ = kv.

    Attributes:
        gear: G, one row an actuator, in newton or newton metre for a unit of f.
        gain: k.
        bias: (b₀, b₁, b₂).
        control_lower: the lower bounds of the controls, and
        control_upper: the upper ones.
        force_lower: the lower bounds of the actuator forces f, and
        force_upper: the upper ones.
        names: the names of the actuators.
        coordinates: for each degree of freedom, the index of its coordinate in q; joints of several degrees of freedom
            have no lengths, and theirs are not used.
    """

    gear: Float[Array, "nu nv"] | tuple[()] = ()
    gain: Float[Array, " nu"] | tuple[()] = ()
    bias: Float[Array, "nu 3"] | tuple[()] = ()
    control_lower: Float[Array, " nu"] | tuple[()] = ()
    control_upper: Float[Array, " nu"] | tuple[()] = ()
    force_lower: Float[Array, " nu"] | tuple[()] = ()
    force_upper: Float[Array, " nu"] | tuple[()] = ()
    names: tuple[str, ...] = eqx.field(default=(), static=True)
    coordinates: tuple[int, ...] = eqx.field(default=(), static=True)

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
        length = gear @ q[np.array(self.coordinates)]
        u = jnp.clip(u, jnp.asarray(self.control_lower), jnp.asarray(self.control_upper))
        f = jnp.asarray(self.gain) * u + bias[:, 0] + bias[:, 1] * length + bias[:, 2] * (gear @ v)
        return gear.T @ jnp.clip(f, jnp.asarray(self.force_lower), jnp.asarray(self.force_upper))


@dataclasses.dataclass(frozen=True)
class Actuator:
    """One actuator, before it is stacked: the gears on the joints of some bodies, and the law."""

    name: str
    gears: tuple[tuple[int, np.ndarray], ...]
    gain: float
    bias: np.ndarray
    control_range: tuple[float, float]
    force_range: tuple[float, float]


@dataclasses.dataclass(frozen=True)
class Drive:
    """Where the coordinates of a body's joint stand: q_joint = ratio · q[at_q] + offset, and alike for v."""

    at_q: slice
    at_v: slice
    ratio: float = 1.0
    offset: float = 0.0


def actuator(
    name: str, gears: Sequence[tuple[int, int, object]], gain: float, bias, control_range, force_range
) -> Actuator:
    """Check an actuator, whose gears are given as (body, degrees of freedom of its joint, gear)."""
    law = finite_vector(bias, 3, f"the bias of the actuator {name!r}")
    checked = []
    for body, nv, gear in gears:
        numbers = np.atleast_1d(np.asarray(gear, float))
        if nv == 0 or numbers.shape != (nv,) or not np.all(np.isfinite(numbers)):
            raise ValueError(f"The gear of the actuator {name!r} is {gear!r}; its joint takes {nv} finite numbers.")
        if nv > 1 and law[1]:
            raise ValueError(f"The actuator {name!r} pulls on its length, which its joint of {nv} freedoms has not.")
        checked.append((body, numbers))
    (u_low, u_high), (f_low, f_high) = control_range, force_range
    ranges = (float(u_low), float(u_high)), (float(f_low), float(f_high))
    return Actuator(name, tuple(checked), float(gain), law, *ranges)


def stack_actuators(items: Sequence[Actuator], drive: Callable[[int], Drive], nv: int, dtype) -> Actuation:
    """All actuators of a model with nv degrees of freedom; ``drive`` says where the coordinates of a body stand.

    On a joint that follows another, q_joint = m q + b, the gear g acts as m g on the leader, and the length g b that
    is left goes into the bias.
    """
    if not items:
        return Actuation()
    gear, bias = np.zeros((len(items), nv)), np.array([item.bias for item in items])
    coordinates = np.zeros(nv, int)
    for i, item in enumerate(items):
        for body, numbers in item.gears:
            place = drive(body)
            gear[i, place.at_v] += place.ratio * numbers
            bias[i, 0] += bias[i, 1] * place.offset * numbers[0]
            coordinates[place.at_v] = place.at_q.start
    arrays = (
        gear,
        [item.gain for item in items],
        bias,
        *np.array([item.control_range for item in items]).T,
        *np.array([item.force_range for item in items]).T,
    )
    return Actuation(
        *(jnp.asarray(array, dtype) for array in arrays),
        names=tuple(item.name for item in items),
        coordinates=tuple(coordinates.tolist()),
    )
