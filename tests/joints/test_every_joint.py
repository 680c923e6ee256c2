"""Identities that hold for every joint, whatever it is."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.spatial import Pose, se3
from tests.joints.joint_table import (
    JOINTS,
    array,
    by_differentiation,
    closed_forms,
    columns,
    homogeneous,
    random_states,
)

pytestmark = pytest.mark.parametrize("name", JOINTS)
close = functools.partial(np.testing.assert_allclose, rtol=0)


def product_of_parts(joint, q):
    """The transform and the subspace of the chain of the joint's parts."""
    pose, S, at = Pose.identity(), (), 0
    for part in joint.parts():
        q_i = q[at : at + part.nq]
        step = part.transform(q_i)
        pose, S = pose @ step, tuple(step.inv() @ column for column in S) + part.subspace(q_i)
        at += part.nq
    return {"T": homogeneous(pose), "S": columns(S)}


def round_trips(joint, q, dv, other):
    """(q ⊕ dv) ⊖ q, and the transform at q ⊕ (other ⊖ q)."""
    arrived = joint.integrate(q, joint.difference(q, other))
    return {"dv": array(joint.difference(q, joint.integrate(q, dv))), "T": homogeneous(joint.transform(arrived))}


@functools.cache
def report(name):
    """All that is compared below, at three random states, compiled once a joint."""
    joint = JOINTS[name]
    q, v = random_states(joint)

    @jax.jit
    @jax.vmap
    def everything(q, v, other):
        return {
            "said": closed_forms(joint, q, v),
            "derived": by_differentiation(joint, q, v),
            "parts": product_of_parts(joint, q),
            "trips": round_trips(joint, q, v, other),
        }

    return {"q": q, "v": v, **everything(q, v, q[::-1])}


def test_transform_is_rigid(name):
    R = report(name)["said"]["T"][:, :3, :3]
    close(R @ np.swapaxes(R, 1, 2), np.broadcast_to(np.eye(3), R.shape), atol=3e-15)
    close(np.linalg.det(R), 1.0, atol=3e-15)


def test_subspace_is_the_derivative_of_the_transform(name):
    said, derived = report(name)["said"], report(name)["derived"]
    close(derived["skew"], 0.0, atol=1e-14)
    close(said["S"], derived["S"], atol=1e-14)


def test_subspace_derivative(name):
    close(report(name)["said"]["dS"], report(name)["derived"]["dS"], atol=2e-14)


def test_bias_is_the_rate_of_the_subspace(name):
    close(report(name)["said"]["bias"], report(name)["derived"]["bias"], atol=5e-14)


def test_parts_multiply_to_the_joint(name):
    joint, said, parts = JOINTS[name], report(name)["said"], report(name)["parts"]
    assert sum(part.nq for part in joint.parts()) == joint.nq
    assert sum(part.nv for part in joint.parts()) == joint.nv
    close(parts["T"], said["T"], atol=2e-15)
    close(parts["S"], said["S"], atol=2e-15)


def test_parts_are_screws_or_their_own_parts(name):
    for part in JOINTS[name].parts():
        assert len(part.parts()) == 1
        screw = part.screw()
        if screw is not None:
            assert part.nv == 1
            close(screw.angular.cross(screw.linear).to_array(), 0.0, atol=1e-15)
            close(homogeneous(part.transform((0.7,))), homogeneous(se3.exp(screw * 0.7)), atol=2e-15)


def test_integrate_and_difference_undo_each_other(name):
    trips = report(name)["trips"]
    close(trips["dv"], report(name)["v"], atol=1e-14)
    close(trips["T"], report(name)["said"]["T"][::-1], atol=1e-14)


def test_euclidean_joints_add(name):
    joint, (q, v) = JOINTS[name], (report(name)["q"], report(name)["v"])
    if joint.is_euclidean:
        assert joint.nq == joint.nv
        np.testing.assert_array_equal(array(joint.integrate(q[0], v[0])), q[0] + v[0])
        np.testing.assert_array_equal(array(joint.difference(q[0], q[1])), q[1] - q[0])
    else:
        assert joint.nq > joint.nv


def test_neutral_and_random_are_regular(name):
    joint = JOINTS[name]
    assert len(joint.neutral()) == joint.nq
    S = np.concatenate([[columns(joint.subspace(joint.neutral()))], report(name)["said"]["S"]])
    assert np.all(np.linalg.matrix_rank(S, tol=1e-3) == joint.nv)


def test_stacked_joints_answer_like_single_ones(name):
    """One component-wise call for three joints of different leaves equals three calls."""
    joint, (q, v) = JOINTS[name], (report(name)["q"], report(name)["v"])
    scales = jnp.array([1.0, 0.9, 1.2])
    stacked = jax.tree.map(
        lambda leaf: leaf * (s := scales.reshape(-1, *[1] * leaf.ndim)) + 0.1 * (1 - s), JOINTS[name]
    )

    def answers(joint, q, v, moved):
        motions = (*joint.subspace(q), joint.bias(q, v))
        return joint.transform(q), motions, joint.integrate(q, v), joint.difference(q, moved)

    def all_at_once(q, v):
        return answers(stacked, tuple(q.T), tuple(v.T), tuple(q[::-1].T))

    def one_by_one(q, v):
        return jax.vmap(lambda j, q, v, moved: answers(j, tuple(q), tuple(v), tuple(moved)))(stacked, q, v, q[::-1])

    together, apart = jax.jit(lambda q, v: (all_at_once(q, v), one_by_one(q, v)))(q, v)
    assert jax.tree.structure(together) == jax.tree.structure(apart)
    for a, b in zip(jax.tree.leaves(together), jax.tree.leaves(apart), strict=True):
        close(jnp.broadcast_to(a, (3,)), b, atol=1e-14)
    assert joint.nq == stacked.nq


def test_single_precision_stays_single(name):
    joint = JOINTS[name]
    q, v = (report(name)[x][0].astype(jnp.float32) for x in "qv")
    single = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), joint)

    def answers(q, v):
        moved = single.integrate(q, v)
        motions = (*single.subspace(q), single.bias(q, v), single.subspace_derivative(q))
        return single.transform(q), moved, single.difference(q, moved), motions

    @jax.jit
    def values(q, v):
        return homogeneous(single.transform(q)), array(single.difference(q, single.integrate(q, v)))

    for leaf in jax.tree.leaves(jax.eval_shape(answers, q, v)):
        # plain numbers, which take on any precision, come out as weak types
        assert leaf.weak_type or leaf.dtype == jnp.float32
    pose, moved = values(q, v)
    close(pose, report(name)["said"]["T"][0], atol=2e-6)
    close(moved, v, atol=3e-6)


def test_gradients_are_finite_and_the_modes_agree(name):
    """At rest, at a random place, and a half turn away from rest, with respect to leaves, q and v."""
    joint = JOINTS[name]
    rest = jnp.array(joint.neutral())
    moves = jnp.zeros((4, joint.nv)).at[1].set(jnp.pi).at[2, :1].set(jnp.pi).at[3].set(1.3)

    def everything(joint, q, v, dv):
        moved = array(joint.integrate(q, dv))
        distances = array(joint.difference(q, moved)), array(joint.difference(moved, q))
        values = jax.tree.leaves((distances, joint.transform(moved), joint.subspace(moved), joint.bias(moved, v)))
        return sum(jnp.sum(jnp.sin(x + 0.3 * i)) for i, x in enumerate(values))

    def both_modes(dv):
        arguments = joint, rest, jnp.ones(joint.nv), dv
        tangents = jax.tree.map(lambda x: jnp.cos(jnp.arange(x.size, dtype=float)).reshape(x.shape), arguments)
        gradients = jax.grad(everything, argnums=(0, 1, 2, 3))(*arguments)
        forward = jax.jvp(everything, arguments, tangents)[1]
        products = jax.tree.map(lambda g, t: jnp.sum(g * t), gradients, tangents)
        return gradients, sum(jax.tree.leaves(products)), forward

    gradients, reverse, forward = jax.jit(jax.vmap(both_modes))(moves)
    for leaf in jax.tree.leaves(gradients):
        assert np.all(np.isfinite(leaf))
    np.testing.assert_allclose(reverse, forward, rtol=1e-12, atol=1e-12)
