"""The joints, one file each."""

from .base import AbstractJoint as AbstractJoint
from .revolute import Revolute as Revolute
