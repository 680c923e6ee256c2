"""Loops, limits, contact and friction in reduced coordinates."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim.reduced.constraints import rows, values
from jaxsim.solvers.quadratic_program import quadratic_program
from tests.samples import relative_error


def four_bar(width=1.0):
    """Three rods on hinges about y, whose end is held on the ground; one rod's length away they are a parallelogram."""
    builder = jaxsim.ModelBuilder()
    rod = jaxsim.BodyInertia.rod(1.0, (0.0, 0.0, 1.0), 0.05)
    crank = builder.add_body("crank", 0, jaxsim.Revolute("y"), None, rod)
    coupler = builder.add_body("coupler", crank, jaxsim.Revolute("y"), (0.0, 0.0, 1.0), rod)
    rocker = builder.add_body("rocker", coupler, jaxsim.Revolute("y"), (0.0, 0.0, 1.0), rod)
    builder.add_loop("connect", 0, rocker, (width, 0.0, 0.0), (0.0, 0.0, 1.0))
    return builder.build(), (jaxsim.LoopClosure(0, ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0))),)


def posed(angle, rate):
    """The parallelogram at a crank angle: the coupler stays level, the rocker is parallel to the crank."""
    q = jnp.array([angle, np.pi / 2 - angle, np.pi / 2 + angle])
    return q, rate * jnp.array([1.0, -1.0, 1.0])


def assembled(model, equations, start):
    """The nearest configuration and velocity that fit the equations."""
    q, v = start
    for _ in range(8):
        g, G = values(model, equations, q), rows(model, equations, q)
        q = q - jnp.linalg.pinv(G) @ g
    G = rows(model, equations, q)
    return q, v - jnp.linalg.pinv(G) @ (G @ v)


def test_the_four_bar_by_both_methods_and_by_hand():
    """KKT and dual agree to 1e-10; the acceleration is that of the parallelogram's one degree of freedom."""
    model, loop = four_bar()
    q, v = posed(0.4, 1.3)
    tau = jnp.array([0.7, 0.0, 0.0])
    run = jax.jit(jaxsim.constrained_dynamics, static_argnames="method")
    a, multipliers = run(model, loop, q, v, tau, method="dual")
    other = run(model, loop, q, v, tau, method="kkt")
    for x, y in zip((a, multipliers), other, strict=True):
        assert relative_error(x, y) < 1e-10
    # two rods turn about fixed ends, the coupler moves on a circle without turning
    thick = 0.05**2 / 4
    inertia = 2.0 * (1.0 / 3.0 + thick) + 1.0
    expected = (0.7 + 9.81 * (0.5 + 1.0 + 0.5) * np.sin(0.4)) / inertia
    np.testing.assert_allclose(a, expected * np.array([1.0, -1.0, 1.0]), rtol=1e-9)
    after, _ = jax.jit(jaxsim.constrained_velocity)(model, loop, q, v + 0.1)
    np.testing.assert_allclose(after, after[0] * np.array([1.0, -1.0, 1.0]), atol=1e-12)


@pytest.mark.slow
def test_a_loop_stays_closed_with_post_stabilisation_and_opens_without():
    # the loop of a parallelogram is a linear relation of the angles, which no step breaks
    model, loop = four_bar(1.3)
    start = assembled(model, loop, posed(0.4, 1.0))
    gaps = {}
    for name, options in {"none": (0.0, 0), "Baumgarte": (20.0, 0), "post": (0.0, 1)}.items():
        method = jaxsim.ConstrainedEuler(0.01, (), loop, gamma=options[0], post_stabilisation=options[1])
        run = jax.jit(functools.partial(jaxsim.rollout, steps=30))
        end = run(model, method, method.init(model, *start))
        assert bool(end.converged)
        gaps[name] = float(end.info.violation[-1])
    assert gaps["none"] > 1e-3
    assert gaps["Baumgarte"] < 0.5 * gaps["none"]
    assert gaps["post"] < 1e-6


def test_a_relation_of_joints_is_a_mimic_joint():
    """q₂ = 2 q₁ as an equation on reduced coordinates moves as the model in which joint 2 mimics joint 1."""
    plain = jaxsim.robots.pendulum(2)
    equation = (jaxsim.JointRelation(jnp.array([[2.0, -1.0]]), jnp.zeros(1)),)
    a, _ = jax.jit(jaxsim.constrained_dynamics)(
        plain, equation, jnp.array([0.3, 0.6]), jnp.array([0.5, 1.0]), jnp.zeros(2)
    )
    builder = jaxsim.ModelBuilder()
    rod = jaxsim.BodyInertia.rod(1.0, (0.0, 0.0, -1.0), 0.05)
    first = builder.add_body("first", 0, jaxsim.Revolute("y"), None, rod)
    second = builder.add_body("second", first, jaxsim.Revolute("y"), (0.0, 0.0, -1.0), rod)
    builder.add_mimic(second, first, 2.0)
    mimic = builder.build()
    expected = jaxsim.forward_dynamics(mimic, jnp.array([0.3]), jnp.array([0.5]), jnp.zeros(1))
    np.testing.assert_allclose(a, [expected[0], 2.0 * expected[0]], rtol=1e-11)

    # the same by hyper-reduced coordinates, and its curved counterpart q₂ = 2 y + y²
    straight = jaxsim.LinearCoordinates(jnp.array([[1.0], [2.0]]))
    acceleration = jax.jit(jaxsim.reduced_accelerations)
    y, rate = jnp.array([0.3]), jnp.array([0.5])
    np.testing.assert_allclose(acceleration(plain, straight, y, rate, jnp.zeros(1)), expected, rtol=1e-12)

    class Curved(jaxsim.AbstractCoordinates):
        @property
        def size(self):
            return 1

        def configuration(self, y):
            return jnp.stack([y[0], 2.0 * y[0] + y[0] ** 2])

    class Curve(jaxsim.AbstractEquation):
        def value(self, model, q):
            return (q[1] - 2.0 * q[0] - q[0] ** 2)[None]

    q, v = jnp.array([0.3, 0.69]), jnp.array([0.5, 1.3])
    a, _ = jax.jit(jaxsim.constrained_dynamics)(plain, (Curve(),), q, v, jnp.zeros(2))
    np.testing.assert_allclose(acceleration(plain, Curved(), y, rate, jnp.zeros(1))[0], a[0], rtol=1e-11)
    method = jaxsim.HyperReduced(0.01, Curved())
    end = jax.jit(functools.partial(jaxsim.rollout, steps=50))(plain, method, method.init(plain, y, rate))

    def energy(y, rate):
        v = jnp.stack([rate[0], (2.0 + 2.0 * y[0]) * rate[0]])
        return jaxsim.energy(plain, Curved().configuration(y), v).total

    np.testing.assert_allclose(energy(end.q[-1], end.v[-1]), energy(y, rate), rtol=1e-7)


def test_quadratic_programs_against_enumerated_active_sets():
    """The minimiser is the best feasible point among those of all sets of active rows; derivative by differences."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(4, 3))
    P, G = root.T @ root, rng.normal(size=(4, 3))
    h = -np.abs(rng.normal(size=4))
    solve = jax.jit(lambda c: quadratic_program(P, c, G, h))
    for c in 3.0 * rng.normal(size=(4, 3)):
        best, where = np.inf, None
        for active in itertools.chain.from_iterable(itertools.combinations(range(4), k) for k in range(4)):
            A = G[list(active)]
            kkt = np.block([[P, A.T], [A, np.zeros((len(active), len(active)))]])
            x = np.linalg.solve(kkt, np.concatenate([-c, h[list(active)]]))[:3]
            value = 0.5 * x @ P @ x + c @ x
            if np.all(G @ x >= h - 1e-10) and value < best:
                best, where = value, x
        x, info = solve(c)
        assert bool(info.converged)
        np.testing.assert_allclose(x, where, atol=1e-8)
    J = jax.jit(jax.jacrev(lambda c: solve(c)[0]))(c)
    e = 1e-5 * np.eye(3)[0]
    np.testing.assert_allclose(J[:, 0], (solve(c + e)[0] - solve(c - e)[0]) / 2e-5, atol=1e-4)


def block():
    """A cube on the ground, held at the four corners of its base."""
    builder = jaxsim.ModelBuilder()
    builder.add_body("block", 0, jaxsim.Free(), (0.0, 0.0, 0.5), jaxsim.BodyInertia.box(2.0, (1.0, 1.0, 1.0)))
    corners = np.array([[x, y, -0.5] for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
    return builder.build(), corners


@pytest.mark.parametrize("friction", ["pyramid", "staggered"])
def test_a_sliding_block_is_braked_by_coulombs_law_and_then_sticks(friction):
    """Friction is μ times the load: p_x + μ p_z = m (v₀ − μ g t) while it slides; a weak push does not move it.

    The single program lifts what slides (eq. 1.103), so that the load is not only the weight; projections do not.
    """
    model, corners = block()
    mu, h, speed = 0.3, 0.01, 0.5
    contacts = jaxsim.PlaneContacts((1,) * 4, corners, mu)
    method = jaxsim.ConstrainedEuler(h, contacts=contacts, friction=friction, turns=12)
    step = jax.jit(lambda model, state, tau: method.step(model, state, tau))
    state = method.init(model, model.neutral(), jnp.zeros(6).at[3].set(speed))
    for k in range(1, 4):
        state, info = step(model, state, jnp.zeros(6))
        assert bool(info.converged), info
        p = jaxsim.momentum(model, state.q, state.v)[3:] / 2.0
        np.testing.assert_allclose(p[0] + mu * p[2], speed - mu * 9.81 * h * k, atol=1e-6)
        if friction == "staggered":
            np.testing.assert_allclose(p[2], 0.0, atol=1e-6)
    rest = method.init(model, model.neutral(), jnp.zeros(6))
    pushed, _ = step(model, rest, jnp.zeros(6).at[3].set(0.9 * mu * 2.0 * 9.81))
    np.testing.assert_allclose(pushed.v, 0.0, atol=1e-6)


def test_a_joint_stops_at_its_limit_and_leaves_it_freely():
    builder = jaxsim.ModelBuilder()
    rod = jaxsim.BodyInertia.rod(1.0, (0.0, 0.0, -1.0), 0.05)
    builder.add_body("rod", 0, jaxsim.Revolute("y"), None, rod, lower=-0.5, upper=0.2)
    model = builder.build()
    method = jaxsim.ConstrainedEuler(0.01, limits=True)
    run = jax.jit(functools.partial(jaxsim.rollout, steps=60))
    end = run(model, method, method.init(model, [0.1], [1.0]))
    assert bool(end.converged)
    assert float(end.q.max()) < 0.2 + 1e-8
    assert float(end.q.max()) > 0.2 - 1e-3
    assert float(end.q[-1, 0]) < 0.0


def test_a_journal_is_braked_by_the_coulomb_torque_of_its_load():
    """A rotor on a level axis carries m g: its journal brakes it with μ r m g, then holds it (Alg. 8)."""
    builder = jaxsim.ModelBuilder()
    builder.add_body("rotor", 0, jaxsim.Revolute("y"), None, jaxsim.BodyInertia(3.0, (0.0, 0.0, 0.0), (0.2, 0.3, 0.2)))
    model = builder.build()
    mu, r, h = 0.2, 0.05, 0.01
    journal = jaxsim.JointFriction((1,), mu, r, 0.1)
    method = jaxsim.ConstrainedEuler(h, joint_friction=journal, turns=4)
    torque = mu * r * 3.0 * 9.81
    np.testing.assert_allclose(
        jaxsim.friction_torques(model, journal, jnp.zeros(1), jnp.zeros(1), jnp.zeros(1)), torque, rtol=1e-9
    )
    rate = 5.5 * torque / 0.3 * h
    end = jax.jit(functools.partial(jaxsim.rollout, steps=8))(model, method, method.init(model, [0.0], [rate]))
    assert bool(end.converged)
    falling = rate - torque / 0.3 * h * np.arange(6)
    np.testing.assert_allclose(end.v[:2, 0], falling[:2], atol=1e-8)
    # the load turns in the frame of the journal, away from the points that hold it
    np.testing.assert_allclose(end.v[:6, 0], falling, atol=2e-3 * rate)
    np.testing.assert_allclose(end.v[6:, 0], 0.0, atol=1e-8)


def test_a_strand_sounds_as_a_string_and_carries_a_body():
    """The lowest transverse frequency is 2√(T/ml) sin(π/2(n+1)), near (π/L)√(T/ρ) of the continuum; a sheet hangs."""
    n, tension, mass = 11, 5.0, 0.1
    builder = jaxsim.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    positions = np.linspace([0.0, 0.0, 0.0], [1.2, 0.0, 0.0], n + 2)
    length = 0.1
    ends = {0: (0, positions[0]), n + 1: (0, positions[-1])}
    slack = length / (1 + tension / 50.0)
    strand = jaxsim.add_strand(builder, "node", positions, mass, 50.0, rest_length=slack, attached=ends)
    model = builder.build()

    def force(q):
        wrench, _ = jaxsim.applied_forces(model, strand.springs, q, jnp.zeros(model.nv))
        return jaxsim.jacobian_transpose_product(model, q, wrench)

    K = np.asarray(jax.jit(jax.jacfwd(force))(jnp.zeros(model.nv)))
    np.testing.assert_allclose(K, K.T, atol=1e-9)
    frequencies = np.sqrt(np.sort(np.linalg.eigvalsh(-K[2::3, 2::3] / mass)))
    discrete = 2 * np.sqrt(tension / (mass * length)) * np.sin(np.pi / (2 * (n + 1)))
    np.testing.assert_allclose(frequencies[0], discrete, rtol=1e-10)
    np.testing.assert_allclose(frequencies[0], np.pi / 1.2 * np.sqrt(tension / (mass / length)), rtol=4e-3)


def test_a_sheet_is_at_rest_as_placed_and_pulls_back_when_moved():
    builder = jaxsim.ModelBuilder()
    rod = jaxsim.BodyInertia.rod(1.0, (0.0, 0.0, -1.0), 0.05)
    body = builder.add_body("rod", 0, jaxsim.Revolute("y"), None, rod)
    grid = np.array([[[0.1 * i, 0.1 * j, -1.0] for j in range(2)] for i in range(2)])
    sheet = jaxsim.add_sheet(builder, "s", grid, 0.05, 20.0, 2.0, attached={0: (body, (0.0, 0.0, -1.0))})
    model = builder.build()
    assert (model.nv, len(sheet.springs)) == (1 + 3 * 3, 6)

    @jax.jit
    def force(q):
        wrench, _ = jaxsim.applied_forces(model, sheet.springs, q, jnp.zeros(model.nv))
        return jaxsim.jacobian_transpose_product(model, q, wrench)

    np.testing.assert_allclose(force(jnp.zeros(model.nv)), 0.0, atol=1e-12)
    # the far corner, drawn away along the diagonal, is pulled back by its three springs
    moved = jnp.zeros(model.nv).at[7:9].set(0.01)
    pulled = force(moved)[7:10]
    # a spring pulls with its stiffness times its strain
    side = 20.0 * (np.hypot(0.11, 0.01) / 0.1 - 1.0)
    diagonal = 20.0 * 0.1
    expected = -(side * (0.11 + 0.01) / np.hypot(0.11, 0.01) + diagonal / np.sqrt(2.0))
    np.testing.assert_allclose(pulled, [expected, expected, 0.0], atol=1e-10)
