"""What every force answers: joint forces at a state, and their derivatives.

Four kinds of force differ in what they look at: ``AbstractBodyForce`` at every body by itself, ``AbstractLinkForce`` at
the poses and twists of a few bodies, ``AbstractPotential`` is one of these by its energy alone, ``AbstractJointForce``
looks at the coordinates. One method makes a force of one's own; its derivatives follow.
"""

from __future__ import annotations

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics import jacobian_transpose_product
from ..model import Model, integrate


class AbstractForce(eqx.Module):
    """A force as a function of configuration and velocity."""

    @abc.abstractmethod
    def applied(self, model: Model, q: Array, v: Array) -> tuple[Float[Array, "nb 6"] | None, Float[Array, " nv"]]:
        """The wrenches on the bodies, each in its body's frame (``None`` for none), and the forces on the joints."""

    def joint_forces(self, model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """f = Jᵀ f_m + f_r: all that the force does, in the coordinates of the model."""
        wrench, force = self.applied(model, q, v)
        return force if wrench is None else force + jacobian_transpose_product(model, q, wrench)

    def stiffness(self, model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, "nv nv"]:
        """K = ∂f/∂q along q ⊕ δ, negative for a spring that holds."""
        return jax.jacfwd(lambda d: self.joint_forces(model, integrate(model, q, d), v))(jnp.zeros_like(v))

    def damping(self, model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, "nv nv"]:
        """D = ∂f/∂v, negative for a damper that brakes."""
        return jax.jacfwd(lambda v: self.joint_forces(model, q, v))(v)
