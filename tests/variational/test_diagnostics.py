import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from jaxsim.integrators.variational import Variational
from jaxsim.variational.diagnostics import discrete_energy, discrete_momentum


def test_diagnostics_see_the_velocity_through_the_momentum():
    model, integrator = jaxsim.robots.arm(), Variational(0.01, 4)
    q, v = jaxsim.random_configuration(model, jax.random.key(0)), jnp.linspace(1.0, -1.0, model.nv)
    state = integrator.init(model, q, v)
    np.testing.assert_allclose(discrete_energy(model, state).total, jaxsim.energy(model, q, v).total, rtol=1e-12)
    np.testing.assert_allclose(discrete_momentum(model, state), jaxsim.momentum(model, q, v), rtol=1e-10, atol=1e-12)
