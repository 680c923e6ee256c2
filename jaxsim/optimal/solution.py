"""What every method of this folder returns, and the table it prints while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

COLUMNS = ("cost", "gradient", "gap", "violation", "step", "regularisation")


class History(eqx.Module):
    """One row for each iteration; rows after the last iteration are NaN.

    Attributes:
        cost: Σ l + l_N, without penalties.
        gradient: the largest derivative of the (augmented) Lagrangian that should vanish.
        gap: the largest defect of the dynamics.
        violation: the largest violation of a constraint.
        step: the length of the step that was taken from here; zero if none was.
        regularisation: what was added to the Hessian.
    """

    cost: Float[Array, " I"]
    gradient: Float[Array, " I"]
    gap: Float[Array, " I"]
    violation: Float[Array, " I"]
    step: Float[Array, " I"]
    regularisation: Float[Array, " I"]

    @staticmethod
    def empty(length: int, dtype) -> History:
        """A table without rows."""
        return History(*(jnp.full(length, jnp.nan, dtype) for _ in COLUMNS))

    def row(self, index, **values) -> History:
        """The same with a row written."""
        return History(*(getattr(self, name).at[index].set(values[name]) for name in COLUMNS))


class Solution(eqx.Module):
    """A trajectory and how it was found.

    Attributes:
        states: x_0 … x_N.
        controls: u_0 … u_{N−1}.
        cost: Σ l + l_N.
        converged: whether the tolerances were met.
        iterations: how many iterations it took.
        history: what each iteration saw.
        gains: K of the feedback u = u_k + K (x ⊖ x_k), if the method has it.
        multipliers: those of the constraints, as the method has them.
    """

    states: Float[Array, "N1 nx"]
    controls: Float[Array, "N nu"]
    cost: Float[Array, ""]
    converged: Bool[Array, ""]
    iterations: Int[Array, ""]
    history: History
    gains: Float[Array, "N nu ndx"] | None = None
    multipliers: Any = None

    def policy(self, dynamics: Any, feedback: bool = True) -> Callable[[Array, Any], Array]:
        """The control (t, state) → τ that follows this solution, for ``rollout`` and ``simulate``.

        Args:
            dynamics: the dynamics of the problem, which knows the time step and the joints that are driven.
            feedback: whether to add the feedback K (x ⊖ x_k) where the solution has gains.
        """

        def control(t, state):
            k = jnp.clip(jnp.floor(t / dynamics.dt + 1e-3).astype(int), 0, self.controls.shape[0] - 1)
            x, u = jnp.concatenate([state.q, state.v]), self.controls[k]
            if feedback and self.gains is not None:
                u = u + self.gains[k] @ dynamics.difference(self.states[k], x)
            return dynamics.forces(x, u)

        return control


def print_header(name: str) -> None:
    """The head of the live table."""
    print(f"{name:>6}" + "".join(f"{column:>16}" for column in COLUMNS))


def print_row(index: int, history: History) -> None:
    """One line of the live table."""
    print(f"{index:6d}" + "".join(f"{float(getattr(history, column)[index]):16.6g}" for column in COLUMNS), flush=True)
