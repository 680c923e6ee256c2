"""The recursion of Newton and Euler on the elements of a tree, with its differentiation rule.

The tangent sweep is the derivative of the recursion in the frames of the elements, where a perturbation of a pose is a
twist ε with dX = X ε×. Transposed, it is the pass outward with μ, the motion conjugate to the joint forces, and
inward with the forces h = Σ I μ and b = Σ (2B)ᵀμ (Singh et al. 2022, eqs. 7–10, contracted with μ): all that is carried
only changes frames, so that the loops are short.
"""

from __future__ import annotations

import dataclasses

import jax

from ..model.topology import Topology
from ..spatial import Force, Inertia, Motion, Scalar, Vec3
from ..sweep import leaf_to_root, root_to_leaf
from .elements import Element
from .rule import linear_step, vanishes, with_tangent


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class NewtonEulerData:
    """What the recursion depends on, stacked over the elements in sweep order.

    Attributes:
        element: poses, subspaces and biases.
        inertia: the inertia that each element carries.
        wrench: the external wrench on it, in its frame.
        qd: its velocity and
        qdd: its acceleration.
        gravity: the acceleration of gravity, in the world frame.
    """

    element: Element
    inertia: Inertia
    wrench: Force
    qd: Scalar
    qdd: Scalar
    gravity: Vec3


def newton_euler_recursion(tree: Topology, data: NewtonEulerData, dtype) -> jax.Array:
    """The joint force of every element, in sweep order."""
    return with_tangent(
        lambda data: plain_recursion(tree, data, dtype), lambda data, d: _tangent(tree, data, d, dtype), data
    )


def plain_recursion(tree: Topology, data: NewtonEulerData, dtype) -> jax.Array:
    """The two sweeps, without the rule."""
    _, _, f = _outward(tree, data, dtype, keep_motion=False)
    return _inward(tree, data.element, f, dtype)[1]


def _outward(tree: Topology, data: NewtonEulerData, dtype, keep_motion: bool):
    """Velocities, accelerations and the forces that they need, each in its element's frame."""

    def step(parent, x):
        (v_parent, a_parent), (element, inertia, wrench, qd, qdd) = parent, x
        X = element.placement.pose()
        vJ = element.S * qd
        v = X.inv() @ v_parent + vJ
        a = X.inv() @ a_parent + element.S * qdd + v.cross(vJ) + element.bias
        f = inertia.apply(a) + v.cross_force(inertia.apply(v)) - wrench
        return (v, a), ((v, a, f) if keep_motion else (None, None, f))

    root = Motion.zero(), Motion(Vec3.zero(), -data.gravity)
    return root_to_leaf(tree, step, (data.element, data.inertia, data.wrench, data.qd, data.qdd), root, dtype)


def _inward(tree: Topology, element: Element, f: Force, dtype) -> tuple[Force, jax.Array]:
    """The forces transmitted by the elements, and their components along the axes."""

    def step(from_children, x):
        element, f = x
        f = f + from_children
        return element.placement.pose() @ f, (f, element.S.dot(f))

    return leaf_to_root(tree, step, (element, f), Force.zero(), dtype)[1]


def _tangent(tree: Topology, data: NewtonEulerData, d: NewtonEulerData, dtype) -> tuple[jax.Array, jax.Array]:
    """The joint forces and their derivative along the perturbation d."""
    v, a, f = _outward(tree, data, dtype, keep_motion=True)
    carried, tau = _inward(tree, data.element, f, dtype)
    return tau, newton_euler_tangent(tree, data, d, (v, a, carried), dtype)


def newton_euler_motion(tree: Topology, data: NewtonEulerData, dtype) -> tuple[Motion, Motion, Force]:
    """Velocity, acceleration and transmitted force of every element, in its frame."""
    v, a, f = _outward(tree, data, dtype, keep_motion=True)
    return v, a, _inward(tree, data.element, f, dtype)[0]


def newton_euler_tangent(tree: Topology, data: NewtonEulerData, d: NewtonEulerData, motion, dtype) -> jax.Array:
    """The derivative of the joint forces along d, where (v, a, f) are the motion and the transmitted forces."""
    v, a, f = motion
    still = vanishes((d.element, d.qd, d.qdd, d.gravity))
    added = None if still else _tangent_outward(tree, data, d, v, a, dtype)

    @linear_step
    def step(from_children, x):
        (element, I, v, a, f), (d_element, dI, d_wrench, added) = x
        df = dI.apply(a) + v.cross_force(dI.apply(v)) - d_wrench + from_children
        if added is not None:
            df = df + (I.apply(added[1]) + _coriolis_force(v, I, added[0]))
        shift = element.placement.displacement(d_element.placement, element.S)
        return element.placement.pose() @ (df + shift.cross_force(f)), element.S.dot(df) + d_element.S.dot(f)

    xs = (data.element, data.inertia, v, a, f), (d.element, d.inertia, d.wrench, added)
    return leaf_to_root(tree, step, xs, Force.zero(), dtype)[1]


def _tangent_outward(tree: Topology, data: NewtonEulerData, d: NewtonEulerData, v, a, dtype) -> tuple[Vec3, Motion]:
    """The angular velocities and the accelerations that the perturbation adds to the elements.

    With ε the displacement of an element and v_λ, a_λ the motion that it has from its parent, the element adds to all
    that it carries the velocity δ = v_λ×ε + dS q̇ + S dq̇ and the acceleration α + δ×v, where
    α = a_λ×ε + v_λ×δ + v×(dS q̇ + S dq̇) + dS q̈ + S dq̈ + dbias. So α and δ only change frames on their way outward,
    and a body with their sums needs the force I α + 2B δ, in which the linear part of δ does not appear.
    """

    @linear_step
    def step(parent, x):
        (turn_parent, alpha_parent), (element, qd, qdd, v, a), (d_element, dqd, dqdd) = parent, *x
        X, S, dS = element.placement.pose(), element.S, d_element.S
        shift = element.placement.displacement(d_element.placement, S)
        vJ, dvJ = S * qd, dS * qd + S * dqd
        v_parent, a_parent = v - vJ, a - (S * qdd + v.cross(vJ) + element.bias)
        delta = v_parent.cross(shift) + dvJ
        push = dS * qdd + S * dqdd + d_element.bias
        alpha = a_parent.cross(shift) + v_parent.cross(delta) + v.cross(dvJ) + push
        carried = X.rotation.apply_transposed(turn_parent) + delta.angular, X.inv() @ alpha_parent + alpha
        return carried, carried

    root = Vec3.zero(), Motion(Vec3.zero(), -d.gravity)
    known, perturbed = (data.element, data.qd, data.qdd, v, a), (d.element, d.qd, d.qdd)
    return root_to_leaf(tree, step, (known, perturbed), root, dtype)


def _coriolis_force(v: Motion, I: Inertia, turn: Vec3) -> Force:
    """2B[v; I] δ for a velocity δ without linear part: I (δ×v) + δ×*(I v) + v×*(I δ) (Singh et al. 2022, eq. 6)."""
    delta = Motion(turn, Vec3.zero())
    return I.apply(delta.cross(v)) + delta.cross_force(I.apply(v)) + v.cross_force(I.apply(delta))
