"""Minimal and maximal coordinates describe the same mechanism: states map to and fro, and trajectories agree."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim import joints as minimal
from jaxsim.dynamics import energy
from jaxsim.integrators import RungeKutta4
from jaxsim.integrators.maximal_variational import MaximalVariational
from jaxsim.maximal import mechanism_from_model, to_maximal, to_minimal
from jaxsim.model import BodyInertia, ModelBuilder, Placement, random_configuration
from jaxsim.rollout import rollout

JOINTS = {
    "revolute": minimal.Revolute((0.2, 1.0, 0.3)),
    "spherical": minimal.Spherical(),
    "prismatic": minimal.Prismatic("y"),
    "universal": minimal.Universal(("y", "z")),
    "cylindrical": minimal.Cylindrical((1.0, -1.0, 0.0)),
    "helical": minimal.Helical("-z", pitch=0.3),
    "planar": minimal.Planar(("z", "x")),
    "translational": minimal.Translational(),
    "fixed": minimal.Fixed(),
}


def tree(kinds, base=None):
    rng = np.random.default_rng(0)
    builder = ModelBuilder()
    if base is not None:
        builder.add_body("base", 0, base, inertia=BodyInertia(2.0, (0.1, 0.0, 0.2), np.diag([0.3, 0.4, 0.5])))
    for i, kind in enumerate(kinds):
        angle = rng.normal(size=4)
        builder.add_body(
            kind,
            parent=int(rng.integers(i, i + 1)) + (base is not None),
            joint=JOINTS[kind],
            placement=Placement(rng.normal(size=3) * 0.3, angle / np.linalg.norm(angle)),
            inertia=BodyInertia(1.0 + rng.uniform(), rng.normal(size=3) * 0.2, np.diag([0.1, 0.12, 0.15])),
        )
    return builder.build()


@pytest.fixture(scope="module")
def everything():
    return tree(list(JOINTS), base=minimal.Free())


def test_states_map_to_and_fro_and_keep_all_joints(everything):
    model = everything
    mechanism = mechanism_from_model(model)
    q = random_configuration(model, jax.random.key(1))
    v = jax.random.normal(jax.random.key(2), (model.nv,))
    q_max, v_max = jax.jit(to_maximal)(model, q, v)
    assert jnp.max(jnp.abs(mechanism.violation(q_max))) < 1e-13
    q_back, v_back = jax.jit(to_minimal)(model, q_max, v_max)
    there = jax.jit(to_maximal)(model, q_back, v_back)
    np.testing.assert_allclose(v_back, v, atol=1e-12)
    np.testing.assert_allclose(there[1], v_max, atol=1e-12)
    np.testing.assert_allclose(jnp.abs(there[0]), jnp.abs(q_max), atol=1e-12)
    total = energy(model, q, v)
    np.testing.assert_allclose(mechanism.kinetic_energy(v_max), total.kinetic, rtol=1e-12)
    np.testing.assert_allclose(mechanism.potential_energy(q_max), total.potential, rtol=1e-12)


@pytest.mark.slow
def test_the_same_tree_follows_the_same_trajectory_as_dt_vanishes():
    model = tree(["revolute", "spherical", "prismatic", "universal"])
    mechanism = mechanism_from_model(model)
    q = random_configuration(model, jax.random.key(3))
    v = 0.5 * jax.random.normal(jax.random.key(4), (model.nv,))
    fine = eqx.filter_jit(
        lambda q, v: rollout(model, RungeKutta4(0.001), RungeKutta4(0.001).init(model, q, v), steps=200)
    )
    exact = to_maximal(model, fine(q, v).q[-1], v)[0]

    @eqx.filter_jit
    def coarse(dt, steps):
        integrator = MaximalVariational(dt)

        def body(_, carry):
            state, good = carry
            state, info = integrator.step(mechanism, state)
            return state, good & info.converged

        state = integrator.init(mechanism, *to_maximal(model, q, v))
        return jax.lax.fori_loop(0, steps, body, (state, jnp.asarray(True)))

    errors = []
    for steps in (20, 40):
        state, good = coarse(jnp.asarray(0.2 / steps), jnp.asarray(steps))
        assert good
        errors.append(float(jnp.max(jnp.abs(state.q[:, :3] - exact[:, :3]))))
    assert errors[1] < 2e-4
    assert 3.4 < errors[0] / errors[1] < 4.6


def test_what_cannot_be_converted_is_named():
    builder = ModelBuilder()
    builder.add_body("a", 0, minimal.Free2D(), inertia=BodyInertia(1.0, (0, 0, 0), np.eye(3)))
    with pytest.raises(ValueError, match="Free2D"):
        mechanism_from_model(builder.build())
    builder = ModelBuilder()
    builder.add_body("a", 0, minimal.Revolute(), inertia=BodyInertia(1.0, (0, 0, 0), np.eye(3)), armature=0.1)
    with pytest.raises(ValueError, match="armature"):
        mechanism_from_model(builder.build())
