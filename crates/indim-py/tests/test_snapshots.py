"""NumPy's writes into arrays that a traced function has used: the program keeps the elements from before."""

import numpy as np
import pytest

import indim
from indim import _snapshots

X = np.array([1.0, 2.0, 4.0])


def assign(y):
    y[0] = 5


def fill(y):
    y.fill(5)


def write_out(y):
    np.add(y, 5, out=y)


def write_view(y):
    y[::-1][1:] += 2


def shuffle(y):
    np.random.default_rng(0).shuffle(y)


USES = [
    lambda x, y: x * y,
    lambda x, y: np.where(x > 1, y, x),
    lambda x, y: x @ y,
    lambda x, y: np.concatenate([x, y]),
    lambda x, y: x[np.argsort(y)],
    lambda x, y: x[y.astype(int) % 3],
    lambda x, y: (x * y.T[::-1]),
]


@pytest.mark.parametrize("write", [assign, fill, np.ndarray.sort, write_out, write_view, shuffle])
@pytest.mark.parametrize("use", USES)
def test_a_use_has_the_elements_before_a_later_write(use, write):
    def f(x):
        y = np.array([3.0, 1.0, 2.0])
        before = use(x, y)
        write(y)
        return before, use(x, y), y * 1.0

    compiled = indim.jit(f)
    for _ in range(2):
        for found, expected in zip(compiled(X), f(X)):
            np.testing.assert_array_equal(found, expected)


def test_a_buffer_is_written_in_each_round():
    def f(x):
        row, found = np.zeros(3), []
        for k in range(3):
            row[:] = 0
            row[k] = 1
            found.append((x * row).sum())
        return np.stack(found)

    np.testing.assert_array_equal(indim.jit(f)(X), f(X))
    np.testing.assert_array_equal(indim.jacobian(f)(X), np.eye(3))
    np.testing.assert_array_equal(indim.vmap(f)(np.stack([X, 2 * X])), [f(X), f(2 * X)])


def test_nans_and_signs_of_zeros_are_compared_as_bits():
    def f(x):
        y = np.array([np.nan, 0.0, 1.0])
        before = np.copysign(x, y)
        y[1] = -0.0
        return before, np.copysign(x, y)

    for found, expected in zip(indim.jit(f)(X), f(X)):
        np.testing.assert_array_equal(found, expected)


def test_an_array_without_writes_is_read_at_each_call():
    w = np.ones(3)
    f = indim.jit(lambda x: x * w + w[::-1])
    np.testing.assert_array_equal(f(X), X + 1)
    w[0] = 7
    np.testing.assert_array_equal(f(X), X * w + w[::-1])


def test_a_later_write_into_an_outside_array_is_an_error():
    buffer = np.zeros(3)

    def f(x):
        result = x * buffer
        buffer[1:] += 1
        return result

    with pytest.raises(ValueError, match=r"`buffer`, an array from outside .*f, is written after.*copy\(\)"):
        indim.jit(f)(X)


def test_large_arrays_have_checksums(monkeypatch):
    monkeypatch.setattr(_snapshots, "MAX_COPIED_BYTES", 16)

    def f(x, is_written):
        y = np.arange(3.0)
        result = x * y
        if is_written:
            y[:2] = y[1::-1].copy()
        return result

    compiled = indim.jit(f, static="is_written")
    np.testing.assert_array_equal(compiled(X, False), X * np.arange(3.0))
    with pytest.raises(ValueError, match="`y` is written after .*f has used it.*too large"):
        compiled(X, True)


@pytest.mark.parametrize("size", [3, 200_000])
def test_an_array_that_is_written_and_restored(size):
    def f(x):
        y = np.ones(size)
        before = (x[0] * y).sum()
        y[0] += 100
        between = (x[0] * y).sum()
        y[0] -= 100
        return before, between

    np.testing.assert_array_equal(indim.jit(f)(X), [size, size + 100])


def test_arrays_of_files_are_not_read_at_the_trace(tmp_path):
    np.save(tmp_path / "w.npy", np.arange(3.0))
    w = np.load(tmp_path / "w.npy", mmap_mode="r")
    assert _snapshots._is_of_file(w) and _snapshots._is_of_file(np.asarray(w)[1:])
    assert not _snapshots._is_of_file(X[1:])
    np.testing.assert_array_equal(indim.jit(lambda x: x * w)(X), X * np.arange(3.0))
