import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from tests.integrators.order import errors, slope
from tests.samples import small_tree, state


def oscillator(stiffness=4.0):
    """A mass of 1 kg on a spring, without gravity."""
    builder = jaxsim.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    ball = jaxsim.BodyInertia.sphere(1.0, 0.1)
    builder.add_body("mass", 0, jaxsim.Prismatic("x"), None, ball, stiffness=stiffness)
    return builder.build()


def test_one_step_by_hand():
    h, k, q, v, u = 0.1, 4.0, 0.3, -0.2, 0.7
    model, method = oscillator(k), jaxsim.SemiImplicitEuler(h)
    after, _ = method.step(model, method.init(model, [q], [v]), jnp.array([u]))
    new_v = v + h * (u - k * q)
    np.testing.assert_allclose([after.v[0], after.q[0], after.t], [new_v, q + h * new_v, h], rtol=1e-14)


def test_it_keeps_the_modified_energy_of_an_oscillator_exactly():
    """q̇²/2 + k q²/2 − h k q q̇/2 is an invariant of the method, so that the energy never drifts."""
    h, k, steps = 0.1, 4.0, 2000
    model, method = oscillator(k), jaxsim.SemiImplicitEuler(h)
    run = jax.jit(lambda model, state: jaxsim.rollout(model, method, state, steps=steps))
    trajectory = run(model, method.init(model, [1.0], [0.0]))
    q, v = trajectory.q[:, 0], trajectory.v[:, 0]
    invariant = 0.5 * v**2 + 0.5 * k * q**2 - 0.5 * h * k * q * v
    np.testing.assert_allclose(invariant, invariant[0], rtol=1e-11)


def test_order_one_also_with_quaternions():
    model = small_tree()
    s = state(model)
    counts = [80, 160]
    measured = errors(jaxsim.SemiImplicitEuler, model, s.q, s.v, 0.2, counts, 10240)
    assert abs(slope(measured, counts) - 1.0) < 0.05
