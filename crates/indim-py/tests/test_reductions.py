"""Reductions against NumPy: in expressions and in compiled functions."""

import math

import indim
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

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
    spread = indim.jit(lambda x, w: np.var(x, axis=1, ddof=1, where=w))
    np.testing.assert_allclose(spread(x, w), np.var(x, axis=1, ddof=1, where=w))
    with pytest.raises(indim.IndimError, match="give `initial`"):
        indim.jit(lambda x, w: np.max(x, where=w))(x, w)
    with pytest.raises(TypeError, match="takes no `out`"):
        indim.jit(lambda x: np.sum(x, out=w))(x)


#: Functions that skip NaNs, each compared with NumPy's of the same name.
NAN_NAMES = ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin"]


@pytest.mark.filterwarnings("ignore:.*")
@pytest.mark.parametrize("axis", [None, 0, (0, 2), -1])
@pytest.mark.parametrize("name", NAN_NAMES)
def test_nans_are_left_out(name, axis):
    x = CUBE[:, :, :9].copy()
    x[RANDOM.random(x.shape) < 0.3] = np.nan
    x[1, :, 3] = np.nan
    expected = getattr(np, name)(x, axis=axis)
    np.testing.assert_allclose(getattr(indim, name)(x, axis=axis), expected, rtol=1e-12)
    np.testing.assert_allclose(indim.jit(lambda x: getattr(np, name)(x, axis=axis))(x), expected, rtol=1e-12)


def test_searches_among_numbers():
    x = CUBE[:, :, :9].copy()
    x[RANDOM.random(x.shape) < 0.3] = np.nan
    x[0, 0] = np.nan
    found = indim.nanargmax(x, axis=-1)
    assert found[0, 0] == -1  # NumPy refuses the whole array.
    np.testing.assert_array_equal(found[1:], np.nanargmax(x[1:], axis=-1))
    assert indim.nanargmin([np.nan, np.inf]) == 1
    assert indim.argmax([3, 5, 5], last=True) == 2


SHAPES = st.lists(st.integers(0, 4), min_size=0, max_size=3).map(tuple)


@st.composite
def reductions(draw):
    """The name of a function, an array, and keyword arguments that NumPy takes too."""
    name = draw(st.sampled_from(NAMES))
    shape = draw(SHAPES)
    dtype = draw(st.sampled_from(TYPES))
    count = int(np.prod(shape))
    values = draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))
    x = np.array(values).reshape(shape).astype(dtype)
    kwargs = {"keepdims": draw(st.booleans())}
    axes = draw(st.lists(st.integers(-len(shape), len(shape) - 1), max_size=3)) if shape else []
    kwargs["axis"] = draw(st.sampled_from([None, tuple(axes)]))
    if name not in ("ptp", "count_nonzero") and draw(st.booleans()):
        kwargs["where"] = RANDOM.random(shape[draw(st.integers(0, len(shape))) :]) < 0.6
    if name in ("sum", "prod", "max", "min") and draw(st.booleans()):
        kwargs["initial"] = draw(st.integers(0, 5)) if dtype != "bool" or name in ("sum", "prod") else False
    if name in ("var", "std") and draw(st.booleans()):
        kwargs["correction"] = draw(st.integers(0, 2))
    return name, x, kwargs


@pytest.mark.filterwarnings("ignore:.*")
@given(reductions())
@settings(max_examples=300, deadline=None)
def test_functions_are_those_of_numpy(case):
    name, x, kwargs = case
    if not is_defined(name, x.dtype.name):
        return
    try:
        expected = np.asarray(getattr(np, name)(x, **kwargs))
    except (ValueError, TypeError):
        # NumPy refuses an extremum of no elements even if the result is empty.
        try:
            assert getattr(indim, name)(x, **kwargs).size == 0
        except indim.IndimError:
            pass
        return
    result = getattr(indim, name)(x, **kwargs)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    if name in ("var", "std"):
        # NumPy divides by 0 if fewer elements than `correction` remain.
        expected = np.where(np.isinf(expected), np.nan, expected)
    np.testing.assert_allclose(result, expected, rtol=2e-2 if x.dtype == np.float16 else 1e-5)


def test_functions_of_the_package():
    x, w = CUBE[0], CUBE[1] > 0
    assert indim.sum(x).shape == ()
    np.testing.assert_allclose(indim.sum(x, 1, where=w, initial=3), np.sum(x, 1, where=w, initial=3))
    np.testing.assert_array_equal(indim.max(x, axis=0), x.max(axis=0))
    np.testing.assert_array_equal(indim.max(x, 0.5), np.maximum(x, 0.5))
    np.testing.assert_array_equal(indim.numpy.min(x, axis=(0, 1), keepdims=True), x.min(keepdims=True))
    out = np.empty(len(x))
    assert indim.mean(x, axis=1, out=out) is out
    np.testing.assert_allclose(out, x.mean(axis=1))
    assert indim.sum(np.int8([100, 100])) == 200
    assert indim.none.sum(np.int8([100, 100])) == -56
    assert indim.sum(x.astype("f4"), dtype=float).dtype == np.float64
    f32 = CUBE.astype("f4")
    np.testing.assert_allclose(
        indim.jit(lambda x: indim.sum(x, axis=(0, 2), where=x > 0, dtype=float))(f32),
        np.sum(f32, axis=(0, 2), where=f32 > 0, dtype=float),
    )
    with pytest.raises(TypeError):
        indim.sum(x, keepdim=True)
    with pytest.raises(indim.ShapeError, match="axis 2 does not exist"):
        indim.sum(x, axis=2)


def test_products_of_two():
    x, y = CUBE[0], CUBE[1]
    np.testing.assert_allclose(indim.vecdot(x, y), np.vecdot(x, y))
    np.testing.assert_allclose(indim.vecdot(x, y[0], axis=-1), np.vecdot(x, y[0]))
    np.testing.assert_allclose(indim.xla.vecdot(x, y[0], broadcast_dimensions=[1]), np.vecdot(x, y[0]))
    np.testing.assert_allclose(indim.dot(x[0], y[0]), np.dot(x[0], y[0]))
    z = x[:, :3] + 1j * y[:, :3]
    np.testing.assert_allclose(indim.jit(lambda z: np.vecdot(z, z, axis=0))(z), np.vecdot(z, z, axis=0))
    assert indim.jit(lambda v: np.dot(v, v))(np.arange(4.0)) == 14
    np.testing.assert_allclose(indim.jit(lambda x: np.linalg.norm(x))(x), np.linalg.norm(x))
    with pytest.raises(indim.ShapeError, match="write 1, the same axis from the front"):
        indim.xla.sum(x, axis=-1)
    with pytest.raises(indim.IndimError, match="takes vectors"):
        indim.xla.dot(x, y.T)


def test_normalisation():
    x, gain, bias = CUBE[0], CUBE[1, 0], CUBE[2, 0]
    centred = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(indim.layer_norm(x, gain, bias), centred * gain + bias, rtol=1e-9)
    np.testing.assert_allclose(
        indim.layer_norm(x.T, gain, bias, axis=0), (centred * gain + bias).T, rtol=1e-9
    )
    size = np.sqrt((x * x).mean(-1, keepdims=True) + 1e-3)
    np.testing.assert_allclose(indim.rms_norm(x, gain, epsilon=1e-3), x / size * gain)


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


@given(st.lists(st.floats(-1e300, 1e300, allow_subnormal=True), max_size=40))
@settings(max_examples=200, deadline=None)
def test_exact_sums_are_those_of_fsum(terms):
    assert indim.sum(np.array(terms, float), exact=True) == math.fsum(terms)


def test_exact_sums_along_axes_and_partial_ones():
    x = RANDOM.normal(size=(3, 500, 4)) * 10.0 ** RANDOM.integers(-300, 300, size=(3, 500, 4))
    expected = np.array([[math.fsum(x[i, :, k]) for k in range(4)] for i in range(3)])
    for same in (x, np.asfortranarray(x), x[:, ::-1]):
        np.testing.assert_array_equal(indim.sum(same, axis=1, exact=True), expected)
    assert indim.sum(x, exact=True) == math.fsum(x.ravel())
    f32 = CUBE.ravel().astype("f4")
    pieces = indim.sum(f32[:8192], partial=True) + indim.sum(f32[8192:], partial=True)
    assert pieces.dtype == np.float64 and pieces == indim.sum(f32, partial=True)
    assert np.float32(pieces) == indim.sum(f32)
    with pytest.raises(indim.IndimError, match="convert it"):
        indim.sum(f32, exact=True)
