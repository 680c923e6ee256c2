"""What all benchmarks share: how a time is taken, how a table is printed, which machine it was."""

from __future__ import annotations

import dataclasses
import os
import platform
import time
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

import jax


@dataclasses.dataclass(frozen=True)
class Timing:
    """Seconds that a function took to trace and compile, and seconds a call of the compiled function took."""

    compile: float
    run: float


def measure(function: Callable, *args, seconds: float = 1.0) -> Timing:
    """Compile a function for its arguments, warm it up, and take the best time of a call.

    Args:
        function: any function of arrays; it is compiled here, so that compilation and runs are timed apart.
        *args: its arguments.
        seconds: for how long to repeat.
    """
    started = time.perf_counter()
    compiled = jax.jit(function).lower(*args).compile()
    compile_time = time.perf_counter() - started
    return Timing(compile_time, best(lambda: jax.block_until_ready(compiled(*args)), seconds))


def best(call: Callable[[], object], seconds: float = 1.0, shortest: float = 2e-3) -> float:
    """The best time of a call in seconds, over repeats that each last at least ``shortest``.

    The best and not the mean: whatever else the machine does can only make a repeat longer.
    """
    call()
    count, taken = 1, _repeat(call, 1)
    while taken < shortest:
        count = max(2 * count, int(count * shortest / max(taken, 1e-9)))
        taken = _repeat(call, count)
    times, began = [taken / count], time.perf_counter()
    while time.perf_counter() - began < seconds:
        times.append(_repeat(call, count) / count)
    return min(times)


def _repeat(call: Callable[[], object], count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - started


def machine(*packages: str) -> str:
    """The processor, its cores, their load, and the versions of Python and of the packages, in one line."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("jax", "jaxlib", *packages))
    load = os.getloadavg()[0]
    return f"{_processor()}, {os.cpu_count()} cores, load {load:.1f}; Python {platform.python_version()}, {versions}"


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


class Table:
    """Prints rows under a heading as they come, numbers with three digits."""

    def __init__(self, *columns: str, widths: Sequence[int] | None = None):
        self.columns = columns
        self.widths = widths or [max(len(column), 9) for column in columns]
        print("  ".join(f"{column:>{width}}" for column, width in zip(columns, self.widths, strict=True)))
        print("  ".join("-" * width for width in self.widths), flush=True)

    def row(self, *cells: object) -> None:
        """Print one row; ``None`` is a cell without a figure."""
        texts = [_text(cell) for cell in cells]
        print("  ".join(f"{text:>{width}}" for text, width in zip(texts, self.widths, strict=True)), flush=True)


def _text(cell: object) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.0f}" if abs(cell) >= 999.5 else f"{cell:.3g}"
    return str(cell)
