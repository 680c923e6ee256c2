"""Forces known before a step is solved: potentials, actuators and wrenches from outside."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp

from .blocks import push, rates
from .joint_jacobian import motion_jacobian
from .mechanism import Mechanism
from .state import BodyPose, with_world


class Controls(eqx.Module):
    """What drives a mechanism over a step.

    ``joint`` (num_controls,) are forces and torques along the free joint coordinates, on body B and back on body A
    (Brüdigam et al. 2023, (1)). ``wrench`` (nb,6) acts on the bodies: torque (body frame), force (world).
    """

    joint: jax.Array | None = None
    wrench: jax.Array | None = None


def conservative_wrench(mechanism: Mechanism, q: jax.Array) -> jax.Array:
    """−∂V/∂(φ, x) (nb,6): torque in the body frame and force in the world."""
    pose = BodyPose.from_array(q)

    def energy(delta):
        return mechanism.potential_energy(pose.displaced(delta).to_array())

    return -jax.grad(energy)(jnp.zeros((len(q), 6), q.dtype))


def applied_wrench(mechanism: Mechanism, q: jax.Array, u: jax.Array | Controls | None) -> jax.Array:
    """All forces (nb,6) at the configurations q that do not depend on the unknown velocity."""
    wrench = conservative_wrench(mechanism, q)
    controls = u if isinstance(u, Controls) else Controls(joint=u)
    if controls.joint is not None:
        effort = jnp.asarray(controls.joint, q.dtype)
        if effort.shape != (mechanism.num_controls,):
            raise ValueError(
                f"The joint controls have shape {effort.shape}, but the mechanism has {mechanism.num_controls} free "
                "joint coordinates; give one number for each."
            )
        every = jnp.zeros((mechanism.num_joints, 6), q.dtype).at[mechanism.joints.free.nonzero()].set(effort)
        J = motion_jacobian(mechanism.joints, *mechanism.pair(q, mechanism.joints.bodies))
        wrench = push(with_world(wrench), J, mechanism.joints.bodies, every)[:-1]
    if controls.wrench is not None:
        wrench = wrench + controls.wrench
    return wrench


def damping_wrench(mechanism: Mechanism, q: jax.Array, v: jax.Array) -> jax.Array:
    """−Jᵀ C J v (nb,6): the joint dampers at the configurations q for the velocities v (nb,6)."""
    joints = mechanism.joints
    zero = jnp.zeros((mechanism.num_bodies + 1, 6), q.dtype)
    if not joints.has_dampers:
        return zero[:-1]
    J = motion_jacobian(joints, *mechanism.pair(q, joints.bodies))
    return push(zero, J, joints.bodies, -joints.damping * rates(J, joints.bodies, with_world(v)))[:-1]
