"""``jaxsim demo``: an acrobot learns to stand up, and is then simulated by a variational integrator."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import viz
from ..integrators import SemiImplicitEuler, Variational
from ..model import robots
from ..optimal import Problem, ddp
from ..rollout import Trajectory, simulate
from ..system import Dynamics

STEPS, DT = 400, 0.01


def add_command(commands) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser("demo", help="swing an acrobot up and write a page that shows it")
    parser.description = (
        "Swing up an acrobot (two links, of which only the second joint is driven) by differential dynamic "
        "programming, then follow the plan with a variational integrator of order 4, and write a page that plays it."
    )
    parser.add_argument("--directory", type=Path, default=Path(), help="where to write (default: here)")
    parser.add_argument("--quiet", action="store_true", help="do not print the iterations")
    parser.set_defaults(run=lambda options: run_demo(options.directory, not options.quiet))


def swing_up() -> Problem:
    """min Σ ½ r u² dt + w(x_N): the acrobot hangs at rest and shall stand at rest after four seconds."""
    system = Dynamics(robots.acrobot(), SemiImplicitEuler(dt=DT), driven=["lower"])
    goal = jnp.array([jnp.pi, 0.0])

    def running(x, u, k):
        v = system.split(x)[1]
        return DT * (0.05 * jnp.sum(u**2) + 0.01 * jnp.sum(v**2))

    def terminal(x):
        q, v = system.split(x)
        return 100.0 * jnp.sum((q - goal) ** 2) + 10.0 * jnp.sum(v**2)

    return Problem(system, system.state(), STEPS, running, terminal)


def run_demo(directory: Path, verbose: bool = True) -> int:
    """Plan, simulate, print a summary and write ``acrobot.html`` and, with matplotlib, ``acrobot.png``."""
    if not directory.is_dir():
        raise ValueError(f"There is no directory {directory}; make it first, or leave --directory out.")
    problem = swing_up()
    print(f"1. Planning the swing-up of an acrobot by DDP: {STEPS} steps of {DT} s, from no motion at all.", flush=True)
    began = time.perf_counter()
    plan = ddp(problem, guess=_nudge(), verbose=verbose)
    jax.block_until_ready(plan.controls)
    print(f"   {int(plan.iterations)} iterations in {time.perf_counter() - began:.1f} s; cost {float(plan.cost):.4g}.")
    model, method = problem.dynamics.model, Variational(dt=DT, order=4)
    print("2. Following the plan with its feedback in a variational simulation of order 4.")
    trajectory = simulate(model, model.neutral(), None, STEPS * DT, method, plan.policy(problem.dynamics), energy=True)
    error = np.abs(np.asarray(trajectory.q[-1]) - np.array([np.pi, 0.0])).max()
    degrees = np.degrees(error)
    torque = np.abs(np.asarray(trajectory.controls)).max()
    print(f"   After {STEPS * DT:g} s it stands within {degrees:.1f}° of upright; largest torque {torque:.1f} N m.")
    _write(model, trajectory, directory)
    return 0 if bool(plan.converged) and error < 0.3 else 1


def _nudge() -> jax.Array:
    """A small push to begin with: hanging at rest without torque is a stationary point."""
    return 0.1 * jnp.sin(6.0 * DT * jnp.arange(STEPS))[:, None]


def _write(model: Any, trajectory: Trajectory, directory: Path) -> None:
    page = viz.save_html(model, trajectory, directory / "acrobot.html", title="Acrobot: swing-up by DDP")
    print(f"3. Wrote {page}: open it in a browser.")
    try:
        picture = viz.save_strip(model, trajectory, directory / "acrobot.png", frames=9, view=(0.0, -1.0, 0.15))
        print(f"   Wrote {picture}.")
    except ImportError as error:
        print(f"   No picture: {error}")
