"""The exact Newton direction in linear time, J⁻¹r of the DEL equations (Fan et al. 2018, Algs. B.1 and B.2)."""

from __future__ import annotations

from jaxtyping import Array, Float

from . import elimination, screw_elimination
from .chart import ball_parts
from .nodes import Nodes, StepProblem

Factors = elimination.Factors | screw_elimination.ScrewFactors


def factorise(problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"]) -> Factors:
    """Eliminate all joints, from the leaves to the root, in O(s³ n): row by row where all are screws."""
    if not ball_parts(problem.model):
        return screw_elimination.factorise(problem, nodes)
    return elimination.factorise(problem, nodes, z)


def solve(factors: Factors, b: Float[Array, "s nv"]) -> Float[Array, "s nv"]:
    """J⁻¹ b with J = ∂r/∂ξ, in O(s² n); a linear function of b that JAX can transpose."""
    if isinstance(factors, screw_elimination.ScrewFactors):
        return screw_elimination.solve(factors, b)
    return elimination.solve(factors, b)
