"""Forces beside gravity and the model's own springs: on bodies, between points, on joints."""

from .actuator import Actuator as Actuator
from .applied import applied_forces as applied_forces
from .base import AbstractForce as AbstractForce
from .body import AbstractBodyForce as AbstractBodyForce
from .body import BodyDrag as BodyDrag
from .body import ConstantWrench as ConstantWrench
from .cable import Cable as Cable
from .ground_contact import GroundContact as GroundContact
from .joint import AbstractJointForce as AbstractJointForce
from .joint_spring import JointSpring as JointSpring
from .link import AbstractLinkForce as AbstractLinkForce
from .link import AbstractPotential as AbstractPotential
from .path import AbstractPathForce as AbstractPathForce
from .point_force import PointForce as PointForce
from .point_spring import PointSpring as PointSpring
from .spring import Spring as Spring
from .viscous import ViscousDamping as ViscousDamping
