"""Larger problems from trivial guesses: an arm that reaches with weak motors, a quadruped that stands up."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim import Dynamics, SemiImplicitEuler, optimal

FEET = ("FL_calf", "FR_calf", "RL_calf", "RR_calf")


@pytest.mark.slow
def test_an_arm_reaches_a_point_within_its_torque_limits():
    model = jaxsim.robots.arm()
    f = Dynamics(model, SemiImplicitEuler(0.02))
    target, limit = jnp.array([0.4, 0.3, 0.7]), 0.15 * model.effort_limit

    def hand(x):
        return jaxsim.frame_pose(model, x[:7], "flange")[1] - target

    running = optimal.LeastSquares(lambda x, u, k: jnp.concatenate([0.03 * x[7:], 0.002 * u]))
    terminal = optimal.LeastSquares(lambda x: jnp.concatenate([30.0 * hand(x), 3.0 * x[7:]]))
    problem = optimal.Problem(f, f.state(), 40, running, terminal, lower=-limit, upper=limit)
    found = optimal.ilqr(problem, tolerance=1e-5)
    assert bool(found.converged)
    assert np.max(np.abs(hand(found.states[-1]))) < 0.01
    assert np.all(np.abs(found.controls) <= limit)
    assert np.any(np.abs(found.controls) == limit)
    np.testing.assert_allclose(found.states, problem.rollout(found.controls), atol=1e-9)


class OnGround(eqx.Module):
    """A quadruped on springy ground, as a system of its own: what ``Problem`` needs is these few functions."""

    free: Dynamics
    nx: int = eqx.field(static=True, default=37)
    ndx: int = eqx.field(static=True, default=36)
    nu: int = eqx.field(static=True, default=12)

    def integrate(self, x, dx):
        return self.free.integrate(x, dx)

    def difference(self, x0, x1):
        return self.free.difference(x0, x1)

    def __call__(self, x, u):
        return self.step(x, u)[0]

    def step(self, x, u):
        model, h = self.free.model, self.free.dt
        q, v = self.free.split(x)
        tau = jnp.concatenate([jnp.zeros(6), u])
        a = jaxsim.forward_dynamics(model, q, v, tau, self.wrenches(q, v))
        v = v + h * a
        after = jnp.concatenate([jaxsim.integrate(model, q, h * v), v])
        return after, jaxsim.Info(jnp.all(jnp.isfinite(after)), jnp.zeros(()), jnp.zeros((), int))

    def wrenches(self, q, v):
        """Stiff and damped at the feet, both growing smoothly from a few millimetres above the ground."""
        model, foot = self.free.model, jnp.array([0.0, 0.0, -0.2])
        poses, twists = jaxsim.forward_kinematics(model, q), jaxsim.body_velocities(model, q, v)
        f_ext = jnp.zeros((model.num_bodies, 6))
        for name in FEET:
            i = model.body_index(name)
            R = poses.rotation[i]
            height = poses.position[i, 2] + (R @ foot)[2]
            velocity = R @ (twists[i, 3:] + jnp.cross(twists[i, :3], foot))
            press = 4000.0 * 0.002 * jax.nn.softplus(-height / 0.002)
            force = R.T @ (press * (jnp.array([0.0, 0.0, 1.0]) - 0.5 * velocity))
            f_ext = f_ext.at[i].set(jnp.concatenate([jnp.cross(foot, force), force]))
        return f_ext


@pytest.mark.slow
def test_a_quadruped_stands_up():
    """From lying on its folded legs, without any idea of the forces, to standing 0.35 m high and still."""
    model = jaxsim.robots.quadruped()
    f = OnGround(Dynamics(model, SemiImplicitEuler(0.005)))

    def pose(height, thigh, calf):
        legs = jnp.tile(jnp.array([0.0, thigh, calf]), 4)
        return jnp.concatenate([jnp.array([0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0]), legs, jnp.zeros(18)])

    low, high = pose(0.145, 1.2, -2.4), pose(0.347, 0.5, -1.0)
    weights = jnp.concatenate([jnp.full(6, 10.0), jnp.full(12, 1.0), jnp.full(18, 0.05)])
    running = optimal.Tracking(f, high, 0.005 * weights, 5e-6)
    problem = optimal.Problem(f, low, 80, running, optimal.Tracking(f, high, 10.0 * weights), lower=-33.5, upper=33.5)
    found = optimal.ilqr(problem, tolerance=1e-3, max_iterations=150)
    assert bool(found.converged)
    assert abs(float(found.states[-1, 2]) - 0.347) < 0.02
    assert np.max(np.abs(found.states[-1, 3:7] - jnp.array([1.0, 0.0, 0.0, 0.0]))) < 0.05
    assert np.max(np.abs(found.states[-1, 19:25])) < 0.5
