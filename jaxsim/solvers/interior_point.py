"""A primal-dual interior-point method for nonlinear complementarity problems on cones.

Mehrotra's predictor and corrector with one factorisation an iteration (Nocedal & Wright 2006, Alg. 16.4 and 19.1;
Brüdigam et al. 2023, App. D).
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .newton import SolverInfo, add_scaled, max_norm


class AbstractConeProblem(eqx.Module):
    """Find w with r(w) = 0 where some entries of w come in pairs a, b in a cone with a∘b = κe."""

    @abc.abstractmethod
    def residual(self, w: Any) -> Any:
        """r(w): all equations, with a∘b as the complementarity rows."""

    @abc.abstractmethod
    def unit(self, r: Any) -> Any:
        """The cones' unit e in the complementarity rows, zero in all others, in the shape of the residual r."""

    @abc.abstractmethod
    def linearise(self, w: Any) -> Callable[[Any], Any]:
        """The map b ↦ (∂r/∂w)⁻¹ b at w, holding one factorisation."""

    @abc.abstractmethod
    def second_order(self, dw: Any) -> Any:
        """Δa∘Δb in the complementarity rows, zero in all others: what a full Newton step leaves behind."""

    @abc.abstractmethod
    def step_to_boundary(self, w: Any, dw: Any) -> jax.Array:
        """The largest α for which w + α Δw stays in all cones; may be infinite."""

    @abc.abstractmethod
    def mean_gap(self, w: Any) -> jax.Array:
        """ν = ⟨a, b⟩ averaged over all pairs; equal to κ on the central path."""

    @abc.abstractmethod
    def admissible(self, w: Any) -> jax.Array:
        """Whether the residual can be evaluated at w."""


def interior_point(
    problem: AbstractConeProblem,
    guess: Any,
    *,
    kappa,
    tolerance,
    max_iterations: int = 30,
    fraction: float = 0.95,
    max_halvings: int = 6,
    norm: Callable[[Any], jax.Array] = max_norm,
) -> tuple[Any, SolverInfo]:
    """The point of the central path with parameter κ, from a guess inside all cones.

    The corrector is dropped once ν ≤ 10κ, where it would keep the iteration from settling on the path; steps stop at
    ``fraction`` of the way to the boundary of the cones, and are halved while not ``admissible``.
    """

    def centred(r, target):
        return add_scaled(r, -target, problem.unit(r))

    def search_direction(w, r):
        inverse = problem.linearise(w)
        affine = inverse(jax.tree.map(jnp.negative, r))
        nu = problem.mean_gap(w)
        alpha = jnp.minimum(1.0, problem.step_to_boundary(w, affine))
        nu_affine = problem.mean_gap(add_scaled(w, alpha, affine))
        target = jnp.maximum(jnp.clip(nu_affine / nu, 0.0, 1.0) ** 3 * nu, kappa)
        corrector = jnp.where(nu <= 10.0 * kappa, 0.0, 1.0)
        aim = add_scaled(centred(r, target), corrector, problem.second_order(affine))
        return inverse(jax.tree.map(jnp.negative, aim))

    def step(carry):
        w, r, size, count, _ = carry
        dw = search_direction(w, r)
        alpha = jnp.minimum(1.0, fraction * problem.step_to_boundary(w, dw))

        def refused(c):
            return ~problem.admissible(add_scaled(w, c[0], dw)) & (c[1] < max_halvings)

        alpha, _ = jax.lax.while_loop(refused, lambda c: (0.5 * c[0], c[1] + 1), (alpha, jnp.zeros_like(count)))
        moved = add_scaled(w, alpha, dw)
        r_new = problem.residual(moved)
        new_size = norm(centred(r_new, kappa))
        good = jnp.isfinite(new_size) & problem.admissible(moved)
        w, r, size = jax.tree.map(lambda a, b: jnp.where(good, a, b), (moved, r_new, new_size), (w, r, size))
        return w, r, size, count + 1, ~good

    def unfinished(carry):
        _, _, size, count, stuck = carry
        return (size > tolerance) & (count < max_iterations) & ~stuck

    r = problem.residual(guess)
    start = (guess, r, norm(centred(r, kappa)), jnp.zeros((), jnp.int32), jnp.zeros((), bool))
    w, _, size, count, _ = jax.lax.while_loop(unfinished, step, start)
    return w, SolverInfo(size <= tolerance, size, count)
