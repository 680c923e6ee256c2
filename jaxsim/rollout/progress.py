"""A progress bar on the error stream, in one line that is written over."""

from __future__ import annotations

import sys
import time


class ProgressBar:
    """Counts steps up to a total and shows how far it is, how fast, and how long it will take."""

    def __init__(self, total: int, width: int = 30):
        self._total, self._width = total, width
        self._done, self._started = 0, time.perf_counter()

    def __enter__(self) -> ProgressBar:
        self._write()
        return self

    def __exit__(self, *_) -> None:
        print(file=sys.stderr)

    def advance(self, steps: int) -> None:
        """Count steps that are done and redraw."""
        self._done += steps
        self._write()

    def _write(self) -> None:
        elapsed, share = time.perf_counter() - self._started, self._done / self._total
        bar = "█" * round(share * self._width)
        left = f", {elapsed / share - elapsed:.0f} s left" if share else ""
        line = f"\r{share:4.0%} |{bar:<{self._width}}| {self._done}/{self._total} steps, {elapsed:.0f} s{left}"
        print(f"{line:<90}", end="", file=sys.stderr, flush=True)
