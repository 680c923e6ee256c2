"""What a loader has to say about a file, gathered and said once."""

from __future__ import annotations

import warnings
from collections import Counter

LARGEST = 1e30
"""Larger numbers in a file are mistakes, and would overflow in single precision."""

_MOST = 1000
"""More problems than these are those of a hostile file, and are only counted."""


class Report:
    """Gathers everything that is wrong with a file, that is not supported, and that was left out.

    Errors make the file useless. What is unsupported and changes the physics is an error too, unless the loader was
    told not to be strict. What was left out without a change to the physics ends in one warning.
    """

    def __init__(self, source: str, strict: bool):
        self.source = source
        self.strict = strict
        self._errors: list[str] = []
        self._unsupported: list[str] = []
        self._left_out: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()
        self._notes: list[str] = []

    def error(self, sentence: str) -> None:
        """Something is wrong with the file."""
        self._errors.append(sentence)

    def unsupported(self, sentence: str) -> None:
        """Something changes the physics and cannot be taken over."""
        self._unsupported.append(sentence)

    def left_out(self, what: str) -> None:
        """Something without effect on the dynamics is not taken over."""
        self._left_out[what] += 1

    def unknown(self, what: str) -> None:
        """Something is not part of the format and is ignored."""
        self._unknown[what] += 1

    def note(self, sentence: str) -> None:
        """Something is odd, but harmless."""
        self._notes.append(sentence)

    def raise_errors(self) -> None:
        """Raise one ``ValueError`` with every problem so far, if there is one."""
        problems = self._errors + (self._unsupported if self.strict else [])
        if not problems:
            return
        advice = "" if self._errors else " (strict=False makes this a warning)"
        if len(problems) == 1:
            raise ValueError(f"{self.source}: {problems[0]}{advice}")
        shown = problems[:_MOST] + [f"and {len(problems) - _MOST} more." for _ in problems[_MOST : _MOST + 1]]
        listed = "\n".join(f"  - {problem}" for problem in shown)
        raise ValueError(f"{self.source} has {len(problems)} problems{advice}:\n{listed}")

    def warn(self) -> None:
        """Issue one warning with all that was left out, if anything was."""
        parts = [*self._unsupported, *self._notes]
        if self._left_out:
            parts.append(f"left out, without effect on the dynamics: {_listed(self._left_out)}.")
        if self._unknown:
            parts.append(f"unknown and ignored: {_listed(self._unknown)}.")
        if parts:
            warnings.warn(f"{self.source}: " + " ".join(parts), stacklevel=4)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(what if count == 1 else f"{what} ({count}×)" for what, count in sorted(counts.items()))
