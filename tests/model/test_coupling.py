"""Joints that mimic others: hyper-reduced coordinates are exact (Sueda, §2.7)."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim.model.on_tree import tree

RATIO, OFFSET = -1.7, 0.3


def build(followers=(("b", "a", RATIO, OFFSET),), **coordinates) -> jaxsim.Model:
    """A floating body that carries a chain of hinges a, b, c, with what each joint has besides."""
    builder = jaxsim.ModelBuilder()
    inertia = jaxsim.BodyInertia.rod(1.3, (0.1, 0.2, 0.5), radius=0.1)
    builder.add_body("base", 0, jaxsim.Free(), inertia=inertia)
    builder.add_body("a", "base", jaxsim.Revolute("y"), (0.1, 0, 0), inertia, armature=0.2, **coordinates)
    builder.add_body("b", "a", jaxsim.Prismatic((1, 2, 3)), (0, 0.1, 0), inertia, armature=0.1, **coordinates)
    builder.add_body("c", "b", jaxsim.Revolute((1, 0, 1)), (0, 0, 0.3), inertia)
    for follower in followers:
        builder.add_mimic(*follower)
    return builder.build()


G = np.zeros((9, 8))
G[:7, :7], G[7, 6], G[8, 7] = np.eye(7), RATIO, 1.0
"""v_tree = G v for the velocities of base, a, b, c."""


def evaluate(model, q, v, a, f_ext):
    """Everything at once, to compile once."""
    tau = jaxsim.inverse_dynamics(model, q, v, a, f_ext)
    M = jaxsim.mass_matrix(model, q)
    prescribed = jnp.arange(model.nv) % 2 == 0
    known = jnp.where(prescribed, 0, tau), jnp.where(prescribed, a, 0)

    def total(t):
        return jaxsim.energy(model, jaxsim.integrate(model, q, t * v), v + t * a).total

    free = jaxsim.inverse_dynamics(model, q, v, a)
    return {
        "tau": tau,
        "M": M,
        "J": jaxsim.jacobian(model, q, "c"),
        "bias": jaxsim.bias_forces(model, q, v),
        "positions": jaxsim.forward_kinematics(model, q).position,
        "momentum": jaxsim.momentum(model, q, v),
        "kinetic": jaxsim.energy(model, q, v).kinetic,
        "power": free @ v - jnp.sum(model.damping * v**2),
        "energy rate": jax.jvp(total, (0.0,), (1.0,))[1],
        "a": jaxsim.forward_dynamics(model, q, v, tau, f_ext),
        "inverse mass": jaxsim.inverse_mass_product(model, q, M @ a),
        "hybrid": jaxsim.hybrid_dynamics(model, q, v, *known, prescribed, f_ext),
    }


SPRINGS = {"damping": 0.4, "stiffness": 2.0, "spring_reference": 0.2}


@pytest.fixture(scope="module")
def model():
    return build(**SPRINGS)


@pytest.fixture(scope="module")
def state(model):
    rng = np.random.default_rng(0)
    q = jaxsim.integrate(model, model.neutral(), jnp.asarray(rng.normal(size=model.nv)))
    return q, *jnp.asarray(rng.normal(size=(2, model.nv))), jnp.asarray(rng.normal(size=(model.num_bodies, 6)))


@pytest.fixture(scope="module")
def run():
    return jax.jit(evaluate, compiler_options={"xla_backend_optimization_level": 0})


@pytest.fixture(scope="module")
def coupled(model, state, run):
    return run(model, *state)


def on_full_tree(q):
    return jnp.concatenate([q[:8], RATIO * q[7:8] + OFFSET, q[8:]])


def test_followers_have_no_coordinates(model):
    assert (model.nq, model.nv) == (9, 8)
    assert model.neutral().shape == model.lower.shape == (9,)
    assert model.damping.shape == (8,)
    assert model.coordinates_of("b") == model.coordinates_of("a")


def test_dynamics_are_those_of_the_tree_projected(state, coupled, run):
    """τ = Gᵀ ID(G q + b, G v, G a), M = Gᵀ M G, J = J G, springs and dampers of the follower included."""
    q, v, a, f_ext = state
    full = run(build((), **SPRINGS), on_full_tree(q), G @ v, G @ a, f_ext)
    np.testing.assert_allclose(coupled["tau"], G.T @ full["tau"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(coupled["M"], G.T @ full["M"] @ G, atol=1e-13)
    np.testing.assert_allclose(coupled["J"], full["J"] @ G, atol=1e-13)
    np.testing.assert_allclose(coupled["bias"], G.T @ full["bias"], atol=1e-12)
    np.testing.assert_allclose(coupled["positions"], full["positions"], atol=1e-14)
    np.testing.assert_allclose(coupled["momentum"], full["momentum"], atol=1e-13)


def test_kinetic_energy_and_power(state, coupled):
    """½ vᵀ M v = T, and the power of the joint forces less the dissipation is the rate of the energy."""
    v = state[1]
    assert float(coupled["kinetic"]) == pytest.approx(float(0.5 * v @ coupled["M"] @ v), rel=1e-12)
    assert float(coupled["power"]) == pytest.approx(float(coupled["energy rate"]), rel=1e-10)


def test_forward_dynamics_inverts_inverse_dynamics(state, coupled):
    a = state[2]
    np.testing.assert_allclose(coupled["a"], a, atol=1e-10)
    np.testing.assert_allclose(coupled["inverse mass"], a, atol=1e-10)
    np.testing.assert_allclose(coupled["hybrid"][0], coupled["tau"], atol=1e-9)
    np.testing.assert_allclose(coupled["hybrid"][1], a, atol=1e-10)


def test_configurations_stay_coupled(model, state):
    q, v, *_ = state
    moved = jaxsim.integrate(model, q, v)
    np.testing.assert_allclose(jaxsim.difference(model, q, moved), v, atol=1e-12)
    expected = jaxsim.integrate(tree(model), on_full_tree(q), G @ v)
    np.testing.assert_allclose(model.coupling.configuration(moved), expected, atol=1e-13)


def test_random_configurations_have_the_models_size(model):
    assert jaxsim.random_configuration(model, jax.random.key(0)).shape == (model.nq,)


def test_the_ratio_is_a_differentiable_leaf(model, state):
    q, v, a, _ = state

    @jax.jit
    def effort(multiplier):
        other = eqx.tree_at(lambda m: m.coupling.multiplier, model, multiplier)
        return jnp.sum(jaxsim.inverse_dynamics(other, q, v, a) ** 2)

    m, h = model.coupling.multiplier, 1e-5
    slope = (effort(m + h) - effort(m - h)) / (2 * h)
    assert float(jax.grad(effort)(m)[0]) == pytest.approx(float(slope), rel=1e-7)


def test_followers_of_followers():
    chain = build((("c", "b", 2.0, 0.1), ("b", "a", 3.0, 0.2)))
    np.testing.assert_allclose(chain.coupling.configuration(jnp.array([0.0] * 7 + [1.0]))[7:], [1.0, 3.2, 6.5])
    with pytest.raises(ValueError, match="'a', 'b' follow each other in a circle"):
        build((("a", "b"), ("b", "a")))


def test_limits_of_followers_narrow_those_of_leaders():
    model = build(lower=-1.0, upper=1.0)
    np.testing.assert_allclose([model.lower[7], model.upper[7]], [(1 - OFFSET) / RATIO, (-1 - OFFSET) / RATIO])


def test_only_single_coordinates_follow():
    with pytest.raises(ValueError, match="The joint of 'base' cannot mimic or lead"):
        build((("a", "base"),))


def test_a_follower_cannot_be_driven():
    builder = jaxsim.ModelBuilder()
    ball = jaxsim.BodyInertia.sphere(1.0, 0.1)
    for name in "ab":
        builder.add_body(name, 0, jaxsim.Revolute("x"), inertia=ball)
    builder.add_mimic("b", "a")
    builder.add_actuator("motor", "b")
    with pytest.raises(ValueError, match="drive its leader"):
        builder.build()


def test_simulation_keeps_energy():
    """A coupled model without damping conserves its energy."""
    builder = jaxsim.ModelBuilder()
    rod = jaxsim.BodyInertia.rod(1.0, (0, 0, -1))
    builder.add_body("a", 0, jaxsim.Revolute("y"), inertia=rod)
    builder.add_body("b", "a", jaxsim.Revolute("y"), (0, 0, -1), inertia=rod)
    builder.add_mimic("b", "a", -2.0)
    model = builder.build()
    integrator = jaxsim.RungeKutta4(dt=0.002)
    traj = jaxsim.simulate(model, jnp.array([1.0]), jnp.zeros(1), duration=1.0, integrator=integrator)
    totals = jax.jit(jax.vmap(lambda q, v: jaxsim.energy(model, q, v).total))(traj.q, traj.v)
    np.testing.assert_allclose(totals, totals[0], rtol=1e-8)
    assert float(jnp.ptp(traj.q)) > 1.0


def test_reduced_dynamics_in_single_precision(model, state, coupled):
    single = model.astype(jnp.float32)
    got = jax.jit(jaxsim.inverse_dynamics)(single, *(x.astype(jnp.float32) for x in state))
    assert got.dtype == jnp.float32
    np.testing.assert_allclose(got, coupled["tau"], rtol=1e-4, atol=1e-4)
