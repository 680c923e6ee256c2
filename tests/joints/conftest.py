"""Every joint of the package, once, for the tests that hold for all of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim import joints

JOINTS = {
    "fixed": joints.Fixed(),
    "revolute": joints.Revolute((0.3, -0.5, 0.8)),
    "prismatic": joints.Prismatic((0.3, -0.5, 0.8)),
    "helical": joints.Helical((0.3, -0.5, 0.8), pitch=0.4),
    "cylindrical": joints.Cylindrical((0.3, -0.5, 0.8)),
    "planar": joints.Planar(("x", (0.0, 1.0, 2.0))),
    "translational": joints.Translational(),
    "universal": joints.Universal(),
    "skew universal": joints.Universal(((1.0, 2.0, 0.0), (0.0, 1.0, 1.0))),
    "spherical": joints.Spherical(),
    "free 2d": joints.Free2D(),
    "free": joints.Free(),
    "composite": joints.Composite(joints.Helical("y", 0.2), joints.Revolute("x")),
    "composite free": joints.Composite(joints.Translational(), joints.Spherical()),
    "nested composite": joints.Composite(
        joints.Spherical(), joints.Composite(joints.Cylindrical("x"), joints.Revolute("-y"))
    ),
}


def integrated(joint, q, dv):
    """q ⊕ dv on arrays."""
    return jnp.stack([jnp.asarray(c) for c in joint.integrate(tuple(q), tuple(dv))]) if joint.nq else jnp.zeros(0)


def homogeneous(pose):
    """The 4×4 array of a pose."""
    R, p = pose.rotation.to_array(), pose.position.to_array()
    top = jnp.concatenate([R, p[..., None]], axis=-1)
    return jnp.concatenate([top, jnp.zeros_like(top[..., :1, :]).at[..., 0, 3].set(1.0)], axis=-2)


def twist(matrix):
    """The (ω, v) of a 4×4 element of se(3), of the skew part of its rotation."""
    w = 0.5 * jnp.stack(
        [
            matrix[2, 1] - matrix[1, 2],
            matrix[0, 2] - matrix[2, 0],
            matrix[1, 0] - matrix[0, 1],
        ]
    )
    return jnp.concatenate([w, matrix[:3, 3]])


def columns(motions):
    """Motions as the columns of an array (6, n)."""
    return jnp.stack([m.to_array() for m in motions], axis=-1) if motions else jnp.zeros((6, 0))


def closed_forms(joint, q, v):
    """What the joint says, as arrays: T (4, 4), S (6, nv), dS (6, nv, nv), bias (6,)."""
    dS = [columns(row) for row in joint.subspace_derivative(q)]
    return {
        "T": homogeneous(joint.transform(q)),
        "S": columns(joint.subspace(q)),
        "dS": jnp.stack(dS, axis=1) if dS else jnp.zeros((6, 0, 0)),
        "bias": joint.bias(q, v).to_array(),
    }


def derived(joint, q, v):
    """The same by automatic differentiation of the transform and of S along ``integrate``."""
    zero = jnp.zeros_like(v)

    def along(function):
        return jax.jacfwd(lambda dv: function(integrated(joint, q, dv)))(zero)

    T = homogeneous(joint.transform(q))
    rate = jnp.moveaxis(along(lambda q: homogeneous(joint.transform(q))), -1, 0)
    dS = along(lambda q: columns(joint.subspace(q)))
    return {
        "S": jax.vmap(lambda dT: twist(jnp.linalg.inv(T) @ dT), out_axes=1)(rate) if joint.nv else jnp.zeros((6, 0)),
        "dS": dS,
        "bias": jnp.einsum("ijk,j,k->i", dS, v, v),
    }


def random_states(joint, count=4, seed=0):
    """A few random configurations and velocities, shapes (count, nq) and (count, nv)."""
    keys = jax.random.split(jax.random.key(seed), count)
    q = np.array([[float(c) for c in joint.random(key)] for key in keys]).reshape(count, joint.nq)
    v = np.array(jax.random.normal(jax.random.key(seed + 1), (count, joint.nv)))
    return jnp.asarray(q), jnp.asarray(v)


@pytest.fixture(scope="session", params=JOINTS, ids=lambda name: name.replace(" ", "-"))
def joint(request):
    """Each joint in turn."""
    return JOINTS[request.param]
