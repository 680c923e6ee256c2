"""How one step of a direct transcription is written: its variables and its defects.

A trajectory is a row of knots with something between each two of them. Everything that a step says is a function of its
own stage, (knot, interior, next knot), which is what makes the transcribed problem sparse.
"""

from __future__ import annotations

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..dynamics import forward_dynamics, inverse_dynamics, inverse_mass_product, mass_matrix
from ..variational.nodes import StepProblem, evaluate
from ..variational.quadrature import lobatto
from ..variational.residual import end_momentum, residual

Part = dict[str, Array]
"""The variables of a knot or of an interior, by name."""


def _check_hold(hold: str, known: tuple[str, ...] = ("constant", "linear")) -> None:
    if hold not in known:
        raise ValueError(f"There is no hold {hold!r} for this scheme; use one of {', '.join(map(repr, known))}.")


class AbstractScheme(eqx.Module):
    """The discretisation of a transcription.

    Attributes:
        hold: "constant" for one u a step, as the integrators of simulations have it; "linear" for a u at each knot (and
            at each middle of Hermite–Simpson schemes), as the literature on collocation has it.
    """

    hold: eqx.AbstractVar[str]

    @abc.abstractmethod
    def knot_sizes(self, f: Any) -> dict[str, int]:
        """The names and lengths of the variables at a knot."""

    @abc.abstractmethod
    def interior_sizes(self, f: Any) -> dict[str, int]:
        """The names and lengths of the variables between two knots."""

    @abc.abstractmethod
    def state(self, f: Any, knot: Part) -> Array:
        """x = (q, v) at a knot."""

    @abc.abstractmethod
    def defects(self, f: Any, start: Part, inner: Part, end: Part) -> Array:
        """What vanishes where the step obeys the dynamics."""

    @abc.abstractmethod
    def samples(self, f: Any, start: Part, inner: Part, end: Part) -> list[tuple[float, Array, Array]]:
        """(weight, x, u) whose weighted sum of l is the step's running cost."""

    @abc.abstractmethod
    def guess(self, f: Any, x0: Array, x1: Array, u: Array) -> tuple[Part, Part]:
        """A knot at x0 and the interior of the step to x1."""

    def inequalities(self, f: Any, start: Part, inner: Part, end: Part) -> Array:
        """What must not be positive in a step; nothing by default."""
        return jnp.zeros(0, f.model.dtype)

    @property
    def nonnegative(self) -> tuple[str, ...]:
        """The variables of interiors that must not be negative."""
        return ()

    def end_rows(self, f: Any, knot: Part) -> Array:
        """Equations at the last knot alone; none by default."""
        return jnp.zeros(0, f.model.dtype)


class VariationalScheme(AbstractScheme):
    """The DEL equations of the variational integrator of order 2s as defects (Fan et al. 2018, §6).

    A knot has q and the discrete momentum p, an interior the s − 1 control points between. Rows r⁰ … r^{s−1} and
    p_{k+1} − ρ^s: with a linear hold and s = 2 the counts of Table 1.

    Attributes:
        order: 2s.
        hold: see ``AbstractScheme``.
    """

    order: int = eqx.field(default=2, static=True)
    hold: str = eqx.field(default="constant", static=True)

    def __check_init__(self):
        _check_hold(self.hold)
        if self.order < 2 or self.order % 2:
            raise ValueError(f"The order of a variational scheme is {self.order}; it must be even: 2, 4, 6, …")

    def knot_sizes(self, f):
        sizes = {"q": f.model.nv, "p": f.model.nv}
        return sizes | ({"u": f.nu} if self.hold == "linear" else {})

    def interior_sizes(self, f):
        sizes = {"z": (self.order // 2 - 1) * f.model.nv}
        return sizes | ({"u": f.nu} if self.hold == "constant" else {})

    def state(self, f, knot):
        return jnp.concatenate([knot["q"], inverse_mass_product(f.model, knot["q"], knot["p"])])

    def defects(self, f, start, inner, end):
        s, nv, dtype = self.order // 2, f.model.nv, start["q"].dtype
        x = start["q"], jnp.zeros(nv, dtype)
        if self.hold == "constant":
            tau = jnp.broadcast_to(f.forces(jnp.concatenate(x), inner["u"]), (s + 1, nv))
        else:
            c = jnp.asarray(lobatto(s).nodes, dtype)[:, None]
            u = (1.0 - c) * start["u"] + c * end["u"]
            tau = jax.vmap(lambda u: f.forces(jnp.concatenate(x), u))(u)
        z = jnp.concatenate([inner["z"].reshape(s - 1, nv), end["q"][None]]) - start["q"]
        step = StepProblem(f.model, start["q"], start["p"], tau, jnp.asarray(f.dt, dtype), (), s)
        nodes = evaluate(step, z)
        return jnp.concatenate([residual(step, nodes, z).reshape(-1), end_momentum(step, nodes, z) - end["p"]])

    def samples(self, f, start, inner, end):
        if self.hold == "constant":
            return [(1.0, self.state(f, start), inner["u"])]
        return [(0.5, self.state(f, start), start["u"]), (0.5, self.state(f, end), end["u"])]

    def guess(self, f, x0, x1, u):
        (q0, v0), (q1, _) = f.split(x0), f.split(x1)
        between = jnp.asarray(lobatto(self.order // 2).nodes[1:-1, None], q0.dtype)
        held = {"u": u}
        knot = {"q": q0, "p": mass_matrix(f.model, q0) @ v0}
        inner = {"z": (q0 + between * (q1 - q0)).reshape(-1)}
        return (knot, inner | held) if self.hold == "constant" else (knot | held, inner)


class HermiteSimpsonScheme(AbstractScheme):
    """Separated Hermite–Simpson collocation (Hargraves and Paris 1987; Table 1 of Fan et al. 2018).

    x_m = ½(x₀ + x₁) + h/8 (f₀ − f₁) and x₁ = x₀ + h/6 (f₀ + 4 f_m + f₁), with ẋ = f from the forward dynamics
    ("explicit"), or from accelerations that are variables too and obey the inverse dynamics ("implicit").

    Attributes:
        hold: see ``AbstractScheme``.
        implicit: whether the accelerations are variables; needs the linear hold.
    """

    hold: str = eqx.field(default="constant", static=True)
    implicit: bool = eqx.field(default=False, static=True)

    def __check_init__(self):
        _check_hold(self.hold, ("linear",) if self.implicit else ("constant", "linear"))

    def _sizes(self, f, with_u):
        sizes = {"x": f.nx} | ({"u": f.nu} if with_u else {})
        return sizes | ({"a": f.model.nv} if self.implicit else {})

    def knot_sizes(self, f):
        return self._sizes(f, self.hold == "linear")

    def interior_sizes(self, f):
        return self._sizes(f, True)

    def state(self, f, knot):
        return knot["x"]

    def _rate(self, f, part, u):
        _, v = f.split(part["x"])
        return jnp.concatenate([v, part["a"]]) if self.implicit else f.rate(part["x"], u)

    def _balance(self, f, part):
        q, v = f.split(part["x"])
        return inverse_dynamics(f.model, q, v, part["a"]) - f.forces(part["x"], part["u"])

    def defects(self, f, start, inner, end):
        h = jnp.asarray(f.dt, start["x"].dtype)
        parts = start, inner, end
        controls = [part["u"] if self.hold == "linear" else inner["u"] for part in parts]
        f0, fm, f1 = (self._rate(f, part, u) for part, u in zip(parts, controls, strict=True))
        x0, xm, x1 = (part["x"] for part in parts)
        rows = [xm - 0.5 * (x0 + x1) - h / 8.0 * (f0 - f1), x1 - x0 - h / 6.0 * (f0 + 4.0 * fm + f1)]
        if self.implicit:
            rows += [self._balance(f, start), self._balance(f, inner)]
        return jnp.concatenate(rows)

    def end_rows(self, f, knot):
        return self._balance(f, knot) if self.implicit else jnp.zeros(0, f.model.dtype)

    def samples(self, f, start, inner, end):
        if self.hold == "constant":
            return [(1.0, start["x"], inner["u"])]
        weights = 1 / 6, 4 / 6, 1 / 6
        return [(weight, part["x"], part["u"]) for weight, part in zip(weights, (start, inner, end), strict=True)]

    def guess(self, f, x0, x1, u):
        def part(x, with_u):
            (q, v), held = f.split(x), {"u": u} if with_u else {}
            a = {"a": forward_dynamics(f.model, q, v, f.forces(x, u))} if self.implicit else {}
            return {"x": x} | held | a

        return part(x0, self.hold == "linear"), part(0.5 * (x0 + x1), True)


class AbstractHeldScheme(AbstractScheme):
    """A state at every knot, and a control that is held constant in between.

    Attributes:
        hold: only "constant".
    """

    hold: str = eqx.field(default="constant", static=True)

    def __check_init__(self):
        _check_hold(self.hold, ("constant",))

    def knot_sizes(self, f):
        return {"x": f.nx}

    def interior_sizes(self, f):
        return {"u": f.nu}

    def state(self, f, knot):
        return knot["x"]

    def samples(self, f, start, inner, end):
        return [(1.0, start["x"], inner["u"])]

    def guess(self, f, x0, x1, u):
        return {"x": x0}, {"u": u}


class StepScheme(AbstractHeldScheme):
    """Any integrator as defects, x₁ − f(x₀, u): multiple shooting with one step an interval."""

    def defects(self, f, start, inner, end):
        return end["x"] - f(start["x"], inner["u"])


class ImplicitEulerScheme(AbstractHeldScheme):
    """q₁ = q₀ + h v₁ and ID(q₁, v₁, (v₁ − v₀)/h) = τ: first order, without any solve."""

    def defects(self, f, start, inner, end):
        h = jnp.asarray(f.dt, start["x"].dtype)
        (q0, v0), (q1, v1) = f.split(start["x"]), f.split(end["x"])
        balance = inverse_dynamics(f.model, q1, v1, (v1 - v0) / h) - f.forces(end["x"], inner["u"])
        return jnp.concatenate([q1 - q0 - h * v1, balance])
