"""Models: topology, leaves, building, configurations."""

from . import robots as robots
from .body_inertia import BodyInertia as BodyInertia
from .builder import ModelBuilder as ModelBuilder
from .configuration import difference as difference
from .configuration import integrate as integrate
from .configuration import random_configuration as random_configuration
from .describe import describe as describe
from .load import load as load
from .mjcf import load_mjcf as load_mjcf
from .model import Model as Model
from .placement import Placement as Placement
from .topology import Topology as Topology
from .urdf import load_urdf as load_urdf
