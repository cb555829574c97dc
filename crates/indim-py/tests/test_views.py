"""Indices of traced values, and NumPy's view functions on them, against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as arrays

import indim

X = np.arange(24.0).reshape(2, 3, 4) - 7.5
I = np.array([[1, -1, 0], [0, 2, -3]])

INDICES = {
    "one": lambda x: x[0],
    "from the end": lambda x: x[-1, :, -2],
    "all": lambda x: x[1, 2, 3],
    "slices": lambda x: x[:1, 1:, ::2] + 1,
    "backwards": lambda x: x[::-1, ::-2, 2::-1],
    "ends beyond": lambda x: x[-99:99, 5:, :],
    "new axes": lambda x: x[None, ..., np.newaxis, 0],
    "ellipsis": lambda x: x[..., 3] - x[..., 0],
    "of a slice": lambda x: x[1:][0][::-1][1:],
    "of what is computed": lambda x: np.exp(x)[1:] - np.exp(x)[:-1],
    "numbers of NumPy": lambda x: x[np.int8(1), np.uint64(0) :],
    "an array": lambda x: x[:, I],
    "an array and a number": lambda x: x[1, I],
    "a list": lambda x: x[[1, 0, -1]],
    "arrays": lambda x: x[I % 2, I, I - 1],
    "arrays that broadcast": lambda x: x[:, I[:, :1], I[:1]],
    "arrays apart": lambda x: x[[1, 0, 1], :, [3, 0, -1]],
    "an array and a number apart": lambda x: x[I % 2, :, 1],
    "a number and an array apart": lambda x: x[1, :, I],
    "arrays and a new axis": lambda x: x[:, [0, 2], None, [1, 1]],
    "arrays and an empty ellipsis": lambda x: x[:, [0, 2], ..., [1, 1]],
    "arrays of no elements": lambda x: x[[], 1:, []],
    "an array and slices": lambda x: x[::-1, 1:, I],
    "of no elements": lambda x: x[:, :, []],
    "assigned": lambda x: x[x.shape[0] - 1],
}

FUNCTIONS = {
    "concatenate": lambda x: np.concatenate([x, 2 * x[:1]]),
    "concatenate with arrays": lambda x: np.concatenate([x, np.ones((2, 3, 1), "i2"), x[..., :2]], axis=-1),
    "concatenate flat": lambda x: np.concatenate((x, x[0]), axis=None),
    "concatenate to a type": lambda x: np.concatenate((x, x), dtype="c16"),
    "stack": lambda x: np.stack([x, -x], axis=1),
    "stack at the end": lambda x: np.stack([x[0], x[1], X[0].astype("f4")], axis=-1),
    "hstack": lambda x: np.hstack([x[0, 0], x[1, 1]]),
    "hstack of matrices": lambda x: np.hstack([x[0], x[1]]),
    "vstack": lambda x: np.vstack([x[0, 0], x[0, 1]]),
    "dstack": lambda x: np.dstack([x[0], x[1]]),
    "flip": lambda x: np.flip(x) + np.flip(x, 1) + np.flip(x, (0, -1)),
    "flipud and fliplr": lambda x: np.flipud(x) + np.fliplr(x),
    "roll": lambda x: np.roll(x, 5) + np.roll(x, -1, 1) + np.roll(x, (1, 2), (0, 2)) + np.roll(x, 1, (0, 1)),
    "pad": lambda x: np.pad(x, 1),
    "pad with a number": lambda x: np.pad(x, ((0, 1), (2, 0), (1, 1)), constant_values=1),
    "pad with the edge": lambda x: np.pad(x, (2, 1), mode="edge"),
    "pad around": lambda x: np.pad(x, ((5, 0), (1, 1), (0, 9)), "wrap"),
    "pad mirrored": lambda x: np.pad(x, ((1, 1), (2, 1), (3, 3)), "reflect"),
    "pad mirrored with the edge": lambda x: np.pad(x, ((2, 1), (2, 1), (4, 3)), "symmetric"),
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 3), (1, 2)),
    "windows of windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 2), (2, 2)),
    "moving sum": lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, axis=1).sum(axis=-1),
    "take": lambda x: np.take(x, I, axis=1),
    "take flat": lambda x: np.take(x, [[0, -1], [23, 5]]),
    "take clipped": lambda x: np.take(x, [9, -9, 1], axis=2, mode="clip"),
    "take around": lambda x: x.take([9, -9, 1], axis=-1, mode="wrap"),
    "take along an axis": lambda x: np.take_along_axis(x, I[:, :, None], 1),
    "take along the last axis": lambda x: np.take_along_axis(x, np.argsort(-X), -1) + x,
    "take along the first axis": lambda x: np.take_along_axis(x, I[:, :1, None] % 2, axis=0),
    "take along an axis, flat": lambda x: np.take_along_axis(x, np.array([3, -1, 23]), None),
    "diff": lambda x: np.diff(x[..., 1:]),
    "diff of diff": lambda x: np.diff(x, n=2, axis=1),
    "diff with ends": lambda x: np.diff(x, axis=1, prepend=0, append=x[:, :1]),
    "ediff1d": lambda x: np.ediff1d(x),
    "repeat": lambda x: np.repeat(x, 2, axis=1) + 1,
    "repeat each": lambda x: x.repeat([2, 0, 1], axis=1),
    "tile": lambda x: np.tile(x, (2, 1, 3)),
    "tile with axes": lambda x: np.tile(x[0], (2, 1, 1)) + x,
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "c16", "u1", "?"])
@pytest.mark.parametrize("name", [*INDICES, *FUNCTIONS])
def test_a_traced_function_is_that_of_numpy(name, dtype):
    function = {**INDICES, **FUNCTIONS}[name]
    with np.errstate(all="ignore"):
        x = X.astype(dtype)
        try:
            expected = function(x)
        except TypeError:
            with pytest.raises((TypeError, ValueError)):
                indim.jit(function)(x)
            return
        result = indim.jit(function)(x)
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(result, expected, rtol=2e-7)


def test_a_table_is_looked_up():
    table = np.random.default_rng(1).normal(size=256).astype("f4")
    image = np.random.default_rng(2).integers(0, 256, (70, 90), dtype="u1")
    look_up = indim.jit(lambda table, image: table[image])
    np.testing.assert_array_equal(look_up(table, image), table[image])
    np.testing.assert_array_equal(look_up(table, image[::-1, ::3]), table[image[::-1, ::3]])
    np.testing.assert_array_equal(
        indim.evaluate("table[image] * 2", table=table, image=image), table[image] * 2
    )


def test_indices_that_are_computed():
    function = indim.jit(lambda x, i: x[i * 2 - 1] + i)
    x, i = np.arange(10.0), np.array([0, 1, 5])
    np.testing.assert_array_equal(function(x, i), x[i * 2 - 1] + i)


def test_an_index_that_names_nothing_leaves_the_output_alone():
    out = np.full(3, -1.0)
    function = indim.jit(lambda x, i: x[i] + 1)
    with pytest.raises(IndexError, match=r"index 4, at \[1\] of `i`"):
        function(np.arange(4.0), np.array([0, 4, 1]), out=out)
    assert (out == -1).all()


def test_outputs_lie_over_what_is_sliced():
    x = np.arange(1000.0) ** 2
    expected = x[1:] - x[:-1]
    indim.jit(lambda x: x[1:] - x[:-1])(x, out=x[:-1])
    np.testing.assert_array_equal(x[:-1], expected)
    x = np.arange(1000.0)
    indim.jit(lambda x: x[::-1] + 1)(x, out=x)
    np.testing.assert_array_equal(x, np.arange(1000.0)[::-1] + 1)


def test_what_cannot_be_an_index():
    x, i = np.arange(4.0), np.arange(4)
    for function, error, words in [
        (lambda x, i: x[True], TypeError, "np.where"),
        (lambda x, i: x[x], indim.IndimError, "indices are integers"),
        (lambda x, i: x[:: i[0]], TypeError, "static="),
        (lambda x, i: x[1.5], IndexError, "is not an index"),
        (lambda x, i: x[4], indim.IndimError, "index-out-of-range"),
        (lambda x, i: x[0, 0], indim.IndimError, "too-many-indices"),
        (lambda x, i: np.concatenate([x, x], out=x), TypeError, "without `out=`"),
        (lambda x, i: np.pad(x, 1, mode="cubic"), ValueError, "mode 'cubic' is not supported"),
        (lambda x, i: np.pad(x, -1), ValueError, "negative"),
        (lambda x, i: np.pad(x, 9, mode="reflect"), indim.IndimError, "pad-width"),
    ]:
        with pytest.raises(error, match=words):
            indim.jit(function)(x, i)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_basic_index_is_that_of_numpy(data):
    shape = data.draw(arrays.array_shapes(min_dims=1, max_dims=3, max_side=5))
    x = np.arange(np.prod(shape), dtype="i4").reshape(shape)
    index = data.draw(arrays.basic_indices(shape, allow_newaxis=True, max_dims=6))
    expected = np.asarray((x + 1)[index])
    result = indim.jit(lambda x: (x + 1)[index])(x)
    assert result.shape == expected.shape
    np.testing.assert_array_equal(result, expected)


def test_a_list_with_traced_positions_is_an_index():
    def solve(m, b):
        m, b = m.copy(), b.copy()
        for row in range(3):
            pivot = row + np.argmax(np.abs(m[row:, row]))
            m[[row, pivot]] = m[[pivot, row]]
            b[[row, pivot]] = b[[pivot, row]]
            for below in range(row + 1, 3):
                factor = m[below, row] / m[row, row]
                m[below], b[below] = m[below] - factor * m[row], b[below] - factor * b[row]
        return m, b

    matrix, right = np.array([[0.0, 2, 1], [3, 1, 2], [1, 5, 1]]), np.array([1.0, 2, 3])
    for found, expected in zip(indim.jit(solve)(matrix, right), solve(matrix, right)):
        np.testing.assert_array_equal(found, expected)

    table = np.arange(12).reshape(4, 3)
    both = indim.jit(lambda x, i: (x[[i, 0], [1, i]], table[[0, i]], indim.at(x)[[0, i]].add(1)))
    pairs, rows, added = both(table, 2)
    np.testing.assert_array_equal(pairs, table[[2, 0], [1, 2]])
    np.testing.assert_array_equal(rows, table[[0, 2]])
    np.testing.assert_array_equal(added, table + [[1], [0], [1], [0]])
