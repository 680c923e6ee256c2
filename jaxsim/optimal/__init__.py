"""Optimal control: one ``Problem``, several ways to solve it, each with a ``Solution``."""

from .contact import ContactScheme as ContactScheme
from .costs import AbstractLeastSquares as AbstractLeastSquares
from .costs import LeastSquares as LeastSquares
from .costs import Tracking as Tracking
from .ddp import ddp as ddp
from .ddp import ilqr as ilqr
from .ipopt import collocate as collocate
from .ipopt import solve_ipopt as solve_ipopt
from .problem import Problem as Problem
from .schemes import AbstractScheme as AbstractScheme
from .schemes import HermiteSimpsonScheme as HermiteSimpsonScheme
from .schemes import ImplicitEulerScheme as ImplicitEulerScheme
from .schemes import StepScheme as StepScheme
from .schemes import VariationalScheme as VariationalScheme
from .shooting import shoot as shoot
from .solution import History as History
from .solution import Solution as Solution
from .transcription import NonlinearProgram as NonlinearProgram
from .transcription import transcribe as transcribe
