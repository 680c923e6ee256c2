"""The command line: ``python -m jaxsim <command>``."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from .demo import run_demo
from .model import describe, load


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code: 0 if all is well, 1 with one sentence on the error stream if not."""
    parser = argparse.ArgumentParser(prog="jaxsim", description="Differentiable rigid-body physics in JAX.")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_demo(commands)
    _add_info(commands)
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except (ValueError, OSError, ImportError) as error:
        print(f"jaxsim: {error}", file=sys.stderr)
        return 1


def _add_demo(commands) -> None:
    demo = commands.add_parser("demo", help="simulate a pendulum of twelve links and print its energy")
    demo.add_argument("--links", type=int, default=12, help="the number of links (default: 12)")
    demo.add_argument("--seconds", type=float, default=10.0, help="how long to simulate (default: 10)")
    demo.set_defaults(run=lambda options: run_demo(options.links, options.seconds))


def _add_info(commands) -> None:
    info = commands.add_parser("info", help="print the tree of a model file: joints, masses, limits")
    info.add_argument("path", type=Path, help="a URDF or MJCF file")
    base = info.add_mutually_exclusive_group()
    base.add_argument("--floating", dest="floating", action="store_const", const=True, help="free the root")
    base.add_argument("--fixed", dest="floating", action="store_const", const=False, help="fix the root to the world")
    info.add_argument("--keep-fixed", action="store_true", help="keep links on fixed joints as bodies of their own")
    info.add_argument("--lenient", action="store_true", help="warn of what is unsupported instead of refusing it")
    info.set_defaults(run=_info)


def _info(options: argparse.Namespace) -> int:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = load(options.path, options.floating, not options.keep_fixed, strict=not options.lenient)
    describe(model)
    for warning in caught:
        print(f"jaxsim: {warning.message}", file=sys.stderr)
    return 0
