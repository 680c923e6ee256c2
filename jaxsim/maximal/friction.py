"""The laws of contact as complementarity on cones, for many contacts at once.

Each contact has unknowns y of its own and sees the bodies only through its gap rate φ(z₂)/Δt and its tangential
velocity v_t, stacked as c; it acts on them through the impulses (γ, f_t) along the same directions, linear in y.
"""

from __future__ import annotations

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class AbstractCone(eqx.Module):
    """How the normal impulse, friction and their slacks of one contact hang together."""

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """The number p of unknowns of a contact."""

    @property
    @abc.abstractmethod
    def directions(self) -> int:
        """The number d of directions in which a contact acts: 1 without friction, 3 with."""

    @abc.abstractmethod
    def guess(self, rate, mu) -> jax.Array:
        """A point (nc,p) inside the cones for contacts whose gap over Δt is ``rate``."""

    @abc.abstractmethod
    def linear(self, y, c, mu) -> jax.Array:
        """The equations (nc,·) that are not complementarity, linear in y and in the motion c (nc,d)."""

    @abc.abstractmethod
    def products(self, y, mu) -> jax.Array:
        """The complementarity products a∘b (nc,·), bilinear in y."""

    @property
    @abc.abstractmethod
    def unit(self) -> np.ndarray:
        """The cones' unit e in the rows of ``products``: a∘b = κe on the central path."""

    @abc.abstractmethod
    def impulse(self, y) -> jax.Array:
        """The impulses (nc,d) on body B along normal and tangents."""

    @abc.abstractmethod
    def solve(self, y, r, mu) -> jax.Array:
        """P⁻¹ r (nc,p) with P = ∂ residual/∂y at y, in closed form; no denominator vanishes inside the cones."""

    @abc.abstractmethod
    def step_to_boundary(self, y, dy, mu) -> jax.Array:
        """The largest step (nc,) that stays inside the cones."""

    def residual(self, y, c, mu) -> jax.Array:
        """All equations of the contacts (nc,p), with κ = 0."""
        return jnp.concatenate([self.linear(y, c, mu), self.products(y, mu)], axis=-1)

    def driven(self, c, mu) -> jax.Array:
        """R c (nc,p) with R = ∂ residual/∂c."""
        rest = jnp.zeros((len(c), self.size), c.dtype)
        return jnp.concatenate([self.linear(rest, c, mu), rest[:, : len(self.unit)]], axis=-1)

    def second_order(self, dy, mu) -> jax.Array:
        """Δa∘Δb in the complementarity rows."""
        zero = jnp.zeros((*dy.shape[:-1], self.size - len(self.unit)), dy.dtype)
        return jnp.concatenate([zero, self.products(dy, mu)], axis=-1)

    def gap(self, y, mu) -> jax.Array:
        """⟨a, b⟩ (nc,), averaged over the pairs of a contact."""
        return self.products(y, mu) @ (self.unit / self.unit.sum()).astype(y.dtype)


class Frictionless(AbstractCone):
    """0 ≤ φ ⟂ γ ≥ 0 alone (Brüdigam et al. 2023, (23)); y = (s, γ)."""

    @property
    def size(self) -> int:
        return 2

    @property
    def directions(self) -> int:
        return 1

    @property
    def unit(self) -> np.ndarray:
        return np.ones(1)

    def guess(self, rate, mu):
        s = jnp.maximum(rate, 1.0)
        return jnp.stack([s, 1.0 / s], axis=-1)

    def linear(self, y, c, mu):
        return c[:, :1] - y[:, :1]

    def products(self, y, mu):
        return y[:, :1] * y[:, 1:]

    def impulse(self, y):
        return y[:, 1:]

    def solve(self, y, r, mu):
        return _normal_pair(y, -r[:, 0], r[:, 1])

    def step_to_boundary(self, y, dy, mu):
        return _orthant_step(y, dy)


class SecondOrderCone(AbstractCone):
    """Coulomb's exact cone |f_t| ≤ μγ by maximum dissipation; y = (s, γ, β₁, β₂, u₀, u₁, u₂).

    (μγ, β) ∘ (u₀, u) = 0 with u the sliding velocity; both lie in the second-order cone (Howell et al. 2022, Dojo).
    The coefficient μ must be positive.
    """

    @property
    def size(self) -> int:
        return 7

    @property
    def directions(self) -> int:
        return 3

    @property
    def unit(self) -> np.ndarray:
        return np.array([1.0, 1.0, 0.0, 0.0])

    def guess(self, rate, mu):
        s = jnp.maximum(rate, 1.0)
        zero, one = jnp.zeros_like(s), jnp.ones_like(s)
        return jnp.stack([s, 1.0 / s, zero, zero, one, zero, zero], axis=-1)

    def linear(self, y, c, mu):
        return jnp.concatenate([c[:, :1] - y[:, :1], c[:, 1:] - y[:, 5:]], axis=-1)

    def products(self, y, mu):
        s, gamma, beta, u0, u = y[:, 0], y[:, 1], y[:, 2:4], y[:, 4], y[:, 5:]
        b0 = mu * gamma
        head = jnp.stack([s * gamma, b0 * u0 + jnp.sum(beta * u, axis=-1)], axis=-1)
        return jnp.concatenate([head, b0[:, None] * u + u0[:, None] * beta], axis=-1)

    def impulse(self, y):
        return y[:, 1:4]

    def solve(self, y, r, mu):
        normal, du = _normal_pair(y, -r[:, 0], r[:, 3]), -r[:, 1:3]
        b0, beta, u0, u = mu * y[:, 1], y[:, 2:4], y[:, 4], y[:, 5:]
        db0 = mu * normal[:, 1]
        # What is left is b₀ Δu₀ + u·Δβ = head and β Δu₀ + u₀ Δβ = tail.
        head = r[:, 4] - u0 * db0 - jnp.sum(beta * du, axis=-1)
        tail = r[:, 5:] - b0[:, None] * du - u * db0[:, None]
        du0 = (u0 * head - jnp.sum(u * tail, axis=-1)) / (b0 * u0 - jnp.sum(beta * u, axis=-1))
        dbeta = (tail - beta * du0[:, None]) / u0[:, None]
        return jnp.concatenate([normal, dbeta, du0[:, None], du], axis=-1)

    def step_to_boundary(self, y, dy, mu):
        friction = _second_order_step(mu * y[:, 1], y[:, 2:4], mu * dy[:, 1], dy[:, 2:4])
        sliding = _second_order_step(y[:, 4], y[:, 5:], dy[:, 4], dy[:, 5:])
        return jnp.minimum(_orthant_step(y[:, :2], dy[:, :2]), jnp.minimum(friction, sliding))


class LinearCone(AbstractCone):
    """The friction cone with an even number of facets (Brüdigam et al. 2023, (27)); y = (s, γ, ψ, s_ψ, β…, η…).

    Facets are the directions ±b_i at equal angles; ``sides`` of them. Between two facets the cone is up to
    cos(π/sides) narrower than Coulomb's.
    """

    sides: int = eqx.field(static=True, default=4)

    def __check_init__(self):
        if self.sides < 4 or self.sides % 2:
            raise ValueError(f"A linear friction cone of {self.sides} sides is not a cone; use an even number from 4.")

    @property
    def size(self) -> int:
        return 4 + 2 * self.sides

    @property
    def directions(self) -> int:
        return 3

    @property
    def unit(self) -> np.ndarray:
        return np.ones(2 + self.sides)

    @property
    def facets(self) -> np.ndarray:
        """The directions b_i in the tangent plane (sides, 2)."""
        angle = 2.0 * np.pi * np.arange(self.sides) / self.sides
        return np.stack([np.cos(angle), np.sin(angle)], axis=-1)

    def guess(self, rate, mu):
        s = jnp.maximum(rate, 1.0)
        gamma, one = 1.0 / s, jnp.ones_like(s)
        limit = mu * gamma
        head = jnp.stack([s, gamma, one, 0.5 * limit], axis=-1)
        beta = jnp.broadcast_to((0.5 / self.sides * limit)[:, None], (len(s), self.sides))
        return jnp.concatenate([head, beta, jnp.ones_like(beta)], axis=-1)

    def linear(self, y, c, mu):
        beta, eta = y[:, 4 : 4 + self.sides], y[:, 4 + self.sides :]
        cone = mu * y[:, 1] - jnp.sum(beta, axis=-1) - y[:, 3]
        slide = c[:, 1:] @ self.facets.astype(y.dtype).T + y[:, 2:3] - eta
        return jnp.concatenate([c[:, :1] - y[:, :1], cone[:, None], slide], axis=-1)

    def products(self, y, mu):
        head = jnp.stack([y[:, 0] * y[:, 1], y[:, 2] * y[:, 3]], axis=-1)
        return jnp.concatenate([head, y[:, 4 : 4 + self.sides] * y[:, 4 + self.sides :]], axis=-1)

    def impulse(self, y):
        tangential = y[:, 4 : 4 + self.sides] @ self.facets.astype(y.dtype)
        return jnp.concatenate([y[:, 1:2], tangential], axis=-1)

    def solve(self, y, r, mu):
        n = self.sides
        normal = _normal_pair(y, -r[:, 0], r[:, 2 + n])
        psi, slack, beta, eta = y[:, 2], y[:, 3], y[:, 4 : 4 + n], y[:, 4 + n :]
        # Δη = Δψ − slide and Δβ = (facets − β Δη)/η, so that Δψ is the only unknown of the row of the cone.
        slide, facets = r[:, 2 : 2 + n], r[:, 4 + n :]
        pushed = mu * normal[:, 1] - jnp.sum((facets + beta * slide) / eta, axis=-1) - r[:, 1]
        give = jnp.sum(beta / eta, axis=-1)
        dpsi = (r[:, 3 + n] - psi * pushed) / (slack + psi * give)
        deta = dpsi[:, None] - slide
        dbeta = (facets - beta * deta) / eta
        return jnp.concatenate([normal, dpsi[:, None], (pushed + give * dpsi)[:, None], dbeta, deta], axis=-1)

    def step_to_boundary(self, y, dy, mu):
        return _orthant_step(y, dy)


def _normal_pair(y, ds, product):
    """(Δs, Δγ) with γ Δs + s Δγ = product."""
    return jnp.stack([ds, (product - y[:, 1] * ds) / y[:, 0]], axis=-1)


def _orthant_step(a, da):
    shrinks = da < 0.0
    return jnp.min(jnp.where(shrinks, -a / jnp.where(shrinks, da, 1.0), jnp.inf), axis=-1)


def _second_order_step(a0, a, da0, da):
    """The smallest positive root α of (a₀ + αΔa₀)² = |a + αΔa|², infinite if there is none."""
    A = da0**2 - jnp.sum(da**2, axis=-1)
    B = a0 * da0 - jnp.sum(a * da, axis=-1)
    C = jnp.maximum(a0**2 - jnp.sum(a**2, axis=-1), 0.0)
    root = jnp.sqrt(jnp.maximum(B**2 - A * C, 0.0))
    # The smallest positive root is C/(√(B² − AC) − B); the denominator is not positive when no root is.
    below = root - B
    crosses = (below > 0.0) & (B**2 >= A * C)
    return jnp.where(crosses, C / jnp.where(crosses, below, 1.0), jnp.inf)
