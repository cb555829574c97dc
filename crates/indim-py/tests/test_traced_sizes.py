"""Slices, ranges and parts by computed numbers, whose sizes later stages know: the results of NumPy."""

import numpy as np
import pytest

import indim

X = np.array([-1, 2, -3, 4.0, 5, 0, 7])


def rows(x):
    return np.stack([x, x + 1, x + 2])


def assigned(x, k):
    y = x.copy()
    y[k:] = 9
    y[:k] += 1
    return y


def scaled(x, k):
    y = x.copy()
    y[k:] *= 2
    y[: k + 1] = y[: k + 1][::-1]
    return y


BY_NUMBER = {
    "from": lambda x, k: x[k:],
    "to": lambda x, k: x[:k],
    "between": lambda x, k: x[k:5],
    "by steps": lambda x, k: x[1:k:2],
    "backwards": lambda x, k: x[k::-1],
    "backwards by steps": lambda x, k: x[:k:-2],
    "columns": lambda x, k: rows(x)[:, k:],
    "last axis": lambda x, k: rows(x)[..., k:, None],
    "rows": lambda x, k: rows(x)[k:, 1],
    "part of a row": lambda x, k: rows(x)[1, k : k + 2],
    "corner": lambda x, k: rows(x)[:k, :k],
    "split": lambda x, k: np.split(x, [k]),
    "split in three": lambda x, k: np.split(rows(x), [1, k], axis=1),
    "delete": lambda x, k: np.delete(x, k),
    "assign": assigned,
    "scale": scaled,
    "arange": lambda x, k: np.arange(k),
    "arange of floats": lambda x, k: np.arange(k, dtype=np.float32),
    "arange by steps": lambda x, k: np.arange(2, k, 2),
    "arange backwards": lambda x, k: np.arange(k, -4, -3),
}


def assert_same(function, *arrays):
    try:
        expected = function(*arrays)
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error)):
            indim.jit(function)(*arrays)
        return
    found = indim.jit(function)(*arrays)
    if not isinstance(expected, list):
        found, expected = [found], [expected]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("k", [-9, -7, -2, 0, 1, 3, 7, 9])
@pytest.mark.parametrize("function", BY_NUMBER.values(), ids=BY_NUMBER)
def test_sizes_by_computed_numbers(function, k):
    assert_same(function, X, np.array(k))


OF_DATA = {
    "from the first": lambda x: x[np.argmax(x > 0) :],
    "from a position": lambda x: x[np.flatnonzero(x > 0)[0] :],
    "rest of a selection": lambda x: x[x > 0][1:],
    "two slices": lambda x: (lambda v: v[: v.argmax()])(x[x > 0]),
    "delete positions": lambda x: np.delete(x, np.flatnonzero(x > 0)),
    "delete by mask": lambda x: np.delete(x, x > 0),
    "delete columns": lambda x: np.delete(rows(x), np.flatnonzero(x > 0), axis=1),
    "count": lambda x: np.arange((x > 0).sum()),
    "zeros": lambda x: np.zeros((x > 0).sum()),
    "ones": lambda x: np.ones((2, (x > 0).sum(), 3), np.int32),
    "full": lambda x: np.full((x > 0).sum(), x[1]),
}


@pytest.mark.parametrize("function", OF_DATA.values(), ids=OF_DATA)
def test_sizes_by_data(function):
    compiled = indim.jit(function)
    for x in (X, X[1:], -X):
        np.testing.assert_array_equal(compiled(x), function(x), strict=True)


def test_gradients_of_slices_by_computed_numbers():
    gradient = indim.grad(lambda x: (x[: np.argmax(x)] ** 2).sum())
    np.testing.assert_array_equal(gradient(X), 2 * X * (np.arange(7) < 6))


def test_a_slice_by_a_computed_number_is_a_view():
    def function(x, k):
        y = x.copy()
        part = y[k:]
        part[0] = 1
        return y

    with pytest.raises(ValueError, match="shares memory"):
        indim.jit(function)(X, np.array(2))


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda x, k: x[::k], "the step of a slice needs the elements of `k`"),
        (lambda x, k: x[k * 1.0 :], "float64.*and not one whole number"),
        (lambda x, k: indim.vmap(lambda k: x[k:])(np.arange(3)), "write lax.dynamic_slice"),
        (lambda x, k: np.add.reduceat(x, np.flatnonzero(x > 0)), r"write indim.segment_sum\(x, ids, n\)"),
    ],
)
def test_messages_say_what_to_write(function, message):
    with pytest.raises(TypeError, match=message):
        indim.jit(function)(X, np.array(2))


@pytest.mark.parametrize(
    ("function", "numbers"),
    [
        (lambda k: np.arange(k), (np.uint64(3),)),
        (lambda k, m: np.arange(k, m), (np.uint64(1), np.int64(3))),
        (lambda k: np.arange(stop=k), (np.int64(3),)),
        (lambda k, m: np.arange(k, m, dtype=np.uint8), (np.int64(250), np.int64(260))),
        (lambda k, m: np.arange(k, m, 1000, np.uint8), (np.int64(254), np.int64(300))),
        (lambda k: np.arange(k, dtype=np.uint8), (np.int64(-3),)),
        (lambda k: np.full((k, 2), [1, 2]), (np.int64(3),)),
        (lambda k: X[:k], (np.uint64(2**64 - 1),)),
        (lambda k: X[k:], (np.uint64(2**64 - 1),)),
    ],
)
def test_ranges_and_slices_by_numbers_of_any_type(function, numbers):
    found, expected = indim.jit(function)(*numbers), function(*numbers)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("error", "message", "function", "numbers"),
    [
        (ValueError, "the step 0", lambda k, m, s: np.arange(k, m, s), (0, 3, 0)),
        (OverflowError, "out of bounds", lambda k, m, s: np.arange(k, m, dtype=np.uint8), (-3, 3, 1)),
        (OverflowError, "out of bounds", lambda k, m, s: np.arange(k, m, s, np.int8), (0, 300, 200)),
        (TypeError, "requires stop", lambda k, m, s: np.arange(start=k), (0, 300, 200)),
    ],
)
def test_ranges_that_numpy_refuses(error, message, function, numbers):
    numbers = tuple(map(np.int64, numbers))
    with pytest.raises(error, match=message):
        indim.jit(function)(*numbers)
    with pytest.raises((error, TypeError)), np.errstate(all="ignore"):
        function(*numbers)


def test_a_write_ignores_leading_axes_of_size_1():
    def function(k, i, values):
        y = np.zeros(3)
        y[:k] = values
        z = np.zeros((2, 3))
        z[i, :k] = values
        return y, z

    arguments = np.int64(2), np.int64(1), np.ones((1, 1, 2))
    for found, expected in zip(indim.jit(function)(*arguments), function(*arguments)):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [None, "f4", int])
@pytest.mark.parametrize(
    "function",
    [
        lambda n, x, of: np.arange(0, n, 0.5, dtype=of),
        lambda n, x, of: np.arange(0.5, n, dtype=of),
        lambda n, x, of: np.arange(n, 0, -0.3, dtype=of),
        lambda n, x, of: np.arange(0, x, 0.1, dtype=of),
        lambda n, x, of: np.arange(x, 10, n, dtype=of),
        lambda n, x, of: np.arange(x, dtype=of),
        lambda n, x, of: np.arange(0, 2, x, dtype=of),
    ],
)
def test_ranges_of_fractions(function, dtype):
    compiled = indim.jit(lambda k, w: function(np.sum(k), np.sum(w), dtype))
    for k, w in (([1, 2], [0.75, 1.5]), ([1, 4], [0.25, 0.125])):
        found, expected = compiled(np.array(k), np.array(w)), function(sum(k), sum(w), dtype)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


@pytest.mark.parametrize("stop", [np.inf, np.nan, 1e30])
def test_ranges_of_fractions_without_a_length(stop):
    with pytest.raises(ValueError, match="a size that depends on data"):
        indim.jit(lambda x: np.arange(0, np.sum(x), 0.5))(np.array([stop]))


def test_ranges_of_narrow_floats_are_refused():
    for numbers, dtype in (((2.1, 3.3, 0.1), "f4"), ((0, 3, 0.1), "f2")):
        start, stop, step = (np.array(number, dtype) for number in numbers)
        with pytest.raises(TypeError, match=r"write x.astype\(np.float64\) for its numbers"):
            indim.jit(np.arange)(start, stop, step)
        wide = indim.jit(lambda *numbers: np.arange(*(number.astype(np.float64) for number in numbers)))
        expected = np.arange(*(number.astype(np.float64) for number in (start, stop, step)))
        np.testing.assert_array_equal(wide(start, stop, step), expected)
    with pytest.raises(TypeError, match="not in float16"):
        indim.jit(lambda n: np.arange(0, n, 0.5, np.float16))(np.array(3.0))
