"""Outside arrays whose elements NumPy or Python reads while a function is traced: each call compares them."""

import types

import numpy as np
import pytest

import indim
from traces import counting

X = np.array([1.0, 2.0, 3.0])
TABLE = np.array([2.0, 3.0, 4.0])


W = np.array([1.0, 2.0, 3.0])


def branch(x):
    return x * 2 if W.any() else x


def through_a_helper(x):
    def helper(x, weights):
        return x * weights[-1]

    return helper(x, W)


def computed(x):
    return x * (W + 1)


def transposed(x):
    return x * W.astype("f4")[::-1]


def as_a_slice(x):
    return x[: int(W[0])].sum() + 0 * x


def in_a_loop(x):
    total = x
    for number in W.tolist():
        total = total + number
    return total


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * W[0],
        lambda x: x * float(W.sum()),
        lambda x: x + (1 if W[1] > 1.5 else 2),
        lambda x: x * np.sum(W),
        lambda x: x + sum(W),
        lambda x: np.where(W > 1, x, 0),
        branch,
        through_a_helper,
        computed,
        transposed,
        as_a_slice,
        in_a_loop,
    ],
)
def test_numbers_that_numpy_reads_are_those_of_the_call(function):
    f, before = indim.jit(function), W.copy()
    try:
        for values in [(1, 2, 3), (1, 2, 3), (3, 1, 1), (0, 0, 0), (1, 2, 3), (1, -0.0, 0.0)]:
            W[:] = values
            np.testing.assert_array_equal(f(X), function(X))
    finally:
        W[:] = before


def test_arrays_in_closures_attributes_and_containers():
    w, strided = np.array([1.0, 2.0]), np.arange(8.0)[::2]
    day = np.array(["2020-01-01"], "M8[D]")
    model = types.SimpleNamespace(w=np.array([3.0]), layers=[np.array([4.0]), {"b": np.array([5.0])}])

    def function(x):
        days = int(day.astype(int)[0])
        return x * w[0] + model.w[0] + model.layers[0][0] * model.layers[1]["b"][0] + strided[1] + days

    f, runs = counting(function)
    arrays = w, strided, day, model.w, model.layers[0], model.layers[1]["b"]
    for count, array in enumerate(arrays, 1):
        np.testing.assert_array_equal(f(X), function(X))
        array += np.array(1, "m8[D]" if array is day else None)
        np.testing.assert_array_equal(f(X), function(X))
        assert len(runs) == count + 1


def test_methods_and_static_arguments():
    class Model:
        def __init__(self):
            self.scale = np.array([1.0, 2.0])

        @indim.jit(static="self")
        def __call__(self, x):
            return x * self.scale[0] if self.scale[1] > 0 else x

    model = Model()
    for scale in [(1.0, 2.0), (3.0, 2.0), (3.0, -1.0)]:
        model.scale[:] = scale
        np.testing.assert_array_equal(model(X), X * scale[0] if scale[1] > 0 else X)


def test_gradients_read_them_again():
    w = np.array([2.0, 3.0])
    gradient = indim.grad(lambda x: np.sum(x * x) * w[0])
    for value in (2.0, 5.0):
        w[0] = value
        np.testing.assert_array_equal(gradient(X), 2 * X * value)


READ = np.array([1.0, 2.0, 3.0])
#: A view, as a layer of a vector of parameters.
SQUARE = np.arange(20.0)[2:11].reshape(3, 3)
SEVERAL = [np.array([4.0, 5.0, 6.0]), np.array([7.0])]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * READ,
        lambda x: x * READ.reshape(READ.shape) + x,
        lambda x: np.where(x > 1, x * READ[::-1], READ[0:1]),
        lambda x: sum(x * one for one in SEVERAL),
        lambda x: x * SEVERAL[0] + SEVERAL[1],
        lambda x: np.multiply(*(np.add(one, x) for one in SEVERAL)),
        lambda x: x * SEVERAL[0] * len(SEVERAL[1]) + SEVERAL[1] if SEVERAL[0] is not None else x,
        lambda x: sum(x * SEVERAL[i] for i in range(len(SEVERAL))) + np.tanh(x @ SQUARE.T),
    ],
)
def test_arrays_that_the_program_reads_are_no_reason_for_another_trace(function):
    f, runs = counting(function)
    for value in (1.0, 2.0, 3.0):
        READ[:] = value
        SEVERAL[0][1], SEVERAL[1][0], SQUARE[0] = value, value, value
        np.testing.assert_array_equal(f(X), function(X))
    assert len(runs) == 1


def test_equal_programs_are_compiled_once():
    w = np.array([1.0, 2.0])

    def function(x):
        return x * 2 if w.any() else x * 3

    f, runs = counting(function)
    for value in (1.0, 2.0, 3.0):
        w[0] = value
        np.testing.assert_array_equal(f(X), X * 2)
    assert len(runs) == 3


def test_what_the_function_writes_itself_is_no_reason_for_another_trace():
    calls = np.zeros(1, int)

    def function(x):
        calls[0] += 1
        return x * 2

    f = indim.jit(function)
    for _ in range(3):
        np.testing.assert_array_equal(f(X), 2 * X)
    assert calls[0] == 1


def test_an_array_of_another_shape_or_type_in_the_same_memory():
    w = np.array([1.0, 2.0])
    f, runs = counting(lambda x: x * w.shape[0] + w.dtype.itemsize)
    np.testing.assert_array_equal(f(X), 2 * X + 8)
    np.testing.assert_array_equal(f(X), 2 * X + 8)
    assert len(runs) == 1


@pytest.mark.parametrize("count", [64, 200])
def test_many_arrays(count):
    arrays = [np.full(4, float(k)) for k in range(count)]
    f = indim.jit(lambda x: x + sum(array[0] for array in arrays))
    np.testing.assert_array_equal(f(X), X + sum(range(count)))
    arrays[-1][0] = 1000.0
    np.testing.assert_array_equal(f(X), X + sum(range(count - 1)) + 1000)
