"""BDF2 as Sueda's REDMAX writes it, plainly in JAX: a dense Jacobian J, M_r = JᵀM_mJ, and a dense Newton matrix.

For chains of rods on revolute joints about y only: the rival of ``benchmarks.implicit``, and a check of its results.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import jaxsim


def _skew(a):
    return jnp.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def _adjoint(R, p):
    """The 6×6 matrix that carries twists (ω; v) from the child to the parent."""
    return jnp.block([[R, jnp.zeros((3, 3))], [_skew(p) @ R, R]])


class DenseChain:
    """The equations of a chain in reduced coordinates, from the maximal ones of its rods."""

    def __init__(self, model: jaxsim.Model):
        self.n, self.damping, self.gravity = model.nv, model.damping, model.gravity
        self.offset = model.position[1:]
        blocks = []
        for mass, com, inertia in zip(model.mass[1:], model.com[1:], model.inertia[1:], strict=True):
            c = np.array(_skew(com))
            top = np.hstack([np.asarray(inertia) + mass * c @ c.T, mass * c])
            blocks.append(np.vstack([top, np.hstack([mass * c.T, mass * np.eye(3)])]))
        self.mass = jnp.asarray(np.stack(blocks))
        self.weight, self.com = model.mass[1:], model.com[1:]
        self.below = np.tril(np.ones((self.n, self.n)))

    def poses(self, q):
        """Rotations and positions of the rods."""

        def step(parent, x):
            R, p = parent
            angle, offset = x
            c, s = jnp.cos(angle), jnp.sin(angle)
            turn = jnp.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
            child = R @ turn, p + R @ offset
            return child, child

        return jax.lax.scan(step, (jnp.eye(3), jnp.zeros(3)), (q, self.offset))[1]

    def jacobian(self, q):
        """J with φ_i = Σ_j J_ij q̇_j (eq. 2.13), of shape (n, 6, n)."""
        R, p = self.poses(q)
        S = jnp.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
        screws = jax.vmap(lambda R, p: _adjoint(R, p) @ S)(R, p)
        back = jax.vmap(lambda R, p: _adjoint(R.T, -R.T @ p))(R, p)
        return jnp.einsum("iab,jb->iaj", back, screws) * self.below[:, None]

    def residual(self, q, v, a, tau):
        """JᵀM_m(J a + J̇ v) − Jᵀ(f_Coriolis + f_gravity) − f_r − τ (eqs. 2.17 and 3.64, divided by c²)."""
        J, J_dot = jax.jvp(self.jacobian, (q,), (v,))
        phi, rate = J @ v, J @ a + J_dot @ v
        R, _ = self.poses(q)
        momentum = jnp.einsum("iab,ib->ia", self.mass, phi)
        w, u = phi[:, :3], phi[:, 3:]
        coriolis = jnp.concatenate(
            [jnp.cross(w, momentum[:, :3]) + jnp.cross(u, momentum[:, 3:]), jnp.cross(w, momentum[:, 3:])], 1
        )
        pull = self.weight[:, None] * jnp.einsum("iba,b->ia", R, self.gravity)
        gravity = jnp.concatenate([jnp.cross(self.com, pull), pull], 1)
        needed = jnp.einsum("iab,ib->ia", self.mass, rate) + coriolis - gravity
        return jnp.einsum("iaj,ia->j", J, needed) + self.damping * v - tau

    def step(self, h, carry, tau, iterations=None):
        """One step of BDF2 from (q, v, last increment, velocity before) by Newton's method."""
        q, v, last, v_before = carry
        c = 2.0 / 3.0 * h
        psi_known, v_known = last / 3.0, (4.0 * v - v_before) / 3.0

        def g(psi):
            v_next = (psi - psi_known) / c
            return self.residual(q + psi, v_next, (v_next - v_known) / c, tau)

        def direction(psi):
            return jnp.linalg.solve(jax.jacfwd(g)(psi), g(psi))

        psi = psi_known + c * (2.0 * v - v_before)
        if iterations is None:
            start = psi, jnp.ones_like(h) * jnp.inf, 0
            psi, _, _ = jax.lax.while_loop(
                lambda s: (s[1] > 1e-9) & (s[2] < 20),
                lambda s: (lambda d: (s[0] - d, jnp.max(jnp.abs(d)), s[2] + 1))(direction(s[0])),
                start,
            )
        else:
            psi = jax.lax.fori_loop(0, iterations, lambda _, psi: psi - direction(psi), psi)
        return q + psi, (psi - psi_known) / c, psi, v
