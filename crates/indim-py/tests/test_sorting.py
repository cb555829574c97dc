"""Sorts, medians, quantiles and searches, against NumPy."""

import warnings

import numpy as np
import pytest

import indim

TYPES = ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"]


def numbers(dtype, shape, seed=3):
    random = np.random.default_rng(seed)
    x = random.integers(-40, 40, shape)
    if np.dtype(dtype).kind == "f":
        x = np.where(random.random(shape) < 0.2, random.choice([0.0, -0.0, np.inf, np.nan], shape), x / 8)
    if np.dtype(dtype).kind == "c":
        # NumPy orders complex numbers with a NaN by other rules.
        x = x / 8 + 1j * random.integers(-2, 2, shape)
    return (x > 0 if dtype == "?" else x.astype(dtype))


def both(function, *arguments):
    """The results of tracing and of NumPy."""
    return indim.jit(function)(*arguments), function(*arguments)


def same(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


def test_quantiles_take_real_numbers():
    x = np.array([1, 2, np.nan], "c16")
    for function in (indim.nanmedian, lambda x: indim.quantile(x, 0.5), lambda x: indim.nanquantile(x, 0.5)):
        with pytest.raises(TypeError, match="takes real numbers, not complex128"):
            function(x)


@pytest.mark.parametrize("dtype", TYPES)
def test_sorts_are_numpys(dtype):
    for shape in [(7,), (300,), (5, 40), (40, 3), (2, 3, 9)]:
        x = numbers(dtype, shape)
        for axis in (*range(len(shape)), -1, None):
            same(indim.sort(x, axis), np.sort(x, axis))
            same(indim.argsort(x, axis), np.argsort(x, axis, kind="stable"))
            same(*both(lambda x: np.sort(x, axis, kind="stable"), x))
            same(*both(lambda x: np.argsort(x, axis, stable=True), x))
    same(indim.sort(x[::-1, ::2]), np.sort(x[::-1, ::2]))


def test_signs_of_zeros_and_nans_stay():
    x = np.array([0.0, np.nan, -0.0, 2.0, -np.nan, 0.0, -1.0], "f4")
    order = np.argsort(x, kind="stable")
    same(indim.sort(x).view("u4"), x[order].view("u4"))
    # Ties keep their order in descending order too.
    assert indim.argsort(x, descending=True).tolist() == [1, 4, 3, 0, 2, 5, 6]


def test_a_partition_is_a_sort():
    x = numbers("f8", (6, 50))
    for kth in (3, -1, [2, 30]):
        same(indim.jit(lambda x: np.partition(x, kth))(x), np.sort(x))
        same(indim.jit(lambda x: np.argpartition(x, kth, axis=0 if kth == 3 else 1))(x),
             np.argsort(x, axis=0 if kth == 3 else 1, kind="stable"))
    with pytest.raises(ValueError, match="out of bounds"):
        indim.jit(lambda x: np.partition(x, 50))(x)


def test_lexsort_takes_keys_of_any_types():
    a, b, c = (numbers(dtype, (4, 30), seed) for seed, dtype in enumerate(["i1", "?", "i4"]))
    a %= 3
    same(*both(lambda a, b, c: np.lexsort((c, a, b)), a, b, c))
    same(indim.lexsort([c, a, b], axis=0), np.lexsort((c, a, b), axis=0))
    same(*both(lambda keys: np.lexsort(keys), np.stack([a, a[::-1]])))


def test_greatest_elements():
    x = np.array([[1.0, np.nan, 3.0, 3.0], [0.0, -1.0, -0.0, 5.0]], "f4")
    values, positions = indim.top_k(x, 3)
    np.testing.assert_array_equal(values, [[np.nan, 3, 3], [5, 0, 0]])
    assert positions.tolist() == [[1, 2, 3], [3, 0, 2]]
    values, positions = indim.jit(lambda x: indim.top_k(x, 1, 0, largest=False))(x)
    np.testing.assert_array_equal(values, [[0, -1, 0, 3]])
    assert positions.tolist() == [[1, 1, 1, 0]]
    with pytest.raises(ValueError, match="up to 4"):
        indim.top_k(x, 5)


@pytest.mark.parametrize("dtype", ["i4", "u2", "f2", "f4", "f8"])
def test_medians_are_numpys(dtype):
    for shape in [(7,), (8,), (5, 6), (2, 3, 4)]:
        x = numbers(dtype, shape, seed=len(shape))
        x = np.where(np.isnan(x), 1, x).astype(dtype)
        for axis in (None, 0, -1, tuple(range(len(shape)))):
            for keepdims in (False, True):
                same(*both(lambda x: np.median(x, axis, keepdims=keepdims), x))
                same(indim.median(x, axis, keepdims=keepdims), np.median(x, axis, keepdims=keepdims))


def test_a_nan_makes_the_median_nan_and_nanmedian_leaves_it_out():
    x = np.array([[1.0, np.nan, 3.0, 9.0], [4.0, 2.0, 6.0, 5.0], [np.nan] * 4])
    same(*both(lambda x: np.median(x, axis=1), x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = np.nanmedian(x, axis=1), np.nanmedian(x, axis=0), np.nanmedian(x)
    y = np.random.default_rng(5).standard_normal((50, 8)).astype("f4")
    y[::3, 2] = np.nan
    same(*both(lambda y: np.nanmedian(y, axis=1), y))
    for axis, wanted in zip((1, 0, None), expected):
        same(indim.jit(lambda x: np.nanmedian(x, axis=axis))(x), wanted)
        same(indim.nanmedian(x, axis=axis), wanted)


def test_nanquantiles_are_numpys():
    x = numbers("f8", (5, 30))
    x = np.where(np.isinf(x), 7, x)
    x[2] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for q in (0.3, [0, 0.5, 1]):
            for axis in (None, 0, 1):
                expected = np.nanquantile(x, q, axis=axis)
                np.testing.assert_allclose(indim.nanquantile(x, q, axis), expected, rtol=1e-14)
                found = indim.jit(lambda x: np.nanquantile(x, q, axis=axis))(x)
                np.testing.assert_allclose(found, expected, rtol=1e-14)
    with pytest.raises(TypeError, match="linear"):
        indim.jit(lambda x: np.nanquantile(x, 0.5, method="hazen"))(x)


METHODS = [
    *("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen"),
    *("weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"),
]


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_are_numpys(method):
    q = [0, 0.1, 0.25, 0.5, 0.77, 0.9, 1]
    for dtype in ("f8", "i4"):
        for shape in [(1,), (10,), (11, 3)]:
            x = numbers(dtype, shape)
            x = np.where(np.isnan(x), 1, np.clip(x, -100, 100)).astype(dtype)
            for axis in (None, 0):
                found, expected = both(lambda x: np.quantile(x, q, axis=axis, method=method), x)
                assert found.dtype == expected.dtype and found.shape == expected.shape
                np.testing.assert_allclose(found, expected, rtol=1e-15, atol=1e-15)
                same(indim.quantile(x, q, axis, method=method), found)
                same(*both(lambda x: np.percentile(x, 25, axis=axis, method=method, keepdims=True), x))


def test_quantiles_of_nan_and_of_traced_q():
    x = np.array([[1.0, np.nan, 3.0], [4.0, 2.0, 6.0]], "f4")
    for q in (0.5, np.float32(0.5), np.float64(0.5), [0.5], np.float32([0.5]), [0, 1]):
        same(*both(lambda x: np.quantile(x, q, axis=1), x))
        same(*both(lambda x: np.percentile(x, np.multiply(q, 50) if np.ndim(q) else 50, axis=1), x))
    with pytest.raises(TypeError, match="static"):
        indim.jit(lambda x, q: np.quantile(x, q, method="weibull"))(x, np.array([0.5]))
    with pytest.raises(ValueError, match="supports weights"):
        indim.jit(lambda x: np.quantile(x, 0.5, weights=x))(x)


@pytest.mark.parametrize("dtype", TYPES)
def test_searches_are_numpys(dtype):
    table = np.sort(numbers(dtype, 50, 4))
    values = numbers(dtype, (3, 40), 5)
    for side in ("left", "right"):
        same(*both(lambda t, v: np.searchsorted(t, v, side=side), table, values))
        same(indim.searchsorted(table, values[:, ::3], side), np.searchsorted(table, values[:, ::3], side))
        same(indim.searchsorted(table[:0], values, side), np.zeros(values.shape, int))
    order = np.argsort(-np.arange(50))
    same(*both(lambda t, v: np.searchsorted(t, v, sorter=order), table[::-1].copy(), values))
    same(indim.searchsorted(np.array([1, 5], "i4"), 2.5), np.searchsorted([1, 5], 2.5))
    with pytest.raises(indim.IndimError, match="one axis"):
        indim.searchsorted(values, values)
    with pytest.raises(ValueError, match="left, right"):
        indim.searchsorted(table, values, "middle")


def test_bins_rise_or_fall():
    bins = np.array([0.0, 1.0, 1.0, 2.5])
    x = np.array([-1.0, 0.0, 1.0, 2.0, 2.5, 9.0, np.nan])
    for edges in (bins, bins[::-1]):
        for right in (False, True):
            same(*both(lambda x: np.digitize(x, edges, right=right), x))
            same(*both(lambda x, edges: np.digitize(x, edges, right=right), x, edges))
            same(indim.digitize(x, edges, right), np.digitize(x, edges, right))
    # Differences of these types wrap.
    for edges in (np.array([5, 3, 1], "u1"), np.array([-100, 100], "i1"), np.array([-100, 100, 120], "i1")):
        x8 = np.array([4, -120, 120, 3], edges.dtype if edges.dtype.kind == "i" else "i2")
        same(indim.digitize(x8, edges), np.digitize(x8, edges))
    with pytest.raises(ValueError, match="monotonically"):
        indim.digitize(x, [0.0, 2.0, 1.0])


def test_interpolation_is_numpys():
    xp = np.array([0.0, 1.0, 1.5, 4.0])
    fp = np.array([3.0, -1.0, np.inf, 2.0])
    x = np.array([-1.0, 0.0, 0.3, 1.0, 1.2, 1.5, 3.0, 4.0, 5.0, np.nan])
    same(*both(lambda x, xp, fp: np.interp(x, xp, fp), x, xp, fp))
    same(*both(lambda x, xp: np.interp(x, xp, np.exp(xp), left=-7, right=8.5), x, xp))
    same(indim.interp(x, xp[:1], fp[:1]), np.interp(x, xp[:1], fp[:1]))
    same(indim.interp(x.astype("f4"), [1, 2, 3], [10, 20, 15]),
         np.interp(x.astype("f4"), [1, 2, 3], [10, 20, 15]))


def test_gradients_go_to_the_chosen_elements():
    x = np.array([[3.0, 1.0, 2.0], [7.0, 9.0, 8.0]])
    found = indim.grad(lambda x: np.sum(np.sort(x) * np.array([1.0, 10.0, 100.0])))(x)
    assert found.tolist() == [[100, 1, 10], [1, 100, 10]]
    found = indim.grad(lambda x: np.sum(np.median(x, axis=1)))(x)
    assert found.tolist() == [[0, 0, 1], [0, 0, 1]]
    found = indim.grad(lambda x: np.quantile(x, 0.5))(x)
    assert found.tolist() == [[0.5, 0, 0], [0.5, 0, 0]]


def test_an_argument_is_not_sorted_in_place():
    with pytest.raises(TypeError, match=r"write y = x.copy\(\) first"):
        indim.jit(lambda x: x.sort())(np.ones(3))
    same(indim.jit(lambda x: x.argsort())(np.array([3, 1, 2])), np.array([1, 2, 0]))


def test_expressions_sort():
    x = np.array([[3, 1], [2, 4]])
    same(indim.evaluate("sort(x, axis=0, descending=True)"), np.array([[3, 4], [2, 1]]))
    same(indim.evaluate("argsort(x, axis=None)"), np.array([1, 2, 0, 3]))
    same(indim.evaluate("searchsorted(sort(x, axis=None), x, side=right)"), x)
    same(indim.evaluate("lexsort([x, x])"), np.argsort(x, axis=-1))


def test_labelled_and_chunked_arrays():
    xr = pytest.importorskip("xarray")
    x = numbers("f8", (4, 6))
    labelled = xr.DataArray(x, dims=("t", "c"), coords={"t": [3, 1, 2, 0]})
    for function in (
        lambda x: x.median("t"),
        lambda x: x.quantile(0.3, "t", skipna=False),
        lambda x: x.quantile([0.3, 0.5], "t"),
        lambda x: x.sortby("t"),
    ):
        found, expected = both(function, xr.where(np.isinf(labelled), 7, labelled))
        xr.testing.assert_allclose(found, expected)
    dask = pytest.importorskip("dask.array")
    chunked = dask.from_array(x, chunks=(4, 2))
    found = indim.jit(lambda x: np.sort(x, axis=0))(chunked)
    assert found.chunks == ((4,), (2, 2, 2))
    same(found.compute(), np.sort(x, axis=0))


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.5.0", reason="NumPy sorts upwards only")
@pytest.mark.parametrize("dtype", ["b", "B", "i8", "f4", "f8", "?", "D"])
def test_descending_sorts_of_numpy(dtype):
    x = np.array([[3, 0, 2, 2], [1, 4, 0, 1]]).astype(dtype)
    if np.dtype(dtype).kind in "fc":
        x[0, 1], x[1, 2] = np.nan, -0.0

    def f(x):
        y = x.copy()
        y.sort(descending=True)
        return y, np.sort(x, axis=0, descending=True), np.argsort(x, descending=True, stable=True)

    for found, expected in zip(indim.jit(f)(x), f(x)):
        np.testing.assert_array_equal(found, expected)


def test_interpolation_takes_the_last_of_equal_last_points_and_keeps_signs_of_zero():
    for points, values in (([-1.0, 0, 0, 0], [1.0, 2, 3, 4]), ([0.0, 1, 1], [1.0, 2, np.nan])):
        x, points, values = np.array([-1.0, 0, 1]), np.array(points), np.array(values)
        np.testing.assert_array_equal(indim.jit(np.interp)(x, points, values), np.interp(x, points, values))
    points, values = np.array([0.0, 1, 2]), np.array([-0.0, np.inf, -0.0])
    found, expected = indim.jit(np.interp)(points, points, values), np.interp(points, points, values)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_differences_of_order_0_add_no_ends():
    np.testing.assert_array_equal(indim.numpy.diff(np.array([1, 2]), n=0, prepend=0), [1, 2])


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f2", "f4", "f8"])
@pytest.mark.parametrize("method", ["linear", "hazen", "midpoint", "lower"])
def test_quantiles_have_the_type_of_numpys(dtype, method):
    x = np.random.default_rng(2).integers(0, 100, (3, 7)).astype(dtype)
    half, single = np.float16(0.25), np.array([0.25, 0.5], np.float32)
    for q in (0, 1, 0.25, half, single, [0, 1], np.int64(1), np.float64(0.3)):
        for axis in (1, None):
            found, expected = both(lambda x: np.quantile(x, q, axis=axis, method=method), x)
            assert found.dtype == np.asarray(expected).dtype, (q, axis)
            np.testing.assert_allclose(found, expected, rtol=1e-3 if found.dtype == "f2" else 1e-6)


def test_partitions_of_no_elements_take_any_position():
    """As in NumPy."""
    for shape, axis in (((0,), 0), ((3, 0), 1), ((0, 3), 1), ((0, 3), 0), ((0,), None)):
        x = np.zeros(shape)
        for function in (np.partition, np.argpartition):
            np.testing.assert_array_equal(
                indim.jit(lambda x: function(x, 3, axis=axis))(x), function(x, 3, axis=axis)
            )
    with pytest.raises(np.exceptions.AxisError):
        indim.jit(lambda x: np.partition(x[0], 0))(np.ones(3))


@pytest.mark.parametrize("name", ["quantile", "percentile", "nanquantile", "nanpercentile"])
def test_no_quantiles_are_an_array_of_size_0(name):
    function = getattr(np, name)
    x = np.arange(12.0).reshape(3, 4)
    for axis in (None, 0, (0, 1)):
        for keepdims in (False, True):
            for dtype in ("float32", "float64", "int32"):
                of = lambda x: function(x, [], axis=axis, keepdims=keepdims)
                found, expected = indim.jit(of)(x.astype(dtype)), of(x.astype(dtype))
                assert (found.shape, found.dtype) == (expected.shape, expected.dtype)


@pytest.mark.parametrize("name", ["quantile", "percentile", "nanquantile", "nanpercentile"])
def test_quantiles_at_traced_fractions(name):
    rng = np.random.default_rng(3)
    methods = ["linear"] if name.startswith("nan") else ["linear", "lower", "higher", "midpoint", "nearest"]
    for x in (rng.standard_normal((5, 6)), rng.integers(0, 99, (5, 6)), rng.standard_normal((1, 3))):
        for q in (np.float64(0.3), np.array([[0.0, 0.25], [0.5, 1.0]])):
            q = q * 100 if "percentile" in name else q
            for axis, keepdims, method in zip((None, 0, -1, (0, 1), 0), (0, 0, 1, 1, 1), 5 * methods):
                options = {"axis": axis, "keepdims": bool(keepdims), "method": method}
                of = lambda x, q: getattr(np, name)(x, q, **options)
                found, expected = indim.jit(of)(x, q), of(x, q)
                assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
                np.testing.assert_allclose(found, expected, rtol=1e-13)
    with_nan = np.array([1.0, np.nan, 2.0])
    of = lambda x, q: getattr(np, name)(x, q)
    np.testing.assert_array_equal(indim.jit(of)(with_nan, np.array(0.5)), of(with_nan, 0.5))
    # NumPy refuses what a traced function cannot know.
    assert np.isnan(indim.jit(of)(np.arange(3.0), np.array(-0.5)))


def test_quantiles_of_jax_programs():
    x = np.array([1.0, 4.0, 9.0, 20.0])
    found = indim.jit(lambda x: indim.numpy.quantile(x, indim.numpy.array([0.1, 0.5])))(x)
    np.testing.assert_allclose(found, np.quantile(x, [0.1, 0.5]), rtol=1e-14)
    assert abs(float(indim.grad(lambda q: indim.numpy.quantile(x, q))(0.4)) - 15) < 1e-12
    by_fraction = indim.vmap(lambda q: indim.numpy.quantile(x, q))(np.array([0.1, 0.5]))
    np.testing.assert_allclose(by_fraction, found, rtol=1e-14)
