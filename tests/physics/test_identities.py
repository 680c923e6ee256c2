"""Laws of mechanics on a tree that mixes every joint, with springs, dampers and rotors on all of them."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from tests.samples import every_joint_tree, relative_error, state, with_joint_elements

rnea, aba, crba = jax.jit(jaxsim.rnea), jax.jit(jaxsim.aba), jax.jit(jaxsim.crba)
hybrid, product = jax.jit(jaxsim.hybrid_dynamics), jax.jit(jaxsim.inverse_mass_product)
twists, momentum = jax.jit(jaxsim.body_velocities), jax.jit(jaxsim.momentum)


def along(function, model, q, v):
    """The value and the time derivative of a function of (model, q) as q moves with velocity v."""
    return jax.jvp(lambda dv: function(model, jaxsim.integrate(model, q, dv)), (jnp.zeros_like(v),), (v,))


def columns(function, model):
    """A linear function as a matrix, from its values at unit vectors."""
    return np.stack([np.asarray(function(unit)) for unit in np.eye(model.nv)], axis=-1)


@pytest.fixture(scope="module")
def model():
    return every_joint_tree()


@pytest.fixture(scope="module")
def s(model):
    return state(model, seed=1)


@pytest.fixture(scope="module")
def M(model, s):
    return np.asarray(crba(model, s.q))


@pytest.fixture(scope="module")
def J(model, s):
    """The dense Jacobian of all body twists, (nb, 6, nv)."""
    return columns(lambda unit: twists(model, s.q, unit), model)


def test_every_joint_is_there(model):
    kinds = {type(joint).__name__ for joint in model.joints}
    assert {"Free", "Spherical", "EulerSpherical", "SplineCurve", "SplineSurface", "Composite", "Fixed"} <= kinds
    assert model.topology.elements.slots > 0


def test_forward_dynamics_undoes_inverse_dynamics(model, s):
    tau = rnea(model, s.q, s.v, s.a, s.f_ext)
    assert relative_error(aba(model, s.q, s.v, tau, s.f_ext), s.a) < 1e-10
    a = aba(model, s.q, s.v, s.tau, s.f_ext)
    assert relative_error(rnea(model, s.q, s.v, a, s.f_ext), s.tau) < 1e-10


def test_the_mass_matrix_consists_of_inverse_dynamics_of_unit_accelerations(model, s, M):
    zero = jnp.zeros(model.nv)
    still = np.asarray(rnea(model, s.q, zero, zero))
    got = columns(lambda unit: rnea(model, s.q, zero, unit) - still, model)
    assert relative_error(got, M) < 1e-12


def test_the_mass_matrix_is_the_sum_over_bodies(model, s, M, J):
    m, c = np.asarray(model.mass), np.cross(np.asarray(model.com)[:, None], -np.eye(3))
    top = np.concatenate([model.inertia - m[:, None, None] * c @ c, m[:, None, None] * c], axis=2)
    low = np.concatenate([-m[:, None, None] * c, m[:, None, None] * np.eye(3)], axis=2)
    I = np.concatenate([top, low], axis=1)
    assert relative_error(np.einsum("bki,bkl,blj->ij", J, I, J) + np.diag(model.armature), M) < 1e-13


def test_kinetic_energy_is_half_v_M_v(model, s, M):
    kinetic = jax.jit(jaxsim.energy)(model, s.q, s.v).kinetic
    np.testing.assert_allclose(kinetic, 0.5 * s.v @ M @ s.v, rtol=1e-12)


def test_inverse_mass_product(model, s, M):
    assert relative_error(product(model, s.q, s.v), np.linalg.solve(M, s.v)) < 1e-10


@pytest.mark.slow
def test_preconditioner_against_the_dense_matrix(model, s, M, J):
    """(M + Jᵀ blkdiag(P_m) J + diag(P_r))⁻¹ x with matrices that are not symmetric (Sueda, Alg. 10)."""
    P = 0.1 * np.random.default_rng(0).normal(size=(model.num_bodies, 6, 6)) + 0.3 * np.eye(6)
    dense = M + np.einsum("bki,bkl,blj->ij", J, P, J) + np.diag(np.abs(s.tau))
    got = product(model, s.q, s.v, jnp.asarray(P), jnp.abs(s.tau))
    assert relative_error(got, np.linalg.solve(dense, s.v)) < 1e-10


@pytest.mark.slow
def test_hybrid_dynamics_at_both_extremes_and_between(model, s):
    nothing, everything = jnp.zeros(model.nv, bool), jnp.ones(model.nv, bool)
    tau, a = hybrid(model, s.q, s.v, s.tau, s.a, nothing, s.f_ext)
    np.testing.assert_array_equal(tau, s.tau)
    assert relative_error(a, aba(model, s.q, s.v, s.tau, s.f_ext)) < 1e-11
    tau, a = hybrid(model, s.q, s.v, s.tau, s.a, everything, s.f_ext)
    np.testing.assert_array_equal(a, s.a)
    assert relative_error(tau, rnea(model, s.q, s.v, s.a, s.f_ext)) < 1e-12
    for seed in range(3):
        mask = np.random.default_rng(seed).random(model.nv) < 0.5
        tau, a = hybrid(model, s.q, s.v, s.tau, s.a, mask, s.f_ext)
        np.testing.assert_array_equal(tau[~mask], s.tau[~mask])
        assert relative_error(rnea(model, s.q, s.v, a, s.f_ext), tau) < 1e-10


@pytest.mark.slow
def test_power_is_the_rate_of_energy(model, s):
    """dE/dt = τᵀv + Σ f_extᵀφ − vᵀDv, the springs being part of E."""

    @jax.jit
    def rate(model, q, v, a):
        def total(dv, v):
            return jaxsim.energy(model, jaxsim.integrate(model, q, dv), v).total

        return jax.jvp(total, (jnp.zeros_like(v), v), (v, a))[1]

    a = aba(model, s.q, s.v, s.tau, s.f_ext)
    given = s.tau @ s.v + jnp.sum(s.f_ext * twists(model, s.q, s.v))
    lost = jnp.sum(model.damping * s.v**2)
    np.testing.assert_allclose(rate(model, s.q, s.v, a), given - lost, rtol=1e-10)


@pytest.mark.slow
def test_coriolis_forces_do_no_work_beyond_the_rate_of_the_mass_matrix(model, s):
    """vᵀ(Ṁ − 2C)v = 0, also where v is not the derivative of coordinates."""
    Mdot = jax.jit(lambda model, q, v: along(jaxsim.mass_matrix, model, q, v)[1])(model, s.q, s.v)
    bias = jax.jit(jaxsim.bias_forces)
    Cv = bias(model, s.q, s.v) - bias(model, s.q, jnp.zeros(model.nv))
    np.testing.assert_allclose(s.v @ Mdot @ s.v, 2 * s.v @ Cv, rtol=1e-11)


@pytest.mark.slow
def test_mass_matrix_rate_less_twice_coriolis_is_skew():
    """With C = ½ ∂c/∂v, the Christoffel symbols, for joints with v = q̇ whose subspaces depend on q."""
    curve = jaxsim.SplineCurve([(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1)])
    kinds = (jaxsim.Universal(), jaxsim.EulerSpherical("ZXZ"), curve, jaxsim.ExponentialSpherical())
    model = with_joint_elements(jaxsim.robots.random_tree(len(kinds), 4, joints=kinds))
    q, v, *_ = state(model)

    @jax.jit
    def matrices(model, q, v):
        return along(jaxsim.mass_matrix, model, q, v)[1], 0.5 * jax.jacfwd(jaxsim.bias_forces, argnums=2)(model, q, v)

    Mdot, C = matrices(model, q, v)
    N = Mdot - 2 * C
    assert relative_error(N, -N.T) < 1e-12
    assert np.abs(N).max() > 0.1


@pytest.mark.slow
def test_jacobian_is_the_derivative_of_kinematics(model, s):
    """(ω, ṗ) = J v of a point of the last body, and p̈ = J v̇ + J̇ v."""
    body, point = model.num_bodies - 1, (0.3, -0.2, 0.5)

    def frame(model, q):
        poses = jaxsim.forward_kinematics(model, q)
        return poses.rotation[body], poses.position[body] + poses.rotation[body] @ jnp.array(point)

    (R, _), (dR, dp) = jax.jit(lambda m, q, v: along(frame, m, q, v))(model, s.q, s.v)
    spin = dR @ R.T
    omega = jnp.array([spin[2, 1], spin[0, 2], spin[1, 0]])

    @jax.jit
    def jacobians(model, q, v):
        return along(lambda m, q: jaxsim.jacobian(m, q, body, point), model, q, v)

    J, Jdot = jacobians(model, s.q, s.v)
    assert relative_error(J @ s.v, jnp.concatenate([omega, dp])) < 1e-13
    derivative = jax.jit(jaxsim.jacobian_derivative, static_argnames=("body", "point"))
    assert relative_error(derivative(model, s.q, s.v, body, point), Jdot) < 1e-13


@pytest.mark.slow
def test_jacobian_products(model, s, J):
    """z = J̇ x against differences of y = J x, and x = Jᵀ y against the dense Jacobian (Sueda, Alg. 5 and 6)."""
    transposed = jax.jit(jaxsim.jacobian_transpose_product)(model, s.q, s.f_ext)
    assert relative_error(transposed, np.einsum("bki,bk->i", J, s.f_ext)) < 1e-13
    h, move = 1e-5, jax.jit(jaxsim.integrate)
    ahead, behind = (twists(model, move(model, s.q, step * s.v), s.a) for step in (h, -h))
    rate = jax.jit(jaxsim.jacobian_rate_product)(model, s.q, s.v, s.a)
    # a central difference of 1e-5 is good to about 1e-9
    assert relative_error(rate, (ahead - behind) / (2 * h)) < 1e-7


def test_momentum_is_linear_in_the_velocity_and_the_sum_over_bodies(model, s, J):
    """h = A(q) v with A = Σ X* I J, each body's momentum carried to the world's origin."""
    A = columns(lambda unit: momentum(model, s.q, unit), model)
    poses = jax.jit(jaxsim.forward_kinematics)(model, s.q)
    expected = np.zeros((6, model.nv))
    for body in range(1, model.num_bodies):
        R, p = np.asarray(poses.rotation[body]), np.asarray(poses.position[body])
        w, u = R @ J[body, :3], R @ J[body, 3:]
        arm = R @ np.asarray(model.com[body])
        linear = model.mass[body] * (u + np.cross(w.T, arm).T)
        spin = R @ np.asarray(model.inertia[body]) @ R.T @ w
        expected += np.concatenate([spin + np.cross(p + arm, np.asarray(linear).T).T, linear])
    assert relative_error(A, expected) < 1e-13
    assert relative_error(momentum(model, s.q, s.v), A @ s.v) < 1e-13


def floating_tree():
    """Every kind of joint family behind a free root, with springs, dampers and rotors behind it, without gravity."""
    flat = jaxsim.Revolute("x"), jaxsim.EulerSpherical("XYZ"), jaxsim.Helical("y", 0.2)
    kinds = (jaxsim.Free(), jaxsim.Spherical(), *flat)
    model = with_joint_elements(jaxsim.robots.random_tree(len(kinds), 5, joints=kinds, branching=0.0))
    behind = jnp.arange(model.nv) >= 6
    return dataclasses.replace(
        model,
        gravity=jnp.zeros(3),
        stiffness=model.stiffness * behind,
        damping=model.damping * behind,
        armature=model.armature * behind,
    )


def test_momentum_is_conserved_without_gravity():
    """Springs, dampers, rotors and joint forces act within the tree and cannot change its momentum."""
    model = floating_tree()
    s = state(model)
    integrator = jaxsim.RungeKutta4(dt=0.002)
    inner = s.tau.at[:6].set(0.0)

    @jax.jit
    def run(model, state, tau):
        controls = jnp.broadcast_to(tau, (200, model.nv))
        trajectory = jaxsim.rollout(model, integrator, state, controls)
        return trajectory, jax.vmap(lambda q, v: jaxsim.momentum(model, q, v))(trajectory.q, trajectory.v)

    trajectory, h = run(model, integrator.init(model, s.q, s.v), inner)
    assert bool(trajectory.converged)
    assert np.abs(trajectory.v[-1] - trajectory.v[0]).max() > 0.5, "the joints must move for this to mean something"
    # what is left is the fourth-order error of the integrator
    assert relative_error(h, np.broadcast_to(h[0], h.shape)) < 1e-8
