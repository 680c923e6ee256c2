"""The acrobot."""

from __future__ import annotations

from ...joints import Revolute
from ..builder import BodyInertia, ModelBuilder
from ..model import Model


def acrobot(lengths=(1.0, 1.0), masses=(1.0, 1.0)) -> Model:
    """Two links that swing about y, of which only the second joint is driven; q = 0 hangs down."""
    builder = ModelBuilder()
    first, second = ((0.0, 0.0, -length) for length in lengths)
    upper = builder.add_body("upper", 0, Revolute("y"), None, BodyInertia.rod(masses[0], first, 0.05), effort_limit=0.0)
    builder.add_body("lower", upper, Revolute("y"), first, BodyInertia.rod(masses[1], second, 0.05))
    return builder.build()
