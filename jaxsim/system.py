"""A model with an integrator as a system in flat vectors, x⁺ = f(x, u), for learning code, filters and optimisers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .dynamics import contracted_forward_dynamics_second_derivatives, forward_dynamics
from .integrators import AbstractIntegrator, SemiImplicitEuler
from .model import Model, difference, integrate


class LinearDynamics(eqx.Module):
    """δx⁺ = A δx + B δu in the tangent spaces at x and at x⁺.

    Attributes:
        A: (2 nv, 2 nv).
        B: (2 nv, nu).
    """

    A: Float[Array, "ndx ndx"]
    B: Float[Array, "ndx nu"]


class Dynamics(eqx.Module):
    """The engine as one function of flat vectors: x = (q, v) of length nx = nq + nv, and the controls u of length nu.

    Tangent vectors δx = (δq, δv) have the length ndx = 2 nv; ``integrate`` and ``difference`` move along the manifold,
    x ⊕ δx = (q ⊕ δq, v + δv). Every call starts the integrator anew at (q, v), so that methods with a history take
    their first step each time.

    Attributes:
        model: the model.
        integrator: the method, whose ``dt`` is the step of x⁺ = f(x, u).
        selection: the matrix (nv, nu) of τ = selection @ u; ``None`` if the model's actuators turn u into τ.
    """

    model: Model
    integrator: AbstractIntegrator
    selection: Float[Array, "nv nu"] | None

    def __init__(self, model: Model, integrator: AbstractIntegrator, driven: Sequence[int | str] | None = None):
        """Join a model and an integrator.

        Args:
            model: the model.
            integrator: the method.
            driven: the bodies, by name or index, whose joints u drives, in this order. By default the model's actuators
                if it has any, else all degrees of freedom (nu = nv).
        """
        self.model = model
        self.integrator = integrator
        if driven is None:
            self.selection = None if len(model.actuation) else jnp.eye(model.nv, dtype=model.dtype)
        else:
            rows = np.concatenate(
                [np.zeros(0, int), *(np.arange(model.nv)[model.coordinates_of(b)[1]] for b in driven)]
            )
            self.selection = jnp.eye(model.nv, dtype=model.dtype)[:, rows]

    @property
    def nx(self) -> int:
        """The length of x."""
        return self.model.nq + self.model.nv

    @property
    def ndx(self) -> int:
        """The length of a tangent vector of x."""
        return 2 * self.model.nv

    @property
    def nu(self) -> int:
        """The length of u."""
        return len(self.model.actuation) if self.selection is None else self.selection.shape[1]

    @property
    def dt(self):
        """The time step."""
        return self.integrator.dt

    def state(self, q: Any = None, v: Any = None) -> Float[Array, " nx"]:
        """x = (q, v); neutral and at rest by default."""
        q = self.model.neutral() if q is None else jnp.asarray(q, self.model.dtype)
        v = jnp.zeros(self.model.nv, q.dtype) if v is None else jnp.asarray(v, q.dtype)
        return jnp.concatenate([q, v])

    def split(self, x: Float[Array, "*batch nx"]) -> tuple[Float[Array, "*batch nq"], Float[Array, "*batch nv"]]:
        """q and v, along the last axis of x."""
        if x.shape[-1] != self.nx:
            raise ValueError(f"x must have {self.nx} entries (q and v), but it has shape {x.shape}.")
        return x[..., : self.model.nq], x[..., self.model.nq :]

    def forces(self, x: Float[Array, " nx"], u: Float[Array, " nu"]) -> Float[Array, " nv"]:
        """The joint forces τ of the controls u."""
        if jnp.shape(u) != (self.nu,):
            raise ValueError(f"u must have shape {(self.nu,)}, but it has shape {jnp.shape(u)}.")
        if self.selection is None:
            return self.model.actuation.forces(*self.split(x), u)
        return self.selection @ u

    def __call__(self, x: Float[Array, " nx"], u: Float[Array, " nu"]) -> Float[Array, " nx"]:
        """x⁺ = f(x, u), one time step later."""
        return self.step(x, u)[0]

    def step(self, x: Float[Array, " nx"], u: Float[Array, " nu"]) -> tuple[Float[Array, " nx"], Any]:
        """x⁺ = f(x, u), and the integrator's report on how the step went."""
        state = self.integrator.init(self.model, *self.split(x))
        after, info = self.integrator.step(self.model, state, self.forces(x, u))
        return jnp.concatenate([after.q, after.v]), info

    def rate(self, x: Float[Array, " nx"], u: Float[Array, " nu"]) -> Float[Array, " nx"]:
        """ẋ = (q̇, FD(q, v, τ)), the continuous dynamics; q̇ is the derivative of q ⊕ t v at t = 0."""
        q, v = self.split(x)
        q_dot = jax.jvp(lambda dv: integrate(self.model, q, dv), (jnp.zeros_like(v),), (v,))[1]
        return jnp.concatenate([q_dot, forward_dynamics(self.model, q, v, self.forces(x, u))])

    def integrate(self, x: Float[Array, " nx"], dx: Float[Array, " ndx"]) -> Float[Array, " nx"]:
        """x ⊕ δx."""
        (q, v), nv = self.split(x), self.model.nv
        return jnp.concatenate([integrate(self.model, q, dx[:nv]), v + dx[nv:]])

    def difference(self, x0: Float[Array, " nx"], x1: Float[Array, " nx"]) -> Float[Array, " ndx"]:
        """x1 ⊖ x0, the tangent vector with x0 ⊕ δx = x1."""
        (q0, v0), (q1, v1) = self.split(x0), self.split(x1)
        return jnp.concatenate([difference(self.model, q0, q1), v1 - v0])

    def linearise(self, x: Float[Array, " nx"], u: Float[Array, " nu"]) -> LinearDynamics:
        """A and B of f at (x, u): f(x ⊕ δx, u + δu) = f(x, u) ⊕ (A δx + B δu) to first order."""
        after = jax.lax.stop_gradient(self(x, u))

        def moved(dx, u):
            return self.difference(after, self(self.integrate(x, dx), u))

        return LinearDynamics(*jax.jacfwd(moved, argnums=(0, 1))(jnp.zeros(self.ndx, x.dtype), u))

    def curvature(
        self,
        x: Float[Array, " nx"],
        u: Float[Array, " nu"],
        after: Float[Array, " nx"],
        cotangent: Float[Array, " ndx"],
    ) -> Float[Array, "nz nz"]:
        """∂²(λᵀ (f(x ⊕ δx, u + δu) ⊖ after))/∂z² with z = (δx, δu) and the cotangent λ.

        For semi-implicit Euler on flat joints f = (q + h v + h² a, v + h a), so that this is h times the second
        derivatives of the forward dynamics contracted with h λ_q + λ_v, in closed form; else by differentiation.
        """
        flat = self.model.coupling is None and all(joint.is_euclidean for joint in self.model.joints)
        if flat and self.selection is not None and isinstance(self.integrator, SemiImplicitEuler):
            return self._closed_curvature(x, u, cotangent)

        def along(z):
            moved = self(self.integrate(x, z[: self.ndx]), u + z[self.ndx :])
            return cotangent @ self.difference(after, moved)

        return jax.hessian(along)(jnp.zeros(self.ndx + self.nu, x.dtype))

    def _closed_curvature(self, x: Array, u: Array, cotangent: Array) -> Array:
        (q, v), nv, h = self.split(x), self.model.nv, self.dt
        weights = h * (h * cotangent[:nv] + cotangent[nv:])
        d = contracted_forward_dynamics_second_derivatives(self.model, q, v, self.forces(x, u), weights)
        by_u = jnp.asarray(self.selection).T @ d.tauq
        none = jnp.zeros((nv, self.nu), x.dtype)
        rows = [d.qq, d.qv, by_u.T], [d.qv.T, d.vv, none], [by_u, none.T, jnp.zeros((self.nu, self.nu), x.dtype)]
        return jnp.block(list(rows))
