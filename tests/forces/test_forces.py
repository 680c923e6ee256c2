"""Forces against the printed formulas of Sueda's §1.9, with their misprints corrected, and against what they mean."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim.spatial import Mat3, Motion, Pose, Quaternion, Vec3
from tests.samples import relative_error, small_tree, state

RNG = np.random.default_rng(3)
R1, R2, R3 = (
    np.array(Quaternion.from_array(jnp.asarray(q)).normalised().to_matrix().to_array()) for q in RNG.normal(size=(3, 4))
)
P1, P2, P3 = RNG.normal(size=(3, 3))
PHI1, PHI2, PHI3 = RNG.normal(size=(3, 6))
X1, X2, X3 = RNG.normal(size=(3, 3))
N = np.array([0.0, 0.0, 1.0])


def cross(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def gamma(x):
    """Γ = ([x]ᵀ I)."""
    return np.hstack([cross(x).T, np.eye(3)])


def pose(R, p):
    return Pose(Mat3.from_array(jnp.asarray(R)), Vec3.from_array(jnp.asarray(p)))


STATES = [(R1, P1, PHI1), (R2, P2, PHI2), (R3, P3, PHI3)]


@eqx.filter_jit
def evaluate(force):
    """f, K and D of a force on the first of the bodies above."""
    k = len(force.bodies)
    poses = tuple(pose(R, p) for R, p, _ in STATES[:k])
    twists = tuple(Motion.from_array(jnp.asarray(phi)) for *_, phi in STATES[:k])
    wrench = jnp.concatenate([f.to_array() for f in force.wrenches(poses, twists)])
    return wrench, *force.derivatives(poses, twists)


def assert_all(actual, f, K, D):
    for a, b in zip(actual, (f, K, D), strict=True):
        assert relative_error(a, b) < 4e-14


def test_viscous_damping():
    assert_all(evaluate(jaxsim.ViscousDamping((1,), 0.7)), -0.7 * PHI1, np.zeros((6, 6)), -0.7 * np.eye(6))


def test_directional_point_force():
    a, G = np.array([1.0, -2.0, 0.5]), gamma(X1)
    K = np.hstack([G.T @ cross(R1.T @ a), np.zeros((6, 3))])
    assert_all(evaluate(jaxsim.PointForce((1,), X1, a)), G.T @ R1.T @ a, K, np.zeros((6, 6)))


def point_spring_stiffness(k):
    """Eq. 1.44."""
    G1, G2 = gamma(X1), gamma(X2)
    x1, x2 = R1 @ X1 + P1, R2 @ X2 + P2
    top = [G1.T @ cross(R1.T @ (x2 - P1)), -G1.T, -G1.T @ R1.T @ R2 @ cross(X2), G1.T @ R1.T @ R2]
    bottom = [-G2.T @ R2.T @ R1 @ cross(X1), G2.T @ R2.T @ R1, G2.T @ cross(R2.T @ (x1 - P2)), -G2.T]
    return k * np.vstack([np.hstack(top), np.hstack(bottom)])


def test_point_to_point_spring_and_damper():
    """Eqs. 1.40 to 1.48."""
    k, d = 3.0, 0.4
    G1, G2 = gamma(X1), gamma(X2)
    dx = (R2 @ X2 + P2) - (R1 @ X1 + P1)
    u1, u2 = G1 @ PHI1, G2 @ PHI2
    dv = R2 @ u2 - R1 @ u1
    f = np.concatenate([G1.T @ R1.T @ (k * dx + d * dv), -G2.T @ R2.T @ (k * dx + d * dv)])
    Z = np.zeros((6, 3))
    K = point_spring_stiffness(k) + d * np.vstack(
        [
            np.hstack([G1.T @ cross(R1.T @ R2 @ u2), Z, -G1.T @ R1.T @ R2 @ cross(u2), Z]),
            np.hstack([-G2.T @ R2.T @ R1 @ cross(u1), Z, G2.T @ cross(R2.T @ R1 @ u1), Z]),
        ]
    )
    D = d * np.block([[-G1.T @ G1, G1.T @ R1.T @ R2 @ G2], [G2.T @ R2.T @ R1 @ G1, -G2.T @ G2]])
    assert_all(evaluate(jaxsim.PointSpring((1, 2), np.stack([X1, X2]), k, d)), f, K, D)


@pytest.mark.parametrize("kind", [jaxsim.Spring, jaxsim.Cable])
def test_spring_with_rest_length(kind):
    """Eqs. 1.64 to 1.71 with the tension of eq. 1.81: K = û(f_l ∂l + f_l̇ ∂l̇) + f ∂(u/l)."""
    k, d, L = 3.0, 0.4, 0.5
    G1, G2 = gamma(X1), gamma(X2)
    dx = (R2 @ X2 + P2) - (R1 @ X1 + P1)
    dv = R2 @ G2 @ PHI2 - R1 @ G1 @ PHI1
    l = np.linalg.norm(dx)
    e = dx / l
    tension = k * (l - L) / L + d * (e @ dv) / L
    assert tension > 0
    assert l > L
    u = np.concatenate([G1.T @ R1.T @ dx, -G2.T @ R2.T @ dx])
    dl = np.concatenate([-e @ R1 @ G1, e @ R2 @ G2])
    across = dv @ (np.eye(3) - np.outer(e, e)) / l
    turn1, turn2 = (e @ R @ cross(G @ phi) for R, G, phi in ((R1, G1, PHI1), (R2, G2, PHI2)))
    dldot = np.concatenate([-across @ R1 @ G1, across @ R2 @ G2])
    dldot[:3] += turn1
    dldot[6:9] -= turn2
    K = np.outer(u / l, k / L * dl + d / L * dldot)
    K += tension * (point_spring_stiffness(1.0) / l - np.outer(u, dl) / l**2)
    D = d / L * np.outer(u / l, dl)
    assert_all(evaluate(kind((1, 2), np.stack([X1, X2]), k, L, d)), tension * u / l, K, D)


def test_a_spring_through_a_point_is_as_long_as_its_pieces_and_pushes_nobody_else():
    """§1.9.8: f = f(l, l̇) û with l = Σ l_k; forces between bodies have no resultant, and power −f l̇."""
    force = jaxsim.Spring((1, 2, 3), np.stack([X1, X2, X3]), 3.0, 0.5, 0.4)
    at = [R @ x + p for (R, p, _), x in zip(STATES, (X1, X2, X3), strict=True)]
    moving = [R @ gamma(x) @ phi for (R, _, phi), x in zip(STATES, (X1, X2, X3), strict=True)]
    gaps = np.diff(at, axis=0)
    lengths = np.linalg.norm(gaps, axis=1)
    rate = np.sum(gaps * np.diff(moving, axis=0) / lengths[:, None])
    tension = 3.0 * (lengths.sum() - 0.5) / 0.5 + 0.4 * rate / 0.5
    wrench, _, _ = evaluate(force)
    wrench = np.asarray(wrench).reshape(3, 6)
    power = sum(w @ phi for w, (*_, phi) in zip(wrench, STATES, strict=True))
    assert relative_error(power, -tension * rate) < 1e-13
    total = sum(R @ w[3:] for w, (R, *_) in zip(wrench, STATES, strict=True))
    moment = sum(R @ w[:3] + np.cross(p, R @ w[3:]) for w, (R, p, _) in zip(wrench, STATES, strict=True))
    np.testing.assert_allclose([total, moment], 0, atol=1e-13 * np.abs(wrench).max())


def test_a_cable_never_pushes():
    slack = jaxsim.Cable((1, 2), np.stack([X1, X2]), 3.0, 50.0, 0.4)
    for part in evaluate(slack):
        np.testing.assert_array_equal(part, 0.0)
    assert abs(float(slack.tension(60.0, 0.0)) - 0.6) < 1e-15
    assert float(slack.tension(60.0, -1e3)) == 0.0


def ground_formulas(sliding, k=7.0, kd=0.3, mu=0.6, kt=0.2, depth=0.8):
    """Eqs. 1.49 to 1.61 with the signs of forces that push out of the ground and brake."""
    G = gamma(X1)
    d, u = -depth, G @ PHI1
    normal, tangent = R1.T @ np.outer(N, N) @ R1, R1.T @ (np.eye(3) - np.outer(N, N)) @ R1
    Z = np.zeros((6, 3))
    f = -k * d * G.T @ R1.T @ N - kd * G.T @ normal @ u
    K = np.hstack([-k * d * G.T @ cross(R1.T @ N), Z]) - k * np.outer(G.T @ R1.T @ N, N @ R1 @ G)
    K -= kd * np.hstack([G.T @ (cross(normal @ u) - normal @ cross(u)), Z])
    D = -kd * G.T @ normal @ G
    if not sliding:
        f = f - kt * G.T @ tangent @ u
        K = K - kt * np.hstack([G.T @ (cross(tangent @ u) - tangent @ cross(u)), Z])
        return f, K, D - kt * G.T @ tangent @ G
    a = (np.eye(3) - np.outer(N, N)) @ R1 @ u
    t = a / np.linalg.norm(a)
    A = (np.eye(3) - np.outer(t, t)) / np.linalg.norm(a)
    T = np.eye(3) - np.outer(N, N)
    f = f + mu * k * d * G.T @ R1.T @ t
    D = D + mu * k * d * G.T @ R1.T @ A @ T @ R1 @ G
    turned = d * cross(R1.T @ t) - d * R1.T @ A @ T @ R1 @ cross(u)
    K = K + mu * k * (np.hstack([G.T @ turned, Z]) + np.outer(G.T @ R1.T @ t, N @ R1 @ G))
    return f, K, D


@pytest.mark.parametrize("sliding", [False, True], ids=["sticking", "sliding"])
def test_ground_contact(sliding):
    mu, kt, depth = (0.6, 900.0, 0.8) if sliding else (60.0, 0.2, 0.8)
    ground = (R1 @ X1 + P1) + depth * N
    force = jaxsim.GroundContact((1,), X1, 7.0, 0.3, mu, kt, ground)
    assert_all(evaluate(force), *ground_formulas(sliding, mu=mu, kt=kt, depth=depth))
    above = eqx.tree_at(lambda f: f.ground, force, ground - 2.0 * depth * N)
    for part in evaluate(above):
        np.testing.assert_array_equal(part, 0.0)


class Tether(jaxsim.AbstractPotential):
    """A user's own force, by its energy alone: U = k |x|⁴/4."""

    bodies: tuple[int, ...] = eqx.field(static=True)
    point: jax.Array
    k: float

    def energy(self, poses):
        return 0.25 * self.k * poses[0].point(Vec3.from_array(self.point)).norm_squared() ** 2


def test_a_force_of_ones_own_in_ten_lines():
    x, G = R1 @ X1 + P1, gamma(X1)
    wrench, K, D = evaluate(Tether((1,), jnp.asarray(X1), 0.9))
    pull = -0.9 * (x @ x) * x
    stiffness = -0.9 * ((x @ x) * np.eye(3) + 2.0 * np.outer(x, x))
    expected = G.T @ (R1.T @ stiffness @ R1) @ G
    expected[:, :3] += G.T @ cross(R1.T @ pull)
    assert_all((wrench, K, D), G.T @ R1.T @ pull, expected, np.zeros((6, 6)))


def test_joint_forces_and_their_derivatives_in_the_coordinates_of_a_model():
    """Springs on hinges and servos by hand; K and D of a list by central differences along the manifold."""
    model = small_tree()
    s = state(model, 4)
    spring = jaxsim.JointSpring(2.0, 0.5, 0.1)
    flat = [6, 10, 11]
    coordinates = [7, 12, 13]
    expected = -0.5 * np.asarray(s.v)
    expected[flat] -= 2.0 * (np.asarray(s.q)[coordinates] - 0.1)
    np.testing.assert_allclose(spring.joint_forces(model, s.q, s.v), expected, rtol=1e-12)
    servo = jaxsim.Actuator((6, 10), effort=0.2, position_gain=3.0, velocity_gain=0.4, target=1.0, limit=0.5)
    wanted = 0.2 + 3.0 * (1.0 - s.q[jnp.array([7, 12])]) - 0.4 * s.v[jnp.array([6, 10])]
    actual = servo.joint_forces(model, s.q, s.v)
    np.testing.assert_allclose(actual[jnp.array([6, 10])], np.clip(wanted, -0.5, 0.5), rtol=1e-12)
    assert np.count_nonzero(actual) == 2

    force = jaxsim.PointSpring((2, 5), np.stack([X1, X2]), 3.0, 0.4)
    at = jax.jit(lambda d, v: force.joint_forces(model, jaxsim.integrate(model, s.q, d), v))
    h, zero = 1e-4, np.zeros(model.nv)
    K, D = jax.jit(lambda: (force.stiffness(model, s.q, s.v), force.damping(model, s.q, s.v)))()
    for i in (0, 4, 7, 10):
        e = h * np.eye(model.nv)[i]
        assert relative_error(K[:, i], (at(zero + e, s.v) - at(zero - e, s.v)) / (2 * h)) < 1e-6
        assert relative_error(D[:, i], (at(zero, s.v + e) - at(zero, s.v - e)) / (2 * h)) < 1e-6


@pytest.mark.parametrize(
    ("forces", "message"),
    [((jaxsim.ViscousDamping((9,), 1.0),), "There is no body 9"), ((1.0,), "1.0 is no force")],
)
def test_what_is_no_force_of_the_model_is_refused(forces, message):
    model = small_tree()
    with pytest.raises(ValueError, match=message):
        jaxsim.applied_forces(model, forces, model.neutral(), jnp.zeros(model.nv))
