"""Implicit integrators: the Newton matrix, closed forms, orders, stiffness, failure."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim.forces.applied import sort_forces
from jaxsim.reduced import dense, elimination
from jaxsim.reduced.stage import Stage, residual
from tests.integrators.order import slope
from tests.samples import relative_error, state


def tree():
    """A branched tree: a free body with an arm and a ball, and a mast; springs, dampers and rotors on the hinges."""
    builder = jaxsim.ModelBuilder(gravity=(1.0, -2.0, -9.0))
    inertia = jaxsim.BodyInertia(1.3, (0.1, -0.2, 0.05), (0.3, 0.4, 0.5))
    hinge = {"stiffness": 0.7, "damping": 0.2, "armature": 0.3}
    base = builder.add_body("base", 0, jaxsim.Free(), (0.3, 0.1, -0.2), inertia)
    builder.add_body("arm", base, jaxsim.Revolute((0.2, 0.9, 0.1)), (0.3, 0.1, -0.2), inertia, **hinge)
    builder.add_body("ball", base, jaxsim.Spherical(), (0.1, 0.1, 0.2), inertia, damping=0.2, armature=0.1)
    return builder.build()


POINTS = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, -0.6]])
TREE_FORCES = (
    jaxsim.ViscousDamping((1,), 0.7),
    jaxsim.PointSpring((0, 3), POINTS, 3.0, 0.5),
    jaxsim.Spring((1, 2), POINTS, 3.0, 0.5, 0.3),
    jaxsim.Actuator((6,), 0.2, 1.0, 0.3, 0.5),
    jaxsim.PointForce((2,), np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0])),
    jaxsim.BodyDrag(0.3 * np.ones((4, 6, 6))),
    jaxsim.JointSpring(0.3, 0.4, 0.1),
)
DISTANT = (jaxsim.Spring((3, 1, 2), np.ones((3, 3)), 3.0, 0.5, 0.3),)
TURNING = (jaxsim.PointSpring((1, 2), POINTS, 3.0, 0.5),)  # its damper turns both bodies when they spin together


@pytest.mark.parametrize(
    "forces", [pytest.param((), id="no forces"), pytest.param(TREE_FORCES, id="forces", marks=pytest.mark.slow)]
)
def test_the_newton_matrix_and_the_elimination_are_exact(forces):
    """H by automatic differentiation of the residual: H x = b for the elimination in a batch of two, and H itself."""
    model, s, h = tree(), state(tree(), 1), 0.1
    stage = Stage(model, forces, s.q, 0.3 * h * s.a, s.tau, jnp.asarray(h), s.tau)
    psi = 0.4 * s.v
    assert elimination.applies(model, sort_forces(model, forces))

    @jax.jit
    def solved(stage, psi, b):
        factors = elimination.factorise(stage, psi)
        x = elimination.solve(factors, b)
        return x, jax.jvp(lambda psi: residual(psi, stage), (psi,), (x,))[1]

    x, b = solved(stage, psi, s.a)
    assert relative_error(b, s.a) < 1e-11
    if not forces:
        H = jax.jit(dense.newton_matrix)(stage, psi)
        assert relative_error(np.linalg.solve(H, s.a), x) < 1e-11
        batched, _ = jax.jit(jax.vmap(solved, (None, 0, 0)))(stage, jnp.stack([psi, psi]), jnp.stack([s.a, s.tau]))
        assert relative_error(batched[0], x) < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("forces", [DISTANT, TURNING], ids=["distant", "turning"])
def test_forces_that_leave_the_tree_are_dense_and_exact(forces):
    model = tree()
    s = state(model, 1)
    stage = Stage(model, forces, s.q, s.a, s.tau, jnp.asarray(0.1), s.tau)
    assert not elimination.applies(model, sort_forces(model, forces))

    @jax.jit
    def products(psi, x):
        return jax.jvp(lambda psi: residual(psi, stage), (psi,), (x,))[1], dense.newton_matrix(stage, psi) @ x

    exact, product = products(0.4 * s.v, s.a)
    assert relative_error(product, exact) < 1e-12
    with pytest.raises(ValueError, match="The solver 'recursive' needs forces on single bodies"):
        jax.eval_shape(
            lambda q: jaxsim.BDF1(0.1, forces, solver="recursive").step(model, jaxsim.State(q, s.v, q[0])), s.q
        )


def oscillator(k=40.0, d=0.3):
    builder = jaxsim.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(
        "mass", 0, jaxsim.Prismatic("x"), None, jaxsim.BodyInertia.sphere(1.0, 0.1), stiffness=k, damping=d
    )
    return builder.build(), np.array([[0.0, 1.0], [-k, -d]])


def test_steps_of_a_linear_system_are_the_rational_functions_of_the_methods():
    """With z = hA: BDF1 (1−z)⁻¹; SDIRK2 (1−αz)⁻²(1+(1−2α)z); BDF2 (1−⅔z)⁻¹(4x₁−x₀)/3; τ enters likewise."""
    model, A = oscillator()
    h, x0, one = 0.1, np.array([0.3, -0.2]), np.eye(2)
    alpha = 1.0 - np.sqrt(0.5)
    backward = np.linalg.solve(one - h * A, x0)
    sdirk = np.linalg.solve((one - alpha * h * A) @ (one - alpha * h * A), (one + (1 - 2 * alpha) * h * A) @ x0)
    bdf = np.linalg.solve(one - 2 / 3 * h * A, (4 * sdirk - x0) / 3)
    expected = [
        (jaxsim.BDF1(h, solver="recursive"), [backward]),
        (jaxsim.LinearlyImplicitEuler(h, solver="recursive"), [backward]),
        (jaxsim.SDIRK2(h), [sdirk]),
        (jaxsim.BDF2(h), [sdirk, bdf]),
        (jaxsim.ExplicitEuler(h), [x0 + h * A @ x0]),
        (jaxsim.Heun(h), [x0 + h * A @ x0 + 0.5 * h**2 * A @ A @ x0]),
    ]
    for method, points in expected:
        start = method.init(model, x0[:1], x0[1:])
        run = functools.partial(jaxsim.rollout, steps=len(points))
        end = jax.jit(run)(model, method, start)
        assert bool(end.converged)
        np.testing.assert_allclose(np.stack([end.q[1:, 0], end.v[1:, 0]], 1), points, rtol=1e-12)


def tumbling():
    """A free body with a ball joint and a hinge, no chaos within a second; springs to the world."""
    builder = jaxsim.ModelBuilder(gravity=(0.3, -0.2, -1.0))
    inertia = jaxsim.BodyInertia(1.3, (0.1, -0.2, 0.05), (0.3, 0.4, 0.5))
    base = builder.add_body("base", 0, jaxsim.Free(), None, inertia)
    ball = builder.add_body("ball", base, jaxsim.Spherical(), (0.3, 0.1, -0.2), inertia, damping=0.1)
    builder.add_body("hinge", ball, jaxsim.Revolute("x"), (0.1, 0.4, 0.0), inertia, stiffness=0.5, damping=0.2)
    return builder.build(), (jaxsim.PointSpring((0, 1), POINTS, 1.0, 0.2),)


@functools.partial(jax.jit, static_argnums=0)
def _after(kind, forces, model, q, v, dt, steps):
    method = kind(dt, forces)

    def step(_, carry):
        state, info = method.step(model, carry[0])
        return state, carry[1] & info.converged

    return jax.lax.fori_loop(0, steps, step, (method.init(model, q, v), jnp.asarray(True)))


@pytest.fixture(scope="module")
def truth():
    """The motion after 0.8 s by an adaptive method of order eight at the limit of rounding."""
    model, forces = tumbling()
    s = state(model, 2)
    method = jaxsim.Diffrax(0.8, forces, rtol=1e-13, atol=1e-13)
    end, info = jax.jit(lambda *arguments: method.step(*arguments))(model, method.init(model, s.q, s.v))
    assert bool(info.converged)
    return model, forces, s, end


METHODS = [
    (jaxsim.BDF2, 2, (80, 160)),
    pytest.param(jaxsim.LinearlyImplicitEuler, 1, (160, 320), marks=pytest.mark.slow),
    pytest.param(jaxsim.SDIRK2, 2, (40, 80), marks=pytest.mark.slow),
    pytest.param(jaxsim.Heun, 2, (40, 80), marks=pytest.mark.slow),
    pytest.param(jaxsim.BDF1, 1, (160, 320), marks=pytest.mark.slow),
    pytest.param(jaxsim.ExplicitEuler, 1, (320, 640), marks=pytest.mark.slow),
    pytest.param(jaxsim.RungeKutta4, 4, (20, 40), marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("kind", "order", "counts"), METHODS)
def test_orders_on_the_manifold_with_forces(truth, kind, order, counts):
    model, forces, s, end = truth
    errors = []
    for count in counts:
        coarse, converged = _after(kind, forces, model, s.q, s.v, 0.8 / count, count)
        assert bool(converged)
        apart = jnp.concatenate([jaxsim.difference(model, end.q, coarse.q), coarse.v - end.v])
        errors.append(float(jnp.linalg.norm(apart)))
    assert abs(slope(errors, counts) - order) < 0.15, errors


def test_the_vector_field_is_what_diffrax_takes(truth):
    import diffrax

    model, forces, s, end = truth
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(jaxsim.vector_field(model, forces)),
        diffrax.Dopri8(),
        0.0,
        0.8,
        None,
        (s.q, s.v),
        stepsize_controller=diffrax.PIDController(rtol=1e-10, atol=1e-10),
    )
    q, v = (y[-1] for y in solution.ys)
    assert float(jnp.abs(jaxsim.difference(model, end.q, q)).max()) < 1e-7
    np.testing.assert_allclose(v, end.v, atol=1e-7)


@pytest.mark.slow
def test_a_stiff_cable_is_stable_far_above_the_explicit_limit():
    """A weight on a cable through a ring (Sueda, §1.9.10) with ω h = 20: BDF2 settles at k ε = m g."""
    builder = jaxsim.ModelBuilder()
    builder.add_body("weight", 0, jaxsim.Translational(), (0.0, 0.0, -1.0), jaxsim.BodyInertia.sphere(1.0, 0.1))
    model = builder.build()
    k, length = 4e4, 1.5
    points = np.array([[0.5, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    cable = (jaxsim.Cable((0, 0, 1), points, k, length, 40.0),)
    start = np.zeros(3), np.array([0.0, 0.0, -0.5])
    method = jaxsim.BDF2(0.1, cable, solver="recursive")
    run = jax.jit(functools.partial(jaxsim.rollout, steps=150))
    end = run(model, method, method.init(model, *start))
    assert bool(end.converged)
    np.testing.assert_allclose(end.q[-1], [0.0, 0.0, -9.81 / k * length], atol=1e-8)
    np.testing.assert_allclose(end.v[-1], 0.0, atol=1e-7)
    explicit = jaxsim.SemiImplicitEuler(0.1, cable)
    blown = run(model, explicit, explicit.init(model, *start))
    assert float(jnp.abs(blown.v).max()) > 50.0


@pytest.mark.parametrize("kind", [jaxsim.BDF1, pytest.param(jaxsim.BDF2, marks=pytest.mark.slow)])
def test_a_failed_step_keeps_the_state_and_single_precision_works(kind):
    model, _ = tumbling()
    s = state(model, 2)
    method = kind(0.05)
    before = method.init(model, s.q, s.v)
    after, info = jax.jit(lambda *arguments: method.step(*arguments))(model, before, s.tau.at[0].set(jnp.nan))
    assert not bool(info.converged)
    np.testing.assert_array_equal(after.q, before.q)
    np.testing.assert_array_equal(after.v, before.v)
    single = model.astype(jnp.float32)
    start = method.init(single, s.q.astype(jnp.float32), s.v.astype(jnp.float32))
    end = jax.jit(lambda m, x: jaxsim.rollout(m, method, x, steps=5))(single, start)
    assert end.q.dtype == jnp.float32
    assert bool(end.converged)
    with pytest.raises(ValueError, match="There is no solver 'lu'"):
        jaxsim.SDIRK2(0.1, solver="lu")
