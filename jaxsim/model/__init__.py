"""Models: topology, leaves, building, configurations."""

from . import robots as robots
from .body_inertia import BodyInertia as BodyInertia
from .builder import ModelBuilder as ModelBuilder
from .configuration import difference as difference
from .configuration import integrate as integrate
from .configuration import random_configuration as random_configuration
from .model import Model as Model
from .placement import Placement as Placement
from .topology import Topology as Topology
