"""Reductions against NumPy: in expressions, and of the values of compiled functions."""

import indim
import numpy as np
import pytest

RANDOM = np.random.default_rng(11)
CUBE = RANDOM.normal(size=(5, 7, 600))

NAMES = ["sum", "prod", "mean", "var", "std", "max", "min", "ptp", "any", "all", "count_nonzero"]
TYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64"]


def sample(dtype):
    values = RANDOM.integers(0, 5, size=(4, 3, 6)) if dtype != "bool" else RANDOM.random((4, 3, 6)) < 0.7
    array = values.astype(dtype)
    return array + array.dtype.type(1j) * array[::-1] if array.dtype.kind == "c" else array


def is_defined(name, dtype):
    return not (name in ("max", "min", "ptp") and dtype == "complex64") and (name, dtype) != ("ptp", "bool")


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (-1, -2)])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", NAMES)
def test_types_and_values_are_those_of_numpy(name, dtype, axis):
    if not is_defined(name, dtype):
        return
    x, function = sample(dtype), getattr(np, name)
    for keepdims in (False, True):
        expected = np.asarray(function(x, axis=axis, keepdims=keepdims))
        result = indim.jit(lambda x: function(x, axis=axis, keepdims=keepdims))(x)
        assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(result, expected, rtol=1e-2 if dtype == "float16" else 1e-5)


def test_methods_are_those_of_arrays():
    centred = indim.jit(lambda x: (x - x.mean(axis=0)) / x.std(axis=0, ddof=1))
    x = CUBE[0]
    np.testing.assert_allclose(centred(x), (x - x.mean(axis=0)) / x.std(axis=0, ddof=1), rtol=1e-12)
    assert indim.jit(lambda x: x.argmax())(x) == x.argmax()
    assert indim.jit(lambda x: x.sum(1, np.float32))(x).dtype == np.float32


def test_where_and_initial():
    x, w = CUBE[0], CUBE[1] > 0
    total = indim.jit(lambda x, w: np.sum(x, axis=1, where=w, initial=2.0))
    np.testing.assert_allclose(total(x, w), np.sum(x, axis=1, where=w, initial=2.0))
    largest = indim.jit(lambda x, w: np.max(x, axis=0, where=w, initial=-1.0))
    np.testing.assert_array_equal(largest(x, w), np.max(x, axis=0, where=w, initial=-1.0))
    with pytest.raises(ValueError, match="give `initial` as well"):
        indim.jit(lambda x, w: np.max(x, where=w))(x, w)
    with pytest.raises(TypeError, match="write it by sums"):
        indim.jit(lambda x, w: np.var(x, where=w))(x, w)
    with pytest.raises(TypeError, match="takes no `out`"):
        indim.jit(lambda x: np.sum(x, out=np.zeros(())))(x)


def test_expressions_reduce_anywhere():
    x, y = CUBE[0], CUBE[1]
    result = indim.evaluate("sum((x - y) ** 2, axis=1) / 2 + 1", x=x, y=y)
    np.testing.assert_allclose(result, np.sum((x - y) ** 2, axis=1) / 2 + 1)
    softmax = indim.evaluate("softmax(x, axis=-1)", x=x)
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    np.testing.assert_allclose(softmax, exponentials / exponentials.sum(axis=-1, keepdims=True))
    with pytest.raises(indim.ShapeError, match="axis 2 does not exist"):
        indim.evaluate("sum(x, axis=2)", x=x)


def test_memory_order_and_strides_change_no_bit():
    f = indim.jit(lambda x: np.sum(x, axis=1))
    expected = f(CUBE)
    for same in (np.asfortranarray(CUBE), CUBE.transpose(2, 0, 1).copy().transpose(1, 2, 0)):
        assert f(same).tobytes() == expected.tobytes()
    wide = np.empty((5, 7, 1200))
    wide[:, :, ::2] = CUBE
    assert f(wide[:, :, ::2]).tobytes() == expected.tobytes()
    columns = np.stack([f(CUBE[:, :, [index]])[:, 0] for index in range(3)], axis=1)
    assert columns.tobytes() == expected[:, :3].tobytes()
