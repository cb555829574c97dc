"""Functions and methods of NumPy on traced values, against NumPy."""

import copy
import math

import numpy as np
import pytest

import indim

X = np.arange(24.0).reshape(1, 4, 1, 6) - 7.5

MOVES = {
    "swapaxes": lambda x: np.swapaxes(x, 1, -1) + 1,
    "x.swapaxes": lambda x: x.swapaxes(0, 3),
    "moveaxis": lambda x: np.moveaxis(x, 3, 0),
    "moveaxis of two": lambda x: np.moveaxis(x, [1, 3], [-1, 0]) * 2,
    "rollaxis": lambda x: np.rollaxis(x, 3, 1),
    "transpose": lambda x: np.transpose(x, (3, -3, 0, 2)) + x.transpose(3, 1, 0, 2),
    "x.transpose": lambda x: x.transpose() + x.T + np.transpose(x),
    "squeeze": lambda x: np.squeeze(x) + np.squeeze(x, 0).squeeze(axis=1),
    "squeeze of two": lambda x: x.squeeze((0, -2)),
    "squeeze of none": lambda x: x.squeeze().squeeze(),
    "ravel": lambda x: np.ravel(x) + x.ravel() + x.flatten(),
    "ravel in columns": lambda x: np.ravel(x, order="F") + x.ravel("F"),
    "expand_dims": lambda x: np.expand_dims(x, (0, -1)),
    "atleast_3d": lambda x: np.atleast_3d(np.squeeze(x)) + 1,
    "atleast_2d": lambda x: np.atleast_2d(x.ravel()) * np.atleast_1d(np.float32(2)),
    "reshape": lambda x: np.reshape(x, (2, -1)) + x.reshape(2, 12),
}

VALUES = {
    "divmod": lambda x: np.divmod(x, 3)[0] + np.divmod(7, np.abs(x) + 1)[1],
    "divmod of Python": lambda x: divmod(x, 3)[1] + divmod(7, abs(x) + 1)[0],
    "polyval": lambda x: np.polyval([2, 0, -1.5, 3], x),
    "polyval of whole numbers": lambda x: np.polyval((3, 2, 1), x),
    "polyval of single precision": lambda x: np.polyval(np.float32([0.1, 0.2]), x),
    "polyval of nothing": lambda x: np.polyval([], x),
    "Polynomial": lambda x: np.polynomial.polynomial.polyval(x, [1.0, 2.0, 3.0]),
    "zeros_like": lambda x: np.zeros_like(x),
    "zeros_like of a type": lambda x: np.zeros_like(x, dtype="i4") + x,
    "ones_like": lambda x: np.ones_like(x) + np.ones_like(x, np.int8),
    "full_like": lambda x: np.full_like(x, 2.75),
    "full_like of infinity": lambda x: np.full_like(x, -np.inf, dtype=complex),
    "full_like of a value": lambda x: np.full_like(x, np.max(X)),
    "angle": lambda x: np.angle(x) + np.angle(x - 20),
    "angle in degrees": lambda x: np.angle(x, deg=True),
    "select": lambda x: np.select([np.abs(x) > 5, x == -1.5], [x, 2.5], -1),
    "select of numbers": lambda x: np.select([np.abs(x) > 5, np.abs(x) > 2], [1, 2]),
    "select of another type": lambda x: np.select([x == 0, x != 1], [np.float32(1.5), x[..., :1]], 7.25),
    "fix": lambda x: np.fix(x),
    "isposinf": lambda x: np.isposinf(x) | np.isneginf(x / 0),
    "copy": lambda x: np.copy(x) + x.copy(),
    "copy of Python": lambda x: copy.copy(x) + copy.deepcopy(x),
    "sizes": lambda x: x / np.size(x) + np.ndim(x) + np.size(x, 1) + np.shape(x)[3],
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "c16", "u1", "?"])
@pytest.mark.parametrize("name", [*MOVES, *VALUES])
def test_a_traced_function_is_that_of_numpy(name, dtype):
    function = {**MOVES, **VALUES}[name]
    with np.errstate(all="ignore"):
        x = X.astype(dtype)
        try:
            expected = function(x)
        except TypeError:
            with pytest.raises(TypeError):
                indim.jit(function)(x)
            return
    result = indim.jit(function)(x)
    assert result.dtype == expected.dtype and result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-6 if dtype == "f4" else 1e-14)


def test_what_fills_an_array_does_not_depend_on_its_elements():
    x = np.array([np.nan, np.inf, -0.0])
    zeros, ones, filled = indim.jit(lambda x: (np.zeros_like(x), np.ones_like(x), np.full_like(x, -0.0)))(x)
    assert zeros.tolist() == [0] * 3 and ones.tolist() == [1] * 3
    assert not np.signbit(zeros).any() and np.signbit(filled).all()


def test_filling_keeps_shapes_of_any_size():
    f = indim.jit(lambda x: np.zeros_like(x) + 1)
    for shape in ((2, 3), (0, 4), (5, 1)):
        np.testing.assert_array_equal(f(np.full(shape, np.nan)), np.ones(shape))
    assert f.trace_count == 1


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x: np.swapaxes(x, 0, 4), np.exceptions.AxisError),
        (lambda x: np.moveaxis(x, [0, 1], [0]), ValueError),
        (lambda x: np.moveaxis(x, [0, 0], [0, 1]), ValueError),
        (lambda x: np.squeeze(x, 1), ValueError),
        (lambda x: np.expand_dims(x, (0, 0)), ValueError),
        (lambda x: np.transpose(x, (0, 1)), ValueError),
        (lambda x: np.transpose(x, (0, 0, 1, 2)), ValueError),
        (lambda x: x.ravel("K"), TypeError),
        (lambda x: np.polyval(x, x), TypeError),
        (lambda x: np.full_like(x, np.ones(5)), ValueError),
        (lambda x: np.concatenate([x, x[0]]), ValueError),
        (lambda x: np.select([x > 0], [x, x]), ValueError),
        (lambda x: np.select([], []), ValueError),
        (lambda x: np.select([x], [x]), TypeError),
    ],
)
def test_mistakes_are_those_of_numpy(function, error):
    with pytest.raises(error):
        indim.jit(function)(X)


def test_asarray_takes_arrays_and_tracing_values():
    def f(x):
        x = indim.asarray(x)
        return x + indim.asarray([1.0, 2.0], dtype="f4")

    x = np.array([1.5, 2.5], np.float32)
    assert f(x).dtype == indim.jit(f)(x).dtype == np.float32
    np.testing.assert_array_equal(f(x), indim.jit(f)(x))
    assert indim.asarray(x) is x
    assert indim.jit(lambda x: x.__array_namespace__().asarray(x, dtype="i8"))(x).tolist() == [1, 2]


@pytest.mark.parametrize("ufunc", [np.exp, np.sqrt, np.hypot, np.maximum, np.logical_not, np.divmod, np.add])
def test_a_ufunc_is_compiled_as_it_is(ufunc):
    f = indim.jit(ufunc)
    x, y = np.array([1.0, 4.0, 9.0]), np.array([2.0, 3.0, 4.0])
    operands = (x, y)[: ufunc.nin]
    np.testing.assert_allclose(f(*operands), ufunc(*operands), rtol=1e-15)
    assert f.__name__ == ufunc.__name__
    with pytest.raises(TypeError):
        f(*operands, x)


def test_operations_of_indim_are_compiled_as_they_are():
    x = np.array([1.0, 4.0])
    np.testing.assert_allclose(indim.jit(indim.exp)(x), np.exp(x), rtol=1e-15)
    np.testing.assert_array_equal(indim.jit(indim.xla.add)(x, x), x + x)
    np.testing.assert_array_equal(indim.jit(indim.hypot)(x, x), np.hypot(x, x))


@pytest.mark.parametrize("function", [math.sqrt, dict, 3])
def test_what_cannot_be_compiled_says_so(function):
    with pytest.raises(TypeError):
        indim.jit(function)(np.ones(2))


def test_columns_of_pandas_are_added_from_both_sides():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([1.0, 2.0, 3.0])
    x = np.array([10.0, 20.0, 30.0])
    for function in (lambda x: series.values + x, lambda x: x + series.values):
        np.testing.assert_array_equal(indim.jit(function)(x), [11.0, 22.0, 33.0])
    for function in (lambda x: series + x, lambda x: x + series, lambda x: series * x):
        result = indim.jit(function)(x)
        assert type(result) is np.ndarray
        np.testing.assert_array_equal(result, function(x))


def random_move(random, rank):
    """A function of NumPy that moves axes, with arguments that are mostly valid."""
    axes = [int(axis) for axis in random.integers(-rank - 1, rank + 2, 2)]
    some = tuple(int(axis) for axis in random.permutation(rank + 1)[: random.integers(0, 3)])
    return random.choice(
        np.array(
            [
                lambda x: np.swapaxes(x, *axes),
                lambda x: np.moveaxis(x, *axes),
                lambda x: np.moveaxis(x, some, some[::-1]),
                lambda x: np.rollaxis(x, *axes),
                lambda x: np.squeeze(x),
                lambda x: x.squeeze(axes[0]),
                lambda x: np.squeeze(x, some),
                lambda x: np.ravel(x),
                lambda x: x.ravel(order="F"),
                lambda x: np.expand_dims(x, some),
                lambda x: np.atleast_2d(x),
                lambda x: np.transpose(x, random.permutation(rank)),
                lambda x: x.T,
                lambda x: np.full_like(x, axes[0]),
                lambda x: np.reshape(x, (1, -1)),
            ]
        )
    )


@pytest.mark.parametrize("seed", range(300))
def test_random_moves_are_those_of_numpy(seed):
    random = np.random.default_rng(seed)
    shape = tuple(random.choice([0, 1, 1, 2, 3], random.integers(0, 5)))
    x = random.integers(0, 99, shape).astype(random.choice(["f4", "i8", "u1"]))
    first, second = random_move(random, x.ndim), random_move(random, x.ndim)
    permutation = random.bit_generator.state

    def f(x):
        random.bit_generator.state = permutation
        return second(first(x))

    try:
        expected = f(x)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        with pytest.raises((type(error), ValueError)):
            indim.jit(f)(x)
        return
    result = indim.jit(f)(x)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected, strict=True)
