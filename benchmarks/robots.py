"""Which real robots of example-robot-data load, which are refused and why, and how well they agree with Pinocchio.

Run from the root of the repository: ``python -m benchmarks.robots`` (``--compare`` adds the comparison, which compiles
every robot twice and takes minutes; ``--only NAME`` picks files whose path contains NAME).
"""

from __future__ import annotations

import argparse
import platform
import time
from importlib import metadata
from pathlib import Path

import jax

from tests.oracles.pinocchio_comparison import compare, load, robots_directory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compare", action="store_true", help="compare with Pinocchio on random states")
    parser.add_argument("--only", default="", help="only files whose path contains this")
    parser.add_argument("--states", type=int, default=20, help="how many random states")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("jax", "pin", "example-robot-data"))
    print(f"{versions}; {platform.machine()}, Python {platform.python_version()}")
    directory = robots_directory()
    refused = []
    for path in sorted(directory.rglob("*.urdf")):
        name = str(path.relative_to(directory))
        if options.only in name:
            refused += report(path, name, options)
    print(f"\nRefused ({len(refused)}):")
    for name, reason in refused:
        print(f"{name}:{reason}")


def report(path: Path, name: str, options) -> list[tuple[str, str]]:
    """Print a line for a robot, with a fixed and with a floating base; return it if it is refused."""
    for floating in (False, True):
        started = time.perf_counter()
        try:
            model = load(path, floating)
        except ValueError as error:
            return [(name, str(error).removeprefix(str(path)).removeprefix(":"))]
        base = "floating" if floating else "fixed"
        sizes = f"{model.num_bodies - 1:4d} bodies {model.nv:4d} dof {len(model.frames):4d} frames"
        line = f"{name:70s} {base:8s} {sizes} {time.perf_counter() - started:6.2f} s"
        if options.compare:
            comparison = compare(path, floating, options.states)
            key = max(comparison.errors, key=comparison.errors.__getitem__)
            line += f"   worst relative error {comparison.worst:.1e} ({key})"
        print(line, flush=True)
    return []


if __name__ == "__main__":
    main()
