"""Solving with the mass matrix in linear time, and the differentiation rule of everything that does.

The articulated-body sweep factorises M = L D Lᵀ without forming it. A solution of M x = b, and the acceleration of
forward dynamics, is defined by an equation; differentiating the equation and solving again with the same factors is
cheaper than differentiating the factorisation:
M dx = db − dM x, and M da = dτ − dτ_ID with τ_ID the inverse dynamics at the acceleration a.
"""

from __future__ import annotations

import dataclasses

import jax

from ..model.topology import Topology
from ..spatial import ArticulatedInertia, Force, Inertia, Mat3, Motion, Pose, Scalar, Sym3, Vec3
from ..sweep import leaf_to_root, root_to_leaf
from .elements import Element
from .newton_euler import NewtonEulerData, newton_euler_motion, newton_euler_recursion, newton_euler_tangent
from .rule import with_tangent


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Factors:
    """The factors of the mass matrix, stacked over the elements (Featherstone 2008, eqs. 7.43–7.44).

    All in frames at the origins of the elements with the axes of the world.

    Attributes:
        offset: from the origin of the parent to that of the element.
        S: the column of the motion subspace.
        gain: U D⁻¹ with U = I^A S.
        D_inverse: 1/(Sᵀ U + armature).
    """

    offset: Vec3
    S: Motion
    gain: Force
    D_inverse: Scalar


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ForwardData:
    """What forward dynamics depends on, stacked over the elements; ``motion.qdd`` is not used.

    Attributes:
        motion: the data of inverse dynamics.
        armature: the inertia of each element's rotor, one for fixed joints.
        tau: the joint forces.
    """

    motion: NewtonEulerData
    armature: Scalar
    tau: Scalar


def factorise(tree: Topology, element: Element, inertia: Inertia, armature, dtype) -> Factors:
    """Rotations outward, articulated inertias inward."""

    def outward(R_parent: Mat3, x):
        element, inertia = x
        X = element.placement.pose()
        R = R_parent.matmul(X.rotation)
        turn = Pose.turned(R)
        return R, (R_parent.apply(X.position), turn @ element.S, inertia.transformed(turn))

    def inward(from_children, x):
        (offset, S, inertia), armature = x
        IA = ArticulatedInertia.from_inertia(inertia) + from_children
        U = IA.apply(S)
        D_inverse = 1.0 / (S.dot(U) + armature)
        left = IA.minus_outer(U, D_inverse).transformed(Pose.translation(offset))
        return left, Factors(offset, S, U * D_inverse, D_inverse)

    aligned = root_to_leaf(tree, outward, (element, inertia), Mat3.identity(), dtype)
    zero = ArticulatedInertia(Sym3.zero(), Mat3.zero(), Sym3.zero())
    return leaf_to_root(tree, inward, (aligned, armature), zero, dtype)[1]


def mass_solve(tree: Topology, element: Element, inertia: Inertia, armature, factors: Factors, b, dtype) -> jax.Array:
    """x with M x = b, both in sweep order; its derivative solves M dx = db − dM x."""
    # at rest the joints have no bias, which would make the product affine
    still = dataclasses.replace(element, bias=Motion.zero())
    rest = NewtonEulerData(still, inertia, Force.zero(), 0.0, 0.0, Vec3.zero())

    def product(x):
        return newton_euler_recursion(tree, dataclasses.replace(rest, qdd=x), dtype) + armature * x

    return jax.lax.custom_linear_solve(product, b, lambda _, b: _substitute(tree, factors, b, dtype), symmetric=True)


def accelerations(tree: Topology, data: ForwardData, factors: Factors, a, dtype) -> jax.Array:
    """The solution a of the equation of motion, known already, as a function of the data."""
    return with_tangent(
        lambda known: known[2], lambda known, d: _accelerations_tangent(tree, known, d[0], dtype), (data, factors, a)
    )


def _accelerations_tangent(tree: Topology, known, d: ForwardData, dtype) -> tuple[jax.Array, jax.Array]:
    """M da = dτ − da_rotor − dτ_ID."""
    data, factors, a = known
    a = accelerations(tree, data, factors, a, dtype)
    motion = dataclasses.replace(data.motion, qdd=a)
    d_motion = dataclasses.replace(d.motion, qdd=0.0)
    forces = newton_euler_tangent(tree, motion, d_motion, newton_euler_motion(tree, motion, dtype), dtype)
    rest = d.tau - d.armature * a - forces
    return a, mass_solve(tree, motion.element, motion.inertia, data.armature, factors, rest, dtype)


def _substitute(tree: Topology, factors: Factors, b, dtype) -> jax.Array:
    """Inward with the forces, outward with the accelerations."""

    def inward(p: Force, x):
        factors, b = x
        u = b - factors.S.dot(p)
        return Pose.translation(factors.offset) @ (p + factors.gain * u), u * factors.D_inverse

    def outward(a_parent: Motion, x):
        factors, drive = x
        a = Pose.translation(factors.offset).inv() @ a_parent
        rate = drive - factors.gain.dot(a)
        return a + factors.S * rate, rate

    _, drive = leaf_to_root(tree, inward, (factors, b), Force.zero(), dtype)
    return root_to_leaf(tree, outward, (factors, drive), Motion.zero(), dtype)
