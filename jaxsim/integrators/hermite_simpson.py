"""Hermite–Simpson collocation as an implicit integrator, the usual rival of variational ones in transcription."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..dynamics import forward_dynamics
from ..model import Model
from ..solvers.implicit import implicit_root
from ..solvers.newton import SolverInfo, max_norm, newton
from .base import AbstractIntegrator, Info, State, initial_state, joint_forces

_Theta = tuple[Model, State, Array, Array]


class HermiteSimpson(AbstractIntegrator):
    """Collocation by cubics in (q, v) (Hargraves and Paris 1987), solved for the end of the step with a dense Jacobian.

    With x = (q, v) and ẋ = f(x): x_m = ½(x₀ + x₁) + Δt/8 (f₀ − f₁) and x₁ = x₀ + Δt/6 (f₀ + 4 f_m + f₁). For joints
    with flat coordinates; O(n) an evaluation, O(n³) a Newton direction.
    """

    dt: float | Array
    tolerance: float | None = eqx.field(default=None, static=True)
    max_iterations: int = eqx.field(default=20, static=True)

    def init(self, model: Model, q: Array, v: Array, t: float = 0.0) -> State:
        if not all(joint.is_euclidean for joint in model.joints):
            raise ValueError(
                "Hermite–Simpson collocation needs flat coordinates; use Variational for quaternion joints."
            )
        return initial_state(model, q, v, t)

    def step(self, model: Model, state: State, tau: Array | None = None) -> tuple[State, Info]:
        h = jnp.asarray(self.dt, state.v.dtype)
        theta = model, state, joint_forces(model, state, tau), h
        x, info = implicit_root(_residual, self._solve, _linearise, theta)
        nv = model.nv
        after = State(x[:nv], x[nv:], state.t + h)
        kept = jax.tree.map(lambda new, old: jnp.where(info.converged, new, old), after, state)
        return kept, Info(info.converged, info.residual, info.iterations)

    def _solve(self, theta: _Theta) -> tuple[Array, SolverInfo]:
        model, state, tau, h = theta
        a = forward_dynamics(model, state.q, state.v, tau)
        guess = jnp.concatenate([state.q + h * state.v + 0.5 * h**2 * a, state.v + h * a])
        floor = 100.0 * float(jnp.finfo(guess.dtype).eps)
        tolerance = max(1e-12 if self.tolerance is None else self.tolerance, floor)
        unit = 1.0 + max_norm(guess)

        def direction(x, r):
            return -jnp.linalg.solve(jax.jacfwd(_residual)(x, theta), r * unit)

        return newton(
            lambda x: _residual(x, theta) / unit,
            direction,
            guess,
            tolerance=tolerance,
            max_iterations=self.max_iterations,
        )


def _residual(x: Array, theta: _Theta) -> Array:
    model, state, tau, h = theta
    nv = model.nv
    start = jnp.concatenate([state.q, state.v])

    def rate(x):
        return jnp.concatenate([x[nv:], forward_dynamics(model, x[:nv], x[nv:], tau)])

    f0, f1 = rate(start), rate(x)
    middle = rate(0.5 * (start + x) + h / 8.0 * (f0 - f1))
    return x - start - h / 6.0 * (f0 + 4.0 * middle + f1)


def _linearise(x: Array, theta: _Theta):
    inverse = jnp.linalg.inv(jax.jacfwd(_residual)(x, theta))
    return lambda b: inverse @ b, lambda c: inverse.T @ c
