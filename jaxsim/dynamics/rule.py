"""How a recursion gets its differentiation rule.

A recursion is a function of the data of its elements, a pytree. Its rule is a hand-written *tangent sweep*, linear in
the perturbation of the data. Forward mode runs it as it is; reverse mode transposes it, so that one vector–Jacobian
product costs a small multiple of the recursion; and since the sweep is ordinary code in both arguments, derivatives of
every order follow.

Perturbations that are known to vanish reach the sweep as the literal ``0.0``, for which the spatial algebra emits
nothing: what is not differentiated costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from ..spatial.vector import is_zero

Tree = Any


def with_tangent(recursion: Callable[[Tree], Tree], tangent: Callable[[Tree, Tree], tuple[Tree, Tree]], data: Tree):
    """Evaluate ``recursion(data)``, to be differentiated by ``tangent(data, perturbation) -> (value, derivative)``.

    Python numbers among the data are structure: they stay what they are, and are not differentiated.
    """
    leaves, structure = jax.tree.flatten(data)
    literal = [isinstance(leaf, float) for leaf in leaves]

    def rebuild(arrays, literals) -> Tree:
        rest = iter(arrays)
        return structure.unflatten(b if fixed else next(rest) for fixed, b in zip(literal, literals, strict=True))

    @jax.custom_jvp
    def evaluate(arrays):
        return recursion(rebuild(arrays, leaves))

    def rule(primals, tangents):
        perturbation = [0.0 if isinstance(t, SymbolicZero) else t for t in tangents[0]]
        value, derivative = tangent(rebuild(primals[0], leaves), rebuild(perturbation, [0.0] * len(leaves)))
        return value, jax.tree.map(lambda d, x: jnp.broadcast_to(jnp.asarray(d, x.dtype), x.shape), derivative, value)

    evaluate.defjvp(rule, symbolic_zeros=True)
    return evaluate([leaf for leaf, fixed in zip(leaves, literal, strict=True) if not fixed])


def frozen(tree: Tree) -> Tree:
    """The same data, not to be differentiated; Python numbers stay what they are."""
    return jax.tree.map(lambda leaf: leaf if isinstance(leaf, float) else jax.lax.stop_gradient(leaf), tree)


def vanishes(tree: Tree) -> bool:
    """Whether a perturbation is known to be zero before tracing."""
    return all(is_zero(leaf) for leaf in jax.tree.leaves(tree))


def linear_step(step: Callable) -> Callable:
    """A step of a tangent sweep, to be recomputed when it is transposed.

    Products of the data alone are then formed again inside the transposed sweep instead of being stored for every
    element.
    """
    return jax.checkpoint(step, prevent_cse=False)
