"""Slices and reshapes by sizes that the function reads: one program serves many lengths, as NumPy does."""

import random

import indim
import numpy as np
import pytest

#: Functions, with the largest number of traces for lengths of all remainders.
FUNCTIONS = {
    "the first half": (lambda x: x[: x.shape[0] // 2] * 2, 3),
    "the second half": (lambda x: x[x.shape[0] // 2 :] * 2, 3),
    "half of a result": (lambda x: (lambda y: y[: y.shape[0] // 2] + 1)(x * 2), 4),
    "a part of a third": (lambda x: x[1 : x.shape[0] // 3] + 1, 4),
    "the last quarters but one": (lambda x: x[x.shape[0] // 4 : -1] + 1, 5),
    "every third of a half": (lambda x: x[x.shape[0] // 2 :: 3] + 1, 3),
    "neighbours": (lambda x: x[1 : x.shape[0] - 1] - x[: x.shape[0] - 2], 3),
    "all": (lambda x: x[: x.shape[0]] + 1, 1),
    "the last two": (lambda x: x[x.shape[0] - 2 :] + 1, 3),
    "a column": (lambda x: x.reshape(x.shape[0], 1) + 1, 2),
    "between two parts": (lambda x: x[x.shape[0] // 3 : x.shape[0] // 2] + 1, None),
    "from a half backwards": (lambda x: x[x.shape[0] // 2 :: -1] + 1, None),
    "from the end to a half": (lambda x: x[-2 : x.shape[0] // 2] + 1, None),
    "from a half to a number": (lambda x: x[x.shape[0] // 2 : 7] + 1, None),
    "pairs": (lambda x: x.reshape(x.shape[0] // 2, 2) + 1, None),
    "three rows": (lambda x: x.reshape(3, x.size // 3) * 2, None),
    "never": (lambda x: x.reshape(x.shape[0] // 2 + 1, 2), None),
}


def lengths():
    rng = random.Random(1)
    return [6, 7, 12, 0, 1, 2, 3, 4, 5, 100, 101, *(rng.randrange(300) for _ in range(40))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equal_to_numpy_for_all_lengths(name):
    function, most = FUNCTIONS[name]
    f = indim.jit(function)
    for length in lengths():
        x = np.arange(length) * 1.5
        try:
            expected = function(x)
        except ValueError:
            with pytest.raises(ValueError):
                f(x)
            continue
        np.testing.assert_array_equal(f(x), expected)
    assert most is None or f.trace_count <= most


def test_reshapes_into_pairs_are_traced_once():
    f = indim.jit(lambda x: x.reshape(x.shape[0] // 2, 2) + 1)
    g = indim.jit(lambda x: x.reshape(x.shape[0] * x.shape[1]) + 1)
    for length in (6, 8, 100, 34):
        x = np.arange(length * 3.0).reshape(length, 3)
        np.testing.assert_array_equal(f(x[:, 0]), x[:, 0].reshape(-1, 2) + 1)
        np.testing.assert_array_equal(g(x), x.ravel() + 1)
    assert f.trace_count == g.trace_count == 1


def test_a_size_of_another_array():
    f = indim.jit(lambda x, y: x.reshape(y.shape[0] // 2, 2).sum(1) + x[: y.shape[0] // 2].sum())
    for n, m in ((6, 6), (8, 8), (8, 9)):
        x, y = np.arange(n * 1.0), np.ones(m)
        np.testing.assert_array_equal(f(x, y), f.__wrapped__(x, y))
    for n, m in ((8, 6), (6, 8)):
        with pytest.raises(ValueError):
            f(np.ones(n), np.ones(m))


def test_several_axes():
    f = indim.jit(lambda x: x[1 : x.shape[0] - 1, : x.shape[1] - 2] + x[2 : x.shape[0], 0 : x.shape[1] - 2])
    for n, m in ((5, 6), (7, 5), (30, 40), (3, 9), (2, 3), (5, 2), (4, 1)):
        x = np.arange(n * m * 1.0).reshape(n, m)
        try:
            expected = f.__wrapped__(x)
        except ValueError:
            continue
        np.testing.assert_array_equal(f(x), expected)
    assert f.trace_count <= 2


def test_gradients():
    def loss(x):
        half = x.shape[0] // 2
        return (x[:half] ** 2).sum() + (x[half:] * 3).sum()

    f = indim.jit(indim.grad(loss))
    for length in (6, 7, 8, 9, 31, 4):
        x = np.arange(length * 1.0)
        np.testing.assert_array_equal(f(x), np.where(np.arange(length) < length // 2, 2 * x, 3.0))
    assert f.trace_count == 2


def test_writes_are_seen_as_in_numpy():
    def after_a_write(x):
        y = x * 1
        half = y[: y.shape[0] // 2]
        y[0] = 5.0
        return half + 0

    f = indim.jit(after_a_write)
    for length in (6, 7, 8):
        x = np.arange(length * 1.0)
        np.testing.assert_array_equal(f(x), after_a_write(x))

    def into_the_part(x):
        y = x * 1
        half = y[: y.shape[0] // 2]
        half[0] = 5.0
        return y + 0

    with pytest.raises(ValueError, match="shares memory"):
        indim.jit(into_the_part)(np.arange(6.0))


@pytest.mark.parametrize("position", [0, 1, 3, -1, -3])
@pytest.mark.parametrize("values", [7.5, [7.5], [7.5, 8.5], []])
def test_an_insertion(position, values):
    f = indim.jit(lambda x: np.insert(x, position, values) * 2)
    for length in (6, 7, 100, 12, 3, 2, 1, 0, 9):
        x = np.arange(length * 1.0)
        try:
            expected = np.insert(x, position, values) * 2
        except IndexError:
            with pytest.raises(IndexError):
                f(x)
            continue
        np.testing.assert_array_equal(f(x), expected)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_a_median(dtype):
    f = indim.jit(lambda x: (np.median(x), np.median(x, axis=0, keepdims=True), np.nanmedian(x)))
    g = indim.jit(lambda x: np.median(x))
    rng = np.random.default_rng(1)
    for length in (6, 7, 100, 12, 3, 2, 1, 9, *rng.integers(2, 200, 20).tolist()):
        x = rng.normal(0, 100, length).astype(dtype)
        for result, expected in zip((*f(x), g(x)), (*f.__wrapped__(x), np.median(x))):
            np.testing.assert_array_equal(result, expected)
            assert result.shape == expected.shape
        if dtype != "i4":
            x[length // 3] = np.nan
            assert np.isnan(g(x))
    assert g.trace_count <= 3, "one for each remainder, and one for a single element"


def test_backward_slices_to_the_size_are_empty():
    def f(x):
        n = x.shape[0]
        return x[:n:-1], x[3:n:-1], x[n - 1 :: -1], x[n - 1 : n - 3 : -1], x[: n - 3 : -1]

    compiled = indim.jit(f)
    for length in (6, 4, 3, 7, 2, 1):
        x = np.arange(float(length))
        for found, expected in zip(compiled(x), f(x)):
            np.testing.assert_array_equal(found, expected)
