import numpy as np
import pytest

from jaxsim.variational.quadrature import interpolation, lobatto

ORDERS = [1, 2, 3, 4, 7, 12]


def test_trapezoidal_and_simpson_fall_out():
    one, two, three = lobatto(1), lobatto(2), lobatto(3)
    np.testing.assert_allclose(one.weights, [0.5, 0.5], rtol=1e-15)
    np.testing.assert_allclose(one.b, [[-1, 1], [-1, 1]], rtol=1e-15)
    np.testing.assert_allclose(two.nodes, [0, 0.5, 1], atol=1e-16)
    np.testing.assert_allclose(two.weights, np.array([1, 4, 1]) / 6, rtol=1e-15)
    np.testing.assert_allclose(two.b, [[-3, 4, -1], [-1, 0, 1], [1, -4, 3]], atol=1e-14)
    np.testing.assert_allclose(three.nodes[1], (1 - 1 / np.sqrt(5)) / 2, rtol=1e-15)
    np.testing.assert_allclose(three.weights, np.array([1, 5, 5, 1]) / 12, rtol=1e-14)


@pytest.mark.parametrize("s", ORDERS)
def test_weights_integrate_polynomials_up_to_degree_2s_minus_1(s):
    rule = lobatto(s)
    for degree in range(2 * s):
        assert abs(rule.weights @ rule.nodes**degree - 1 / (degree + 1)) < 4e-16 * (s + 1)
    assert abs(rule.weights @ rule.nodes ** (2 * s) - 1 / (2 * s + 1)) > 1e-16


@pytest.mark.parametrize("s", ORDERS)
def test_differentiation_is_exact_for_polynomials_of_degree_s(s):
    rule = lobatto(s)
    for degree in range(1, s + 1):
        expected = degree * rule.nodes ** (degree - 1)
        np.testing.assert_allclose(rule.b @ rule.nodes**degree, expected, atol=5e-15 * (s + 1) ** 2)
    np.testing.assert_allclose(rule.a, (rule.weights[:, None] * rule.b).T, rtol=1e-15)


def test_interpolation_reproduces_polynomials_outside_the_nodes():
    nodes = lobatto(3).nodes
    points = np.array([-0.5, 0.3, 1.7])
    np.testing.assert_allclose(interpolation(nodes, points) @ nodes**3, points**3, atol=1e-13)


def test_too_few_points_are_refused():
    with pytest.raises(ValueError, match="s is 0"):
        lobatto(0)
