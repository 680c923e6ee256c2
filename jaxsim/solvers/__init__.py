"""Numerics without physics: Newton's method, interior points and implicit differentiation."""

from .implicit import implicit_root as implicit_root
from .interior_point import AbstractConeProblem as AbstractConeProblem
from .interior_point import interior_point as interior_point
from .newton import SolverInfo as SolverInfo
from .newton import max_norm as max_norm
from .newton import newton as newton
