"""Every joint of the package, and what it says of itself as arrays, for the tests that hold for all of them."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxsim import joints

_RNG = np.random.default_rng(7)

JOINTS = {
    "fixed": joints.Fixed(),
    "revolute": joints.Revolute((0.3, -0.5, 0.8)),
    "prismatic": joints.Prismatic((0.3, -0.5, 0.8)),
    "helical": joints.Helical((0.3, -0.5, 0.8), pitch=0.4),
    "cylindrical": joints.Cylindrical((0.3, -0.5, 0.8)),
    "planar": joints.Planar(("x", (0.0, 1.0, 2.0))),
    "translational": joints.Translational(),
    "universal": joints.Universal(((1.0, 2.0, 0.0), (0.0, 1.0, 1.0))),
    "spherical": joints.Spherical(),
    "euler_spherical": joints.EulerSpherical("ZXZ"),
    "exponential_spherical": joints.ExponentialSpherical(),
    "free_2d": joints.Free2D(),
    "free": joints.Free(),
    "composite": joints.Composite(joints.Translational(), joints.Spherical()),
    "nested_composite": joints.Composite(
        joints.Helical("y", 0.2), joints.Composite(joints.Spherical(), joints.Prismatic("x"))
    ),
    "spline_curve": joints.SplineCurve(
        _RNG.normal(size=(6, 3)), np.array([1.0, 0.0, 0.0, 0.0]) + 0.4 * _RNG.normal(size=(6, 4))
    ),
    "spline_surface": joints.SplineSurface(_RNG.normal(size=(5, 6, 3)), 0.4 * _RNG.normal(size=(5, 6, 3))),
}


def array(components):
    """Components as one array."""
    return jnp.stack([jnp.asarray(c) for c in components], axis=-1) if len(components) else jnp.zeros(0)


def homogeneous(pose):
    """The 4×4 array of a pose."""
    R, p = pose.rotation.to_array(), pose.position.to_array()[..., None]
    batch = jnp.broadcast_shapes(R.shape[:-2], p.shape[:-2])
    top = jnp.concatenate([jnp.broadcast_to(R, (*batch, 3, 3)), jnp.broadcast_to(p, (*batch, 3, 1))], axis=-1)
    return jnp.concatenate([top, jnp.zeros_like(top[..., :1, :]).at[..., 0, 3].set(1.0)], axis=-2)


def twist(matrix):
    """(ω, v) of a 4×4 element of se(3), with ω from the skew part of its rotation."""
    w = jnp.stack([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
    return jnp.concatenate([0.5 * w, matrix[:3, 3]])


def columns(motions):
    """Motions as the columns of an array (6, n)."""
    return jnp.stack([m.to_array() for m in motions], axis=-1) if motions else jnp.zeros((6, 0))


def closed_forms(joint, q, v):
    """What the joint says: T (4, 4), S (6, nv), dS (6, nv, nv), bias (6,)."""
    dS = [columns(row) for row in joint.subspace_derivative(q)]
    return {
        "T": homogeneous(joint.transform(q)),
        "S": columns(joint.subspace(q)),
        "dS": jnp.stack(dS, axis=1) if dS else jnp.zeros((6, 0, 0)),
        "bias": joint.bias(q, v).to_array(),
    }


def by_differentiation(joint, q, v):
    """S by differentiating the transform along ``integrate``, dS by differentiating S, and dS/dt v."""

    def along(function):
        return jax.jacfwd(lambda dv: function(array(joint.integrate(q, dv))))(jnp.zeros(joint.nv))

    T = homogeneous(joint.transform(q))
    dT = jnp.moveaxis(along(lambda q: homogeneous(joint.transform(q))), -1, 0)
    rates = jnp.linalg.inv(T) @ dT
    dS = along(lambda q: columns(joint.subspace(q)))
    return {
        "S": jax.vmap(twist, out_axes=1)(rates) if joint.nv else jnp.zeros((6, 0)),
        "skew": jnp.abs(rates[:, :3, :3] + jnp.swapaxes(rates[:, :3, :3], 1, 2)),
        "dS": dS,
        "bias": jnp.einsum("ijk,j,k->i", dS, v, v),
    }


def random_states(joint, count=3, seed=0):
    """A few random configurations and velocities, shapes (count, nq) and (count, nv)."""
    keys = jax.random.split(jax.random.key(seed), count)
    q = np.array([[float(c) for c in joint.random(key)] for key in keys]).reshape(count, joint.nq)
    v = jax.random.normal(jax.random.key(seed + 1), (count, joint.nv))
    return jnp.asarray(q), v
