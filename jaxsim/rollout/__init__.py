"""The front door: many steps of any integrator, as a trajectory."""

from .loop import any_energy as any_energy
from .loop import rollout as rollout
from .simulation import raise_on_failure as raise_on_failure
from .simulation import simulate as simulate
from .trajectory import Trajectory as Trajectory
