"""The one place that imports matplotlib, so that the package works without it."""

from __future__ import annotations

from typing import Any


def pyplot() -> Any:
    """``matplotlib.pyplot``, or a sentence that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError('Pictures are drawn by matplotlib: pip install "jaxsim-vi[viz]".') from None
    return plt


def axes_or_new(axes: Any, size: tuple[float, float] = (6.0, 3.2)) -> Any:
    """The given axes, or those of a new figure."""
    return axes if axes is not None else pyplot().subplots(figsize=size, layout="constrained")[1]
