"""Cumulative sums, products and extremes, against NumPy."""

import numpy as np
import pytest

import indim

random = np.random.default_rng(7)
x = random.standard_normal((4, 5)).astype("f4")
i = random.integers(-9, 9, (4, 5)).astype("i4")
b = random.integers(0, 2, (4, 5)).astype(bool)

FUNCTIONS = ["cumsum", "cumprod", "nancumsum", "nancumprod"]


def close(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("array", [x, i, b, x.astype("f8"), i.astype("u1"), x + 1j * x[::-1]])
def test_functions_of_numpy(name, axis, array):
    function = getattr(np, name)
    close(getattr(indim, name)(array, axis=axis), function(array, axis=axis))
    close(indim.jit(lambda a: function(a, axis=axis))(array), function(array, axis=axis))
    close(indim.evaluate(f"{name}(a, axis={axis})", a=array), function(array, axis=axis))


def test_methods_and_element_types():
    close(indim.jit(lambda a: a.cumsum(axis=0))(x), x.cumsum(axis=0))
    close(indim.jit(lambda a: a.cumprod(1, dtype="f8"))(x), x.cumprod(1, dtype="f8"))
    close(indim.cumsum(x, axis=0, dtype="f8"), np.cumsum(x, axis=0, dtype="f8"))
    close(indim.jit(lambda a: np.cumsum(a))(x), np.cumsum(x))
    assert indim.xla.cumsum(i.astype("i1"), axis=0).dtype == "i1"


def test_accumulate():
    ufuncs = [np.add, np.multiply, np.maximum, np.minimum]
    for ufunc in ufuncs:
        close(indim.jit(lambda a: ufunc.accumulate(a))(x), ufunc.accumulate(x))
        close(indim.jit(lambda a: ufunc.accumulate(a, axis=1))(i), ufunc.accumulate(i, axis=1))
    for ufunc in (np.logical_and, np.logical_or):
        close(indim.jit(lambda a: ufunc.accumulate(a, axis=1))(b), ufunc.accumulate(b, axis=1))
    narrow = np.full(3, 100, "i1")
    for ufunc in (np.add, np.multiply, np.maximum):
        traced = indim.jit(lambda a: ufunc.accumulate(a, dtype="i1"))
        close(traced(narrow), ufunc.accumulate(narrow, dtype="i1"))
    close(indim.jit(lambda a: np.hypot.accumulate(a))(x), np.hypot.accumulate(x))


@pytest.mark.skipif(not hasattr(np, "cumulative_sum"), reason="NumPy 2.1 has these")
def test_cumulative_functions_of_the_array_api():
    for name in ("cumulative_sum", "cumulative_prod"):
        function = getattr(np, name)
        for initial in (False, True):
            for axis in (0, 1, -1):
                traced = indim.jit(lambda a: function(a, axis=axis, include_initial=initial))
                close(traced(x), function(x, axis=axis, include_initial=initial))
            vector = indim.jit(lambda a: function(a, include_initial=initial))
            close(vector(x[0]), function(x[0], include_initial=initial))
            close(vector(x[0, :0]), function(x[0, :0], include_initial=initial))
            close(vector(x[0, 0]), function(x[0, 0], include_initial=initial))
        with pytest.raises(ValueError, match="needs `axis`"):
            indim.jit(lambda a: function(a))(x)


def test_directions():
    close(indim.cumsum(x, axis=1, reverse=True), np.cumsum(x[:, ::-1], axis=1)[:, ::-1])
    moved = np.concatenate([np.zeros((4, 1), "f4"), np.cumsum(x, axis=1)[:, :-1]], axis=1)
    close(indim.cumsum(x, axis=1, exclusive=True), moved)
    close(indim.cumsum(np.array([1, 2, 3, 4]), reverse=True, exclusive=True), np.array([9, 7, 4, 0]))
    close(indim.cummax(x, axis=0), np.maximum.accumulate(x, axis=0))
    close(indim.cummin(x, axis=0, reverse=True), np.minimum.accumulate(x[::-1], axis=0)[::-1])
    close(indim.cumsum(x, axis=0, where=x > 0), np.cumsum(np.where(x > 0, x, 0), axis=0))


def test_nans_and_half_precision():
    y = x.copy()
    y[1, 2] = np.nan
    close(indim.nancumsum(y, axis=0), np.nancumsum(y, axis=0))
    close(indim.cummax(y, axis=0), np.maximum.accumulate(y, axis=0))
    # NumPy's sum stops at 2048.
    assert indim.cumsum(np.ones(3000, "f2"))[-1] == 3000


def test_a_sum_of_elements_that_are_not_negative_never_falls():
    sums = indim.cumsum(random.random(300_000).astype("f4"))
    assert (np.diff(sums) >= 0).all()


def test_gradients():
    gradient = indim.grad(lambda a: (np.cumsum(a) * np.arange(5.0)).sum())(np.ones(5))
    np.testing.assert_array_equal(gradient, [10, 10, 9, 7, 4])
    gradient = indim.grad(lambda a: indim.cumprod(a)[-1])(np.array([2.0, 0.0, 3.0]))
    np.testing.assert_array_equal(gradient, [0, 6, 0])
    gradient = indim.grad(lambda a: indim.cummax(a).sum())(np.array([1.0, 3.0, 2.0]))
    np.testing.assert_array_equal(gradient, [1, 2, 0])


def test_several_axes_are_refused():
    with pytest.raises(ValueError, match="runs along one axis, not 2"):
        indim.cumsum(x, axis=(0, 1))
    with pytest.raises(TypeError, match="keepdims"):
        indim.cumsum(x, keepdims=True)


def test_arrays_with_labels():
    xr = pytest.importorskip("xarray")
    labelled = xr.DataArray(x, dims=("time", "site"), coords={"time": [3, 5, 8, 9]})
    found = indim.jit(lambda a: a.cumsum("time"))(labelled)
    xr.testing.assert_allclose(found, labelled.cumsum("time"))
    found = indim.jit(lambda a: indim.cumsum(a, axis="time"))(labelled)
    assert found.dims == ("time", "site")
    np.testing.assert_allclose(found.values, np.cumsum(x, axis=0), rtol=1e-5)


def test_arrays_of_dask():
    da = pytest.importorskip("dask.array")
    lazy = da.from_array(x.astype("f8"), chunks=(4, 2))
    summed = indim.jit(lambda a: np.cumsum(a, axis=0))
    found = summed(lazy)
    assert found.numblocks == (1, 3)
    np.testing.assert_array_equal(found.compute(), summed(x.astype("f8")))
