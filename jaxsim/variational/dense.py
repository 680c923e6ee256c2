"""The linearised DEL equations as dense matrices in O(s² n²) (Fan et al. 2018, §4, Algs. 2 and 3).

With the coefficients of ``blocks.py``, in the ground frame, a change of joint j moves everything that j carries, and
a subtree answers a rigid change x of its root with the sum D of what its elements answer. So the entry of the Jacobian
for rows of joint i and columns of joint j is

    (W_i D_i + θ_i) V_j    where j is above i,         W_i (D_j V_j − shift_j)    where i is above j or i = j,

with Λ₀ added on the diagonal and zeros elsewhere: two products of tall matrices under a static mask. D is what
Algorithms 2 and 3 call 𝓜, σ_m and σ_p: the composite inertia and the composite response of the wrenches.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..sweep import leaf_to_root
from . import screw_dense
from .blocks import Blocks, Shape, blocks, full_shape, newton_shape
from .chart import ball_parts
from .elimination import own_answers, places, response
from .nodes import Nodes, StepProblem

Inverse = screw_dense.Grid | Float[Array, "sn sn"]


def newton_matrix(problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"]) -> Float[Array, "s nv s nv"]:
    """J = ∂r/∂ξ, row [α, i] and column [γ, j] for the control points α = 0 … s − 1 and γ = 1 … s."""
    return _matrix(problem, newton_shape(problem), nodes, z)


def del_derivatives(problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"]) -> Float[Array, "s1 nv s1 nv"]:
    """∂ρ^α/∂q^γ for all control points, the start included: D²L_d and the derivatives of the discrete forces.

    For models of screw joints, where ρ^α is the derivative of the discrete action with respect to q^α.
    """
    return _matrix(problem, full_shape(problem), nodes, z)


def _matrix(problem: StepProblem, sizes: Shape, nodes: Nodes, z: Array) -> Array:
    c = blocks(problem, sizes, nodes, z)
    matrix = _assemble(problem, c, _composites(problem, sizes, nodes, z.dtype))
    n, d, points = len(sizes.rows), sizes.d, sizes.points
    order = places(sizes, problem.model.nv)
    grid = matrix.reshape(n * d, points, n * d, points)[order][:, :, order]
    return jnp.moveaxis(grid, (0, 2), (1, 3))


def _composites(problem: StepProblem, sizes: Shape, nodes: Nodes, dtype) -> Array:
    """What each subtree answers to a rigid change of its root, (n, R, C)."""
    answers = own_answers(problem, sizes, nodes)

    def step(children, own):
        total = jax.tree.map(jnp.add, children, own)
        return total, total

    zero = jax.tree.map(lambda leaf: jnp.zeros_like(leaf[0]), answers)
    _, sums = leaf_to_root(problem.model.topology, step, answers, zero, dtype)
    return jax.vmap(lambda own: response(sizes, own))(sums)


def _assemble(problem: StepProblem, c: Blocks, D: Array) -> Array:
    """The masked products, for the k unknowns of all elements, (n k, n k)."""
    n, k, _ = c.W.shape
    up = (jnp.einsum("nkr,nrc->nkc", c.W, D) + c.theta).reshape(n * k, -1)
    down = jnp.einsum("nrc,nck->rnk", D, c.V) - jnp.moveaxis(c.shift, 1, 0)
    above = np.repeat(np.repeat(problem.model.topology.ancestors, k, axis=0), k, axis=1)
    strictly = above & ~np.repeat(np.repeat(np.eye(n, dtype=bool), k, axis=0), k, axis=1)
    from_above = up @ jnp.moveaxis(c.V, 1, 0).reshape(-1, n * k)
    from_below = c.W.reshape(n * k, -1) @ down.reshape(-1, n * k)
    matrix = jnp.where(strictly, from_above, jnp.where(above.T, from_below, 0))
    own = jnp.arange(n)
    return matrix.reshape(n, k, n, k).at[own, :, own].add(c.Lambda0).reshape(n * k, n * k)


def factorise(problem: StepProblem, nodes: Nodes, z: Float[Array, "s nv"]) -> Inverse:
    """The inverse of J, for models so small that it beats the recursion: in components where all joints are screws."""
    if not ball_parts(problem.model):
        return screw_dense.factorise(problem, nodes)
    size = z.size
    return jnp.linalg.inv(newton_matrix(problem, nodes, z).reshape(size, size))


def solve(inverse: Inverse, b: Float[Array, "s nv"]) -> Float[Array, "s nv"]:
    """J⁻¹ b."""
    if isinstance(inverse, tuple):
        return screw_dense.solve(inverse, b)
    return (inverse @ b.reshape(-1)).reshape(b.shape)
