"""The joints, one file each."""

from .base import AbstractJoint as AbstractJoint
from .base import Components as Components
from .chart import CHARTS as CHARTS
from .composite import Composite as Composite
from .cylindrical import Cylindrical as Cylindrical
from .euler_spherical import EulerSpherical as EulerSpherical
from .exponential_spherical import ExponentialSpherical as ExponentialSpherical
from .fixed import Fixed as Fixed
from .free import Free as Free
from .free2d import Free2D as Free2D
from .helical import Helical as Helical
from .planar import Planar as Planar
from .prismatic import Prismatic as Prismatic
from .revolute import Revolute as Revolute
from .spherical import Spherical as Spherical
from .spline_curve import SplineCurve as SplineCurve
from .spline_surface import SplineSurface as SplineSurface
from .translational import Translational as Translational
from .universal import Universal as Universal
