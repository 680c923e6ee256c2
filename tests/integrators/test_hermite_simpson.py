import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim.integrators.hermite_simpson import HermiteSimpson


@pytest.mark.slow
def test_order_is_four_and_solutions_satisfy_the_collocation_equations():
    model = jaxsim.robots.pendulum(2)
    q0, v0 = jnp.array([0.7, -0.4]), jnp.array([0.5, 1.0])

    @jax.jit
    def end(h, steps):
        integrator = HermiteSimpson(h)

        def step(_, carry):
            return (lambda s, i: (s, carry[1] & i.converged))(*integrator.step(model, carry[0]))

        return jax.lax.fori_loop(0, steps, step, (integrator.init(model, q0, v0), jnp.array(True)))

    (fine, ok), errors = end(0.8 / 512, 512), []
    assert ok
    for steps in (32, 64):
        state, ok = end(0.8 / steps, steps)
        assert ok
        errors.append(float(jnp.abs(state.q - fine.q).max()))
    assert 3.75 < np.log2(errors[0] / errors[1]) < 4.5


def test_quaternion_joints_are_refused():
    model = jaxsim.robots.quadruped()
    with pytest.raises(ValueError, match="use Variational for quaternion joints"):
        HermiteSimpson(0.01).init(model, model.neutral(), jnp.zeros(model.nv))
