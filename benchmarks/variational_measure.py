"""What the benchmarks of variational integrators share: timing, records and figures."""

from __future__ import annotations

import json
import os
import pathlib
import platform
import time

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)

FIGURES = pathlib.Path(__file__).parent / "figures"


def measure(function, *arguments, seconds: float = 1.0) -> tuple[float, float]:
    """Compile time and the smallest run time, both in seconds."""
    start = time.perf_counter()
    compiled = jax.jit(function).lower(*arguments).compile()
    compiling = time.perf_counter() - start
    return compiling, shortest(compiled, *arguments, seconds=seconds)


def shortest(compiled, *arguments, seconds: float) -> float:
    """The smallest run time of a compiled function after a first call."""
    jax.block_until_ready(compiled(*arguments))
    times, began = [], time.perf_counter()
    while not times or (time.perf_counter() - began < seconds and len(times) < 200):
        start = time.perf_counter()
        jax.block_until_ready(compiled(*arguments))
        times.append(time.perf_counter() - start)
    return min(times)


def exponent(sizes, times) -> float:
    """The slope of a straight line through log time against log size, over the larger half of the sizes."""
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(times[half:]), 1)[0])


def record(name: str, data: dict) -> None:
    """Write the data with the machine and the versions it was measured on."""
    FIGURES.mkdir(exist_ok=True)
    machine = {"machine": platform.processor() or platform.machine(), "cores": os.cpu_count(), "jax": jax.__version__}
    machine |= {"load": round(os.getloadavg()[0], 1)}
    (FIGURES / f"{name}.json").write_text(json.dumps({**machine, **data}, indent=1))


def panels(name: str, drawings) -> None:
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
