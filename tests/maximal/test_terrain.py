"""Height fields: the surface goes through its samples, and contacts know the derivative of their gap."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.maximal import MechanismBuilder, Terrain
from jaxsim.maximal.blocks import block_jacobian

HEIGHTS = np.random.default_rng(0).normal(size=(5, 6)) * 0.2
TERRAIN = Terrain(HEIGHTS, spacing=(0.5, 0.4), origin=(-1.0, -0.8))


def test_the_surface_goes_through_its_samples_and_is_smooth():
    x, y = -1.0 + 0.5 * np.arange(5.0), -0.8 + 0.4 * np.arange(6.0)
    points = jnp.asarray(np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2))
    height = jax.jit(jax.vmap(lambda p: TERRAIN.height(p[0], p[1])))
    slope = jax.jit(jax.vmap(jax.grad(lambda p: TERRAIN.height(p[0], p[1]))))
    np.testing.assert_allclose(height(points), HEIGHTS.ravel(), atol=1e-14)
    inner = points.reshape(5, 6, 2)[1:-1, 1:-1].reshape(-1, 2)
    # Catmull–Rom: the slope at a sample is the central difference of its neighbours, from both sides.
    along, across = HEIGHTS[2:, 1:-1] - HEIGHTS[:-2, 1:-1], HEIGHTS[1:-1, 2:] - HEIGHTS[1:-1, :-2]
    expected = np.stack([along / 1.0, across / 0.8])
    for side in (-1e-9, 1e-9):
        np.testing.assert_allclose(slope(inner + side), expected.reshape(2, -1).T, atol=1e-6)
    far = jnp.array([[9.0, 9.0]])
    np.testing.assert_allclose(height(far), HEIGHTS[-1, -1], atol=1e-14)
    np.testing.assert_array_equal(slope(far), 0.0)


def test_the_normal_row_is_the_derivative_of_the_gap():
    builder = MechanismBuilder()
    body = builder.add_body(1.0, (1.0, 1.0, 1.0))
    builder.add_box_on_terrain(body, TERRAIN, (0.3, 0.2, 0.1), friction=0.5)
    mechanism = builder.build()
    (group,) = mechanism.contacts
    q = jnp.array([[0.1, -0.05, 0.4, 0.9, 0.3, -0.2, 0.1]])
    q = q.at[:, 3:].divide(jnp.linalg.norm(q[:, 3:]))
    a, b = mechanism.pair(q, group.bodies)
    numeric = jax.jit(lambda x: block_jacobian(lambda x: group.gap(mechanism.joints, a, b.displaced(x))[:, None], x))
    rows = jax.jit(lambda: group.rows(mechanism.joints, a, b))()
    np.testing.assert_allclose(rows[1][:, :1], numeric(jnp.zeros((8, 6))), atol=1e-14)


def test_a_line_of_heights_is_no_terrain():
    with pytest.raises(ValueError, match="2×2"):
        Terrain(np.zeros((1, 5)))
