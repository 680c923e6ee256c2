"""Where the figures of benchmarks are kept: data with the machine it was measured on, and drawings of it."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.timing import machine

FIGURES = pathlib.Path(__file__).parent / "figures"


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """The exponent p of time ∝ sizeᵖ: the slope of the straight line through the logarithms, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def record(name: str, data: dict) -> None:
    """Write the data with the machine and the versions it was measured on."""
    FIGURES.mkdir(exist_ok=True)
    (FIGURES / f"{name}.json").write_text(json.dumps({"machine": machine(), **data}, indent=1) + "\n")


def merged(name: str, data: dict) -> dict:
    """What earlier sections of a benchmark have written, with this section's data in place of its own."""
    path = FIGURES / f"{name}.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    before.pop("machine", None)
    return {**before, **data}


def panels(name: str, drawings: Sequence[Callable]) -> None:
    """One figure with a panel for each drawing, a function of the axes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(drawings), figsize=(4.5 * len(drawings), 3.5), squeeze=False)
    for axis, draw in zip(axes[0], drawings, strict=True):
        draw(axis)
        axis.grid(True, which="major", alpha=0.3)
        axis.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(FIGURES / f"{name}.png", dpi=120)
    pyplot.close(figure)
