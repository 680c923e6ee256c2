"""``jaxsim simulate``: a robot from a file, moved by any integrator, as a page, a picture or an archive."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import integrators, viz
from ..maximal import Mechanism, to_maximal
from ..model import Model
from ..rollout import Trajectory
from ..rollout import simulate as run_simulation
from .parser import add_robot, robot_of

INTEGRATORS = {
    "variational": integrators.Variational,
    "maximal": integrators.MaximalVariational,
    "euler": integrators.SemiImplicitEuler,
    "rk4": integrators.RungeKutta4,
    "hermite-simpson": integrators.HermiteSimpson,
    "bdf1": integrators.BDF1,
    "bdf2": integrators.BDF2,
    "sdirk2": integrators.SDIRK2,
}

_EXAMPLES = """
integrators:
  variational      keeps momentum to rounding and the energy bounded, of any even --order; the default
  maximal          the same in maximal coordinates, of second order: loops and contacts, no drift
  euler            semi-implicit Euler: one evaluation a step, first order
  rk4              Runge–Kutta, four evaluations a step, fourth order
  hermite-simpson  implicit collocation of fourth order
  bdf1             implicit Euler: for stiff springs and dampers, takes energy away
  bdf2, sdirk2     the same of second order, which take less away

examples:
  jaxsim simulate robot.urdf --seconds 5 --integrator variational --order 4 --html run.html
  jaxsim simulate pendulum --joint link1=2.0 --png strip.png
  jaxsim simulate quadruped --speed root=0,0,2,0,0,3 --seconds 1 --html thrown.html
"""


def add_command(commands) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser("simulate", help="simulate a robot and write a page, pictures or numbers")
    parser.description = "Simulate a robot without control and write what happens as a page that plays in any browser."
    parser.epilog = _EXAMPLES
    add_robot(parser)
    parser.add_argument("--seconds", type=float, default=5.0, help="how long to simulate (default: 5)")
    parser.add_argument("--dt", type=float, default=0.005, help="the time step in seconds (default: 0.005)")
    parser.add_argument("--integrator", choices=tuple(INTEGRATORS), default="variational", help="the method")
    parser.add_argument("--order", type=int, help="the order of the variational integrator: 2, 4, 6, … (default: 2)")
    values = {"action": "append", "default": [], "metavar": "NAME=X,…"}
    parser.add_argument(
        "--joint",
        **values,
        help="a joint's coordinates at the start, by the name of the joint or of its body; may be repeated",
    )
    parser.add_argument("--speed", **values, help="a joint's velocity at the start; may be repeated")
    parser.add_argument("--html", type=Path, help="write a page that plays the motion")
    parser.add_argument("--png", type=Path, help="write a strip of pictures (needs matplotlib)")
    parser.add_argument("--gif", type=Path, help="write an animation (needs matplotlib)")
    parser.add_argument("--out", type=Path, help="write the trajectory as npz, for jaxsim.Trajectory.load")
    parser.add_argument("--progress", action="store_true", help="show a progress bar")
    parser.add_argument("--float32", action="store_true", help="single precision")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    method = _integrator(options)
    model = robot_of(options)
    q, v = _start(model, options)
    system: Any = model
    if isinstance(method, integrators.MaximalVariational):
        system = Mechanism.from_model(model)
        q, v = to_maximal(model, q, v)
    for target in (options.html, options.png, options.gif, options.out):
        if target is not None and not target.absolute().parent.is_dir():
            raise ValueError(f"There is no directory {target.parent} to write {target.name} in; make it first.")
    began = time.perf_counter()
    trajectory = run_simulation(system, q, v, options.seconds, method, energy=True, progress=options.progress)
    jax.block_until_ready(trajectory.q)
    _summarise(model, trajectory, options, time.perf_counter() - began)
    _write(system, model, trajectory, options)
    return 0


def _integrator(options: argparse.Namespace):
    if not (options.dt > 0.0 and np.isfinite(options.dt)):
        raise ValueError(f"--dt is {options.dt}; give a positive time step in seconds.")
    if options.order is None:
        return INTEGRATORS[options.integrator](dt=options.dt)
    if options.integrator != "variational":
        raise ValueError(f"--order belongs to --integrator variational; {options.integrator} has one order only.")
    return integrators.Variational(dt=options.dt, order=options.order)


def _start(model: Model, options: argparse.Namespace):
    q, v = model.neutral(), jnp.zeros(model.nv, model.dtype)
    for text in options.joint:
        body, values = _assignment(model, text)
        q = _assigned(q, model.coordinates_of(body)[0], values, text)
    for text in options.speed:
        body, values = _assignment(model, text)
        v = _assigned(v, model.coordinates_of(body)[1], values, text)
    return q, v


def _assignment(model: Model, text: str) -> tuple[int, list[float]]:
    name, _, values = text.partition("=")
    names = model.joint_names if name in model.joint_names[1:] else model.body_names
    if name not in names[1:]:
        raise ValueError(f"There is no joint {name!r}; the joints are {', '.join(model.joint_names[1:])}.")
    try:
        return names.index(name), [float(value) for value in values.split(",")]
    except ValueError:
        raise ValueError(f"{text!r} does not give numbers; write for instance {name}=0.5.") from None


def _assigned(vector, span: slice, values: list[float], text: str):
    if len(values) != span.stop - span.start:
        raise ValueError(f"{text!r} gives {len(values)} numbers, but the joint has {span.stop - span.start}.")
    return vector.at[span].set(jnp.asarray(values, vector.dtype))


def _summarise(model: Model, trajectory: Trajectory, options: argparse.Namespace, took: float) -> None:
    assert trajectory.energy is not None
    total = np.asarray(trajectory.energy.total)
    steps, iterations = len(total) - 1, np.asarray(trajectory.info.iterations)
    name = options.integrator if options.order is None else f"{options.integrator}, order {options.order}"
    print(f"{options.robot}: {model.num_bodies - 1} bodies, {model.nv} degrees of freedom; {name}, dt = {options.dt} s")
    print(f"{steps} steps, {float(trajectory.t[-1]):.3f} s, in {took:.1f} s with compilation ({trajectory.q.dtype})")
    if steps and iterations.any():
        print(f"Newton iterations a step: {iterations.mean():.1f} on average, {iterations.max()} at most")
    if steps:
        change = np.abs(total - total[0]).max()
        print(f"energy {total[0]:.6g} J at the start, {total[-1]:.6g} J at the end, {change:.2g} J away at most")


def _write(system: Any, model: Model, trajectory: Trajectory, options: argparse.Namespace) -> None:
    look = model if isinstance(system, Mechanism) else None
    if options.html:
        page = viz.save_html(system, trajectory, options.html, title=Path(options.robot).stem, appearance=look)
        print(f"wrote {page} ({page.stat().st_size / 1e6:.1f} MB): open it in a browser")
    if options.png:
        print(f"wrote {viz.save_strip(system, trajectory, options.png, appearance=look)}")
    if options.gif:
        print(f"wrote {viz.save_gif(system, trajectory, options.gif, appearance=look)}")
    if options.out:
        trajectory.save(options.out)
        print(f"wrote {options.out}")
