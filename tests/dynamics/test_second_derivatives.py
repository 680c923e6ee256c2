"""Closed-form second derivatives against nested differentiation of the plain recursion."""

import jax
import jax.numpy as jnp
import pytest

import jaxsim
from tests.dynamics.derivative_samples import assert_close, plain_inverse_dynamics, sample

pytestmark = pytest.mark.slow

NAMES = ["fixed base", "floating base", "charts", "splines"]


@pytest.fixture(scope="module")
def second():
    """The closed-form tensors of a sample, computed once."""
    results = {}

    def get(name):
        if name not in results:
            results[name] = jax.jit(jaxsim.inverse_dynamics_second_derivatives)(*sample(name))
        return results[name]

    return get


def nested(model, q, v, a, f_ext):
    """qq, vv, qv and aq by forward over forward differentiation; the outer derivative is applied to q first."""
    zero = jnp.zeros_like(v)

    def tau(outer, inner, v, a):
        moved = jaxsim.integrate(model, jaxsim.integrate(model, q, outer), inner)
        return plain_inverse_dynamics(model, moved, v, a, f_ext)

    def first(outer, v):
        return jax.jacfwd(tau, argnums=(1, 2, 3))(outer, zero, v, a)

    (qq, _, aq), (qv, vv, _) = (
        (x[0], x[1], x[2]) for x in zip(*jax.jacfwd(first, argnums=(0, 1))(zero, v), strict=True)
    )
    return qq, vv, qv, aq


@pytest.mark.parametrize("name", NAMES)
def test_inverse_dynamics(second, name):
    state = sample(name)
    d = second(name)
    for actual, expected in zip((d.qq, d.vv, d.qv, d.aq), jax.jit(nested)(*state), strict=True):
        assert_close(actual, expected, 1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_symmetry_and_the_order_of_lie_derivatives(second, name):
    """qq[:, j, k] − qq[:, k, j] is ∂τ/∂q along e_k×e_j for two coordinates of one quaternion joint, else zero."""
    model, q, v, a, f_ext = sample(name)
    d, first = second(name), jaxsim.inverse_dynamics_derivatives(model, q, v, a, f_ext)
    assert_close(d.vv, d.vv.transpose(0, 2, 1), 1e-12)
    assert_close(d.aq, d.aq.transpose(1, 0, 2), 1e-12)
    expected = jnp.zeros_like(d.qq)
    levi_civita = jnp.zeros((3, 3, 3)).at[jnp.array([0, 1, 2]), jnp.array([1, 2, 0]), jnp.array([2, 0, 1])].set(1.0)
    levi_civita = levi_civita - levi_civita.transpose(1, 0, 2)
    for joint, bodies in zip(model.joints, model.topology.groups, strict=True):
        for body in bodies:
            start = int(model.topology.v_start[body])
            for part in joint.parts():
                if isinstance(part, jaxsim.Spherical):
                    span = slice(start, start + 3)
                    bracket = jnp.einsum("kjb,ib->ijk", levi_civita, first.dq[:, span])
                    expected = expected.at[:, span, span].set(bracket)
                start += part.nv
    if name != "floating base":
        assert_close(d.qq - d.qq.transpose(0, 2, 1), expected, 1e-11)
    else:
        assert float(jnp.abs(d.qq - d.qq.transpose(0, 2, 1)).max()) > 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_contraction(second, name):
    model, q, v, a, f_ext = sample(name)
    cotangent = jax.random.normal(jax.random.key(8), (model.nv,))
    d = second(name)
    w = jax.jit(jaxsim.contracted_inverse_dynamics_second_derivatives)(model, q, v, a, cotangent, f_ext)
    for actual, tensor in zip((w.qq, w.vv, w.qv, w.aq), (d.qq, d.vv, d.qv, d.aq), strict=True):
        assert_close(actual, jnp.einsum("i,ijk->jk", cotangent, tensor), 1e-11)


@pytest.mark.parametrize("name", ["fixed base", "charts"])
def test_forward_dynamics(name):
    model, q, v, tau, f_ext = sample(name)
    zero = jnp.zeros_like(v)

    def first(dq, v):
        d = jaxsim.forward_dynamics_derivatives(model, jaxsim.integrate(model, q, dq), v, tau, f_ext)
        return d.dq, d.dv, d.dtau

    (qq, qv), (_, vv), (tauq, _) = jax.jit(jax.jacfwd(first, argnums=(0, 1)))(zero, v)
    d = jax.jit(jaxsim.forward_dynamics_second_derivatives)(model, q, v, tau, f_ext)
    for actual, expected in zip((d.qq, d.vv, d.qv, d.tauq), (qq, vv, qv, tauq), strict=True):
        assert_close(actual, expected, 1e-8)
    cotangent = jax.random.normal(jax.random.key(8), (model.nv,))
    w = jax.jit(jaxsim.contracted_forward_dynamics_second_derivatives)(model, q, v, tau, cotangent, f_ext)
    for actual, tensor in zip((w.qq, w.vv, w.qv, w.tauq), (d.qq, d.vv, d.qv, d.tauq), strict=True):
        assert_close(actual, jnp.einsum("i,ijk->jk", cotangent, tensor), 1e-9)


def test_batches_equal_single_worlds():
    model = jaxsim.robots.pendulum(links=3)
    q, v, a = jax.random.normal(jax.random.key(0), (3, 500, 3))
    batch = jax.jit(jax.vmap(jaxsim.inverse_dynamics_second_derivatives, (None, 0, 0, 0)))(model, q, v, a)
    one = jaxsim.inverse_dynamics_second_derivatives(model, q[401], v[401], a[401])
    jax.tree.map(lambda x, y: assert_close(x[401], y, 1e-13), batch, one)


@pytest.mark.slow
@pytest.mark.parametrize("robot", [lambda: jaxsim.robots.chain(40), jaxsim.robots.quadruped, jaxsim.robots.humanoid])
def test_robots(robot):
    """The tensors of whole robots against the derivatives of the first derivatives."""
    model = robot()
    q = jaxsim.random_configuration(model, jax.random.key(0))
    v, a = jax.random.normal(jax.random.key(1), (2, model.nv))
    zero = jnp.zeros_like(v)

    def first(dq, v):
        d = jaxsim.inverse_dynamics_derivatives(model, jaxsim.integrate(model, q, dq), v, a)
        return d.dq, d.dv, d.da

    (qq, qv), (_, vv), (aq, _) = jax.jit(jax.jacfwd(first, argnums=(0, 1)))(zero, v)
    d = jax.jit(jaxsim.inverse_dynamics_second_derivatives)(model, q, v, a)
    for actual, expected in zip((d.qq, d.vv, d.qv, d.aq), (qq, vv, qv, aq), strict=True):
        assert_close(actual, expected, 1e-10)
