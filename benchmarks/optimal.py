"""Time to solution of arm reaching, side by side with Crocoddyl's FDDP: the same costs, steps and guess, in one run.

A seven-axis arm moves its hand to a point within 0.5 s, from zero controls; both methods use Gauss–Newton Hessians and
symplectic Euler steps. Run from the root of the repository: ``python -m benchmarks.optimal``
(needs the extra ``crocoddyl``).
"""

from __future__ import annotations

import argparse
import dataclasses
import time

import crocoddyl
import jax
import jax.numpy as jnp
import numpy as np
import pinocchio as pin

import jaxsim
from benchmarks.timing import best
from jaxsim import optimal
from tests.oracles.pinocchio_twin import twin

DT, STEPS, TARGET, BATCH = 0.02, 50, (0.4, 0.3, 0.7), 64
STATE, CONTROL, HAND, END = 1e-1, 1e-3, 1.0, 1e3
START = np.array([0.0, 0.5, 0.0, 1.0, 0.0, 0.5, 0.0] + [0.0] * 7)


def ours() -> optimal.Problem:
    """The problem here."""
    model = jaxsim.robots.arm()
    f = jaxsim.Dynamics(model, jaxsim.SemiImplicitEuler(DT))
    scale, target, rest = DT**0.5, jnp.asarray(TARGET), jnp.asarray(START)

    def hand(x):
        return jaxsim.frame_pose(model, x[:7], "flange")[1] - target

    def running(x, u, k):
        parts = STATE**0.5 * (x - rest), CONTROL**0.5 * u, HAND**0.5 * hand(x)
        return scale * jnp.concatenate(parts)

    def terminal(x):
        return jnp.concatenate([STATE**0.5 * (x - rest), END**0.5 * hand(x)])

    return optimal.Problem(f, rest, STEPS, optimal.LeastSquares(running), optimal.LeastSquares(terminal))


def theirs(model: pin.Model):
    """The same problem for Crocoddyl."""
    frame = model.addFrame(pin.Frame("hand", model.njoints - 1, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFull(state)
    reach = crocoddyl.CostModelResidual(
        state, crocoddyl.ResidualModelFrameTranslation(state, frame, np.array(TARGET), actuation.nu)
    )
    rest = crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelState(state, START, actuation.nu))
    effort = crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state, actuation.nu))
    running, terminal = (crocoddyl.CostModelSum(state, actuation.nu) for _ in range(2))
    running.addCost("reach", reach, HAND)
    running.addCost("rest", rest, STATE)
    running.addCost("effort", effort, CONTROL)
    terminal.addCost("reach", reach, END)
    terminal.addCost("rest", rest, STATE)
    models = [
        crocoddyl.IntegratedActionModelEuler(
            crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs), dt
        )
        for costs, dt in ((running, DT), (terminal, 0.0))
    ]
    problem = crocoddyl.ShootingProblem(START, [models[0]] * STEPS, models[1])
    problem.nthreads = 1  # threads that wait for each other make it slower for so few steps
    return problem


def single(problem: optimal.Problem, peer: float) -> None:
    """One problem, compiled once."""

    def solve():
        return jax.block_until_ready(optimal.ilqr(problem, tolerance=1e-5))

    started = time.perf_counter()
    found = solve()
    compile_time, mine = time.perf_counter() - started, best(solve, 2.0)
    print(
        f"jaxsim ilqr:    cost {float(found.cost):.9f}, {int(found.iterations)} iterations, {1e3 * mine:.2f} ms, "
        f"compiled in {compile_time:.1f} s; converged: {bool(found.converged)}"
    )
    print(f"one problem: {mine / peer:.2f} times Crocoddyl's time (goal: at most 3)")


def batched(problem: optimal.Problem, peer: float) -> None:
    """Many problems with different starts in one call."""
    starts = problem.x0 + 0.1 * jax.random.normal(jax.random.key(0), (BATCH, 14))
    solve = jax.jit(jax.vmap(lambda x0: optimal.ilqr(dataclasses.replace(problem, x0=x0), tolerance=1e-5)))
    found = jax.block_until_ready(solve(starts))
    each = best(lambda: jax.block_until_ready(solve(starts)), 2.0) / BATCH
    print(
        f"{BATCH} problems at once: {1e3 * each:.2f} ms a problem, {int(np.sum(found.converged))} converged, "
        f"{peer / each:.2f} times faster than Crocoddyl, one after the other (goal: at least 5)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("single", "batched"), help="one of the two parts")
    only = parser.parse_args().only
    jax.config.update("jax_enable_x64", True)
    problem = ours()
    shooting = theirs(twin(problem.dynamics.model).model)
    zero = [np.zeros(7)] * STEPS
    states = list(shooting.rollout(zero))
    solver = crocoddyl.SolverFDDP(shooting)
    solver.th_stop = 1e-9
    solver.solve(states, zero, 100, True)
    peer = best(lambda: solver.solve(states, zero, 100, True), 2.0)
    print(f"Crocoddyl FDDP: cost {solver.cost:.9f}, {solver.iter} iterations, {1e3 * peer:.2f} ms", flush=True)
    if only != "batched":
        single(problem, peer)
    if only != "single":
        batched(problem, peer)


if __name__ == "__main__":
    main()
