"""Lobatto nodes and weights and the differentiation matrix between the nodes, for any number of control points."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np


@dataclasses.dataclass(frozen=True)
class Quadrature:
    """The s + 1 control points of a Galerkin variational integrator of order 2s (Fan et al. 2018, §2.1).

    Attributes:
        nodes: c^α in [0, 1], with c⁰ = 0 and c^s = 1.
        weights: w^α, which sum to one and integrate polynomials up to degree 2s − 1 exactly.
        b: the differentiation matrix b^{αβ} = ℓ_β'(c^α), so that q̇^α = Σ_β b^{αβ} q^β / Δt (eq. 2).
        a: a^{αβ} = w^β b^{βα}, what the velocities contribute to the rows of the DEL equations (prop. 1).
    """

    nodes: np.ndarray
    weights: np.ndarray
    b: np.ndarray
    a: np.ndarray

    @property
    def s(self) -> int:
        """The degree of the polynomials: half the order of the integrator."""
        return len(self.nodes) - 1


@functools.cache
def lobatto(s: int) -> Quadrature:
    """The quadrature with s + 1 Lobatto nodes: trapezoidal for s = 1, Simpson for s = 2."""
    if s < 1:
        raise ValueError(f"A Galerkin integrator needs at least two control points (s ≥ 1), but s is {s}.")
    x = _interior_points(s)
    legendre = np.polynomial.legendre.Legendre.basis(s)(x)
    weights = 1.0 / (s * (s + 1) * legendre**2)
    # ℓ_β'(x_α) = P_s(x_α) / (P_s(x_β) (x_α − x_β)); the diagonal follows from Σ_β b^{αβ} = 0
    gaps = x[:, None] - x[None, :] + np.eye(s + 1)
    b = 2.0 * legendre[:, None] / legendre[None, :] / gaps
    np.fill_diagonal(b, 0.0)
    np.fill_diagonal(b, -b.sum(axis=1))
    return Quadrature(0.5 * (1.0 + x), weights, b, weights[None, :] * b.T)


def _interior_points(s: int) -> np.ndarray:
    """The Lobatto points on [−1, 1]: the ends and the zeros of P_s', sharpened by Newton's method on (1 − x²) P_s'."""
    derivative = np.polynomial.legendre.Legendre.basis(s).deriv()
    second = derivative.deriv()
    x = np.sort(np.real(derivative.roots())) if s > 1 else np.zeros(0)
    for _ in range(3):
        x = x - derivative(x) / second(x)
    x = 0.5 * (x - x[::-1])
    return np.concatenate([[-1.0], x, [1.0]])


def interpolation(nodes: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The Lagrange polynomials of ``nodes`` at ``points``, as a matrix from values there to values here."""
    rows = np.ones((len(points), len(nodes)))
    for k, node in enumerate(nodes):
        for other in np.delete(nodes, k):
            rows[:, k] *= (points - other) / (node - other)
    return rows
