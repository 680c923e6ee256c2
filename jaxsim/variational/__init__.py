"""Galerkin variational integrators of any order in linear time (Fan, Schultz and Murphey 2018)."""

from .constraints import AbstractConstraint as AbstractConstraint
from .constraints import AbstractHolonomicConstraint as AbstractHolonomicConstraint
from .constraints import AbstractVelocityConstraint as AbstractVelocityConstraint
from .constraints import LoopClosures as LoopClosures
from .constraints import NoSlip as NoSlip
from .constraints import PinnedPoints as PinnedPoints
from .constraints import Rod as Rod
from .constraints import RollingSphere as RollingSphere
from .diagnostics import discrete_energy as discrete_energy
from .diagnostics import discrete_momentum as discrete_momentum
from .linearisation import Linearisation as Linearisation
from .quadrature import lobatto as lobatto
