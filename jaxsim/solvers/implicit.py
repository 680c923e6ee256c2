"""Differentiation of a root by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

Root = TypeVar("Root")
Aux = TypeVar("Aux")
Theta = TypeVar("Theta")


def implicit_root(
    residual: Callable[[Root, Theta], Any],
    solve: Callable[[Theta], tuple[Root, Aux]],
    linearise: Callable[[Root, Theta], tuple[Callable[[Any], Root], Callable[[Root], Any]]],
    theta: Theta,
) -> tuple[Root, Aux]:
    """The root w(θ) of r(w, θ) = 0 with dw = −(∂r/∂w)⁻¹ (∂r/∂θ) dθ, in both modes and to any order.

    ``solve(θ)`` finds the root by any means and is never differentiated; its second result is passed through with zero
    derivative. ``linearise(w, θ)`` returns the linear maps b ↦ (∂r/∂w)⁻¹ b and c ↦ (∂r/∂w)⁻ᵀ c, which may share a
    factorisation. None of the three functions may close over values that are differentiated: whatever the residual
    depends on belongs into θ, any pytree.
    """
    dynamic, static = eqx.partition(theta, eqx.is_array)

    @jax.custom_jvp
    def root(dynamic):
        return solve(eqx.combine(dynamic, static))

    @root.defjvp
    def root_jvp(primals, tangents):
        (dynamic,), (dynamic_dot,) = primals, tangents
        w, aux = root(dynamic)
        w_flat, to_root = ravel_pytree(w)
        to_residual = ravel_pytree(residual(w, eqx.combine(dynamic, static)))[1]

        def r(w_flat, dynamic):
            return ravel_pytree(residual(to_root(w_flat), eqx.combine(dynamic, static)))[0]

        inverse, transposed = linearise(*jax.lax.stop_gradient((w, eqx.combine(dynamic, static))))

        w_dot = jax.lax.custom_linear_solve(
            lambda x: jax.jvp(lambda w_flat: r(w_flat, dynamic), (w_flat,), (x,))[1],
            -jax.jvp(lambda dynamic: r(w_flat, dynamic), (dynamic,), (dynamic_dot,))[1],
            lambda _, b: ravel_pytree(inverse(to_residual(b)))[0],
            lambda _, c: ravel_pytree(transposed(to_root(c)))[0],
        )
        return (w, aux), (to_root(w_dot), jax.tree.map(_zero_tangent, aux))

    return root(dynamic)


def known(function: Callable[[Theta], Root], theta: Theta, value: Root) -> Root:
    """``function(θ)``, whose value is at hand: only derivatives evaluate it, in both modes and to any order."""
    dynamic, static = eqx.partition(theta, eqx.is_array)

    @jax.custom_jvp
    def at_hand(dynamic, value):
        return value

    @at_hand.defjvp
    def at_hand_jvp(primals, tangents):
        return jax.jvp(lambda dynamic: function(eqx.combine(dynamic, static)), primals[:1], tangents[:1])

    return at_hand(dynamic, jax.lax.stop_gradient(value))


def _zero_tangent(a):
    if jnp.issubdtype(jnp.result_type(a), jnp.inexact):
        return jnp.zeros_like(a)
    return np.zeros(jnp.shape(a), jax.dtypes.float0)
