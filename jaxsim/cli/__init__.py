"""The command line: ``jaxsim <command>``, or ``python -m jaxsim <command>``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import jax

from . import bench, demo, info, simulate
from .parser import OneLineParser

_EXAMPLES = """
examples:
  jaxsim demo                                     an acrobot swings up; a minute at most
  jaxsim info robot.urdf                          the tree of a model: joints, masses, limits
  jaxsim simulate robot.urdf --seconds 5 --integrator variational --order 4 --html run.html
  jaxsim simulate pendulum --joint link1=2.0     a built-in robot, started away from rest
  jaxsim bench quadruped                          how fast the algorithms are on this machine

Each command explains itself: jaxsim simulate --help
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code: 0 if all is well, 1 or 2 with one sentence on the error stream if not."""
    parser = OneLineParser("jaxsim", "Differentiable rigid-body physics in JAX.", _EXAMPLES)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command", parser_class=OneLineParser)
    for command in (demo, simulate, info, bench):
        command.add_command(commands)
    options = parser.parse_args(arguments)
    try:
        with jax.enable_x64(not getattr(options, "float32", False)):
            return options.run(options)
    except (ValueError, RuntimeError, OSError, ImportError) as error:
        print(f"jaxsim: {_one_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("jaxsim: stopped.", file=sys.stderr)
        return 130


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
