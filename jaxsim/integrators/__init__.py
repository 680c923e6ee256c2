"""Integrators, one file a family, all with ``init`` and ``step``."""

from .base import AbstractIntegrator as AbstractIntegrator
from .base import Info as Info
from .base import State as State
from .hermite_simpson import HermiteSimpson as HermiteSimpson
from .maximal_variational import MaximalInfo as MaximalInfo
from .maximal_variational import MaximalVariational as MaximalVariational
from .runge_kutta4 import RungeKutta4 as RungeKutta4
from .semi_implicit_euler import SemiImplicitEuler as SemiImplicitEuler
from .variational import Variational as Variational
from .variational import VariationalState as VariationalState
