"""The identities M1–M19 of Singh et al. (2022, table I), corrected, and the component-wise classes."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.spatial import Coriolis, Force, Inertia, Motion, Sym3, Vec3
from jaxsim.spatial.matrix_algebra import (
    coriolis,
    cross,
    cross_force,
    cross_swapped,
    rotated,
    tensor_times,
    times_tensor,
    transposed,
)

rng = np.random.default_rng(0)
v, f = jnp.asarray(rng.normal(size=(6, 1))), jnp.asarray(rng.normal(size=(6, 1)))
U, V, F = (jnp.asarray(rng.normal(size=(6, n))) for n in (2, 3, 4))
B, Y = jnp.asarray(rng.normal(size=(5, 3))), jnp.asarray(rng.normal(size=(3, 4, 2)))
vx, vxs, fx = cross(v)[..., 0], cross_force(v)[..., 0], cross_swapped(f)[..., 0]

IDENTITIES = {
    "M1": (cross_force(U), -transposed(cross(U))),
    "M2": (-times_tensor(V.T, cross_force(U)), transposed(tensor_times(cross(U), V))),
    "M3": (
        -tensor_times(times_tensor(V.T, cross_force(U)), F),
        tensor_times(transposed(tensor_times(cross(U), V)), F),
    ),
    "M4": (tensor_times(cross(U), v)[:, 0], -vx @ U),
    "M5": (tensor_times(cross_force(U), F), rotated(tensor_times(cross_swapped(F), U))),
    "M6": (tensor_times(cross_swapped(F), U), rotated(tensor_times(cross_force(U), F))),
    "M7": (cross(1.7 * U), 1.7 * cross(U)),
    "M8": (tensor_times(cross(U), V), -rotated(tensor_times(cross(V), U))),
    "M9": (cross(vx @ U), times_tensor(vx, cross(U)) - tensor_times(cross(U), vx)),
    "M10": (cross_force(vx @ U), times_tensor(vxs, cross_force(U)) - tensor_times(cross_force(U), vxs)),
    "M11": (
        cross_swapped(tensor_times(cross_force(U), f)[:, 0]),
        tensor_times(cross_force(U), fx) - times_tensor(fx, cross(U)),
    ),
    "M12": (transposed(tensor_times(cross_force(U), F)), -times_tensor(F.T, cross(U))),
    "M13": (
        times_tensor(V.T, tensor_times(cross_force(U), F)),
        tensor_times(transposed(rotated(tensor_times(cross(V), U))), F),
    ),
    "M13, second form": (
        times_tensor(V.T, tensor_times(cross_force(U), F)),
        transposed(times_tensor(F.T, rotated(tensor_times(cross(V), U)))),
    ),
    "M14": (vxs @ F, tensor_times(cross_swapped(F), v)[:, 0]),
    "M15": (fx @ U, tensor_times(cross_force(U), f)[:, 0]),
    "M16": (
        times_tensor(V.T, rotated(tensor_times(cross_force(U), F))),
        rotated(tensor_times(transposed(rotated(tensor_times(cross(V), U))), F)),
    ),
    "M17": (
        times_tensor(V.T, rotated(tensor_times(cross_force(U), F))),
        -transposed(times_tensor(U.T, rotated(tensor_times(cross_force(V), F)))),
    ),
    "M18": (
        times_tensor(V.T, rotated(tensor_times(cross_force(U), F))),
        rotated(times_tensor(V.T, tensor_times(cross_force(U), F))),
    ),
    "M19": (transposed(times_tensor(B, Y)), tensor_times(transposed(Y), B.T)),
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_identity(name):
    left, right = IDENTITIES[name]
    assert left.shape == right.shape
    np.testing.assert_allclose(left, right, rtol=1e-13, atol=1e-13)


def test_the_cross_products_are_those_of_motions_and_forces():
    x, y, g = Motion.from_array(U[:, 0]), Motion.from_array(V[:, 0]), Force.from_array(F[:, 0])
    np.testing.assert_allclose(cross(U)[..., 0] @ V[:, 0], x.cross(y).to_array(), rtol=1e-14)
    np.testing.assert_allclose(cross_force(U)[..., 0] @ F[:, 0], x.cross_force(g).to_array(), rtol=1e-14)


def random_inertia() -> tuple[Inertia, jnp.ndarray]:
    A = rng.normal(size=(3, 3))
    inertia = Inertia.from_center(1.3, Vec3(*rng.normal(size=3)), Sym3.from_array(jnp.asarray(A @ A.T)))
    columns = [inertia.apply(Motion.from_array(e)).to_array() for e in jnp.eye(6)]
    return inertia, jnp.stack(columns, axis=1)


def matrix_of(C: Coriolis):
    return jnp.stack([C.apply(Motion.from_array(e)).to_array() for e in jnp.eye(6)], axis=1)


def test_coriolis_matrix_in_twelve_numbers():
    inertia, matrix = random_inertia()
    x = Motion.from_array(U[:, 0])
    C = Coriolis.of(x, inertia)
    np.testing.assert_allclose(matrix_of(C), 2 * coriolis(U, matrix)[..., 0], rtol=1e-12, atol=1e-13)
    y = Motion.from_array(V[:, 0])
    transposed_product = matrix_of(C).T @ V[:, 0]
    np.testing.assert_allclose(C.apply_transposed(y).to_array(), transposed_product[:3], rtol=1e-12)
    np.testing.assert_allclose(transposed_product[3:], 0, atol=1e-14)


def test_rates_of_inertia_and_coriolis_matrix():
    inertia, I = random_inertia()
    C = Coriolis.of(Motion.from_array(U[:, 0]), inertia)
    s = Motion.from_array(V[:, 0])
    sx, sxs = cross(V)[..., 0], cross_force(V)[..., 0]
    rate = inertia.rate(s)
    columns = [rate.apply(Motion.from_array(e)).to_array() for e in jnp.eye(6)]
    np.testing.assert_allclose(jnp.stack(columns, axis=1), sxs @ I - I @ sx, rtol=1e-12, atol=1e-13)
    M = matrix_of(C)
    np.testing.assert_allclose(matrix_of(C.rate(s)), sxs @ M - M @ sx, rtol=1e-12, atol=1e-12)
