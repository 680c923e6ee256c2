"""Direct transcription: states and controls are all variables, and the dynamics are constraints between neighbours."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .augmented import path_constraints, terminal_constraints
from .problem import Problem
from .schemes import AbstractScheme, Part, VariationalScheme


class NonlinearProgram(eqx.Module):
    """min F(w) with c_low ≤ c(w) ≤ c_high and w_low ≤ w ≤ w_high, sparse, for a solver.

    w = (knot₀, interior₀, knot₁, interior₁, …, knot_N). The rows of c are those of stage 0, 1, … (defects; h; g and the
    inequalities of the scheme) and then those of the end. Derivatives come stage by stage, as dense blocks along the
    diagonal; ``jacobian_structure`` and ``hessian_structure`` say where their values belong.

    Attributes:
        problem: the problem.
        scheme: the discretisation.
    """

    problem: Problem
    scheme: AbstractScheme

    @property
    def _sizes(self) -> tuple[int, int]:
        f = self.problem.dynamics
        return sum(self.scheme.knot_sizes(f).values()), sum(self.scheme.interior_sizes(f).values())

    @property
    def num_variables(self) -> int:
        """The length of w."""
        knot, inner = self._sizes
        return self.problem.steps * (knot + inner) + knot

    @property
    def num_constraints(self) -> int:
        """The length of c."""
        rows, end_rows = self._rows()
        return self.problem.steps * sum(rows) + sum(end_rows)

    def objective(self, w: Float[Array, " w"]) -> Float[Array, ""]:
        """F(w) = Σ l + l_N."""
        return jnp.sum(jax.vmap(self._stage_cost)(self._stages(w), self._k)) + self._end_cost(self._last(w))

    def constraints(self, w: Float[Array, " w"]) -> Float[Array, " c"]:
        """c(w)."""
        rows = jax.vmap(self._stage_rows)(self._stages(w), self._k)
        return jnp.concatenate([rows.reshape(-1), self._end_rows(self._last(w))])

    def gradient(self, w: Float[Array, " w"]) -> Float[Array, " w"]:
        """∂F/∂w."""
        parts = jax.vmap(jax.grad(self._stage_cost))(self._stages(w), self._k)
        last = self._columns()[1]
        full = jnp.zeros_like(w).at[self._columns()[0].reshape(-1)].add(parts.reshape(-1))
        return full.at[last].add(jax.grad(self._end_cost)(w[last]))

    def jacobian(self, w: Float[Array, " w"]) -> Float[Array, " nonzeros"]:
        """The values of ∂c/∂w in the order of ``jacobian_structure``."""
        blocks = jax.vmap(jax.jacfwd(self._stage_rows))(self._stages(w), self._k)
        end = jax.jacfwd(self._end_rows)(self._last(w))
        return jnp.concatenate([blocks.reshape(-1), end.reshape(-1)])

    def jacobian_structure(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows and the columns of the values of ``jacobian``."""
        stages, last = self._columns()
        (per_stage, per_end), n = map(sum, self._rows()), self.problem.steps
        first = np.arange(n * per_stage).reshape(n, per_stage)
        pairs = np.broadcast_arrays(first[:, :, None], stages[:, None, :])
        end = np.broadcast_arrays((n * per_stage + np.arange(per_end))[:, None], last[None, :])
        rows, columns = (np.concatenate([a.reshape(-1), b.reshape(-1)]) for a, b in zip(pairs, end, strict=True))
        return rows, columns

    def hessian(
        self, w: Float[Array, " w"], multipliers: Float[Array, " c"], factor: float | Array = 1.0
    ) -> Float[Array, " nonzeros"]:
        """The values of ∂²(factor F + multipliersᵀ c)/∂w², upper triangle, in the order of ``hessian_structure``."""
        n, per_stage = self.problem.steps, sum(self._rows()[0])
        y, y_end = multipliers[: n * per_stage].reshape(n, per_stage), multipliers[n * per_stage :]

        def stage(s, k, y):
            return factor * self._stage_cost(s, k) + y @ self._stage_rows(s, k)

        def end(s):
            return factor * self._end_cost(s) + y_end @ self._end_rows(s)

        blocks = jax.vmap(jax.hessian(stage))(self._stages(w), self._k, y)
        values = jnp.concatenate([blocks.reshape(-1), jax.hessian(end)(self._last(w)).reshape(-1)])
        _, place, kept = self._hessian_places()
        return jnp.zeros(int(place.max()) + 1, w.dtype).at[place].add(values[kept])

    def hessian_structure(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows and the columns of the values of ``hessian``, rows ≤ columns."""
        keys = self._hessian_places()[0]
        return keys // self.num_variables, keys % self.num_variables

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The bounds of w: the start is given, the controls are bounded."""
        problem, f = self.problem, self.problem.dynamics
        low, high = np.full(self.num_variables, -np.inf), np.full(self.num_variables, np.inf)
        knot, inner = self._sizes
        controls = problem.bounds
        if controls is not None:
            for sizes, offset, count in (
                (self.scheme.knot_sizes(f), 0, problem.steps + 1),
                (self.scheme.interior_sizes(f), knot, problem.steps),
            ):
                if "u" in sizes:
                    at = offset + _place(sizes, "u") + (knot + inner) * np.arange(count)[:, None] + np.arange(f.nu)
                    low[at], high[at] = controls
        sizes = self.scheme.interior_sizes(f)
        for name in self.scheme.nonnegative:
            at = (
                knot + _place(sizes, name) + (knot + inner) * np.arange(problem.steps)[:, None] + np.arange(sizes[name])
            )
            low[at] = 0.0
        fixed = sum(size for name, size in self.scheme.knot_sizes(f).items() if name in ("q", "p", "x"))
        start, _ = self.scheme.guess(f, problem.x0, problem.x0, jnp.zeros(f.nu, problem.x0.dtype))
        low[:fixed] = high[:fixed] = np.asarray(_flat(start))[:fixed]
        return low, high

    def constraint_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The bounds of c: zero for equations, below zero for inequalities."""
        rows, end_rows = self._rows()
        kinds = [(r, free) for r, free in zip(rows * self.problem.steps, (0, 0, 1) * self.problem.steps, strict=True)]
        kinds += list(zip(end_rows, (0, 0, 1), strict=True))
        low = np.concatenate([np.full(r, -np.inf if free else 0.0) for r, free in kinds])
        return low, np.zeros_like(low)

    def guess(self, states: Float[Array, "N1 nx"], controls: Float[Array, "N nu"]) -> Float[Array, " w"]:
        """w for states and controls, which need not fit together."""
        f = self.problem.dynamics
        knots, inner = jax.vmap(lambda *at: self.scheme.guess(f, *at))(states[:-1], states[1:], controls)
        last, _ = self.scheme.guess(f, states[-1], states[-1], controls[-1])
        stages = jax.vmap(lambda a, b: jnp.concatenate([_flat(a), _flat(b)]))(knots, inner)
        return jnp.concatenate([stages.reshape(-1), _flat(last)])

    def trajectory(self, w: Float[Array, " w"]) -> tuple[Float[Array, "N1 nx"], Float[Array, "N nu"]]:
        """The states at the knots and the controls of the steps (at the knots, for a linear hold) of w."""
        f = self.problem.dynamics

        def one(s):
            start, inner, _ = self._parts(s)
            return self.scheme.state(f, start), (inner if self.scheme.hold == "constant" else start)["u"]

        states, controls = jax.vmap(one)(self._stages(w))
        last = self.scheme.state(f, _unflatten(self.scheme.knot_sizes(f), self._last(w)))
        return jnp.concatenate([states, last[None]]), controls

    @property
    def _k(self) -> Array:
        return jnp.arange(self.problem.steps)

    def _columns(self) -> tuple[np.ndarray, np.ndarray]:
        """The places in w of every stage, (N, size), and of the last knot."""
        knot, inner = self._sizes
        first = (knot + inner) * np.arange(self.problem.steps)
        last = self.num_variables - knot + np.arange(knot)
        return first[:, None] + np.arange(2 * knot + inner), last

    def _stages(self, w: Array) -> Array:
        return w[self._columns()[0]]

    def _last(self, w: Array) -> Array:
        return w[self._columns()[1]]

    def _parts(self, s: Array) -> tuple[Part, Part, Part]:
        f = self.problem.dynamics
        knot, inner = self._sizes
        a, b, c = s[:knot], s[knot : knot + inner], s[knot + inner :]
        knots = self.scheme.knot_sizes(f)
        return _unflatten(knots, a), _unflatten(self.scheme.interior_sizes(f), b), _unflatten(knots, c)

    def _stage_cost(self, s: Array, k: Array) -> Array:
        samples = self.scheme.samples(self.problem.dynamics, *self._parts(s))
        return sum((weight * self.problem.running(x, u, k) for weight, x, u in samples), jnp.zeros((), s.dtype))

    def _split_rows(self, s: Array, k: Array) -> tuple[Array, Array, Array]:
        f, (start, inner, end) = self.problem.dynamics, self._parts(s)
        u = inner["u"] if self.scheme.hold == "constant" else start["u"]
        x = self.scheme.state(f, start) if self._has_path else jnp.zeros(f.nx, s.dtype)
        h, g = path_constraints(self.problem, x, u, k)
        step = start, inner, end
        return self.scheme.defects(f, *step), h, jnp.concatenate([self.scheme.inequalities(f, *step), g])

    @property
    def _has_path(self) -> bool:
        return self.problem.equality is not None or self.problem.inequality is not None

    def _stage_rows(self, s: Array, k: Array) -> Array:
        return jnp.concatenate(self._split_rows(s, k))

    def _end_cost(self, s: Array) -> Array:
        if self.problem.terminal is None:
            return jnp.zeros((), s.dtype)
        f = self.problem.dynamics
        return self.problem.terminal(self.scheme.state(f, _unflatten(self.scheme.knot_sizes(f), s)))

    def _split_end_rows(self, s: Array) -> tuple[Array, Array, Array]:
        f = self.problem.dynamics
        knot = _unflatten(self.scheme.knot_sizes(f), s)
        return self.scheme.end_rows(f, knot), *terminal_constraints(self.problem, self.scheme.state(f, knot))

    def _end_rows(self, s: Array) -> Array:
        return jnp.concatenate(self._split_end_rows(s))

    def _rows(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """How many defects, equalities and inequalities a stage has, and the end."""
        knot, inner = self._sizes
        dtype = self.problem.x0.dtype
        stage = jax.eval_shape(self._split_rows, jax.ShapeDtypeStruct((2 * knot + inner,), dtype), 0)
        end = jax.eval_shape(self._split_end_rows, jax.ShapeDtypeStruct((knot,), dtype))
        return tuple(r.shape[0] for r in stage), tuple(r.shape[0] for r in end)

    def _hessian_places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The sorted keys row · nw + column of the upper triangle, where each block value goes, and which are kept."""
        stages, last = self._columns()
        blocks = np.broadcast_arrays(stages[:, :, None], stages[:, None, :])
        end = np.broadcast_arrays(last[:, None], last[None, :])
        rows, columns = (np.concatenate([a.reshape(-1), b.reshape(-1)]) for a, b in zip(blocks, end, strict=True))
        kept = np.flatnonzero(rows <= columns)
        keys, place = np.unique(rows[kept] * self.num_variables + columns[kept], return_inverse=True)
        return keys, place, kept


def transcribe(problem: Problem, scheme: AbstractScheme | None = None) -> NonlinearProgram:
    """A problem as a sparse nonlinear program, by default with the DEL equations of second order as defects.

    Args:
        problem: the problem; of its integrator only the time step counts, save for ``StepScheme``.
        scheme: ``VariationalScheme``, ``HermiteSimpsonScheme``, ``ImplicitEulerScheme`` or ``StepScheme``.
    """
    if not all(joint.is_euclidean for joint in problem.dynamics.model.joints):
        raise ValueError("Transcription needs flat coordinates; use ddp for quaternion joints, or EulerSpherical ones.")
    return NonlinearProgram(problem, VariationalScheme() if scheme is None else scheme)


def _flat(part: Part) -> Array:
    return jnp.concatenate([jnp.ravel(value) for value in part.values()])


def _place(sizes: dict[str, int], name: str) -> int:
    names = list(sizes)
    return sum(sizes[other] for other in names[: names.index(name)])


def _unflatten(sizes: dict[str, int], flat: Array) -> dict[str, Any]:
    ends = np.cumsum(list(sizes.values()))
    return {name: flat[end - size : end] for (name, size), end in zip(sizes.items(), ends, strict=True)}
