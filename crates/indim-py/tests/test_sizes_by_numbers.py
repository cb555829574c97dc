"""NumPy's functions whose sizes are numbers that depend on data, with counts, weights and polynomials."""

import itertools

import numpy as np
import pytest

import indim

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(3, 4))


def check(function, *arrays, tolerance=0):
    """Compares a compiled function with the function."""
    expected, found = function(*arrays), indim.jit(function)(*arrays)
    pairs = [(expected, found)] if not isinstance(expected, tuple) else zip(expected, found, strict=True)
    for of_numpy, array in pairs:
        assert array.dtype == np.asarray(of_numpy).dtype and array.shape == np.shape(of_numpy)
        np.testing.assert_allclose(array, of_numpy, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["i8", "f8", "?", "u1", "c16"])
@pytest.mark.parametrize("shape", [(6, 3), (5, 2, 2), (1, 3), (4,)])
def test_different_slices(shape, dtype):
    x = RANDOM.integers(0, 2, shape).astype(dtype)
    for axis in range(-1, len(shape)):
        check(lambda x: np.unique(x, axis=axis), x)
        check(lambda x: np.unique(x, True, True, True, axis=axis), x)
    assert indim.unique(x, axis=0).shape == np.unique(x, axis=0).shape


def test_slices_with_nan_are_different():
    x = np.array([[np.nan, 1.0], [0.0, 1.0], [np.nan, 1.0]])
    check(lambda x: np.unique(x, axis=0, return_counts=True), x)


@pytest.mark.parametrize("dtype", ["i8", "f8", "u1"])
def test_common_elements_and_where_they_are(dtype):
    a, b = np.array([5, 1, 3, 1, 9]).astype(dtype), np.array([9.0, 3, 7, 3, 0])
    check(lambda a, b: np.intersect1d(a, b, return_indices=True), a, b)
    check(lambda a: np.intersect1d(a, b, return_indices=True), a)
    check(lambda b: np.intersect1d(a, b, return_indices=True), b)
    check(lambda a: np.intersect1d(a, b[:3], True, True), a[1:3])
    check(lambda a: np.intersect1d(a, b + 20, return_indices=True), a)


@pytest.mark.parametrize("values", [[0, 0, 1, 2, 0, 3, 0], [0, 0], [1, 2], [0.0, 0, 5], []])
def test_zeros_at_the_ends(values):
    for trim in ("fb", "f", "b", "F"):
        check(lambda x: np.trim_zeros(x, trim), np.array(values))


def test_repeats_by_counts():
    counts = np.array([2, 0, 1, 3])
    check(lambda x, c: np.repeat(x, c, axis=1), X, counts)
    check(lambda x, c: x.repeat(c, 0), X, np.array([1, 2, 0]))
    check(lambda x, c: np.repeat(x, c), X, np.uint8(3))
    check(lambda x, c: np.repeat(x, c, axis=1), X, 0 * counts)
    # NumPy's arrays and lists are operands too.
    check(lambda c: np.repeat(X, c, axis=1), counts)
    check(lambda c: np.repeat([1.0, 2.0], c), counts[:2])
    for wrong, error in ((-counts, ValueError), (counts[:3], ValueError), (counts * 0.5, TypeError)):
        with pytest.raises(error):
            indim.jit(lambda x, c: np.repeat(x, c, axis=1))(X, wrong)
    with pytest.raises(TypeError, match="total_repeat_length"):
        indim.vmap(lambda x: np.repeat(x, x.astype(int)))(X)


def test_repeats_of_a_known_length():
    repeat = indim.numpy.repeat
    # The last part fills the rest, as in JAX.
    for length, expected in ((5, [0, 1, 1, 2, 2]), (2, [0, 1])):
        def call(x, counts):
            return repeat(x, counts, axis=0, total_repeat_length=length)

        for found in (call(X, np.array([1, 2, 0])), indim.jit(call)(X, np.array([1, 2, 0]))):
            np.testing.assert_array_equal(found, X[expected])
    np.testing.assert_array_equal(repeat([1, 2], 2), [1, 1, 2, 2])


def test_rolls_by_traced_numbers():
    for shift, axis in ((2, None), (-5, 0), (7, 1), (2, -1)):
        check(lambda x, s: np.roll(x, s, axis), X, np.int64(shift))
        check(lambda s: np.roll(X, s, axis), np.int64(shift))
    check(lambda x, s: np.roll(x, (s, 1), (0, 1)), X, np.int64(2))
    check(lambda x, s: np.roll(x, s, (0, 1)), X, np.array([2, -1]))
    check(lambda x, s: np.roll(x, s, (0, 1)), X, np.int64(3))
    check(lambda x, s: np.roll(x, s, 0), X[:0], np.int64(3))
    rolled = indim.vmap(lambda x, s: np.roll(x, s))(X, np.array([0, 1, 2]))
    np.testing.assert_array_equal(rolled, [np.roll(row, s) for s, row in enumerate(X)])


def test_sums_of_shifts_stay_in_range():
    x, narrow = np.arange(7), np.array([100, 100], np.int8)
    for call, shift in (
        (np.roll, 200),
        (lambda x, s: np.roll(x, s, (0, 0)), 200),
        (lambda x, s: np.roll(x, (s[0], np.int8(100), s[1])), 300),
    ):
        np.testing.assert_array_equal(indim.jit(call)(x, narrow), np.roll(x, shift))
    for extreme in (np.int64(-(2**63)), np.int64(2**63 - 1), np.uint64(2**64 - 1), np.True_):
        expected = np.roll(x, int(extreme) % 7), np.roll(x, 2 * int(extreme) % 7)
        np.testing.assert_array_equal(indim.jit(np.roll)(x, extreme), expected[0])
        np.testing.assert_array_equal(indim.jit(np.roll)(x, np.stack([extreme, extreme])), expected[1])
    none = np.zeros(0, int)
    for axis in ((), None, 0, 1):
        check(lambda x, s: np.roll(x, s, axis), X, none)
    for call in (lambda x, s: np.roll(x, s, (0, 1)), lambda x, s: np.roll(x, s[None], 0)):
        for of in (call, indim.jit(call)):
            with pytest.raises(ValueError):
                of(X, none)
    with pytest.raises(TypeError, match="shifts of integers, not of float64"):
        indim.jit(np.roll)(x, np.array([1.5]))


def test_rolls_with_the_arguments_of_jax():
    roll, shifts = indim.numpy.roll, np.array([100, 100], np.int8)
    calls = [
        (lambda x, s: roll(x, s), 4),
        (lambda x, s: roll(a=x, shift=s[0]), 2),
        (lambda x, s: roll(np.arange(7), (s[0], s[1]), axis=(0, 0)), 4),
        (lambda x, s: roll(x, 3), 3),
    ]
    for call, shift in calls:
        np.testing.assert_array_equal(indim.jit(call)(np.arange(7), shifts), np.roll(np.arange(7), shift))


WEIGHTS = RANDOM.random((3, 4))
ALONG = np.array([0, 0, 1.0, 3])


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy 2 has weights")
@pytest.mark.parametrize("q", [0, 0.3, [0.1, 0.5, 1], np.float32(0.4), np.array([[0.2], [0.9]])], ids=str)
def test_quantiles_with_weights(q):
    options = {"method": "inverted_cdf"}
    cases = [(None, WEIGHTS), (0, WEIGHTS), (1, WEIGHTS), (1, ALONG), (-1, ALONG), ((0, 1), WEIGHTS)]
    for (axis, w), keepdims in itertools.product(cases, (False, True)):
        check(lambda x, w: np.quantile(x, q, axis=axis, weights=w, keepdims=keepdims, **options), X, w)
    check(lambda x: np.percentile(x, np.multiply(q, 100), axis=0, weights=WEIGHTS, **options), X)
    check(lambda x: np.quantile(x, q, weights=WEIGHTS, **options), (X * 3).astype(int))
    with_nan = np.where(X > 1, np.nan, X)
    check(lambda x: np.quantile(x, q, axis=1, weights=ALONG, **options), with_nan)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy 2 has weights")
@pytest.mark.parametrize(
    "w", [[-1, 1, 1, 1], [0, 0, 0, 0], [np.nan, 1, 1, 1], [np.inf, 1, 1, 1], [1e308] * 4, [1, -0.5, 0, 1]]
)
def test_weights_that_numpy_refuses(w):
    def median(x, w):
        return np.quantile(x, 0.5, axis=-1, weights=w, method="inverted_cdf")

    x, w = np.arange(4.0), np.array(w)
    with pytest.raises(ValueError, match="Weights") as of_numpy:
        median(x, w)
    with pytest.raises(ValueError) as error:
        indim.jit(lambda x: median(x, w))(x)
    assert str(error.value) == str(of_numpy.value)
    found = indim.jit(median)(np.stack([x, x]), np.stack([w, np.ones(4)]))
    np.testing.assert_array_equal(found, [np.nan, 1.0])
    with pytest.raises(IndexError):
        indim.jit(median)(x.astype(int), w)
    for of in (median, indim.jit(median)):
        with pytest.raises(TypeError, match="a must be an array of real numbers"):
            of(x + 0j, x)


def test_products_and_quotients_of_polynomials():
    p, q = np.array([1.0, 2, 3]), np.array([0.0, 0, 2, 1])
    check(np.polymul, p, q)
    for other in (q, [0, 0]):
        check(lambda p: np.polymul(p, other), p)
    check(np.polymul, np.array([0, 1, 2]), np.array([0, 0, 3]))
    for dtype in (np.float64, np.int64, np.float32):
        none = np.zeros(0, dtype)
        for pair in ((none, q.astype(dtype)), (q.astype(dtype), none), (none, none)):
            check(np.polymul, *pair)
    cases = ([1.0, -3, 2, 5], [1.0, -1]), ([1.0, -3, 2], [1.0, -1]), ([1.0, 2], [1.0, 0, 3]), ([2, 4], [2])
    for u, v in cases:
        check(np.polydiv, np.array(u), np.array(v), tolerance=1e-14)
    for roots in (p, np.array([1, 2]), p.astype(np.float32), p[:0]):
        check(np.poly, roots, tolerance=1e-6)


def test_polynomials_of_traced_points():
    x = np.linspace(0, 3, 20)
    y = np.sin(x)
    for degree in range(6):
        check(lambda x, y: np.polyfit(x, y, degree), x, y, tolerance=1e-7)
        check(lambda x, y, w: np.polyfit(x, y, degree, w=w), x, y, x + 1, tolerance=1e-7)
        check(lambda x, y: np.polyfit(x, np.stack([y, y * y], 1), degree), x, y, tolerance=1e-7)

    def loss(x):
        return np.sum(np.polyfit(x, y, 2) ** 2)

    step = 1e-6 * np.eye(20)[4]
    slope = (loss(x + step) - loss(x - step)) / 2e-6
    np.testing.assert_allclose(indim.grad(loss)(x)[4], slope, rtol=1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.polyfit(x[:0], x[:0], 1),
        lambda x: np.polyfit([], x[:0], 1),
        lambda x: np.polyfit(x[None], x, 1),
        lambda x: np.polyfit(x, x[:, None, None], 1),
        lambda x: np.polyfit(x, x[:2], 1),
        lambda x: np.polyfit(x, x, -1),
        lambda x: np.polyfit(x, x, 1, w=x[:2]),
        lambda x: np.polyfit([1, 2, 3], x, 1, w=[[1, 2, 3]]),
    ],
)
def test_points_without_a_fit_are_the_errors_of_numpy(call):
    with pytest.raises((TypeError, ValueError)) as of_numpy:
        call(np.arange(3.0))
    with pytest.raises(of_numpy.type) as error:
        indim.jit(call)(np.arange(3.0))
    assert str(error.value) == str(of_numpy.value)


def test_complex_numbers_among_arguments_are_inputs():
    traces = []

    @indim.jit
    def scaled(x, k):
        traces.append(k)
        return (k * 2 - 1j) * x

    for k in (1j, 2 + 1j, -3j):
        np.testing.assert_array_equal(scaled(X, k), (k * 2 - 1j) * X)
    assert len(traces) == 1


@pytest.mark.parametrize("name", ["sum", "prod", "max", "mean", "var", "median", "cumsum", "nansum"])
def test_results_that_out_converts(name):
    def into(x):
        out = np.zeros((3, 4) if name == "cumsum" else 4, np.int64)
        getattr(np, name)(x * 9, axis=0, out=out)
        return out

    check(into, X)
    if hasattr(np.ndarray, name):

        def by_method(x):
            out = np.zeros((3, 4) if name == "cumsum" else 4)
            getattr(x, name)(axis=0, out=out)
            return out

        check(by_method, X, tolerance=1e-14)


def test_outputs_that_are_not_converted():
    def deviation(x):
        return np.std(x, axis=0, out=np.zeros(4, int))

    def spread(x):
        return np.ptp(x, axis=0, out=np.zeros(4, int))

    for function in (deviation, spread):
        for call in (function, indim.jit(function)):
            with pytest.raises(TypeError, match="Cannot cast"):
                call(X)
    outside = np.zeros(4)
    with pytest.raises(TypeError, match="from outside .* such as np.zeros_like"):
        indim.jit(lambda x: x.sum(axis=0, out=outside))(X)
