"""Figures 3 and 4 of Singh et al. (2022), redrawn from the data of ``benchmarks.derivatives``.

python -m benchmarks.derivative_figures
"""

from __future__ import annotations

import json
import pathlib

import matplotlib
import numpy as np

matplotlib.use("agg")
import matplotlib.pyplot as plt

DATA = pathlib.Path(__file__).parent / "figures" / "derivatives.json"
PAPER_HYQ = 403.0
"""Microseconds for all second derivatives of HyQ in the paper's C++ implementation (§VI)."""
COLORS = {1: "tab:blue", 2: "tab:orange"}
LABELS = {1: "chain", 2: "tree, bf = 2"}


def draw(data: dict) -> None:
    """Draw whatever the data holds."""
    if data.get("growth"):
        growth(data["growth"])
    if data.get("robots"):
        robots(data["robots"])


def growth(rows: list[dict]) -> None:
    """Fig. 3: time of all second derivatives against the number of bodies, and the speed-up over AD."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6))
    for branching, label in LABELS.items():
        own = [row for row in rows if row["branching"] == branching]
        known = [row for row in own if row["ad_us"]]
        n, color = [row["n"] for row in own], COLORS[branching]
        left.loglog(n, [row["us"] for row in own], "o-", color=color, label=f"closed form, {label}")
        left.loglog(n, [row["contracted_us"] for row in own], "^:", color=color, label=f"λᵀ∂²τ, {label}")
        left.loglog([r["n"] for r in known], [r["ad_us"] for r in known], "s--", color=color, label=f"AD, {label}")
        right.plot([r["n"] for r in known], [r["ad_over_own"] for r in known], "o-", color=color, label=label)
    chain = [row for row in rows if row["branching"] == 1]
    n = np.array([row["n"] for row in chain[-2:]], float)
    left.loglog(n, 0.4 * chain[-1]["us"] * (n / n[-1]) ** 3, "k-", lw=1, label="∝ N³, the size of the output")
    left.set(xlabel="number of bodies N", ylabel="time, one world (µs)", title="all second derivatives of τ")
    right.set(xlabel="number of bodies N", ylabel="AD / closed form", title="speed-up over forward-over-forward AD")
    right.axhline(1, color="k", lw=1)
    right.set_ylim(bottom=0)
    for axes in (left, right):
        ticks = sorted({row["n"] for row in rows})
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left", fontsize=8, frameon=False)
    save(figure, "derivatives_growth.png")


def robots(rows: list[dict]) -> None:
    """Fig. 4: first and second derivatives of robots."""
    figure, axes = plt.subplots(figsize=(8.5, 4.6))
    x = np.arange(len(rows))
    series = {
        "first, Pinocchio on one core": ("pinocchio_first_us", "0.7"),
        "first, closed form on all cores": ("first_us", "tab:blue"),
        "second, closed form on all cores": ("second_us", "tab:orange"),
    }
    for shift, (label, (key, color)) in zip((-0.27, 0.0, 0.27), series.items(), strict=True):
        bars = axes.bar(x + shift, [row[key] for row in rows], 0.26, label=label, color=color)
        axes.bar_label(bars, fmt="%.3g", fontsize=8, padding=2)
    for i, row in enumerate(rows):
        if row["robot"] == "HyQ":
            axes.hlines(PAPER_HYQ, i + 0.1, i + 0.44, color="k")
            axes.text(i + 0.27, PAPER_HYQ * 1.08, "paper: 403", ha="center", fontsize=8)
    axes.set_xticks(x, [f"{row['robot']}\n{row['n']} DoF" for row in rows])
    axes.set(yscale="log", ylabel="time per element (µs)", title=f"derivatives of τ, batches of {rows[0]['batch']}")
    axes.set_ylim(top=3 * max(row["second_us"] for row in rows))
    axes.grid(alpha=0.3, axis="y")
    axes.set_axisbelow(True)
    axes.legend(loc="upper left", fontsize=8, frameon=False)
    save(figure, "derivatives_robots.png")


def save(figure, name: str) -> None:
    """Write a figure next to the data."""
    figure.tight_layout()
    figure.savefig(DATA.parent / name, dpi=110)
    plt.close(figure)
    print(f"drawn: {DATA.parent / name}")


if __name__ == "__main__":
    draw(json.loads(DATA.read_text()))
