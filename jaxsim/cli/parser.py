"""What the commands' parsers share: errors in one line, and the arguments that choose a robot."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any, NoReturn

from ..model import Model, load, robots

ROBOTS = ("acrobot", "arm", "cartpole", "humanoid", "pendulum", "quadruped")


class OneLineParser(argparse.ArgumentParser):
    """A parser whose help shows examples as they are written, and whose errors are one line."""

    def __init__(self, prog: str, description: str = "", epilog: str = "", **options: Any):
        formatter = argparse.RawDescriptionHelpFormatter
        super().__init__(prog, description=description, epilog=epilog, formatter_class=formatter, **options)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to read on, and stop with code 2."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help.\n")


def add_robot(parser: argparse.ArgumentParser, **options: Any) -> None:
    """The arguments by which ``robot_of`` finds a robot."""
    parser.add_argument("robot", help=f"a URDF or MJCF file, or one of {', '.join(ROBOTS)}", **options)
    base = parser.add_mutually_exclusive_group()
    base.add_argument("--floating", dest="floating", action="store_const", const=True, help="free the root")
    base.add_argument("--fixed", dest="floating", action="store_const", const=False, help="fix the root to the world")
    parser.add_argument("--keep-fixed", action="store_true", help="keep links on fixed joints as bodies of their own")
    parser.add_argument("--lenient", action="store_true", help="warn of what is unsupported instead of refusing it")


def robot_of(options: argparse.Namespace) -> Model:
    """The robot that the arguments name; warnings of the loader go to the error stream."""
    name = options.robot
    if not Path(name).exists():
        if name in ROBOTS:
            return getattr(robots, name)()
        raise ValueError(f"There is no file {name!r}; give a URDF or MJCF file, or one of {', '.join(ROBOTS)}.")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = load(Path(name), options.floating, not options.keep_fixed, strict=not options.lenient)
    for warning in caught:
        print(f"jaxsim: {warning.message}", file=sys.stderr)
    return model
