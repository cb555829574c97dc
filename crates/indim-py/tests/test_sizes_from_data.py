"""Functions whose sizes depend on data: NumPy's on arrays, and with ``size=`` those of JAX when traced."""

import numpy as np
import pytest

import indim

SIZES = (0, 1, 3, 40)
MASKS = {
    "none": np.zeros(7, bool),
    "all": np.ones(7, bool),
    "some": np.arange(7) % 3 == 1,
    "integers": np.array([0, -2, 0, 5, 0, 0, 9]),
    "matrix": np.arange(12).reshape(3, 4) % 5 == 2,
    "three axes": np.arange(24).reshape(2, 3, 4) % 7 < 2,
    "no elements": np.zeros((0, 3), bool),
}


def filled(found, size, fill):
    """The first ``size`` rows of ``found``, and then rows of ``fill``."""
    rest = np.full((max(size - len(found), 0), *found.shape[1:]), fill, found.dtype)
    return np.concatenate([found[:size], rest])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("x", MASKS.values(), ids=MASKS)
def test_positions_are_those_of_numpy(x, size):
    traced = indim.jit(lambda x: indim.nonzero(x, size=size, fill_value=-1))(x)
    assert type(traced) is tuple
    for actual, expected in zip(traced, np.nonzero(x), strict=True):
        assert actual.dtype == np.int64
        np.testing.assert_array_equal(actual, filled(expected, size, -1))
    flat = indim.jit(lambda x: indim.flatnonzero(x, size=size))(x)
    np.testing.assert_array_equal(flat, filled(np.flatnonzero(x), size, 0))
    rows = indim.jit(lambda x: indim.argwhere(x, size=size, fill_value=7))(x)
    np.testing.assert_array_equal(rows, filled(np.argwhere(x), size, 7))


def test_a_fill_value_for_each_axis():
    x = np.eye(3)
    rows, columns = indim.jit(lambda x: indim.nonzero(x, size=5, fill_value=(3, -1)))(x)
    np.testing.assert_array_equal(rows, [0, 1, 2, 3, 3])
    np.testing.assert_array_equal(columns, [0, 1, 2, -1, -1])
    with pytest.raises(ValueError, match="fill_value has 3 numbers, and x has 2 axes"):
        indim.nonzero(x, size=5, fill_value=(0, 0, 0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint16, np.complex64, np.bool_])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("size", SIZES)
def test_slices_are_those_of_numpy(size, axis, dtype):
    x = (np.arange(15).reshape(3, 5) - 6).astype(dtype)
    condition = np.arange(15 if axis is None else x.shape[axis]) % 2 == 0
    for length in (len(condition), 2):
        short = condition[:length]
        expected = np.compress(short, x, axis)
        np.testing.assert_array_equal(indim.compress(short, x, axis), expected)
        expected = filled(np.moveaxis(expected, axis or 0, 0), size, 1)
        expected = np.moveaxis(expected, 0, axis or 0)
        function = indim.jit(lambda c, x: indim.compress(c, x, axis, size=size, fill_value=1))
        actual = function(short, x)
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual, expected)


def test_extract_is_a_mask_in_row_major_order():
    x = np.arange(12.0).reshape(3, 4)
    mask = x % 5 > 2
    function = indim.jit(lambda mask, x: indim.extract(mask, x, size=8, fill_value=np.nan))
    np.testing.assert_array_equal(function(mask, x), filled(x[mask], 8, np.nan))
    np.testing.assert_array_equal(indim.extract(mask, x), x[mask])


ELEMENTS = {
    "integers": np.array([[3, 1, 3], [-2, 1, 3]]),
    "floats": np.array([2.5, -0.0, np.inf, 0.0, 2.5, -np.inf]),
    "NaN": np.array([np.nan, 1, np.nan, -1, 1]),
    "only NaN": np.array([np.nan, np.nan], np.float32),
    "booleans": np.array([True, False, True]),
    "one": np.array([4], np.int8),
}


@pytest.mark.parametrize("equal_nan", [True, False])
@pytest.mark.parametrize("size", SIZES[1:])
@pytest.mark.parametrize("x", ELEMENTS.values(), ids=ELEMENTS)
def test_unique_is_that_of_numpy(x, size, equal_nan):
    every = (True, True, True)
    function = indim.jit(lambda x: indim.unique(x, *every, equal_nan=equal_nan, size=size))
    values, index, inverse, counts = function(x)
    expected = np.unique(x, *every, equal_nan=equal_nan)
    np.testing.assert_array_equal(values, filled(expected[0], size, expected[0][0]))
    np.testing.assert_array_equal(index, filled(expected[1], size, expected[1][0]))
    np.testing.assert_array_equal(inverse, expected[2].reshape(x.shape))
    np.testing.assert_array_equal(counts, filled(expected[3], size, 0))
    alone = indim.jit(lambda x: indim.unique(x, size=size, equal_nan=equal_nan, fill_value=1))(x)
    np.testing.assert_array_equal(alone, filled(expected[0], size, 1))
    for actual, expected in zip(indim.unique(x, *every, equal_nan=equal_nan), expected, strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_one_program_serves_all_lengths():
    traces = []

    @indim.jit
    def function(mask, x):
        traces.append(None)
        return indim.extract(mask, x, size=4), indim.unique(x, size=4), indim.flatnonzero(mask, size=4)

    for length in (5, 6, 7, 50, 3):
        x = np.arange(length) % 3
        kept, different, positions = function(x > 1, x)
        np.testing.assert_array_equal(kept, filled(x[x > 1], 4, 0))
        np.testing.assert_array_equal(different, filled(np.unique(x), 4, 0))
        np.testing.assert_array_equal(positions, filled(np.flatnonzero(x > 1), 4, 0))
    assert len(traces) <= 2


def test_a_size_is_part_of_a_program():
    """The best three of the elements that pass a test, as one program."""
    x = np.array([4.0, -1.0, 9.0, 2.0, 7.0])
    best = indim.jit(lambda x: -np.sort(-indim.compress(x > 2, x, size=len(x), fill_value=-np.inf))[:3])
    np.testing.assert_array_equal(best(x), [9, 7, 4])
    total = indim.grad(lambda x: np.sum(indim.compress(x > 2, x, size=2) ** 2))(x)
    np.testing.assert_array_equal(total, [8, 0, 18, 0, 0])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: indim.unique(x, size=-1), "size is -1"),
        (lambda x: indim.unique(x[:0], size=2), "an empty array has no element"),
        (lambda x: indim.compress(np.ones(4, bool), x, size=2), "4 elements, and the axis of x has 3"),
        (lambda x: indim.compress(x[None] > 0, x, size=2), "has one axis, not 2"),
        (lambda x: indim.extract(x[1:] > 0, x, size=2), r"the shape \(2,\), and x the shape \(3,\)"),
        (lambda x: indim.nonzero(x[0], size=1), r"indim.nonzero\(x.reshape\(1\)\)"),
    ],
)
def test_what_has_no_size_says_what_to_write(function, message):
    with pytest.raises((TypeError, ValueError, IndexError), match=message):
        indim.jit(function)(np.array([1.0, 0.0, 2.0]))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: indim.nonzero(x), r"write indim.nonzero\(..., size=k\)"),
        (lambda x: indim.flatnonzero(x), r"write indim.flatnonzero\(..., size=k\)"),
        (lambda x: indim.compress(x > 0, x), r"write indim.compress\(..., size=k\)"),
        (lambda x: indim.unique(x), r"write indim.unique\(..., size=k\)"),
        (lambda x: np.nonzero(x), r"indim.nonzero\(..., size="),
        (lambda x: x[x > 0], r"indim.extract\(mask, x, size="),
        (lambda x: np.unique(x), r"indim.unique\(..., size="),
    ],
)
def test_elements_of_a_batch_have_known_sizes(function, message):
    with pytest.raises(TypeError, match=message):
        indim.vmap(function)(np.array([[1.0, 0.0, 2.0]]))


def test_sets_with_lists():
    d = np.array([1, 2, 2, 5, 5])
    for call in (
        lambda d: np.setxor1d(d, [2, 3]),
        lambda d: np.setdiff1d([2, 3, 1], d),
        lambda d: np.intersect1d(d, [1, 5, 7]),
        lambda d: np.intersect1d(d, [1, 5, 7], return_indices=True),
        lambda d: np.intersect1d([7, 5, 1], d, return_indices=True),
    ):
        found, expected = indim.jit(call)(d), call(d)
        if not isinstance(expected, tuple):
            found, expected = (found,), (expected,)
        for array, of_numpy in zip(found, expected):
            np.testing.assert_array_equal(array, of_numpy)
