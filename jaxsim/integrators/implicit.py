"""What the integrators that solve implicit stages share: their settings, and how a step ends."""

from __future__ import annotations

from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..forces import AbstractForce
from ..reduced.solve import Options, check_solver
from .base import AbstractIntegrator

AnyState = TypeVar("AnyState")


class AbstractImplicitIntegrator(AbstractIntegrator):
    """An integrator whose stages are solved by Newton's method.

    Attributes:
        dt: the time step.
        forces: what acts beside gravity, the model's own springs and τ, see ``AbstractForce``.
        solver: "recursive" for the Newton direction in linear time, "dense" for a matrix, "auto" to choose.
        tolerance: the residual of a solved stage relative to the forces in it; by default 1e-11, or what the
            floating-point type allows.
        max_iterations: how many times a stage may factorise the Newton matrix.
    """

    dt: float | Array
    forces: tuple[AbstractForce, ...] = ()
    solver: str = eqx.field(default="auto", static=True)
    tolerance: float | None = eqx.field(default=None, static=True)
    max_iterations: int = eqx.field(default=20, static=True)

    def __check_init__(self):
        check_solver(self.solver)

    @property
    def options(self) -> Options:
        """The settings of the solver."""
        return Options(self.solver, self.tolerance, self.max_iterations)


def keep_if_converged(converged: Array, after: AnyState, before: AnyState) -> AnyState:
    """The state after a step that converged, else the one before it."""
    return jax.tree.map(lambda new, old: jnp.where(converged, new, old), after, before)
