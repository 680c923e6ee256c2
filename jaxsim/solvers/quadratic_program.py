"""Small convex quadratic programs, by the interior point, differentiable at the solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .implicit import implicit_root
from .interior_point import AbstractConeProblem, interior_point
from .newton import SolverInfo


class Point(NamedTuple):
    """The unknowns, or the rows of the equations: x, the slacks s = G x − h ≥ 0 and their multipliers z ≥ 0."""

    x: Array
    s: Array
    z: Array


class QuadraticProgram(AbstractConeProblem):
    """minimise ½ xᵀPx + cᵀx subject to G x ≥ h: P x + c = Gᵀz, s = G x − h, s∘z = κ (Nocedal & Wright 2006, 16.58)."""

    P: Float[Array, "n n"]
    c: Float[Array, " n"]
    G: Float[Array, "m n"]
    h: Float[Array, " m"]

    def residual(self, w: Point) -> Point:
        return Point(self.P @ w.x + self.c - self.G.T @ w.z, self.G @ w.x - self.h - w.s, w.s * w.z)

    def unit(self, r: Point) -> Point:
        return Point(jnp.zeros_like(r.x), jnp.zeros_like(r.s), jnp.ones_like(r.z))

    def linearise(self, w: Point) -> Callable[[Point], Point]:
        ratio = w.z / w.s
        factors = jax.scipy.linalg.lu_factor(self.P + self.G.T @ (ratio[:, None] * self.G))

        def inverse(b: Point) -> Point:
            pushed = (b.z + w.z * b.s) / w.s
            x = jax.scipy.linalg.lu_solve(factors, b.x + self.G.T @ pushed)
            s = self.G @ x - b.s
            return Point(x, s, (b.z - w.z * s) / w.s)

        return inverse

    def second_order(self, dw: Point) -> Point:
        return Point(jnp.zeros_like(dw.x), jnp.zeros_like(dw.s), dw.s * dw.z)

    def step_to_boundary(self, w: Point, dw: Point) -> Array:
        steps = [
            jnp.min(jnp.where(d < 0.0, -a / jnp.where(d < 0.0, d, -1.0), jnp.inf), initial=jnp.inf)
            for a, d in ((w.s, dw.s), (w.z, dw.z))
        ]
        return jnp.minimum(*steps)

    def mean_gap(self, w: Point) -> Array:
        return jnp.mean(w.s * w.z)

    def admissible(self, w: Point) -> Array:
        return jnp.all(w.s > 0.0) & jnp.all(w.z > 0.0)


def quadratic_program(P, c, G, h, max_iterations: int = 60) -> tuple[Float[Array, " n"], SolverInfo]:
    """x that minimises ½ xᵀPx + cᵀx subject to G x ≥ h, for P symmetric and positive on the feasible directions.

    Solved to the point of the central path that the floating-point type allows, where it is a smooth function of its
    data; its derivative is that of this point. The reported residual is relative to c and to the size of x.
    """
    P, c, G, h = (jnp.asarray(x) for x in (P, c, G, h))
    if not G.shape[0]:
        x = -jnp.linalg.solve(P, c)
        return x, SolverInfo(jnp.all(jnp.isfinite(x)), jnp.zeros_like(c[0]), jnp.zeros((), jnp.int32))
    stiff = jnp.max(jnp.abs(jnp.diagonal(P)), initial=0.0)
    stiff = jnp.where(stiff > 0.0, stiff, 1.0)
    # a minimiser without constraints that is far smaller than the bounds does not set the scale
    size = jnp.maximum(jnp.max(jnp.abs(c), initial=0.0) / stiff, 1e-6 * jnp.max(jnp.abs(h), initial=0.0))
    size = jax.lax.stop_gradient(jnp.where(size > 0.0, size, 1.0))
    force = jax.lax.stop_gradient(size * stiff)
    scaled = QuadraticProgram(P * (size / force), c / force, G, h / size)
    eps = float(jnp.finfo(c.dtype).eps)
    kappa, tolerance = eps**0.75, eps**0.6

    def find(problem: QuadraticProgram) -> tuple[Point, SolverInfo]:
        start = Point(jnp.zeros_like(problem.c), jnp.ones_like(problem.h), jnp.ones_like(problem.h))
        return interior_point(problem, start, kappa=kappa, tolerance=tolerance, max_iterations=max_iterations)

    def equations(w: Point, problem: QuadraticProgram) -> Point:
        r = problem.residual(w)
        return Point(r.x, r.s, r.z - kappa)

    def inverses(w: Point, problem: QuadraticProgram):
        inverse = problem.linearise(w)
        return inverse, lambda b: jax.linear_transpose(inverse, w)(b)[0]

    w, info = implicit_root(equations, find, inverses, scaled)
    return w.x * size, info
