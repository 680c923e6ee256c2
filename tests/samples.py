"""Models and states that many tests share; small, because most of a test's time is compilation."""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from jaxsim.model.robots.random_tree import every_joint


class Sample(NamedTuple):
    """A random state with everything that a function of the dynamics may ask for."""

    q: jax.Array
    v: jax.Array
    a: jax.Array
    tau: jax.Array
    f_ext: jax.Array


def state(model: jaxsim.Model, seed: int = 0, dtype=None) -> Sample:
    """A random configuration with velocities, accelerations, joint forces and wrenches of order one."""
    sample = _drawn(model, jax.random.key(seed))
    return sample if dtype is None else Sample(*(x.astype(dtype) for x in sample))


@jax.jit
def _drawn(model: jaxsim.Model, key: jax.Array) -> Sample:
    """Compiled as a whole, which takes less time than to compile every operation alone."""
    keys = jax.random.split(key, 5)
    vectors = (jax.random.normal(key, (model.nv,)) for key in keys[1:4])
    wrenches = jax.random.normal(keys[4], (model.num_bodies, 6))
    return Sample(jaxsim.random_configuration(model, keys[0]), *vectors, wrenches)


def with_joint_elements(model: jaxsim.Model, seed: int = 0, ball_springs: bool = False) -> jaxsim.Model:
    """The same model with random dampers, rotors and springs; springs on quaternion joints only if asked for."""
    rng = np.random.default_rng(seed)
    stiffness, damping, armature = (rng.uniform(0.1, 1.0, model.nv) for _ in range(3))
    if not ball_springs:
        for joint, rows in zip(model.joints, model.topology.v_rows, strict=True):
            stiffness[rows] *= joint.is_euclidean
    return dataclasses.replace(
        model,
        stiffness=jnp.asarray(stiffness),
        damping=jnp.asarray(damping),
        armature=jnp.asarray(armature),
        spring_reference=jaxsim.random_configuration(model, jax.random.key(seed)),
        topology=dataclasses.replace(model.topology, ball_springs=ball_springs),
    )


@functools.cache
def every_joint_tree() -> jaxsim.Model:
    """A branched tree with one joint of each kind and springs, dampers and rotors: slow to compile."""
    return with_joint_elements(jaxsim.robots.random_tree(len(every_joint()), 3), ball_springs=True)


@functools.cache
def small_tree() -> jaxsim.Model:
    """Two roots and a branch; free, spherical, revolute and fixed joints; springs, dampers and rotors."""
    builder = jaxsim.ModelBuilder(gravity=(1.0, -2.0, -9.0))
    inertia = jaxsim.BodyInertia(1.3, (0.1, -0.2, 0.05), (0.3, 0.4, 0.5))
    turned = jaxsim.Placement((0.3, 0.1, -0.2), (0.9, 0.2, -0.3, 0.1))
    base = builder.add_body("base", 0, jaxsim.Free(), turned, inertia)
    arm = builder.add_body("arm", base, jaxsim.Revolute((0.2, 0.9, 0.1)), turned, inertia)
    builder.add_body("ball", arm, jaxsim.Spherical(), turned, inertia)
    mount = builder.add_body("mount", base, None, turned, inertia)
    builder.add_body("hand", mount, jaxsim.Revolute("z"), turned, inertia)
    builder.add_body("mast", 0, jaxsim.Revolute("x"), (0.0, 1.0, 0.0), inertia)
    return with_joint_elements(builder.build())


@functools.cache
def tiny_tree() -> jaxsim.Model:
    """A floating body with a hinge and a fixed plate: the quickest to compile of all that has everything."""
    builder = jaxsim.ModelBuilder(gravity=(1.0, -2.0, -9.0))
    inertia = jaxsim.BodyInertia(1.3, (0.1, -0.2, 0.05), (0.3, 0.4, 0.5))
    base = builder.add_body("base", 0, jaxsim.Free(), None, inertia)
    builder.add_body("arm", base, jaxsim.Revolute((0.2, 0.9, 0.1)), (0.3, 0.1, -0.2), inertia)
    builder.add_body("plate", base, None, (0.0, 0.1, 0.2), inertia)
    builder.add_frame("tip", "arm", (0.1, 0.2, 0.3))
    return with_joint_elements(builder.build())


@functools.cache
def fixed_bodies() -> jaxsim.Model:
    """Two bodies without any freedom."""
    builder = jaxsim.ModelBuilder()
    table = builder.add_body("table", 0, None, (1.0, 0.0, 0.0), jaxsim.BodyInertia.box(2.0, (1.0, 1.0, 0.1)))
    builder.add_body("lamp", table, None, (0.0, 0.0, 0.5))
    return builder.build()


def relative_error(actual, expected) -> float:
    """max |actual − expected| / max |expected|, or the absolute error where nothing is larger than 1e-3."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    scale = max(float(np.abs(expected).max(initial=0.0)), 1e-3)
    return float(np.abs(actual - expected).max(initial=0.0)) / scale
