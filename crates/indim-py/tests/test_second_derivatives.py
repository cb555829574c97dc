"""Derivatives where a formula has branches or divisions, but the function is smooth. The expected values are
those of the functions' Taylor series."""

import indim
import indim.numpy as inp
import numpy as np
import pytest

LN2 = np.log(2)
CASES = [
    # The function, the point, its first and second derivative.
    (lambda x: inp.logaddexp(x, 0.0), 0.0, 0.5, 0.25),
    (lambda x: inp.logaddexp(0.0, x), 0.0, 0.5, 0.25),
    (lambda x: inp.logaddexp(x, np.inf), np.inf, 0.5, None),
    (lambda x: inp.logaddexp2(x, 0.0), 0.0, 0.5, LN2 / 4),
    (lambda x: inp.logaddexp2(1.0, x), 1.0, 0.5, LN2 / 4),
    (indim.nn.softplus, 0.0, 0.5, 0.25),
    (indim.nn.log_sigmoid, 0.0, 0.5, -0.25),
    (indim.nn.celu, 0.0, 1.0, 1.0),
    (lambda x: indim.lax.cumlogsumexp(inp.stack([x, 0 * x]))[1], 0.0, 0.5, 0.25),
    (inp.sinc, 0.0, 0.0, -np.pi**2 / 3),
    (inp.i0, 0.0, 0.0, 0.5),
    (indim.grad(indim.grad(inp.i0)), 0.0, 0.0, 3 / 8),
    (lambda x: inp.prod(inp.stack([x, x, x + 1])), 0.0, 0.0, 2.0),
    (lambda x: inp.prod(inp.stack([x, x, x + 1])), -1.0, 1.0, -4.0),
    (lambda x: inp.prod(inp.stack([x, x, x, x + 1])), 0.0, 0.0, 0.0),
    (lambda x: inp.prod(inp.stack([x, x, x + 1])), 2.0, 16.0, 14.0),
]


@pytest.mark.parametrize("function, point, first, second", CASES)
def test_derivatives_are_those_of_the_smooth_function(function, point, first, second):
    assert np.isclose(indim.grad(function)(point), first, rtol=1e-12, atol=1e-12)
    if second is not None:
        assert np.isclose(indim.grad(indim.grad(function))(point), second, rtol=1e-12, atol=1e-12)


def test_a_product_that_overflows_has_no_derivative_of_nan():
    gradient = indim.grad(np.prod)
    assert np.array_equal(gradient(np.array([0.0, 1e200, 1e200, 3.0])), [np.inf, 0, 0, 0])
    assert np.array_equal(gradient(np.array([0.0, np.inf, 2.0])), [np.inf, 0, 0], equal_nan=True)


@pytest.mark.parametrize("zeros", [[], [0], [2], [3], [0, 1], [1, 3], [0, 1, 2, 3], [1, 2, 3]])
@pytest.mark.parametrize("reverse, exclusive", [(False, False), (True, False), (False, True), (True, True)])
def test_cumulative_products_with_zeros(zeros, reverse, exclusive):
    x, weights = np.array([2.0, -1.5, 3.0, 0.5]), np.array([1.0, -2.0, 3.0, 5.0])
    x[zeros] = 0.0

    def by_scan(x):
        return np.sum(weights * indim.cumprod(x, reverse=reverse, exclusive=exclusive))

    def by_products(x):
        parts = [x[i + exclusive :] if reverse else x[: i + (not exclusive)] for i in range(4)]
        return sum(weight * np.prod(part) for weight, part in zip(weights, parts))

    assert np.allclose(indim.grad(by_scan)(x), indim.grad(by_products)(x), rtol=1e-14)
    of_jacobians = (lambda f: indim.jacrev(indim.grad(f)), lambda f: indim.jacfwd(indim.jacfwd(f)))
    for hessian in (indim.hessian, *of_jacobians):
        assert np.allclose(hessian(by_scan)(x), hessian(by_products)(x), rtol=1e-14)
    # The gradient of an element after a zero is +0.
    after = indim.grad(lambda x: -np.sum(np.cumprod(x)))(np.array([0.0, 2.0, -3.0, np.inf]))[1:]
    assert np.array_equal(after, [0.0, 0.0, 0.0]) and not np.signbit(after).any()


def test_logaddexp2_of_equal_and_infinite_arguments_is_that_of_numpy():
    x = np.array([-np.inf, np.inf, -2.5, 0.0, 1e300, np.nan])
    assert np.array_equal(indim.jit(np.logaddexp2)(x, x), np.logaddexp2(x, x), equal_nan=True)


def test_newton_steps_for_a_logistic_regression_begin_at_zero_weights():
    x, y = np.array([[1.0, 2.0], [1.0, -1.0], [1.0, 0.5]]), np.array([1.0, 0.0, 0.0])

    def loss(w):
        scores = x @ w
        return np.sum(np.logaddexp(0.0, scores) - y * scores)

    assert np.allclose(indim.hessian(loss)(np.zeros(2)), x.T @ x / 4)


def test_powers_at_0():
    def of_exponents(x):
        return np.sum(x ** np.arange(4))

    for function, at, expected in (
        (lambda x: x**0, 0.0, (1, 0)),
        (of_exponents, 0.0, (1, 1)),
        (lambda x: indim.numpy.power(0.0, x), 1.0, (0, 0)),
    ):
        assert indim.jvp(function, (at,), (1.0,)) == expected
    both = indim.hessian(lambda x: x[0] ** 1 * x[1] ** 2)(np.array([0.0, 3.0]))
    np.testing.assert_array_equal(both, [[0, 6], [6, 0]])
    assert indim.grad(indim.grad(lambda x: x**0))(0.0) == 0
    mixed = indim.hessian(lambda x: x[0] ** x[1])(np.array([2.0, 0.0]))
    np.testing.assert_allclose(mixed, [[0, 0.5], [0.5, np.log(2) ** 2]])


def test_the_derivative_of_an_interpolation_at_knots_is_the_slope_to_the_right():
    points, values = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 8.0])
    slopes = [indim.grad(lambda x: np.interp(x, points, values))(x) for x in points]
    assert slopes == [2, 3, 3]
    by_points = indim.grad(lambda points: np.interp(1.0, points, values))(points)
    np.testing.assert_array_equal(by_points, [0, -3, 0])
