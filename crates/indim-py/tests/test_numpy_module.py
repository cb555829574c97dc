"""Calls of NumPy that ask for elements of traced values: a compiled function gives what NumPy gives."""

import functools

import numpy as np
import pytest
from numpy import array, full, zeros

import indim

X = np.random.default_rng(4).integers(-9, 10, (3, 4)) / 4
V, W = X[0], X[1]
I = np.array([2, 0, 1])  # noqa: E741


def standardised(x, v):
    y = (x - x.mean(axis=0)) / (x.std(axis=0) + 1)
    return np.asarray(y, dtype=np.float32)


def moving_average(x, v):
    n = len(v)
    return np.array([v[max(0, k - 1) : k + 2].mean() for k in range(n)])


def rows(x, v):
    found = []
    for row in x:
        found.append(row / (1 + np.linalg.norm(row)))
    return np.array(found)


def accumulated(x, v):
    total, count = np.zeros(4), np.zeros(4, dtype=int)
    for row in x:
        total += row
        count += row > 0
    return total / (1 + count)


def filled(x, v):
    y = np.full(x.shape, np.nan)
    y[1:] = x[1:] - x[:-1]
    z = np.empty((2, 4), dtype="f4")
    z[0], z[1] = v, 2 * v
    return np.concatenate([y, z])


def triangle(x, v):
    y = zeros((4, 4))
    for k in range(4):
        y[k, : k + 1] = v[k]
    return y + array([v[0], 1.0, v[1], 2]) + full(4, v.max())


def table(x, v):
    of_x = (np.abs(x) * 2).astype(int)
    return np.eye(32)[of_x].sum(axis=(0, 1)) + np.take(np.linspace(0, 1, 32), of_x).sum()


FUNCTIONS = [standardised, moving_average, rows, accumulated, filled, triangle, table]

#: Expressions of `x`, of two axes, and `v`, of one.
SPELLINGS = [
    "np.array([v[0], v[1]])",
    "np.array([[v[0], 1], [0, v[1]]], dtype='f4')",
    "np.array([v, v * 2])",
    "np.array([1, 2]) + np.array(v[0])",
    "np.array(x, copy=True)",
    "np.array(x, ndmin=3)",
    "np.asarray(x, np.float32)",
    "np.ascontiguousarray(x)",
    "np.asanyarray([v.sum(), 2])",
    "np.float32(x)",
    "np.float64(v[0]) + np.int32(x * 4)",
    "np.complex128(x)",
    "np.bool_(x)",
    "x.astype(np.float32) * np.float32(2)",
    "np.sum([v, v * 2], axis=0)",
    "np.mean((x[0], x[1]))",
    "np.maximum.reduce([v, v[::-1]])",
    "np.logical_and.reduce([v > 0, v < 1])",
    "np.add.reduce([v, v])",
    "np.power(x, [1, 2, 3, 2])",
    "np.hypot([1, 2, 3, 4], x)",
    "np.r_[0, v, v[:2]]",
    "np.r_[0:3, v]",
    "np.c_[v, 2 * v]",
    "np.c_[x, x[:, 0]]",
    "np.full(3, x[0, 0])",
    "np.full((2, 4), v, dtype='f4')",
    "np.full(2, [v[0], v[1]])",
    "np.where([True, False, True, True], v, np.zeros(4))",
    "np.array([v[0]]) if isinstance(np.zeros(2), np.ndarray) else x",
    "np.array([v[0], 1], dtype=x.dtype) * (x.dtype == np.float64)",
    "np.asarray(x) * np.finfo(np.float32).eps",
    "np.stack([np.asarray(r) for r in x])",
    "np.median([v, v * 2, v + 1], axis=0)",
    "np.dot([1.0, 2.0, 3.0, 4.0], np.asarray(v))",
]


def check(function):
    expected = function(X.copy(), V.copy())
    found = indim.jit(function)(X, V)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6 if found.dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_programs(function):
    check(function)


@pytest.mark.parametrize("text", SPELLINGS)
def test_spellings(text):
    check(eval(f"lambda x, v: {text}"))


def helper(v):
    return np.array([v[0], v[-1]])


class Model:
    scale = 3.0

    def ends(self, v):
        return helper(v) * np.float64(self.scale)


def test_functions_that_it_calls():
    model = Model()
    check(lambda x, v: helper(v) + model.ends(v) + functools.partial(np.array, dtype="f4")([1, 2]))
    check(lambda x, v: indim.jit(helper)(v) + np.array([v[0], 1]))
    np.testing.assert_array_equal(indim.vmap(helper)(X), X[:, [0, -1]])
    gradient = indim.grad(lambda v: np.sum(np.array([v[0] * v[1], v[2]])))(V)
    np.testing.assert_array_equal(gradient, [V[1], V[0], 1, 0])


def test_numpy_itself_and_the_function_stay_as_they_are():
    def function(x):
        return np.array([x[0], 1.0])

    before = dict(vars(np))
    indim.jit(function)(V)
    assert function.__globals__["np"] is np and type(function(V)) is np.ndarray
    assert all(vars(np)[name] is value for name, value in before.items())


def test_what_still_needs_elements_is_refused():
    for function, message in (
        (lambda x: np.array([x[0], 1])[int(x[0])], r"int\(\) needs the elements"),
        (lambda x: np.array(x, dtype="U8"), "no element type"),
        (lambda x: np.r_["0,2", x, x], "np.concatenate"),
    ):
        with pytest.raises(TypeError, match=message):
            indim.jit(function)(V)


def test_arrays_from_outside_take_traced_values_after_the_advice():
    table = np.arange(4.0)

    def function(x):
        y = np.asarray(table)
        y[0] = x[0]
        return y

    with pytest.raises(TypeError, match=r"write `y = np.zeros\(y.shape\) \+ y`"):
        indim.jit(function)(V)

    def as_advised(x):
        y = np.asarray(table)
        y = np.zeros(y.shape) + y
        y[0] = x[0]
        return y

    np.testing.assert_array_equal(indim.jit(as_advised)(V), [V[0], 1, 2, 3])


def test_shapes_and_outside_arrays():
    table = np.array([1.0, 2.0, 4.0])

    @indim.jit
    def function(x, i):
        y = np.zeros(x.shape)
        y[0] = x[0] + table[i].sum()
        return y

    for size in (2, 5, 7):
        x = np.arange(float(size))
        np.testing.assert_array_equal(function(x, I), [table.sum(), *np.zeros(size - 1)])
    table[:] = 1
    assert function(np.zeros(2), I)[0] == 3


def test_methods_of_ufuncs_take_lists_of_traced_values():
    import indim.numpy as jnp

    x, y = np.arange(3.0), np.ones(3)
    for method, others in (("reduce", ()), ("accumulate", ()), ("outer", ([1.0, 2.0],))):
        found = indim.jit(lambda x, y: getattr(jnp.maximum, method)([x, y], *others))(x, y)
        np.testing.assert_array_equal(found, getattr(np.maximum, method)([x, y], *others))
