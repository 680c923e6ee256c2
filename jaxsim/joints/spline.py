"""What spline joints share: the cubic basis, the choice of a segment, and products of exponentials."""

from __future__ import annotations

import abc
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..spatial import Motion, Pose, Scalar, se3
from .base import Components
from .euclidean import AbstractEuclideanJoint


class Factors(NamedTuple):
    """The factors exp(ξ_k f_k(q)) of a product, k along the first axis of every component.

    ``value``, ``gradient`` and ``hessian`` are those of the functions f_k.
    """

    screw: Motion
    value: jax.Array
    gradient: tuple[jax.Array, ...]
    hessian: tuple[tuple[jax.Array, ...], ...]


class AbstractSpline(AbstractEuclideanJoint):
    """A joint whose transform is a product of exponentials T = C Π_k exp(ξ_k f_k(q)) with spline functions f_k.

    One coordinate for each parameter of the spline. A spline of n control values has n − 3 segments, and its parameter
    grows by one from each segment to the next, from 0 to n − 3; beyond the ends, the last cubic is continued.
    """

    @abc.abstractmethod
    def start(self, q: Components) -> Pose:
        """The constant pose C at the left of the product."""

    @abc.abstractmethod
    def factors(self, q: Components) -> Factors:
        """The factors of the product."""

    @property
    @abc.abstractmethod
    def segments(self) -> tuple[int, ...]:
        """The number of segments along each coordinate."""

    @property
    def nv(self) -> int:
        return len(self.segments)

    def transform(self, q: Components) -> Pose:
        poses, _ = self._poses_and_factors(q)
        return _fold(lambda T, pose: T @ pose, lambda pose: self.start(q) @ pose, poses)

    def subspace(self, q: Components) -> tuple[Motion, ...]:
        """S_i = ξ_k ∂_i f_k + Ad⁻¹ S_i, factor after factor (Sueda, Alg. 3 line 9 and Alg. 4 line 14)."""

        def begin(x):
            _, factor = x
            return tuple(factor.screw * df for df in factor.gradient)

        def step(S, x):
            pose, factor = x
            return tuple(factor.screw * df + pose.inv() @ S_i for S_i, df in zip(S, factor.gradient, strict=True))

        return _fold(step, begin, self._poses_and_factors(q))

    def subspace_derivative(self, q: Components) -> tuple[tuple[Motion, ...], ...]:
        """∂_j S_i = ξ_k ∂²_ij f_k + Ad⁻¹ (∂_j S_i + S_i × ξ_k ∂_j f_k) (Sueda, Alg. 4 line 16; Lee & Terzopoulos 2008).

        For one parameter this is Alg. 3 line 10, with the derivative of the basis in the last term.
        """
        axes = range(self.nv)

        def begin(x):
            _, (screw, _, gradient, hessian) = x
            return tuple(screw * df for df in gradient), tuple(tuple(screw * ddf for ddf in row) for row in hessian)

        def step(carry, x):
            (S, dS), (pose, (screw, _, gradient, hessian)) = carry, x
            turning = tuple(tuple(dS[i][j] + S[i].cross(screw) * gradient[j] for j in axes) for i in axes)
            new_dS = tuple(tuple(screw * hessian[i][j] + pose.inv() @ turning[i][j] for j in axes) for i in axes)
            return tuple(screw * gradient[i] + pose.inv() @ S[i] for i in axes), new_dS

        _, dS = _fold(step, begin, self._poses_and_factors(q))
        return dS

    def _poses_and_factors(self, q: Components) -> tuple[Pose, Factors]:
        factors = self.factors(q)
        return se3.exp(factors.screw * factors.value), factors

    def neutral(self) -> tuple[Scalar, ...]:
        """The middle of the spline."""
        return tuple(0.5 * count for count in self.segments)

    def random(self, key: jax.Array) -> tuple[Scalar, ...]:
        """Anywhere but in the outermost twentieths."""
        fractions = jax.random.uniform(key, (self.nv,), minval=0.05, maxval=0.95)
        return tuple(fraction * count for fraction, count in zip(fractions, self.segments, strict=True))


def _fold(step, begin, stacked):
    """Fold ``step`` over the first axis, from ``begin`` of the first entry; a scan, as it compiles once for all."""
    first, rest = (jax.tree.map(lambda leaf, at=at: leaf[at], stacked) for at in (0, slice(1, None)))
    result, _ = jax.lax.scan(lambda carry, x: (step(carry, x), None), begin(first), rest)
    return result


def locate(q: Scalar, segments: int) -> tuple[jax.Array, jax.Array]:
    """The segment that q lies in and the position u = q − segment inside it, in [0, 1] within the spline."""
    q = jnp.asarray(q)
    segment = jnp.clip(jnp.floor(jax.lax.stop_gradient(q)), 0, segments - 1)
    return segment.astype(int), q - segment


def window(values: jax.Array, segment: jax.Array, axis: int, rank: int) -> jax.Array:
    """The four control values of a segment along ``axis`` (negative); the last ``rank`` axes are one joint's."""
    batch = jnp.broadcast_shapes(segment.shape, values.shape[:-rank])
    values = jnp.broadcast_to(values, batch + values.shape[-rank:])
    index = jnp.broadcast_to(segment, batch)[..., None] + np.arange(4)
    index = jnp.reshape(index, batch + tuple(4 if at == axis else 1 for at in range(-rank, 0)))
    return jnp.take_along_axis(values, index, axis=axis, mode="clip")


def basis(u: Scalar) -> tuple[tuple[Scalar, ...], ...]:
    """The uniform cubic B-spline basis B₁…B₄ at u, and its first and second derivative (eqs. 2.68 and 2.73)."""
    w = 1.0 - u
    value = (w**3 / 6.0, (4.0 - 6.0 * u**2 + 3.0 * u**3) / 6.0, (4.0 - 6.0 * w**2 + 3.0 * w**3) / 6.0, u**3 / 6.0)
    slope = (-0.5 * w**2, 1.5 * u**2 - 2.0 * u, 2.0 * w - 1.5 * w**2, 0.5 * u**2)
    return value, slope, (w, 3.0 * u - 2.0, 3.0 * w - 2.0, u)


def control_leaf(values, axes: int, components: int, what: str) -> jax.Array:
    """Control values as a float array: one axis for each parameter of the spline, then the components."""
    array = values if isinstance(values, jax.Array) else np.asarray(values, dtype=float)
    if array.ndim != axes + 1 or array.shape[-1] != components or min(array.shape[:-1]) < 4:
        raise ValueError(
            f"The control {what} have shape {array.shape}; give at least four along each of the spline's "
            f"{axes} parameter axes, with {components} components each."
        )
    if isinstance(array, np.ndarray) and not np.all(np.isfinite(array)):
        raise ValueError(f"The control {what} are not all finite; give finite numbers.")
    return jnp.asarray(array)
