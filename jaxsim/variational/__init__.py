"""Galerkin variational integrators of any order in linear time (Fan, Schultz and Murphey 2018)."""

from .diagnostics import discrete_energy as discrete_energy
from .diagnostics import discrete_momentum as discrete_momentum
from .forces import AbstractBodyForce as AbstractBodyForce
from .forces import BodyDrag as BodyDrag
from .forces import ConstantWrench as ConstantWrench
from .linearisation import Linearisation as Linearisation
from .quadrature import lobatto as lobatto
