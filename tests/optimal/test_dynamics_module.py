"""``jaxsim.Dynamics``: the flat-vector module, its manifold and its linearisation, and learning through it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import jaxsim
from jaxsim import Dynamics, SemiImplicitEuler


@pytest.fixture(scope="module")
def ball():
    """A free body that carries a hinge: quaternion joints, nq ≠ nv."""
    builder = jaxsim.ModelBuilder()
    trunk = builder.add_body("trunk", 0, jaxsim.Free(), None, jaxsim.BodyInertia.box(2.0, (0.3, 0.2, 0.1)))
    builder.add_body("leg", trunk, jaxsim.Revolute("y"), (0.1, 0, 0), jaxsim.BodyInertia.rod(0.5, (0, 0, -0.4), 0.03))
    return builder.build()


def test_linearisation_is_the_derivative_along_the_manifold(ball):
    f = Dynamics(ball, SemiImplicitEuler(0.05), driven=["leg"])
    assert (f.nx, f.ndx, f.nu) == (15, 14, 1)
    rng = np.random.default_rng(0)
    x = f.state(jaxsim.random_configuration(ball, jax.random.key(1)), rng.normal(size=7))
    u, d, h = jnp.array([0.7]), jnp.asarray(rng.normal(size=15)), 1e-5
    linear = jax.jit(lambda x, u: f.linearise(x, u))(x, u)
    step = jax.jit(lambda dx, u: f.difference(f(x, jnp.array([0.7])), f(f.integrate(x, dx), u)))
    central = (step(h * d[:14], u + h * d[14:]) - step(-h * d[:14], u - h * d[14:])) / (2 * h)
    np.testing.assert_allclose(linear.A @ d[:14] + linear.B @ d[14:], central, atol=2e-8)
    np.testing.assert_allclose(f.integrate(x, f.difference(x, f(x, u)))[7:], f(x, u)[7:], atol=1e-13)
    # the continuous dynamics is the limit of the step
    short = Dynamics(ball, SemiImplicitEuler(1e-6), driven=["leg"])
    np.testing.assert_allclose(f.rate(x, u), (short(x, u) - x) / 1e-6, atol=2e-4)


@pytest.mark.slow
def test_closed_form_curvature():
    """λᵀ ∂²f of semi-implicit Euler against nested differentiation, with springs and dampers."""
    model = jaxsim.robots.pendulum(3)
    model = eqx.tree_at(
        lambda m: (m.stiffness, m.damping), model, (jnp.array([1.0, 2.0, 0.5]), jnp.array([0.1, 0, 0.3]))
    )
    f = Dynamics(model, SemiImplicitEuler(0.05), driven=["link3", "link1"])
    rng = np.random.default_rng(0)
    x, y, u = (jnp.asarray(rng.normal(size=k)) for k in (6, 6, 2))
    closed = jax.jit(lambda x, u, y: f.curvature(x, u, x, y))(x, u, y)
    nested = jax.jit(jax.hessian(lambda z: y @ f(x + z[:6], u + z[6:])))(jnp.zeros(8))
    np.testing.assert_allclose(closed, nested, atol=1e-13)
    assert np.max(np.abs(closed)) > 0.01


def test_what_the_module_refuses(ball):
    f = Dynamics(ball, SemiImplicitEuler(0.05), driven=["leg"])
    with pytest.raises(ValueError, match=r"u must have shape \(1,\)"):
        f(f.state(), jnp.zeros(2))
    with pytest.raises(ValueError, match="x must have 15 entries"):
        f(jnp.zeros(14), jnp.zeros(1))
    with pytest.raises(ValueError, match="There is no body 'arm'"):
        Dynamics(ball, SemiImplicitEuler(0.05), driven=["arm"])


@pytest.mark.slow
def test_a_network_learns_through_the_dynamics():
    """A small policy is trained by analytic gradients to bring a pendulum to rest from many starts."""
    model = jaxsim.robots.pendulum()
    f = Dynamics(model, SemiImplicitEuler(0.05))
    key = jax.random.key(0)
    policy = eqx.nn.MLP(2, 1, 16, 1, key=key, dtype=jnp.float64)
    starts = jax.random.uniform(key, (32, 2), minval=-1.0, maxval=1.0)

    def loss(policy, starts):
        def one(x):
            return jnp.sum(jax.lax.scan(lambda x, _: (y := f(x, 5.0 * policy(x)), y @ y), x, length=20)[1])

        return jnp.mean(jax.vmap(one)(starts))

    method = optax.adam(1e-2)
    params, static = eqx.partition(policy, eqx.is_array)

    def train(carry, _):
        params, state = carry
        value, gradient = jax.value_and_grad(lambda p: loss(eqx.combine(p, static), starts))(params)
        update, state = method.update(gradient, state)
        return (optax.apply_updates(params, update), state), value

    _, losses = jax.jit(lambda p: jax.lax.scan(train, (p, method.init(p)), length=150))(params)
    assert losses[-1] < 0.25 * losses[0]


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(SemiImplicitEuler(0.05), id="euler"),
        pytest.param(jaxsim.RungeKutta4(0.05), id="runge-kutta", marks=pytest.mark.slow),
    ],
)
def test_second_derivatives_through_a_loop(method):
    """The Hessian of a roll-out against differences of its gradient: JAX drops custom rules in nested scans."""
    f = Dynamics(jaxsim.robots.cartpole(), method, driven=["cart"])

    def cost(u):
        def step(x, u):
            after = f(x, u)
            return after, after @ after

        return jnp.sum(jax.lax.scan(step, f.state([0.1, 0.5], [0.3, -0.2]), u)[1])

    u, d, h = jnp.array([[0.5], [-1.0], [2.0]]), jnp.array([[1.0], [0.3], [-0.7]]), 1e-5
    slope = jax.jit(jax.grad(cost))
    product = jax.jit(lambda u: jax.jvp(jax.grad(cost), (u,), (d,))[1])(u)
    central = (slope(u + h * d) - slope(u - h * d)) / (2 * h)
    assert np.max(np.abs(central)) > 0.01
    np.testing.assert_allclose(product, central, atol=1e-8)
