"""``jaxsim info``: the tree of a model."""

from __future__ import annotations

from ..model import describe
from .parser import add_robot, robot_of


def add_command(commands) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser("info", help="print the tree of a model: joints, masses, limits")
    parser.description = "Print the tree of a model, with its joints, masses and limits."
    add_robot(parser)
    parser.set_defaults(run=_run)


def _run(options) -> int:
    describe(robot_of(options))
    return 0
