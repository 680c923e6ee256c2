"""Optimal control: one ``Problem``, several ways to solve it, each with a ``Solution``."""

from .ddp import ddp as ddp
from .ddp import ilqr as ilqr
from .problem import Problem as Problem
from .problem import Tracking as Tracking
from .solution import History as History
from .solution import Solution as Solution
