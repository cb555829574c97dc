"""Incomplete gamma and beta functions, polygamma, and distributions made of them, against SciPy."""

import numpy as np
import pytest

import indim
from indim import lax
from indim.scipy import special, stats

reference = pytest.importorskip("scipy.special")
distributions = pytest.importorskip("scipy.stats")

RNG = np.random.default_rng(0)


def samples(largest):
    """Parameters up to a number, and arguments near them and far from them."""
    a = RNG.random(400) * largest
    near = np.abs(a + np.sqrt(a) * RNG.normal(size=a.size) * 4)
    return np.concatenate([a, a]), np.concatenate([near, a * RNG.random(a.size) * 3])


@pytest.mark.parametrize("largest", [1, 10, 100, 1e4])
def test_incomplete_gamma_functions(largest):
    a, x = samples(largest)
    is_lower = x < a + 1
    for name, is_near in (("gammainc", is_lower), ("gammaincc", ~is_lower)):
        found, expected = getattr(special, name)(a, x), getattr(reference, name)(a, x)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        # SciPy's results of very small size have fewer digits.
        is_near = is_near & (expected > 1e-30)
        np.testing.assert_allclose(found[is_near], expected[is_near], rtol=1e-11)


def test_edges_of_incomplete_gamma_functions():
    edges = [0, 0.5, np.inf, np.nan, -1]
    a, x = np.meshgrid(edges, edges)
    np.testing.assert_allclose(special.gammainc(a, x), reference.gammainc(a, x), rtol=1e-14)
    np.testing.assert_allclose(special.gammaincc(a, x), reference.gammaincc(a, x), rtol=1e-14)
    assert special.gammainc(np.float32(2), np.float32(3)).dtype == np.float32
    assert lax.igamma(2.0, 3.0) == special.gammainc(2, 3) == 1 - lax.igammac(2.0, 3.0)
    assert special.gammainc(np.ones((2, 0)), 3.0).shape == (2, 0)


@pytest.mark.parametrize("largest", [1, 10, 100, 1e4])
def test_incomplete_beta_functions(largest):
    a, b = RNG.random(500) * largest, RNG.random(500) * largest
    mean = a / (a + b)
    x = np.clip(mean + np.sqrt(mean * (1 - mean) / (a + b + 1)) * RNG.normal(size=500) * 4, 0, 1)
    found, expected = special.betainc(a, b, x), reference.betainc(a, b, x)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)
    is_near = (x < (a + 1) / (a + b + 2)) & (expected > 1e-30)
    np.testing.assert_allclose(found[is_near], expected[is_near], rtol=1e-11)


def test_edges_of_the_incomplete_beta_function():
    x = np.array([0, 0.3, 1, -0.1, 1.1, np.nan])
    np.testing.assert_allclose(lax.betainc(2.0, 0.5, x), reference.betainc(2.0, 0.5, x), rtol=1e-14)
    assert np.isnan(special.betainc(-1.0, 2.0, 0.5)) and np.isnan(special.betainc(1.0, np.nan, 0.5))


@pytest.mark.parametrize("order", [0, 1, 2, 5, 20, 50])
def test_polygamma(order):
    x = np.concatenate([RNG.random(200) * 3, 10.0 ** RNG.uniform(-4, 5, 200), [0, np.inf]])
    expected = reference.polygamma(order, x)
    found = indim.jit(lambda x: special.polygamma(order, x))(x)
    is_known = np.isfinite(expected) & (np.abs(expected) > 1e-290)
    np.testing.assert_allclose(found[is_known], expected[is_known], rtol=1e-13)
    if order:
        assert np.isinf(found[-2])
    with pytest.raises(ValueError, match="an order from 0 to 50"):
        special.polygamma(51, x)


def numerical(function, x, step=1e-5):
    return (function(x + step) - function(x - step)) / (2 * step)


@pytest.mark.parametrize("order", [1, 2, 3, 5, 8])
def test_polygamma_of_negative_numbers(order):
    # Parts of 1/8 and 3/8, because functions of even order have zeros near the halves.
    x = -np.arange(25.0)[:, None] - np.array([1e-9, 0.125, 0.375, 0.75, 0.9])
    expected = reference.polygamma(order, x)
    np.testing.assert_allclose(special.polygamma(order, x), expected, rtol=1e-12)
    np.testing.assert_allclose(indim.jit(lambda x: special.polygamma(order, x))(x), expected, rtol=1e-12)
    poles = special.polygamma(order, np.array([0.0, -1.0, -30.0]))
    np.testing.assert_array_equal(poles, np.inf * (-1.0) ** (order + 1))


def test_limits_of_the_incomplete_beta_function():
    inf = np.inf
    cases = {
        (0, 1, 0.5): 1, (0, 1, 0.0): 0, (1, inf, 0.5): 1, (1, inf, 0.0): 0, (0, inf, 0.5): 1,
        (1, 0, 0.5): 0, (1, 0, 1.0): 1, (inf, 1, 0.5): 0, (inf, 1, 1.0): 1, (inf, 0, 0.5): 0,
        (0, 0, 0.5): np.nan, (inf, inf, 0.5): np.nan, (-1, 0, 0.5): np.nan, (1, 0, 1.5): np.nan,
    }  # fmt: skip
    a, b, x = np.array(list(cases), float).T
    np.testing.assert_array_equal(indim.jit(special.betainc)(a, b, x), list(cases.values()))


def test_derivatives():
    a, b = np.array([0.5, 2.0, 15.0, 40.0]), np.array([2.0, 0.7, 20.0, 35.0])
    x, part = np.array([0.3, 4.0, 12.0, 45.0]), np.array([0.2, 0.9, 0.4, 0.5])
    for name, arguments in (("gammainc", (a, x)), ("gammaincc", (a, x)), ("betainc", (a, b, part))):
        for place, argument in enumerate(arguments):

            def of(module, value):
                given = (*arguments[:place], value, *arguments[place + 1 :])
                return getattr(module, name)(*given)

            gradient = indim.grad(lambda value: of(special, value).sum())(argument)
            expected = numerical(lambda value: of(reference, value), argument)
            np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-9)
    second = indim.grad(lambda x: indim.grad(lambda x: special.gammainc(a, x).sum())(x).sum())(x)
    density = lambda x: np.exp(-x) * x ** (a - 1) / reference.gamma(a)
    np.testing.assert_allclose(second, numerical(density, x), rtol=1e-6)
    third = indim.vmap(indim.grad(lambda x: special.polygamma(2, x)))(x)
    np.testing.assert_allclose(third, reference.polygamma(3, x), rtol=1e-13)
    batch = indim.vmap(special.betainc)(a, b, part)
    np.testing.assert_allclose(batch, reference.betainc(a, b, part), rtol=1e-12)


@pytest.mark.parametrize("name, parameters", [("chi2", (3.0,)), ("gamma", (2.5,)), ("beta", (2.0, 0.7))])
@pytest.mark.parametrize("function", ["logpdf", "pdf", "cdf", "sf"])
def test_continuous_distributions(name, parameters, function):
    x = np.linspace(-1, 9, 21)
    found = getattr(getattr(stats, name), function)(x, *parameters, loc=0.25, scale=2.0)
    expected = getattr(getattr(distributions, name), function)(x, *parameters, loc=0.25, scale=2.0)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_binomial_and_dirichlet_distributions():
    k = np.array([-1, 0, 1, 4, 5, 6, 0.5, np.nan])
    for p in (0.3, 0.0, 1.0, 1.5):
        found, expected = stats.binom.logpmf(k, 5, p), distributions.binom.logpmf(k, 5, p)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(stats.binom.pmf(3, 5, 0.3), distributions.binom.pmf(3, 5, 0.3))
    x, alpha = np.array([0.2, 0.3, 0.5]), np.array([1.5, 2, 0.7])
    expected = distributions.dirichlet.logpdf(x, alpha)
    for shares in (x, x[:2]):
        np.testing.assert_allclose(indim.jit(stats.dirichlet.logpdf)(shares, alpha), expected, rtol=1e-13)
    both = stats.dirichlet.pdf(np.stack([x, x[::-1]], axis=1), alpha)
    np.testing.assert_allclose(both[0], np.exp(expected))
    assert stats.dirichlet.logpdf(x * 2, alpha) == -np.inf
    with pytest.raises(ValueError, match="as many shares"):
        stats.dirichlet.logpdf(x[:1], alpha)
    with pytest.raises(AttributeError, match="np.linalg.cholesky"):
        stats.multivariate_normal


@pytest.mark.parametrize(
    "stride, size, padding", [(1, 3, "SAME"), (2, 3, "VALID"), (3, 2, "SAME"), (2, 4, "VALID")]
)
def test_a_transposed_convolution_is_the_gradient_of_a_convolution(stride, size, padding):
    kernel, y = RNG.random((size, 2, 3)), RNG.random((1, 5, 3))
    orders = ("NHC", "HIO", "NHC")
    found = lax.conv_transpose(y, kernel, (stride,), padding, transpose_kernel=True)
    x = np.zeros((1, found.shape[1], 2))
    convolved = lambda x: lax.conv_general_dilated(x, kernel, (stride,), padding, dimension_numbers=orders)
    assert convolved(x).shape == y.shape
    np.testing.assert_allclose(found, indim.vjp(convolved, x)[1](y)[0], rtol=1e-13)


def test_paddings_of_transposed_convolutions():
    x, kernel = RNG.random((1, 4, 1)), RNG.random((3, 1, 1))
    full = lax.conv_transpose(x, kernel, (2,), [(2, 2)])
    between = np.zeros(7)
    between[::2] = x[0, :, 0]
    np.testing.assert_allclose(full[0, :, 0], np.convolve(between, kernel[::-1, 0, 0]), rtol=1e-13)
    consistent = lax.conv_transpose(x, kernel, (2,), [(0, 1)], use_consistent_padding=True)
    np.testing.assert_allclose(consistent, full[:, :-1])
    with pytest.raises(ValueError, match="'SAME', 'VALID' or pairs"):
        lax.conv_transpose(x, kernel, (2,), "FULL")
    with pytest.raises(ValueError, match="name their order"):
        lax.conv_transpose(np.ones((1,) * 6), np.ones((1,) * 6), (1,) * 4, "SAME")


#: Derivatives by mpmath 1.3 with 30 digits, at whole parameters, where the continued fractions end.
AT_WHOLE_PARAMETERS = [
    (lambda a: special.gammaincc(a, 2.0), 1.0, 0.2208254262118595),
    (lambda a: special.gammaincc(a, 8.0), 3.0, 0.017791335986496484),
    (lambda a: special.betainc(a, 2.0, 0.4), 1.0, -0.3464260683994592),
    (lambda b: special.betainc(2.0, b, 0.1), 3.0, 0.026950160688921986),
    (lambda b: special.betainc(4.0, b, 0.95), 7.0, 2.1824905683902529e-07),
]


@pytest.mark.parametrize("function, parameter, expected", AT_WHOLE_PARAMETERS)
def test_derivatives_at_whole_parameters(function, parameter, expected):
    np.testing.assert_allclose(indim.grad(function)(parameter), expected, rtol=1e-12)
