"""Component-wise spatial algebra."""

from . import se3 as se3
from . import so3 as so3
from .coriolis import Coriolis as Coriolis
from .inertia import ArticulatedInertia as ArticulatedInertia
from .inertia import Inertia as Inertia
from .matrix import Mat3 as Mat3
from .matrix import Sym3 as Sym3
from .motion import Force as Force
from .motion import Motion as Motion
from .pose import Pose as Pose
from .quaternion import Quaternion as Quaternion
from .stumpff import stumpff as stumpff
from .vector import Scalar as Scalar
from .vector import Vec3 as Vec3
