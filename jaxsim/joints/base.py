"""What every joint answers.

A joint places a child frame in a parent frame: x_parent = R(q) x_child + p(q). Its velocity is expressed in the child
frame, v_J = S(q) v, where v are the nv coordinates of the tangent space at q. For most joints v = q̇; joints with a
quaternion have nq = nv + 1.

Configurations and velocities are sequences of components, ``q[0] … q[nq-1]``. Each component may be a scalar or an
array that holds the same coordinate of many joints; the joint's own leaves then carry the same leading axis. All code
in this package is component-wise, so one call serves both.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence

import equinox as eqx
import jax

from ..spatial import Motion, Pose, Scalar

Components = Sequence[Scalar] | jax.Array
"""The coordinates of a joint, one component each."""


class AbstractJoint(eqx.Module):
    """A joint: how one body moves in the frame of its parent."""

    @property
    @abc.abstractmethod
    def nq(self) -> int:
        """The number of configuration coordinates."""

    @property
    @abc.abstractmethod
    def nv(self) -> int:
        """The number of degrees of freedom."""

    @abc.abstractmethod
    def transform(self, q: Components) -> Pose:
        """The pose of the child frame in the parent frame."""

    @abc.abstractmethod
    def subspace(self, q: Components) -> tuple[Motion, ...]:
        """The nv columns of S(q), in the child frame: (T⁻¹Ṫ)∨ = S(q) v."""

    @abc.abstractmethod
    def subspace_derivative(self, q: Components) -> tuple[tuple[Motion, ...], ...]:
        """The derivatives of the columns: entry ``[j][k]`` is ∂S_j/∂q_k along the k-th tangent direction."""

    @abc.abstractmethod
    def integrate(self, q: Components, dv: Components) -> tuple[Scalar, ...]:
        """q ⊕ dv: the configuration reached from q by the tangent displacement dv."""

    @abc.abstractmethod
    def difference(self, q0: Components, q1: Components) -> tuple[Scalar, ...]:
        """q1 ⊖ q0: the tangent displacement dv at q0 with q0 ⊕ dv = q1."""

    @abc.abstractmethod
    def neutral(self) -> tuple[Scalar, ...]:
        """The configuration at rest; for most joints T(neutral) is the identity."""

    @abc.abstractmethod
    def random(self, key: jax.Array) -> tuple[Scalar, ...]:
        """A random configuration, well inside the joint's range."""

    @property
    def is_euclidean(self) -> bool:
        """Whether q ⊕ dv is q + dv, so that configurations may be added and averaged."""
        return True

    def bias(self, q: Components, v: Components) -> Motion:
        """Ṡ v, the part of the joint's acceleration that is quadratic in v (child frame, apparent derivative)."""
        total = Motion.zero()
        for column, along in zip(v, self.subspace_derivative(q), strict=True):
            for rate, direction in zip(v, along, strict=True):
                total = total + direction * (column * rate)
        return total

    def parts(self) -> tuple[AbstractJoint, ...]:
        """The joint as a chain of simpler joints with massless bodies between; most joints are their own only part."""
        return (self,)

    def screw(self) -> Motion | None:
        """The constant screw S of a one-DoF joint whose transform is exp(S q), with S.linear ∥ S.angular or
        S.angular = 0; ``None`` for every other joint."""
        return None
