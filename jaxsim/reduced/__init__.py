"""Implicit steps, constraints and friction in reduced coordinates (Sueda's REDMAX, in linear time)."""

from .constrained_dynamics import constrained_dynamics as constrained_dynamics
from .constrained_dynamics import constrained_velocity as constrained_velocity
from .constrained_dynamics import post_stabilised as post_stabilised
from .constraints import AbstractEquation as AbstractEquation
from .constraints import JointRelation as JointRelation
from .constraints import LoopClosure as LoopClosure
from .contacts import PlaneContacts as PlaneContacts
from .coordinates import AbstractCoordinates as AbstractCoordinates
from .coordinates import LinearCoordinates as LinearCoordinates
from .coordinates import reduced_accelerations as reduced_accelerations
from .deformable import Deformable as Deformable
from .deformable import add_sheet as add_sheet
from .deformable import add_strand as add_strand
from .joint_friction import JointFriction as JointFriction
from .joint_friction import friction_torques as friction_torques
