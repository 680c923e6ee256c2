"""What a variational integrator conserves: the symplectic form, momentum maps and, nearly, energy."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim.integrators.variational import Variational


def conservative(n, seed, joints, gravity=True):
    """A random tree with springs on its flat joints."""
    model = jaxsim.robots.random_tree(n, seed, joints)
    flat = [0.0 if joint_nq == 4 or joint_nq == 7 else 2.0 for joint_nq in model.topology.joint_nq[1:]]
    stiffness = np.repeat(flat, model.topology.joint_nv[1:])
    pull = model.gravity if gravity else jnp.zeros(3)
    return eqx.tree_at(lambda m: (m.stiffness, m.gravity), model, (jnp.asarray(stiffness), pull))


def started(model, integrator, seed=0):
    v = jnp.asarray(np.random.default_rng(seed).normal(size=model.nv))
    return integrator.init(model, jaxsim.random_configuration(model, jax.random.key(seed)), v)


def symplectic_form(model, p):
    """dp∧ζ − p·[ζ, ζ] for left-trivialised tangents ζ: canonical for flat joints, with Lie's bracket for the others."""
    nv = model.nv
    bracket = np.zeros((nv, nv))
    for group, joint in enumerate(model.joints):
        for r in model.topology.v_rows[group].T if not joint.is_euclidean else ():
            twists = np.eye(6)[: len(r)]
            for a in range(len(r)):
                for b in range(len(r)):
                    w = np.cross(twists[a, :3], twists[b, :3])
                    u = np.cross(twists[a, :3], twists[b, 3:]) + np.cross(twists[a, 3:], twists[b, :3])
                    bracket[r[a], r[b]] = p[r] @ np.concatenate([w, u])[: len(r)]
    return np.block([[-bracket, -np.eye(nv)], [np.eye(nv), np.zeros((nv, nv))]])


SCREWS = (jaxsim.Revolute((0.3, -0.5, 0.8)), jaxsim.Prismatic((0.2, 0.9, -0.4)), jaxsim.Universal())
FLOATING = (jaxsim.Free(), jaxsim.Revolute("y"), jaxsim.Spherical())


@pytest.mark.parametrize(
    ("joints", "order"),
    [
        (SCREWS, 2),
        pytest.param(SCREWS, 4, marks=pytest.mark.slow),
        pytest.param(FLOATING, 2, marks=pytest.mark.slow),
        pytest.param(FLOATING, 4, marks=pytest.mark.slow),
        pytest.param(FLOATING, 6, marks=pytest.mark.slow),
    ],
)
def test_step_is_symplectic(joints, order):
    model, integrator = conservative(4, 2, joints), Variational(0.05, order)
    state = started(model, integrator)

    @jax.jit
    def both(state):
        after, info = integrator.step(model, state)
        return integrator.linearise(model, state).A, after, info

    A, after, info = both(state)
    before, end = symplectic_form(model, np.asarray(state.momentum)), symplectic_form(model, np.asarray(after.momentum))
    assert info.converged
    np.testing.assert_allclose(A.T @ end @ A, before, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
def test_momentum_of_a_floating_tree_is_conserved(order):
    model, integrator = conservative(4, 0, FLOATING, gravity=False), Variational(0.02, order)
    assert list(model.topology.parents).count(0) == 1, "a second body on the world would push the first"
    state = started(model, integrator)
    trajectory = jax.jit(lambda state: jaxsim.rollout(model, integrator, state, steps=200))(state)
    momenta = jax.jit(jax.vmap(lambda q, v: jaxsim.momentum(model, q, v)))(trajectory.q, trajectory.v)
    assert trajectory.converged
    assert np.abs(np.asarray(trajectory.q[-1] - trajectory.q[0])).max() > 0.1
    np.testing.assert_allclose(momenta, np.broadcast_to(momenta[0], momenta.shape), atol=1e-12 * np.abs(momenta).max())


@pytest.mark.slow
def test_energy_of_a_chaotic_double_pendulum_does_not_drift():
    """Over 1e5 steps; ``benchmarks/variational_energy.py`` takes a million."""
    model, integrator = jaxsim.robots.pendulum(2), Variational(0.01, 2)
    state = integrator.init(model, jnp.array([2.0, 1.0]), jnp.array([0.5, -0.5]))

    @jax.jit
    def energies(state):
        def block(state, _):
            def step(carry, _):
                state, ok = carry
                after, info = integrator.step(model, state)
                return (after, ok & info.converged), jaxsim.energy(model, after.q, after.v).total

            (state, ok), energy = jax.lax.scan(step, (state, jnp.array(True)), length=1000)
            return state, (energy.mean(), energy.min(), energy.max(), ok)

        return jax.lax.scan(block, state, length=100)[1]

    mean, low, high, ok = map(np.asarray, energies(state))
    start = float(jaxsim.energy(model, state.q, state.v).total)
    depth = start + 9.81 * 2.5
    assert ok.all()
    assert max(high.max() - start, start - low.min()) < 0.05 * depth
    blocks = np.arange(100.0)
    slope, _ = np.polyfit(blocks, mean, 1)
    error = np.std(mean - np.polyval(np.polyfit(blocks, mean, 1), blocks)) / np.sqrt(np.sum((blocks - 49.5) ** 2))
    assert abs(slope) < 4 * error
    assert abs(slope) * 100 < 1e-3 * depth
