"""One implicit stage: the equation that BDF1, BDF2 and both substeps of SDIRK2 solve.

All of them look for the increment ψ of the configuration over the step, with velocities and accelerations

    q⁺ = q ⊕ ψ,   v⁺ = (ψ − ψ̂)/c,   a⁺ = (v⁺ − v̂)/c,

and differ in c, ψ̂ and v̂ alone (Sueda, eqs. 3.64–3.82): the equation of motion holds at the end of the step. It is
inverse dynamics less the applied forces, so that no Jacobian of maximal coordinates is ever formed.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics import inverse_dynamics
from ..forces.applied import Forces, applied_forces
from ..model import Model, difference, integrate
from ..solvers.newton import max_norm


class Stage(eqx.Module):
    """What one stage depends on; its unknown is ψ.

    Attributes:
        model: the model.
        forces: what acts beside gravity, the model's own springs and τ.
        q: the configuration at the start of the step.
        psi_known: ψ̂.
        v_known: v̂.
        c: the factor of the method times the time step.
        tau: the joint forces.
    """

    model: Model
    forces: Forces
    q: Float[Array, " nq"]
    psi_known: Float[Array, " nv"]
    v_known: Float[Array, " nv"]
    c: Float[Array, ""]
    tau: Float[Array, " nv"]

    def velocity(self, psi: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """v⁺ = (ψ − ψ̂)/c."""
        return (psi - self.psi_known) / self.c

    def acceleration(self, psi: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """a⁺ = (v⁺ − v̂)/c."""
        return (self.velocity(psi) - self.v_known) / self.c

    def motion(self, psi: Float[Array, " nv"]) -> tuple[Array, Array, Array]:
        """q⁺, v⁺ and a⁺."""
        return integrate(self.model, self.q, psi), self.velocity(psi), self.acceleration(psi)


def residual(psi: Float[Array, " nv"], stage: Stage) -> Float[Array, " nv"]:
    """g = ID(q⁺, v⁺, a⁺) − f(q⁺, v⁺) − τ, Sueda's residuals 3.64, 3.69, 3.74 and 3.80 divided by c²."""
    q, v, a = stage.motion(psi)
    wrench, force = applied_forces(stage.model, stage.forces, q, v)
    return inverse_dynamics(stage.model, q, v, a, wrench) - force - stage.tau


def scale(psi: Float[Array, " nv"], stage: Stage) -> Float[Array, ""]:
    """The size of the forces that the stage balances, the unit of its residual."""
    model = stage.model
    q, v, _ = stage.motion(psi)
    wrench, force = applied_forces(model, stage.forces, q, v)
    accelerations = jnp.stack([jnp.zeros_like(v), v / stage.c])
    resting, stopped = jax.vmap(lambda a: inverse_dynamics(model, q, v, a))(accelerations)
    reach = jnp.maximum(1.0, jnp.max(jnp.abs(model.position)))
    weight = jnp.sum(model.mass) * jnp.sqrt(jnp.sum(model.gravity**2)) * reach
    sizes = [max_norm(x) for x in (resting, stopped - resting, force, stage.tau)] + [weight]
    sizes += [] if wrench is None else [max_norm(wrench)]
    return jnp.maximum(jnp.max(jnp.stack(sizes)), jnp.finfo(v.dtype).tiny)


def increment_columns(stage: Stage, psi: Float[Array, " nv"], directions: Array) -> Array:
    """How the configuration moves with ψ, along each row of ``directions``: q ⊕ (ψ + δ) = q⁺ ⊕ J_r(ψ) δ."""
    model = stage.model
    end = integrate(model, stage.q, psi)

    def along(direction):
        return jax.jvp(lambda psi: difference(model, end, integrate(model, stage.q, psi)), (psi,), (direction,))[1]

    return jax.vmap(along)(directions)


def is_flat(model: Model) -> bool:
    """Whether J_r is the identity: all joints have flat coordinates."""
    return all(joint.is_euclidean for joint in model.joints)
