"""Transcribed problems solved by Ipopt, which CasADi's wheel on PyPI brings along.

Ipopt (Wächter and Biegler 2006) is the interior-point method that trajectory optimisation is usually done with: it
takes exact sparse Jacobians and Hessians, and infeasible guesses. Its own Python bindings need a compiler and a system
library; CasADi's wheel has all inside, and of CasADi nothing else is used.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .problem import Problem
from .schemes import AbstractScheme
from .solution import COLUMNS, History, Solution
from .transcription import NonlinearProgram, transcribe

_METHODS = {
    "f": eqx.filter_jit(lambda program, w: program.objective(w)),
    "g": eqx.filter_jit(lambda program, w: program.constraints(w)),
    "grad": eqx.filter_jit(lambda program, w: program.gradient(w)),
    "jac": eqx.filter_jit(lambda program, w: program.jacobian(w)),
    "hess": eqx.filter_jit(lambda program, w, y, factor: program.hessian(w, y, factor)),
}


def collocate(
    problem: Problem,
    guess: Any = None,
    scheme: AbstractScheme | None = None,
    *,
    tolerance: float = 1e-8,
    max_iterations: int = 500,
    verbose: bool = False,
) -> Solution:
    """Transcribe a problem and solve it with Ipopt (extra ``optimal``).

    Args:
        problem: the problem.
        guess: nothing, the controls, or (states, controls), as for ``ddp``.
        scheme: the discretisation, see ``transcribe``.
        tolerance: Ipopt's ``tol``.
        max_iterations: when to give up.
        verbose: let Ipopt print its table.
    """
    program = transcribe(problem, scheme)
    w0 = jax.jit(lambda: program.guess(*problem.start(guess)))()
    w, multipliers, stats = solve_ipopt(program, w0, tolerance, max_iterations, verbose)
    states, controls = jax.jit(program.trajectory)(w)
    return Solution(
        states,
        controls,
        jnp.asarray(program.objective(w)),
        jnp.asarray(bool(stats["success"])),
        jnp.asarray(stats["iter_count"]),
        _history(stats, states.dtype),
        None,
        multipliers,
    )


def solve_ipopt(
    program: NonlinearProgram, w0: Float[Array, " w"], tolerance: float, max_iterations: int, verbose: bool
) -> tuple[Array, Array, dict[str, Any]]:
    """w, the multipliers of c, and Ipopt's statistics."""
    casadi = _casadi()
    functions = {name: _on_host(method, program) for name, method in _METHODS.items()}
    n, m = program.num_variables, program.num_constraints
    jacobian = casadi.Sparsity.triplet(m, n, *map(list, program.jacobian_structure()))
    hessian = casadi.Sparsity.triplet(n, n, *map(list, program.hessian_structure()))
    order = {"jac": _column_order(program.jacobian_structure()), "hess": _column_order(program.hessian_structure())}
    x, p, lf, lg = (casadi.Sparsity.dense(size, 1) for size in (n, 0, 1, m))
    # what CasADi expects: (f, ∇f) and (g, ∂g) of (x, p), the upper triangle of the Hessian of (x, p, factor, y)
    make = lambda name, evaluate, inputs, outputs: _callback(casadi, name, evaluate, inputs, outputs)  # noqa: E731
    f = make("objective", lambda w: [functions["f"](w)], [x], [lf])
    g = make("constraints", lambda w: [functions["g"](w)], [x], [lg])
    grad = make("gradient", lambda w, p: [functions["f"](w), functions["grad"](w)], [x, p], [lf, x])
    jac = make("jacobian", lambda w, p: [functions["g"](w), functions["jac"](w)[order["jac"]]], [x, p], [lg, jacobian])
    hess = make("hessian", lambda w, p, s, y: [functions["hess"](w, y, s[0])[order["hess"]]], [x, p, lf, lg], [hessian])
    symbol = casadi.MX.sym("w", n)
    options = {
        "grad_f": grad,
        "jac_g": jac,
        "hess_lag": hess,
        "no_nlp_grad": True,
        "calc_lam_p": False,
        "print_time": False,
        "ipopt": {"tol": tolerance, "max_iter": max_iterations, "print_level": 5 if verbose else 0, "sb": "yes"},
    }
    solver = casadi.nlpsol("solver", "ipopt", {"x": symbol, "f": f(symbol), "g": g(symbol)}, options)
    (low, high), (c_low, c_high) = program.bounds(), program.constraint_bounds()
    result = solver(x0=np.asarray(w0), lbx=low, ubx=high, lbg=c_low, ubg=c_high)
    found, multipliers = (jnp.asarray(np.asarray(result[key]).ravel(), w0.dtype) for key in ("x", "lam_g"))
    return found, multipliers, solver.stats()


def _on_host(method, program: NonlinearProgram):
    dtype = program.problem.x0.dtype
    return lambda *arguments: np.asarray(method(program, *(jnp.asarray(a, dtype) for a in arguments)), float)


def _column_order(structure: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """CasADi stores matrices by columns: the order of our values there."""
    rows, columns = structure
    return np.lexsort((rows, columns))


def _callback(casadi, name, evaluate, inputs, outputs):
    class Evaluation(casadi.Callback):
        def __init__(self):
            casadi.Callback.__init__(self)
            self.construct(name, {})

        def get_n_in(self):
            return len(inputs)

        def get_n_out(self):
            return len(outputs)

        def get_sparsity_in(self, i):
            return inputs[i]

        def get_sparsity_out(self, i):
            return outputs[i]

        def eval(self, arguments):
            results = evaluate(*(np.asarray(a).ravel() for a in arguments))
            return [casadi.DM(sparsity, np.atleast_1d(r)) for sparsity, r in zip(outputs, results, strict=True)]

    return Evaluation()


def _history(stats: dict[str, Any], dtype) -> History:
    """Ipopt's own table in our columns."""
    told = stats.get("iterations", {})
    names = {"cost": "obj", "gradient": "inf_du", "gap": "inf_pr", "step": "alpha_pr"}
    length = len(told.get("obj", ()))
    empty = np.full(length, np.nan)
    return History(*(jnp.asarray(told.get(names.get(column, ""), empty), dtype) for column in COLUMNS))


def _casadi():
    try:
        import casadi  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError("collocate needs Ipopt: pip install 'jaxsim-vi[optimal]', which brings CasADi.") from error
    return casadi
