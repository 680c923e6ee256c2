"""Constraints on the motion of a tree: points pinned together, loop closures, rods, feet on the ground, rolling."""

from .base import AbstractConstraint as AbstractConstraint
from .base import AbstractHolonomicConstraint as AbstractHolonomicConstraint
from .base import AbstractVelocityConstraint as AbstractVelocityConstraint
from .loop_closures import LoopClosures as LoopClosures
from .no_slip import NoSlip as NoSlip
from .pinned_points import PinnedPoints as PinnedPoints
from .rod import Rod as Rod
from .rolling_sphere import RollingSphere as RollingSphere
