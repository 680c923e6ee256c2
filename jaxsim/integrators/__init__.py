"""Integrators, one file a family, all with ``init`` and ``step``."""

from .base import AbstractIntegrator as AbstractIntegrator
from .base import Info as Info
from .base import State as State
from .bdf1 import BDF1 as BDF1
from .bdf2 import BDF2 as BDF2
from .bdf2 import BDF2State as BDF2State
from .constrained_euler import ConstrainedEuler as ConstrainedEuler
from .diffrax_solver import Diffrax as Diffrax
from .explicit_euler import ExplicitEuler as ExplicitEuler
from .hermite_simpson import HermiteSimpson as HermiteSimpson
from .heun import Heun as Heun
from .hyper_reduced import HyperReduced as HyperReduced
from .linearly_implicit_euler import LinearlyImplicitEuler as LinearlyImplicitEuler
from .maximal_variational import MaximalInfo as MaximalInfo
from .maximal_variational import MaximalVariational as MaximalVariational
from .runge_kutta4 import RungeKutta4 as RungeKutta4
from .sdirk2 import SDIRK2 as SDIRK2
from .semi_implicit_euler import SemiImplicitEuler as SemiImplicitEuler
from .variational import Variational as Variational
from .variational import VariationalState as VariationalState
from .vector_field import vector_field as vector_field
