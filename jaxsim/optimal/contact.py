"""Contact-implicit transcription: contact forces are variables, and where they act is for the solver to find.

The conditions of contact and dry friction on the variational step, as a linear complementarity problem relaxed by ε
(Stewart and Trinkle 1996; Manchester and Kuindersma 2017; Fan et al. 2018, §6): no sequence of contacts is prescribed.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..dynamics import forward_kinematics
from .schemes import AbstractScheme, VariationalScheme


class ContactScheme(AbstractScheme):
    """A variational scheme of second order with points of bodies that may touch the ground z = 0.

    In each step a point i has a normal impulse λ ≥ 0 and impulses β ≥ 0 along ±x and ±y, which act at the start of the
    step, and η ≥ 0, the speed at which it slips. With φ the height at the end of the step and t the mean velocity along
    the four directions: φ ≥ 0, λ φ ≤ ε; t + η ≥ 0, β (t + η) ≤ ε; Σβ ≤ μ λ, η (μ λ − Σβ) ≤ ε. Impacts are inelastic.

    Attributes:
        bodies: the body, by index, that carries each point.
        points: the points, in the frames of their bodies.
        friction: μ.
        relaxation: ε, to be lowered from solve to solve where one is not enough.
        hold: see ``AbstractScheme``.
    """

    bodies: tuple[int, ...] = eqx.field(default=(), static=True)
    points: Float[Array, "c 3"] | tuple[()] = ()
    friction: float | Array = 0.7
    relaxation: float | Array = 1e-6
    hold: str = eqx.field(default="constant", static=True)

    @property
    def _free(self) -> VariationalScheme:
        return VariationalScheme(order=2, hold=self.hold)

    def knot_sizes(self, f):
        return self._free.knot_sizes(f)

    def interior_sizes(self, f):
        c = len(self.bodies)
        return self._free.interior_sizes(f) | {"normal": c, "tangential": 4 * c, "slip": c}

    @property
    def nonnegative(self):
        return "normal", "tangential", "slip"

    def state(self, f, knot):
        return self._free.state(f, knot)

    def _positions(self, f, q: Array) -> Array:
        poses = forward_kinematics(f.model, q)
        at = np.array(self.bodies, int)
        return poses.position[at] + jnp.einsum(
            "cij,cj->ci", poses.rotation[at], jnp.asarray(self.points, q.dtype).reshape(-1, 3)
        )

    def defects(self, f, start, inner, end):
        """The DEL equations with the contact impulses Jᵀ(λ n + D β) added to the momentum at the start."""
        beta = inner["tangential"].reshape(-1, 4)
        impulse = jnp.stack([beta[:, 0] - beta[:, 1], beta[:, 2] - beta[:, 3], inner["normal"]], axis=1)
        (pushed,) = jax.vjp(lambda q: self._positions(f, q), start["q"])[1](impulse)
        return self._free.defects(f, start | {"p": start["p"] + pushed}, inner, end)

    def inequalities(self, f, start, inner, end):
        before, after = self._positions(f, start["q"]), self._positions(f, end["q"])
        x, y = ((after - before)[:, axis] / f.dt for axis in (0, 1))
        height, normal, slip = after[:, 2], inner["normal"], inner["slip"]
        beta = inner["tangential"].reshape(-1, 4)
        sliding = jnp.stack([x, -x, y, -y], axis=1) + slip[:, None]
        spare = self.friction * normal - jnp.sum(beta, axis=1)
        products = normal * height, (beta * sliding).reshape(-1), slip * spare
        signs = -height, -sliding.reshape(-1), -spare
        return jnp.concatenate([*signs, *(product - self.relaxation for product in products)])

    def samples(self, f, start, inner, end):
        return self._free.samples(f, start, inner, end)

    def guess(self, f, x0, x1, u):
        knot, inner = self._free.guess(f, x0, x1, u)
        c = len(self.bodies)
        small = jnp.full(c, 1e-2, x0.dtype)
        return knot, inner | {"normal": small, "tangential": jnp.repeat(0.1 * small, 4), "slip": small}
