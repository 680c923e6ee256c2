"""Small mechanisms with constraints, in the plane y = 0 of the world."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from jaxsim.variational.constrained_rows import constraint_jacobian
from jaxsim.variational.constraints.constraint_set import ConstraintSet
from jaxsim.variational.nodes import kinematics


def bar(length, mass=None):
    """A thin bar that hangs from the origin of its frame."""
    mass = length if mass is None else mass
    moment = mass * length**2 / 12 + 1e-3
    return jaxsim.BodyInertia(mass, (0.0, 0.0, -length / 2), np.diag([moment, moment, 1e-3]))


def four_bar(lengths=(1.0, 1.5, 1.2), ground=1.4):
    """Three bars in a row whose end is held at (ground, 0, 0)."""
    builder = jaxsim.ModelBuilder()
    parent, place = 0, (0.0, 0.0, 0.0)
    for k, length in enumerate(lengths):
        joint = jaxsim.Revolute(axis="y")
        parent = builder.add_body(f"bar{k}", parent=parent, joint=joint, placement=place, inertia=bar(length))
        place = (0.0, 0.0, -length)
    builder.add_loop("connect", parent, 0, place, (ground, 0.0, 0.0))
    return builder.build()


def floating_bar(length=1.0, mass=2.0):
    """One bar that slides along x and z and turns about y."""
    builder = jaxsim.ModelBuilder()
    joint = jaxsim.Composite(jaxsim.Planar(("x", "z")), jaxsim.Revolute("y"))
    builder.add_body("bar", parent=0, joint=joint, inertia=bar(length, mass))
    return builder.build()


def value(model, constraints, q):
    """h(q)."""
    together = ConstraintSet(constraints)
    pose, _, _ = kinematics(model, q, jnp.zeros(model.nv), q.dtype)
    return together.value(model, together.anchors(model).positions(pose))


def assembled(model, constraints, q):
    """A configuration near q that fulfils the constraints, for models with flat coordinates."""

    @jax.jit
    def newton(q):
        C, _ = constraint_jacobian(model, ConstraintSet(constraints), q)
        return q - jnp.linalg.pinv(C, rtol=1e-9) @ value(model, constraints, q)

    for _ in range(20):
        q = newton(q)
    return q


def runner(model, method, q0, v0):
    """A compiled function of the time step and the number of steps: the end, whether all converged, max |h|."""

    @jax.jit
    def run(dt, steps):
        integrator = method(dt)

        def step(_, carry):
            state, ok, worst = carry
            state, info = integrator.step(model, state)
            return state, ok & info.converged, jnp.maximum(worst, info.violation)

        start = integrator.init(model, q0, v0), jnp.array(True), jnp.zeros(())
        return jax.lax.fori_loop(0, steps, step, start)

    return run
