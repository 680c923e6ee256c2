"""Mechanisms in maximal coordinates: six coordinates a body, joints and contacts as explicit constraints."""

from .builder import WORLD as WORLD
from .builder import MechanismBuilder as MechanismBuilder
from .conversion import to_maximal as to_maximal
from .conversion import to_minimal as to_minimal
from .forces import Controls as Controls
from .friction import Frictionless as Frictionless
from .friction import LinearCone as LinearCone
from .friction import SecondOrderCone as SecondOrderCone
from .from_model import mechanism_from_model as mechanism_from_model
from .graph_ldu import BlockMatrix as BlockMatrix
from .graph_ldu import GraphLDU as GraphLDU
from .mechanism import Mechanism as Mechanism
from .state import MaximalState as MaximalState
from .terrain import Terrain as Terrain
