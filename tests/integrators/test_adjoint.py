"""Gradients through implicit rollouts against unrolled Newton iterations and central differences."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim.reduced.stage import residual
from jaxsim.solvers import SolverInfo
from tests.samples import relative_error, state

STEP = 0.02


def mechanism():
    """A ball joint and two hinges with springs and dampers, and a spring from the tip to the world."""
    builder = jaxsim.ModelBuilder()
    inertia = jaxsim.BodyInertia(1.3, (0.1, -0.2, 0.05), (0.3, 0.4, 0.5))
    ball = builder.add_body("ball", 0, jaxsim.Spherical(), None, inertia, damping=0.1)
    arm = builder.add_body("arm", ball, jaxsim.Revolute("y"), (0.3, 0.1, -0.2), inertia, stiffness=2.0, damping=0.2)
    builder.add_body("tip", arm, jaxsim.Revolute("x"), (0.1, 0.4, 0.0), inertia, stiffness=1.0, damping=0.2)
    return builder.build()


def setting(steps):
    """The loss of a rollout and everything that it is differentiated by."""
    model = mechanism()
    s = state(model, 5)
    theta = {
        "configuration": jnp.zeros(model.nv),
        "velocity": s.v,
        "forces": 0.3 * jax.random.normal(jax.random.key(1), (steps, model.nv)),
        "masses": model.mass,
        "lengths": model.position,
        "springs": model.stiffness,
        "spring force": jnp.asarray(3.0),
    }
    points = jnp.asarray([[1.0, 0.2, 0.3], [0.1, 0.2, 0.0]])

    def loss(theta, kind):
        changed = dataclasses.replace(
            model, mass=theta["masses"], position=theta["lengths"], stiffness=theta["springs"]
        )
        method = kind(STEP, (jaxsim.Spring((0, 3), points, theta["spring force"], 0.5, 0.1),), solver="recursive")
        start = method.init(changed, jaxsim.integrate(changed, s.q, theta["configuration"]), theta["velocity"])
        end = jaxsim.rollout(changed, method, start, theta["forces"])
        tip = jaxsim.forward_kinematics(changed, end.q[-1]).position[3]
        return jnp.sum(tip**2) + 0.1 * jnp.sum(end.v[-1] ** 2) + 0.1 * jnp.mean(end.v**2)

    return theta, loss


def unrolled(stage, guess, options):
    """The same stage by Newton iterations that are differentiated one by one."""

    def iterate(psi, _):
        return psi - jnp.linalg.solve(jax.jacfwd(residual)(psi, stage), residual(psi, stage)), None

    psi, _ = jax.lax.scan(iterate, guess, None, length=7)
    return psi, SolverInfo(jnp.asarray(True), jnp.zeros_like(psi[0]), jnp.asarray(7, jnp.int32))


def directional(loss, theta, name, direction, h):
    """A central difference of fourth order along a direction of one of the arguments."""

    def at(x):
        return loss({**theta, name: theta[name] + x * direction})

    return (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)


CASES = [(jaxsim.BDF2, 20), (jaxsim.BDF1, 200), (jaxsim.BDF2, 200), (jaxsim.SDIRK2, 200)]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "steps"), CASES)
def test_the_adjoint_is_exact(kind, steps, monkeypatch):
    """By initial state, joint forces at every step, masses, lengths, stiffnesses; in both modes."""
    theta, loss = setting(steps)
    value = eqx.filter_jit(lambda theta: loss(theta, kind))
    gradient = jax.jit(jax.grad(lambda theta: loss(theta, kind)))(theta)
    for name, x in theta.items():
        direction = jax.random.normal(jax.random.key(len(name)), x.shape)
        if name in ("masses", "lengths"):
            direction = direction.at[0].set(0.0)
        expected = directional(value, theta, name, direction, 4e-4)
        size = float(jnp.linalg.norm(gradient[name]) * jnp.linalg.norm(direction))
        assert abs(float(jnp.sum(gradient[name] * direction)) - float(expected)) < 1e-8 * size, name

    push = jax.tree.map(lambda x: jax.random.normal(jax.random.key(7), x.shape), theta)
    _, forward = jax.jit(lambda t, d: jax.jvp(lambda t: loss(t, kind), (t,), (d,)))(theta, push)
    backward = sum(jnp.vdot(a, b) for a, b in zip(jax.tree.leaves(gradient), jax.tree.leaves(push), strict=True))
    np.testing.assert_allclose(forward, backward, rtol=1e-9)

    monkeypatch.setattr(f"jaxsim.integrators.{kind.__name__.lower()}.solve_stage", unrolled)
    plain = jax.jit(jax.grad(lambda theta: loss(theta, kind)))(theta)
    for name in theta:
        assert relative_error(gradient[name], plain[name]) < 1e-8, name
