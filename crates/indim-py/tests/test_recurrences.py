"""Linear recurrences, cumulative ``logsumexp`` and scans by associative functions."""

import numpy as np
import pytest

import indim

RANDOM = np.random.default_rng(8)
SIZES = (0, 1, 2, 15, 16, 17, 33, 256, 300, 4500)


def _recurrence(a, b, initial=0.0, reverse=False):
    """One element after another along axis 0."""
    result, state = np.empty_like(b), np.zeros(b.shape[1:]) + initial
    positions = range(len(b))
    for position in reversed(positions) if reverse else positions:
        state = a[position] * state + b[position]
        result[position] = state
    return result


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_recurrences_are_those_of_a_loop(size, reverse):
    a, b = RANDOM.uniform(-1, 1, (size, 3)), RANDOM.normal(size=(size, 3))
    found = indim.linear_recurrence(a, b, 0, reverse=reverse)
    np.testing.assert_allclose(found, _recurrence(a, b, 0, reverse), rtol=1e-12, atol=1e-13)
    initial = RANDOM.normal(size=3)
    found = indim.linear_recurrence(a.T, b.T, initial=initial, reverse=reverse)
    np.testing.assert_allclose(found.T, _recurrence(a, b, initial, reverse), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_the_order_is_that_of_an_associative_scan(size, reverse):
    a, b = RANDOM.uniform(-1, 1, (2, size, 3)).astype(np.float32)

    def combined(left, right):
        return left[0] * right[0], right[0] * left[1] + right[1]

    wide = (a.astype(np.float64), b.astype(np.float64))
    expected = indim.lax.associative_scan(combined, wide, reverse=reverse)[1].astype(np.float32)
    np.testing.assert_array_equal(indim.linear_recurrence(a, b, 0, reverse=reverse), expected)
    expected = indim.lax.associative_scan(indim.logaddexp, wide[0], reverse=reverse).astype(np.float32)
    np.testing.assert_array_equal(indim.lax.cumlogsumexp(a, reverse=reverse), expected)


def test_expressions_and_functions_of_modules_have_the_same_bits():
    a, b = RANDOM.uniform(-1, 1, (2, 3, 100))
    expected = indim.linear_recurrence(a, b, 1, initial=b[:, 0], reverse=True)
    text = "linear_recurrence(a, b, axis=1, initial=s, reverse=true)"
    np.testing.assert_array_equal(indim.evaluate(text, a=a, b=b, s=b[:, 0].copy(), rule="numpy"), expected)
    found = indim.numpy.linear_recurrence(a, b, 1, initial=b[:, 0], reverse=True)
    np.testing.assert_array_equal(found, expected)
    expected = indim.lax.cumlogsumexp(a, 1)
    np.testing.assert_array_equal(indim.evaluate("logcumsumexp(a, axis=1)", a=a), expected)
    np.testing.assert_array_equal(indim.cumlogsumexp(a, 1), expected)
    exclusive = indim.cumlogsumexp(a, 1, exclusive=True, where=a > 2)
    np.testing.assert_array_equal(exclusive, np.full_like(a, -np.inf))


def test_an_exponential_average_of_narrow_floats_is_rounded_once():
    x = RANDOM.normal(size=1000).astype(np.float32)
    single = indim.linear_recurrence(0.9, x)
    assert single.dtype == np.float32
    wide = indim.linear_recurrence(np.float64(np.float32(0.9)), x.astype(np.float64))
    np.testing.assert_array_equal(single, wide.astype(np.float32))


def test_types_of_recurrences_are_those_of_all_operands():
    x = RANDOM.normal(size=20).astype(np.float32)
    compiled = indim.jit(lambda x, k: indim.linear_recurrence(k, x, initial=k))
    for k in (0.5, 0.25):
        assert compiled(x, k).dtype == np.float32
        np.testing.assert_array_equal(compiled(x, k), indim.linear_recurrence(k, x, initial=k))
    np.testing.assert_array_equal(indim.linear_recurrence(1, np.arange(3), initial=0.5), [0.5, 1.5, 3.5])
    with pytest.raises(TypeError, match="real numbers"):
        indim.lax.cumlogsumexp(x + 1j)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: indim.linear_recurrence(w, x),
        lambda x, w: indim.linear_recurrence(0.5, x.reshape(2, 3), initial=w[:2]),
        lambda x, w: indim.lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] + b[1]), (w, x))[0],
        lambda x, w: np.histogramdd(x, 3, weights=w)[0],
        lambda x, w: np.histogram2d(x, w, 3)[0],
        lambda x, w: indim.bincount(np.abs(x).astype(int), w, length=4),
        lambda x, w: indim.at(x)[:3].set(w[:3]),
        lambda x, w: np.average(x, weights=w),
    ],
)
def test_each_call_reads_outside_arrays(function, dtype):
    x, w = RANDOM.normal(size=6), np.arange(1, 7).astype(dtype)
    compiled = indim.jit(lambda x: function(x, w))
    compiled(x)
    w[:] = w[::-1] ** 2
    np.testing.assert_array_equal(compiled(x), indim.jit(function)(x, w))


def test_earlier_results_do_not_depend_on_later_elements():
    b = RANDOM.normal(size=700)
    whole = indim.linear_recurrence(0.99, b)
    for size in (1, 16, 100, 513):
        np.testing.assert_array_equal(indim.linear_recurrence(0.99, b[:size]), whole[:size])


def test_derivatives_and_batches():
    a, b, weights = RANDOM.uniform(-1, 1, 40), RANDOM.normal(size=40), RANDOM.normal(size=40)

    def weighted(a, b, initial):
        return np.sum(weights * indim.linear_recurrence(a, b, initial=initial))

    gradients = indim.grad(weighted, argnums=(0, 1, 2))(a, b, np.float64(0.5))
    # The adjoint is the recurrence in the other direction.
    np.testing.assert_allclose(gradients[1], _recurrence(np.append(a[1:], 0), weights, 0, True), rtol=1e-11)
    slope = (weighted(a, b, np.float64(0.6)) - weighted(a, b, np.float64(0.4))) / 0.2
    assert abs(gradients[2] - slope) < 1e-9
    rows = RANDOM.normal(size=(3, 40))
    batched = indim.vmap(lambda row: indim.linear_recurrence(a, row))(rows)
    np.testing.assert_allclose(batched, indim.linear_recurrence(a, rows), rtol=1e-13)


@pytest.mark.parametrize("size", SIZES)
def test_cumulative_logsumexp(size):
    x = RANDOM.normal(size=size) * 300
    np.testing.assert_allclose(indim.lax.cumlogsumexp(x), np.logaddexp.accumulate(x), rtol=1e-13)
    reverse = indim.lax.cumlogsumexp(x[:, None], reverse=True)[:, 0]
    np.testing.assert_allclose(reverse, np.logaddexp.accumulate(x[::-1])[::-1], rtol=1e-13)


def test_cumulative_logsumexp_of_infinities():
    x = np.array([-np.inf, -np.inf, 1.0, -np.inf, np.inf, 2.0, np.nan, 0.0], np.float32)
    expected = np.array([-np.inf, -np.inf, 1, 1, np.inf, np.inf, np.nan, np.nan], np.float32)
    np.testing.assert_array_equal(indim.lax.cumlogsumexp(x), expected)
    gradient = indim.grad(lambda x: indim.lax.cumlogsumexp(x)[-1])(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(gradient, np.exp([1.0, 2.0, 3.0]) / np.sum(np.exp([1.0, 2.0, 3.0])))


def test_traced_accumulate():
    x = RANDOM.normal(size=(20, 2))
    found = indim.jit(lambda x: np.logaddexp.accumulate(x, axis=0))(x)
    np.testing.assert_allclose(found, np.logaddexp.accumulate(x, axis=0), rtol=1e-13)


def test_associative_scan_of_trees():
    x = RANDOM.normal(size=(50, 2))

    def longest(left, right):
        return {"sum": left["sum"] + right["sum"], "max": np.maximum(left["max"], right["max"])}

    found = indim.lax.associative_scan(longest, {"sum": x, "max": x})
    np.testing.assert_allclose(found["sum"], np.cumsum(x, 0), rtol=1e-12)
    np.testing.assert_array_equal(found["max"], np.maximum.accumulate(x, 0))
    products = indim.lax.associative_scan(np.multiply, x, reverse=True, axis=1)
    np.testing.assert_allclose(products, np.cumprod(x[:, ::-1], 1)[:, ::-1])
    with pytest.raises(ValueError, match="equal sizes"):
        indim.lax.associative_scan(longest, {"sum": x, "max": x[1:]})


def test_arrays_of_dask_and_xarray_without_a_compiled_function():
    da, xr = pytest.importorskip("dask.array"), pytest.importorskip("xarray")
    b = np.arange(24.0).reshape(3, 8)
    expected = indim.linear_recurrence(0.5, b, axis=0)
    found = indim.linear_recurrence(0.5, da.from_array(b, chunks=(3, 4)), axis=0)
    assert isinstance(found, da.Array)
    np.testing.assert_array_equal(found.compute(), expected)
    labelled = xr.DataArray(b, dims=("t", "x"), coords={"t": [5, 6, 7]})
    for axis in ("t", 0, -2):
        found = indim.linear_recurrence(0.5, labelled, axis=axis, initial=0.0)
        np.testing.assert_array_equal(found.values, expected)
        assert found.dims == ("t", "x") and found.t.values.tolist() == [5, 6, 7]
    decay = xr.DataArray(np.full(8, 0.5), dims="x")
    np.testing.assert_array_equal(indim.linear_recurrence(labelled * 0 + decay, labelled, axis="t"), expected)
    with pytest.raises(TypeError, match="initial.data"):
        indim.linear_recurrence(decay, labelled, axis="t", initial=decay)
