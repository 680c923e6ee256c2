"""``jaxsim bench``: how fast the algorithms are on this machine, alone and in a batch."""

from __future__ import annotations

import platform
import time

import jax
import jax.numpy as jnp

from .. import dynamics, integrators
from ..model import Model
from .parser import add_robot, robot_of


def add_command(commands) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser("bench", help="measure the algorithms on this machine")
    parser.description = (
        "Measure the dynamics and one step of an integrator: the time to compile, the time of one world alone, and the "
        "time a world in a batch. Comparisons with other engines are in benchmarks/ of the repository."
    )
    add_robot(parser, nargs="?", default="quadruped")
    parser.add_argument("--batch", type=int, default=1024, help="the number of worlds in a batch (default: 1024)")
    parser.add_argument("--float32", action="store_true", help="single precision")
    parser.set_defaults(run=_run)


def _run(options) -> int:
    if options.batch < 1:
        raise ValueError(f"--batch is {options.batch}; give a positive number of worlds.")
    model = robot_of(options)
    device = jax.devices()[0]
    print(f"{options.robot}: {model.nv} degrees of freedom, {model.dtype}; jax {jax.__version__} on {device.platform},")
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    print(f"{'':24}{'compile [s]':>12}{'one world [µs]':>16}{f'of {options.batch} [µs]':>16}")
    for name, function in _functions(model).items():
        _measure(model, name, function, options.batch)
    return 0


def _functions(model: Model):
    euler, variational = integrators.SemiImplicitEuler(dt=0.005), integrators.Variational(dt=0.005)

    def one_step(method):
        return lambda q, v, a: method.step(model, method.init(model, q, v), a)[0].q

    return {
        "inverse dynamics": lambda q, v, a: dynamics.inverse_dynamics(model, q, v, a),
        "forward dynamics": lambda q, v, a: dynamics.forward_dynamics(model, q, v, a),
        "mass matrix": lambda q, v, a: dynamics.mass_matrix(model, q),
        "its derivatives": lambda q, v, a: dynamics.forward_dynamics_derivatives(model, q, v, a),
        "semi-implicit Euler": one_step(euler),
        "variational, order 2": one_step(variational),
    }


def _measure(model: Model, name: str, function, batch: int) -> None:
    state = model.neutral(), jnp.zeros(model.nv, model.dtype), 0.1 * jnp.ones(model.nv, model.dtype)
    many = tuple(jnp.broadcast_to(x, (batch, *x.shape)) for x in state)
    began = time.perf_counter()
    alone = jax.jit(function).lower(*state).compile()
    compiled = time.perf_counter() - began
    together = jax.jit(jax.vmap(function)).lower(*many).compile()
    single, shared = _seconds(alone, state), _seconds(together, many) / batch
    print(f"{name:24}{compiled:12.2f}{1e6 * single:16.1f}{1e6 * shared:16.2f}", flush=True)


def _seconds(run, arguments, least: float = 0.2) -> float:
    """The best mean time of rounds of more and more calls, until one lasts a while."""
    result = jax.block_until_ready(run(*arguments))
    count, best = 1, float("inf")
    while True:
        began = time.perf_counter()
        for _ in range(count):
            result = run(*arguments)
        jax.block_until_ready(result)
        took = time.perf_counter() - began
        best = min(best, took / count)
        if took > least:
            return best
        count *= 4
