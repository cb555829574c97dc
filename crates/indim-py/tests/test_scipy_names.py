"""The functions of `indim.scipy` and the windows of `indim.lax` equal SciPy's, and sums over windows."""

import numpy as np
import pytest
import scipy.signal
import scipy.special
import scipy.stats

import indim
from indim import lax, nn

RANDOM = np.random.default_rng(0)
X = np.concatenate([RANDOM.normal(size=40) * 3, [0.0, 1.0, -1.0, 30.0]])
POSITIVE, OTHER = np.abs(X) + 0.01, RANDOM.random(44) * 3 + 0.01
PART = np.concatenate([RANDOM.random(40), [0.0, 1.0, 1e-300, 1 - 1e-16]])
COUNT = np.array([0.0, 1.0, 3.0, 7.0, -1.0, 2.5])

SPECIAL = {
    "beta": (np.concatenate([POSITIVE, [0.0, -0.5]]), np.concatenate([OTHER, [0.0, -0.5]])),
    "betaln": (np.concatenate([POSITIVE, [0.0, -0.5]]), np.concatenate([OTHER, [0.0, -0.5]])),
    "digamma": (POSITIVE,),
    "entr": (X,),
    "erf": (X,),
    "erfc": (X,),
    "erfinv": (PART[:40],),
    "expit": (X,),
    "factorial": (np.arange(8.0),),
    "gamma": (X[:40],),
    "gammaln": (POSITIVE,),
    "gammasgn": (X[:40],),
    "i0": (X,),
    "i0e": (X,),
    "kl_div": (X, OTHER),
    "log_ndtr": (np.concatenate([X, [-5.0, -19.9, -20.1, -37.0, -100.0, 4.998, 8.0]]),),
    "logit": (PART[:40],),
    "ndtr": (X,),
    "ndtri": (PART,),
    "rel_entr": (X, OTHER),
    "xlog1py": (np.concatenate([X[:43], [0.0]]), np.concatenate([PART[:43], [-1.0]])),
    "xlogy": (np.concatenate([X[:43], [0.0]]), np.concatenate([PART[:43], [0.0]])),
}


@pytest.mark.filterwarnings("ignore:.*")
@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_are_those_of_scipy(name):
    expected = getattr(scipy.special, name)(*SPECIAL[name])
    function = getattr(indim.scipy.special, name)
    for found in (function(*SPECIAL[name]), indim.jit(function)(*SPECIAL[name])):
        np.testing.assert_allclose(found, expected, rtol=3e-12, atol=1e-14)
        assert found.dtype == np.float64
    narrow = [operand.astype(np.float32) for operand in SPECIAL[name]]
    assert function(*narrow).dtype == np.float32


def test_beta_at_poles_is_that_of_scipy():
    numbers = [-5, -4.5, -4, -3, -2.5, -2, -1, -0.5, 0.0, 0.5, 1, 1.5, 2, 3, 4, np.nan]
    a, b = np.meshgrid(numbers, numbers)
    for name in ("beta", "betaln"):
        expected = getattr(scipy.special, name)(a, b)
        found = indim.jit(getattr(indim.scipy.special, name))(a, b)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


UFUNCS = [name for name in dir(scipy.special) if isinstance(getattr(scipy.special, name), np.ufunc)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_ufuncs_of_scipy_are_traced_as_themselves_or_refused_by_their_names(dtype):
    x = np.array([0.3, 0.6, 0.9] if dtype != "i4" else [0, 1, 2], dtype)
    traced = []
    for name in UFUNCS:
        ufunc = getattr(scipy.special, name)
        try:
            found = indim.jit(ufunc)(*[x] * ufunc.nin)
        except TypeError as error:
            known = {"jn": "jv"}.get(name, name)
            assert str(error).startswith(f"scipy.special.{known} cannot be traced")
            continue
        expected = ufunc(*[x] * ufunc.nin)
        np.testing.assert_allclose(found, expected, rtol=1e-12 if dtype != "f4" else 1e-5)
        # The operations have their own types for integers.
        assert found.dtype == expected.dtype or dtype == "i4"
        traced.append(name)
    assert set(traced) >= {"betaln", "gamma", "i0", "log_ndtr", "logit", "ndtri", "rel_entr", "xlogy"}


def test_softmax_of_scipy_is_refused_or_traced():
    x = X[:40].reshape(5, 8)
    try:
        found = indim.jit(scipy.special.softmax)(x)
    except TypeError as error:
        assert "write indim.scipy.special.softmax" in str(error)
    else:
        np.testing.assert_allclose(found, scipy.special.softmax(x), rtol=1e-12)


def test_a_refused_ufunc_of_another_package_says_what_to_write():
    def of_one(x):
        return x * 2.0

    for function, message in [
        (scipy.special.log_expit, r"scipy.special.log_expit .*: write indim.nn.log_sigmoid\(x\)"),
        (scipy.special.erfcx, "scipy.special.erfcx .*: compute it before the call"),
        (np.frompyfunc(of_one, 1, 1), r"of_one is a Python function .*np.where.* indim.numpy.vectorize\("),
    ]:
        with pytest.raises(TypeError, match=message):
            indim.jit(lambda x: function(x))(X)
    np.testing.assert_array_equal(indim.jit(lambda x: indim.numpy.vectorize(of_one)(x))(X), X * 2)
    np.testing.assert_allclose(indim.nn.log_sigmoid(X), scipy.special.log_expit(X), rtol=1e-12)


def test_multigammaln_and_sums_of_exponentials_are_those_of_scipy():
    np.testing.assert_allclose(
        indim.scipy.special.multigammaln(OTHER + 2, 3), scipy.special.multigammaln(OTHER + 2, 3), rtol=1e-12
    )
    x, b = X[:40].reshape(5, 8), RANDOM.normal(size=(5, 8))
    for axis in (None, 0, 1):
        log, sign = indim.jit(lambda x, b: nn.logsumexp(x, axis, b, return_sign=True))(x, b)
        expected = scipy.special.logsumexp(x, axis, b, return_sign=True)
        np.testing.assert_allclose(log, expected[0])
        np.testing.assert_array_equal(sign, expected[1])
    np.testing.assert_allclose(
        nn.logsumexp(x, 1, np.abs(b), keepdims=True), scipy.special.logsumexp(x, 1, np.abs(b), keepdims=True)
    )
    np.testing.assert_allclose(nn.logmeanexp(x, 1), scipy.special.logsumexp(x, 1) - np.log(8))


#: Shape parameters and functions of each distribution.
DISTRIBUTIONS = {
    "beta": ((2.0, 3.5), "logpdf pdf"),
    "cauchy": ((), "logpdf pdf cdf sf ppf"),
    "expon": ((), "logpdf pdf cdf logcdf sf logsf ppf"),
    "gamma": ((2.5,), "logpdf pdf"),
    "laplace": ((), "logpdf pdf cdf"),
    "logistic": ((), "logpdf pdf cdf sf ppf isf"),
    "norm": ((), "logpdf pdf cdf logcdf sf logsf ppf isf"),
    "t": ((3.5,), "logpdf pdf"),
    "uniform": ((), "logpdf pdf cdf ppf"),
}


@pytest.mark.filterwarnings("ignore:.*")
@pytest.mark.parametrize(
    ("name", "function"),
    [(name, function) for name, (_, names) in DISTRIBUTIONS.items() for function in names.split()],
)
def test_distributions_are_those_of_scipy(name, function):
    shapes = DISTRIBUTIONS[name][0]
    x = PART[:40] if function in ("ppf", "isf") else X
    ours = getattr(getattr(indim.scipy.stats, name), function)
    theirs = getattr(getattr(scipy.stats, name), function)
    for options in ({}, {"loc": 0.5, "scale": 2.0}):
        found = indim.jit(lambda x: ours(x, *shapes, **options))(x)
        np.testing.assert_allclose(found, theirs(x, *shapes, **options), rtol=1e-11, atol=1e-14)
    placed = *shapes, 0.5, 2.0
    np.testing.assert_allclose(ours(x, *placed), theirs(x, *placed), rtol=1e-11, atol=1e-14)


@pytest.mark.filterwarnings("ignore:.*")
@pytest.mark.parametrize(("name", "parameter"), [("poisson", 2.5), ("bernoulli", 0.3)])
def test_distributions_of_whole_numbers_are_those_of_scipy(name, parameter):
    ours, theirs = getattr(indim.scipy.stats, name), getattr(scipy.stats, name)
    for function in ("logpmf", "pmf"):
        found = indim.jit(getattr(ours, function))(COUNT, parameter)
        np.testing.assert_allclose(found, getattr(theirs, function)(COUNT, parameter), rtol=1e-12)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("shapes", [((9,), (4,)), ((5, 6), (2, 3)), ((4, 3, 5), (2, 3, 2)), ((2, 3), (4, 3))])
def test_convolutions_are_those_of_scipy(mode, shapes):
    x, y = (RANDOM.normal(size=shape) for shape in shapes)
    for name in ("convolve", "correlate"):
        found = indim.jit(lambda x, y: getattr(indim.scipy.signal, name)(x, y, mode))(x, y)
        np.testing.assert_allclose(found, getattr(scipy.signal, name)(x, y, mode), atol=1e-12)
    if x.ndim == 2:
        for name in ("convolve2d", "correlate2d"):
            found = getattr(indim.scipy.signal, name)(x, y, mode)
            np.testing.assert_allclose(found, getattr(scipy.signal, name)(x, y, mode), atol=1e-12)


def _convolution(x, kernel, strides, widths, between, steps, groups):
    """The convolution of axes NCHW, element by element."""
    batch, _, *sizes = x.shape
    outputs, inputs, *spans = kernel.shape
    spread = np.zeros((*x.shape[:2], *((size - 1) * gap + 1 for size, gap in zip(sizes, between))))
    spread[:, :, :: between[0], :: between[1]] = x
    spread = np.pad(spread, [(0, 0), (0, 0), *widths])
    places = [
        (size - (span - 1) * step - 1) // stride + 1
        for size, span, step, stride in zip(spread.shape[2:], spans, steps, strides)
    ]
    result = np.zeros((batch, outputs, *places))
    for index in np.ndindex(*result.shape):
        n, o, row, column = index
        first = o // (outputs // groups) * inputs
        for i, a, b in np.ndindex(inputs, *spans):
            at = row * strides[0] + a * steps[0], column * strides[1] + b * steps[1]
            result[index] += spread[(n, first + i, *at)] * kernel[o, i, a, b]
    return result


@pytest.mark.parametrize(
    ("strides", "padding", "between", "steps", "groups"),
    [
        ((1, 1), [(0, 0), (0, 0)], (1, 1), (1, 1), 1),
        ((2, 1), [(1, 2), (0, 1)], (1, 1), (1, 2), 1),
        ((1, 2), [(2, 0), (1, 1)], (2, 3), (1, 1), 2),
        ((2, 2), [(1, 1), (1, 1)], (1, 1), (2, 1), 4),
    ],
)
def test_convolutions_of_networks(strides, padding, between, steps, groups):
    x, kernel = RANDOM.normal(size=(2, 4, 6, 5)), RANDOM.normal(size=(8, 4 // groups, 3, 2))
    expected = _convolution(x, kernel, strides, padding, between, steps, groups)
    options = {"lhs_dilation": between, "rhs_dilation": steps, "feature_group_count": groups}
    found = indim.jit(lambda x, k: lax.conv_general_dilated(x, k, strides, padding, **options))(x, kernel)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    options["dimension_numbers"] = ("NHWC", "HWIO", "NHWC")
    found = lax.conv_general_dilated(
        x.transpose(0, 2, 3, 1), kernel.transpose(2, 3, 1, 0), strides, padding, **options
    )
    np.testing.assert_allclose(found.transpose(0, 3, 1, 2), expected, atol=1e-12)


def test_named_paddings_of_convolutions():
    x, kernel = RANDOM.normal(size=(1, 1, 7)), np.ones((1, 1, 4))
    assert lax.conv(x, kernel, (2,), "VALID").shape == (1, 1, 2)
    same = lax.conv_general_dilated(x, kernel, (1,), "SAME")[0, 0]
    np.testing.assert_allclose(same, np.convolve(np.pad(x[0, 0], (1, 2)), np.ones(4), "valid"))
    lower = lax.conv_general_dilated(x, kernel, (1,), "SAME_LOWER")[0, 0]
    np.testing.assert_allclose(lower, np.convolve(np.pad(x[0, 0], (2, 1)), np.ones(4), "valid"))


@pytest.mark.parametrize("dtype", ["f4", "i4"])
def test_reductions_of_windows(dtype):
    x = (RANDOM.normal(size=(4, 6)) * 9).astype(dtype)
    least = -np.inf if dtype == "f4" else np.iinfo(dtype).min
    largest = indim.jit(lambda x: lax.reduce_window(x, least, lax.max, (2, 3), (2, 3)))
    np.testing.assert_array_equal(largest(x), x.reshape(2, 2, 2, 3).max((1, 3)))
    sums = lax.reduce_window(x, 0, lax.add, (1, 3), None, [(0, 0), (2, 0)])
    totals = np.cumsum(x, 1)
    np.testing.assert_allclose(sums, totals - np.pad(totals, [(0, 0), (3, 0)])[:, :-3], rtol=1e-4, atol=1e-4)
    assert sums.dtype == x.dtype
    gradient = indim.grad(lambda x: np.sum(lax.reduce_window(x, -np.inf, lax.max, (2,), (2,))))
    np.testing.assert_array_equal(gradient(np.array([1.0, 3.0, 5.0, 2.0])), [0, 1, 1, 0])


@pytest.mark.parametrize("function", [np.maximum, np.minimum])
def test_extremes_of_windows_that_overlap(function):
    x = RANDOM.normal(size=(2, 7, 8)).astype("f4")
    x[0, 2, 3], x[1, 0, 7] = np.nan, -0.0
    outside = np.float32(-np.inf if function is np.maximum else np.inf)
    padded = np.pad(x, [(0, 0), (1, 2), (2, 0)], constant_values=outside)
    # Windows of 3 by 2 with a step of 2 along the second of these axes.
    expected = [
        [[function.reduce(part[i : i + 3, j : j + 3 : 2], (0, 1)) for j in range(8)] for i in range(0, 8, 2)]
        for part in padded
    ]
    options = (1, 3, 2), (1, 2, 1), [(0, 0), (1, 2), (2, 0)], None, (1, 1, 2)
    for initial in (outside, np.float32(0.25)):
        found = indim.jit(lambda x: lax.reduce_window(x, initial, function, *options))(x)
        if initial == outside:
            np.testing.assert_array_equal(found, np.array(expected))
        else:
            filled = np.pad(x, options[2], constant_values=initial)
            first = [function.reduce(part[2:5, 3:6:2], (0, 1)) for part in filled]
            np.testing.assert_array_equal(found[:, 1, 3], function(first, initial))


def test_windows_of_empty_and_of_spread_arrays():
    empty = np.zeros((0, 3, 5))
    assert lax.reduce_window(empty, -np.inf, lax.max, (1, 1, 2), (1, 1, 2)).shape == (0, 3, 2)
    # JAX's widths of "SAME" are those of six elements, (0, 1), for the eleven elements of the spread array.
    spread = lax.reduce_window(np.arange(6.0), 0.0, lax.add, (3,), (2,), "SAME", (2,))
    np.testing.assert_array_equal(spread, [1, 3, 5, 7, 9])


def test_reductions_by_a_function():
    x = RANDOM.normal(size=(3, 4))
    np.testing.assert_allclose(lax.reduce(x, 2.0, lax.add, (0,)), x.sum(0) + 2)
    np.testing.assert_allclose(lax.reduce(x, 0.5, np.maximum, (0, 1)), max(x.max(), 0.5))
    found = indim.jit(lambda x: lax.reduce(x, 0.0, lambda a, b: a + b - a * b, (1,)))(x)
    np.testing.assert_allclose(found, 1 - np.prod(1 - x, axis=1))


#: A kernel of one element for each channel.
KERNEL = np.ones((1, 4, 1, 1))


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (
            NotImplementedError,
            "write a pair of widths",
            lambda x: lax.conv_general_dilated(x, KERNEL, (1, 1), "SAME", (2, 1)),
        ),
        (ValueError, "4 channels in 1 groups", lambda x: lax.conv(x, KERNEL[:, :3], (1, 1), "VALID")),
        (ValueError, "'SAME', 'SAME_LOWER', 'VALID'", lambda x: lax.conv(x, KERNEL, (1, 1), "FULL")),
        (ValueError, "window_strides is a positive", lambda x: lax.conv(x, KERNEL, (0, 1), "VALID")),
        (ValueError, "other axes than N, C, O, I", lambda x: lax.conv_general_dilated(
            x, x, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHX", "NCHW"))),
        (NotImplementedError, "write np.pad", lambda x: indim.scipy.signal.convolve2d(
            x[0, 0], x[0, 0], boundary="wrap")),
        (ValueError, "'full', 'same' or 'valid'", lambda x: indim.scipy.signal.convolve(x, x, "all")),
    ],
)  # fmt: skip
def test_mistakes_are_named(error, message, call):
    with pytest.raises(error, match=message):
        call(np.ones((2, 4, 3, 3)))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float16, np.float32])
def test_operations_have_the_types_of_scipy(dtype):
    x = np.array([0, 1, 1], dtype)
    for name in ("expit", "erf", "erfc", "expm1", "exp2", "cbrt", "log1p"):
        function = getattr(scipy.special, name)
        found, expected = indim.jit(function)(x), function(x)
        assert found.dtype == expected.dtype, name
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["beta", "betaln"])
def test_beta_of_large_and_infinite_arguments(name, recwarn):
    inf = np.inf
    a = np.array([inf, 2, inf, -inf, inf, inf, inf, 1e300, 1e8, 1e9, 1e8, 1e12, 2e6, 1e8, 1e7])
    b = np.array([2, inf, inf, 2, -1.5, -2.5, 0, 2, -1.5, -2.5, -2, 1e3, 1, 1e-8, 2.5])
    expected = getattr(scipy.special, name)(a, b)
    for run in (lambda f: f, indim.jit):
        found = run(getattr(indim.scipy.special, name))(a, b)
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    for of, by in ((1e8, 2.5), (2.5, 1e8), (3.0, 2.5)):
        expected = scipy.special.digamma(of) - scipy.special.digamma(of + by)
        np.testing.assert_allclose(indim.grad(indim.scipy.special.betaln)(of, by), expected, rtol=1e-7)
    assert not recwarn.list


def test_union1d_of_a_size():
    jnp, a, b = indim.numpy, np.array([3, 1]), np.array([[2, 3]])
    for run in (lambda f: f, indim.jit):
        assert run(lambda a, b: jnp.union1d(a, b))(a, b).tolist() == [1, 2, 3]
        assert run(lambda a, b: jnp.union1d(a, b, size=5))(a, b).tolist() == [1, 2, 3, 1, 1]
        assert run(lambda a, b: jnp.union1d(a, b, size=4, fill_value=9))(a, b).tolist() == [1, 2, 3, 9]
        assert run(lambda a, b: jnp.union1d(a, b, size=2))(a, b).tolist() == [1, 2]
