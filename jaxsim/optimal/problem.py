"""The optimal control problem that all methods of this folder solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Running = Callable[[Array, Array, Array], Array]
Terminal = Callable[[Array], Array]


class Problem(eqx.Module):
    """min Σ_{k<N} l(x_k, u_k, k) + l_N(x_N) over u, where x_{k+1} = f(x_k, u_k), x_0 is given and lower ≤ u ≤ upper.

    The constraints are h(x, u, k) = 0 and g(x, u, k) ≤ 0 at the steps k < N and h_N(x) = 0, g_N(x) ≤ 0 at the end. The
    functions are differentiated twice. To solve many problems at once, make a function of what differs (the start, a
    goal, the model) and ``vmap`` it.

    Attributes:
        dynamics: f with its manifold, see ``jaxsim.Dynamics``.
        x0: the start.
        steps: N.
        running: l(x, u, k), a number; k is the index of the step.
        terminal: l_N(x), a number; nothing by default.
        lower: the lower bounds of u, a number or one for each; ``None`` for no bounds, and
        upper: the upper ones.
        equality: h(x, u, k), a vector, or ``None``.
        inequality: g(x, u, k), a vector, or ``None``.
        terminal_equality: h_N(x), a vector, or ``None``.
        terminal_inequality: g_N(x), a vector, or ``None``.
    """

    dynamics: Any
    x0: Float[Array, " nx"]
    steps: int = eqx.field(static=True)
    running: Running
    terminal: Terminal | None = None
    lower: float | Float[Array, " nu"] | None = None
    upper: float | Float[Array, " nu"] | None = None
    equality: Running | None = None
    inequality: Running | None = None
    terminal_equality: Terminal | None = None
    terminal_inequality: Terminal | None = None

    def __check_init__(self):
        if self.steps < 1:
            raise ValueError(f"steps is {self.steps}; a problem needs at least one step.")
        if jnp.shape(self.x0) != (self.dynamics.nx,):
            raise ValueError(f"x0 must have shape {(self.dynamics.nx,)}, but it has shape {jnp.shape(self.x0)}.")

    @property
    def bounds(self) -> tuple[Array, Array] | None:
        """The bounds of u as vectors, or ``None`` if there are none."""
        if self.lower is None and self.upper is None:
            return None
        nu, dtype = self.dynamics.nu, self.x0.dtype
        low = -jnp.inf if self.lower is None else self.lower
        high = jnp.inf if self.upper is None else self.upper
        return jnp.broadcast_to(jnp.asarray(low, dtype), (nu,)), jnp.broadcast_to(jnp.asarray(high, dtype), (nu,))

    def end_cost(self, x: Array) -> Array:
        """l_N(x), zero if there is none."""
        return jnp.zeros((), x.dtype) if self.terminal is None else self.terminal(x)

    def cost(self, states: Float[Array, "N1 nx"], controls: Float[Array, "N nu"]) -> Float[Array, ""]:
        """Σ l + l_N of a trajectory."""
        k = jnp.arange(self.steps)
        return jnp.sum(jax.vmap(self.running)(states[:-1], controls, k)) + self.end_cost(states[-1])

    def rollout(self, controls: Float[Array, "N nu"]) -> Float[Array, "N1 nx"]:
        """The states from x_0 under the controls."""

        def step(x, u):
            after = self.dynamics(x, u)
            return after, after

        x0 = jnp.asarray(self.x0)
        return jnp.concatenate([x0[None], jax.lax.scan(step, x0, controls)[1]])

    def start(self, guess: Any = None) -> tuple[Float[Array, "N1 nx"], Float[Array, "N nu"]]:
        """States and controls of a guess: nothing (zero controls), the controls, or (states, controls).

        States that are given need not follow from the controls; those that are not given are rolled out.
        """
        dtype, shape = self.x0.dtype, (self.steps, self.dynamics.nu)
        states, controls = guess if isinstance(guess, tuple) else (None, guess)
        controls = jnp.zeros(shape, dtype) if controls is None else jnp.asarray(controls, dtype)
        if controls.shape != shape:
            raise ValueError(f"The guess of the controls must have shape {shape}, but it has shape {controls.shape}.")
        if self.bounds is not None:
            controls = jnp.clip(controls, *self.bounds)
        if states is None:
            return self.rollout(controls), controls
        states, expected = jnp.asarray(states, dtype), (self.steps + 1, self.dynamics.nx)
        if states.shape != expected:
            raise ValueError(f"The guess of the states must have shape {expected}, but it has shape {states.shape}.")
        return states, controls


class Tracking(eqx.Module):
    """½ Σ w_x (x ⊖ goal)² + ½ Σ w_u u²: the usual cost, running or terminal.

    Attributes:
        dynamics: whose manifold x lies on.
        goal: the state to reach.
        state_weight: w_x, a number or one for each of the ndx tangent coordinates.
        control_weight: w_u, a number or one for each control.
    """

    dynamics: Any
    goal: Float[Array, " nx"]
    state_weight: float | Float[Array, " ndx"] = 1.0
    control_weight: float | Float[Array, " nu"] = 0.0

    def __call__(self, x: Array, u: Array | None = None, k: Array | None = None) -> Array:
        cost = 0.5 * jnp.sum(self.state_weight * self.dynamics.difference(self.goal, x) ** 2)
        return cost if u is None else cost + 0.5 * jnp.sum(self.control_weight * u**2)
