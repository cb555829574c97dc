"""Edges of NumPy's functions in compiled functions: the same result, element type or error as NumPy's."""

import re
import warnings

import numpy as np
import pytest
from numpy import bmat

import indim
import indim.numpy

if np.__version__.startswith("1."):
    pytest.skip("NumPy 1 has other types of results", allow_module_level=True)

INF, NAN = np.inf, np.nan
X = np.arange(12.0).reshape(3, 4)
U1, U8, I8 = np.uint8([1, 6]), np.uint64([2**53 + 1, 6]), np.int64([2**53, -1])
I1, I4, F2, F4 = np.int8([1, 2]), np.int32([1, 2]), np.float16([1, 2]), np.float32([1, 2])
I = np.array([0, 1, 1])


def results(call, *arrays):
    """The results as a list, or the error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = call(*arrays)
        except Exception as error:
            return error
    return list(found) if isinstance(found, (tuple, list)) else [found]


def classes(error):
    """The classes of an error, without NumPy's private classes."""
    return [of for of in type(error).__mro__ if of.__module__ in ("builtins", "numpy.exceptions")]


def assert_same(call, *arrays):
    """Compares a call with NumPy: an error of the same class, or types and values."""
    expected, found = results(call, *arrays), results(indim.jit(call), *arrays)
    if isinstance(expected, Exception):
        assert isinstance(found, classes(expected)[0]), (expected, found)
        return
    if isinstance(found, Exception):
        raise found
    assert len(found) == len(expected)
    for ours, theirs in zip(found, map(np.asarray, expected)):
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=1e-3 if theirs.dtype == np.float16 else 1e-6)
        is_number = ~np.isnan(theirs)
        np.testing.assert_array_equal(np.signbit(ours[is_number].real), np.signbit(theirs[is_number].real))


def cases(*calls):
    """One parameter for each ``(text, arrays)``; the text is the body of the function of `x` and `y`."""
    return pytest.mark.parametrize(("text", "arrays"), calls, ids=[text for text, _ in calls])


def check(text, arrays):
    call = eval(f"lambda {', '.join('xyz'[: len(arrays)])}: {text}", globals())
    assert_same(call, *arrays)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("v", [[INF, 1.0], [1.0, NAN, 2.0], [1.0, 2.0], [1 + 2j, 0.5, 0.0]])
def test_convolutions_with_infinities_in_the_shorter_operand(mode, v):
    long = np.array([1.0, 2, 3, 4])
    for name in ("convolve", "correlate"):
        function = getattr(np, name)
        for pair in ((long, np.array(v)), (np.array(v), long)):
            assert_same(lambda x, y, f=function: f(x, y, mode).real, *pair)
            assert_same(lambda x, f=function, y=pair[1]: f(x, y, mode).real, pair[0])


@cases(
    ("np.piecewise(x, [x[0] > -3], [1, 2])", [np.arange(9.0).reshape(3, 3) - 4]),
    ("np.piecewise(x, [x[:, 0] > 4, x[:, 1] > 5], [1, 2, lambda x: -x])", [X]),
    ("np.piecewise(x, x[:, 0] > 1, [1])", [X]),
    ("np.piecewise(x, [x[:, :1] > 0], [1])", [X]),
    ("np.piecewise(x, [x > 0, x[:, 0] > 1], [1, 2])", [X]),
    ("np.piecewise(x, [x >= 0], [[1, 2]])", [X]),
    ("np.piecewise(x, [x >= 0], [[1]])", [X]),
    ("np.piecewise(x, [x >= 0], [-1])", [U1]),
    ("np.piecewise(x, [x >= 0], [1j])", [X]),
    ("np.piecewise(x, [x >= 0], [float('nan')])", [U1]),
)
def test_piecewise_selects_along_the_first_axes(text, arrays):
    check(text, arrays)


@cases(
    ("np.subtract.outer(x, 2)", [U1]),
    ("np.add.outer(x, 2)", [F4]),
    ("np.subtract.outer(2, x)", [U1]),
    ("np.gcd.outer(x, [2, 3, 4])", [U1]),
    ("np.logaddexp2(x, 2)", [F4]),
    ("np.logaddexp2(x, 2)", [F2]),
    ("np.logaddexp2(2, x)", [F4]),
    ("np.ldexp(3, x)", [I4]),
    ("np.ldexp(x, 3)", [F2]),
    ("np.gcd(x, 6)", [U8]),
    ("np.gcd(x, 300)", [U1]),
    ("np.gcd(x, 6)", [X]),
    ("np.gcd(x, y)", [np.arange(12).reshape(3, 4), np.arange(4)]),
    ("np.gcd(x, [2, 3, 4, 5])", [np.arange(12).reshape(3, 4)]),
    ("np.lcm(x[:, None], y)", [I4, I1]),
    ("np.lcm(x, 6)", [I4]),
    ("np.add([1, 2], x, dtype='f4')", [F4]),
)
def test_types_and_shapes_of_operands_of_ufuncs(text, arrays):
    check(text, arrays)


@pytest.mark.parametrize("function", [np.logaddexp2, np.add])
def test_a_number_among_the_operands_of_a_ufunc_is_weak(function):
    compiled = indim.jit(lambda x, k: function(x, k))
    for k in (2, 3.5):
        expected = function(F4, k)
        np.testing.assert_allclose(compiled(F4, k), expected, rtol=1e-6)
        assert compiled(F4, k).dtype == expected.dtype


def test_isin_compares_integers_without_rounding():
    for x, y, expected in (
        (U8, I8, [False, False]),
        (I8, U8, [False, False]),
        (np.uint64([2**64 - 1, 7]), np.int64([-1, 7]), [False, True]),
        (np.int64([-1, 7]), np.uint64([2**64 - 1, 7]), [False, True]),
        (np.uint64([2**53, 3]), np.int64([2**53]), [True, False]),
    ):
        found = indim.jit(lambda x, y: (np.isin(x, y), np.isin(x, y, invert=True)))(x, y)
        np.testing.assert_array_equal(found[0], expected)
        np.testing.assert_array_equal(found[1], ~np.array(expected))


@cases(
    ("np.insert(x, 0, 300)", [I1]),
    ("np.insert(x, 0, np.array([300]))", [I1]),
    ("np.insert(x, 0, [3, 300], axis=0)", [I1]),
    ("np.insert(x, 0, float('nan'))", [I4]),
    ("np.insert(x, 0, 1j)", [X]),
    ("np.insert(x, 1, 2.75)", [I4]),
    ("np.unwrap(x, period=4)", [U1]),
    ("np.unwrap(x, period=1)", [U1]),
    ("np.unwrap(x, period=4.0)", [U1]),
    ("np.unwrap(x, period=300)", [I1]),
    ("np.unwrap(x, period=200)", [I1]),
    ("np.unwrap(x, period=6)", [I1]),
)
def test_python_numbers_that_a_type_lacks_are_errors(text, arrays):
    check(text, arrays)


@cases(
    ("np.histogram2d(x, y, weights=1j * x)", [X[0], X[1]]),
    ("np.histogram2d(x, y, bins=[3])", [X[0], X[1]]),
    ("np.histogram2d(x, y)", [X, X]),
    ("np.histogram2d(x, y)", [X[0], X[1, :3]]),
    ("np.histogram2d(x[0], y)", [X[0], X[1]]),
    ("np.histogram2d(x, y, range=[])", [X[0], X[1]]),
    ("np.histogram2d(x, y, 2, range=np.array([[0, 2.0], [4, 6]]))", [X[0], X[1]]),
    ("np.histogram2d(x, y, bins=np.array([[0, 1, 2], [4, 5, 6]]))", [X[0], X[1]]),
    ("np.histogram2d(x, y, bins=np.ones((3, 3)))", [X[0], X[1]]),
    ("np.histogram2d(x, y, bins=[2.5, 2])", [X[0], X[1]]),
    ("np.histogram2d(x, y, bins=0)", [X[0], X[1]]),
    ("np.histogram2d(x, y, 2, weights=x > 1)", [X[0], X[1]]),
    ("np.histogram2d(x, y, 2, weights=x[:2])", [X[0], X[1]]),
    ("np.histogram2d(x, y, 2, weights=x[None])", [X[0], X[1]]),
    ("np.histogram2d(x, y, 2, weights=np.arange(4))", [X[0], X[1]]),
    ("np.histogram(x, 3, weights=x > 3)", [X]),
    ("np.histogram(x, 3, weights=x > 3, density=True)", [X]),
    ("np.histogram(x, [0, 3, 6, 9], weights=x > 3)", [X]),
    ("np.histogram(x, 3, range=(0, np.inf))", [X]),
    ("np.histogram(x, 2.5)", [X]),
    ("np.histogram(x, True)", [X]),
)
def test_arguments_of_histograms(text, arrays):
    check(text, arrays)


@cases(
    ("np.apply_over_axes(np.sum, x, 5)", [X]),
    ("np.apply_over_axes(np.sum, x, [-1, 0])", [X]),
    ("np.gradient(x, axis=(0, 0))", [X]),
    ("np.average(x, axis=(0, 0))", [X]),
    ("np.linalg.norm(x, axis=(0, 0))", [X]),
    ("np.linalg.vector_norm(x, axis=(0, 0))", [X]),
    ("np.linalg.norm(x, axis=[0, 1])", [X]),
    ("np.linalg.vector_norm(x, axis=[0, 1])", [X]),
    ("np.median(x, axis=7)", [X]),
    ("np.quantile(x, 0.5, axis=(0, 0))", [X]),
    ("np.ravel_multi_index((x, x), (3, 4), mode=('wrap',))", [I]),
    ("np.ravel_multi_index((x, x), (3, 4), mode=('wrap', 'foo'))", [I]),
    ("np.ravel_multi_index((x, x), (3, 4), order='A')", [I]),
    ("np.ravel_multi_index((x, 1.0 * x), (3, 4))", [I]),
    ("np.ravel_multi_index((x > 0, x), (3, 4))", [I]),
    ("np.unravel_index(x, (3, 4), order='K')", [I]),
    ("np.unravel_index(1.0 * x, (3, 4))", [I]),
    ("np.unravel_index(x > 0, (3, 4))", [I]),
    ("np.choose(1.0 * x, [x, x])", [I]),
    ("np.choose(x.astype(np.uint64), [x, x])", [I]),
    ("np.choose(x, [x, x], mode='foo')", [I]),
    ("np.partition(x, 1.0)", [X]),
    ("np.partition(x, True)", [X]),
    ("np.argpartition(x, [0, 1.5])", [X]),
    ("np.add.accumulate(x, axis=None)", [X]),
    ("np.add.accumulate(x, axis=None)", [X[0]]),
    ("np.add.accumulate(x, axis=(1,))", [X]),
    ("np.add.accumulate(x, axis=(0, 1))", [X]),
    ("np.add.accumulate(x, axis=2)", [X]),
    ("np.unpackbits(x, count=-17)", [U1]),
    ("np.unpackbits(x, count=-16)", [U1]),
    ("np.cov(x, dtype=int)", [X]),
    ("np.cov(x, dtype='f4')", [X]),
    ("np.nanquantile(x, 1.5)", [X]),
    ("np.nanpercentile(x, [50, 150])", [X]),
    ("np.nanquantile(x, np.nan)", [X]),
    ("np.vander(x)", [X]),
)
def test_arguments_that_numpy_refuses(text, arrays):
    check(text, arrays)


@cases(
    ("np.interp(x, [0, 2, 5.0], [1.0, 7, 2], period=y)", [X, np.float64(4)]),
    ("np.interp(x, y, [1.0, 7, 2], period=4)", [X, np.array([0, 2, 5.0])]),
    ("np.searchsorted([3.0, 1, 2], x, sorter=y)", [X, np.array([1, 2, 0])]),
    ("np.select([[True, False, True, False]], [x])", [X]),
    ("np.select([[True, False], x > 1], [[1, 2], 3.5])", [F4]),
    ("np.select([[1, 0]], [x])", [F4]),
    ("np.packbits(x, axis=0)", [np.zeros((3, 0), bool)]),
    ("np.packbits(x, axis=1)", [np.zeros((3, 0), bool)]),
    ("np.linalg.vector_norm(x, axis=0)", [np.zeros((4, 0))]),
    ("np.add.reduceat(x, indices=[0, 2], axis=0)", [X]),
    ("np.bitwise_and.reduce(x, where=x > 1)", [I4]),
    ("np.apply_along_axis(np.sum, 1, x)", [np.zeros((3, 0))]),
    ("np.linalg.lstsq(np.ones((3, 2)), x, -1)", [X]),
    ("np.linalg.lstsq(np.ones((3, 2)), x, 0)", [X]),
    ("np.linalg.lstsq([[1, 0], [0, 1e-12]], x)", [F4]),
    ("np.linalg.lstsq(np.float32([[1, 2], [3, 5], [0, 1]]), x)", [X]),
    ("np.linalg.lstsq(np.float32([[1, 2], [3, 5], [0, 1]]), x)", [X.astype(np.float32)]),
    ("np.polyfit([1.0, 1, 2], x, 2, rcond=0) + 1", [X]),
    ("np.clip(x, 0, 1, out=None)", [X]),
    ("x.clip(0, 1, out=None)", [X]),
    ("np.reshape(x, (4, 3), copy=True)", [X]),
    ("np.reshape(x, (4, 3), copy=None)", [X]),
    ("x.reshape((4, 3), copy=False)", [X]),
)
def test_arguments_that_numpy_takes(text, arrays):
    check(text, arrays)


@cases(
    ("np.hypot.reduce(x)", [np.array([INF, NAN])]),
    ("np.hypot.reduce(x, axis=0)", [np.array([[INF, 1, NAN], [NAN, NAN, 2]])]),
    ("np.hypot.reduce(x, axis=1, keepdims=True)", [I4.reshape(1, 2)]),
    ("np.linspace(x, 2, 1, retstep=True)", [np.float32(1)]),
    ("np.linspace(x, 2, 0, retstep=True)", [F4]),
    ("np.linspace(x, 2, 3, retstep=True)", [F4]),
    ("np.spacing(x)", [np.array([-0.0, 0, 1, -1, INF, -INF, NAN])]),
    ("np.spacing(x)", [np.arange(2**16).astype(np.uint16).view(np.float16)]),
    ("np.spacing(x)", [np.arange(-128, 128).astype(np.int8)]),
    ("np.spacing(x)", [np.array([True, False])]),
    ("np.ix_(x, [True, False, True], [])", [I]),
    ("np.reshape(x, (4, 3), order='F')", [X]),
    ("x.reshape(2, -1, order='F')", [X]),
)
def test_values_at_edges(text, arrays):
    check(text, arrays)


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda x: np.apply_along_axis(lambda row: row[row > 0], 1, x), "write np.where(mask, x, other)"),
    ],
)
def test_messages_say_what_to_write(call, advice):
    with pytest.raises(TypeError) as raised:
        indim.jit(call)(X)
    assert advice in str(raised.value)


def test_lists_beside_traced_arrays():
    for call in (
        lambda x: x * [1, 2, 3, 4],
        lambda x: [1, 2, 3, 4] + x,
        lambda x: (1, 2, 3, 4) - x,
        lambda x: x < [0, 5, 0, 20],
        lambda x: x == [[0], [5], [9]],
        lambda x: x[0] * [x[0, 0], 2.0, x[0, 1], 4.0],
    ):
        np.testing.assert_array_equal(indim.jit(call)(X), call(X))


def test_no_element_equals_none_or_a_text():
    for x in (X, np.array([NAN, 1.0]), I, np.array([True])):
        is_none = indim.jit(lambda x: x == None)  # noqa: E711
        np.testing.assert_array_equal(is_none(x), np.zeros(x.shape, bool))
        np.testing.assert_array_equal(indim.jit(lambda x: x != "a")(x), np.ones(x.shape, bool))


def test_a_sorter_has_the_shape_of_its_table():
    call = indim.jit(lambda s, o: np.searchsorted(s, [1.5], sorter=o))
    with pytest.raises(ValueError, match="sorter"):
        call(np.arange(5.0), np.arange(3))


def test_an_index_out_of_range_of_one_element_is_an_error():
    x, places = np.array([[7.0]]), np.array([0, 3])
    for call in (
        lambda x, i: x[i, i],
        lambda x, i: x.at[i, i].add(1.0),
        lambda x, i: np.take_along_axis(x, i[:, None], 1),
        lambda x, i: indim.vmap(lambda row, at: row[at])(np.ones((2, 1)), i),
    ):
        with pytest.raises(IndexError):
            indim.jit(call)(x, places)


def test_bincount_of_floats_is_an_error():
    for length in ({}, {"minlength": 5}):
        with pytest.raises(TypeError, match="whole numbers"):
            indim.jit(lambda x: np.bincount(x, **length))(np.array([1.0, 2.7]))


def test_diagonals_along_any_axes():
    x = np.arange(120.0).reshape(2, 3, 4, 5)
    axes = [(first, second) for first in range(-4, 4) for second in range(4) if first % 4 != second]
    for offset in (-2, 0, 1, 9):
        for pair in axes:
            for function in (np.diagonal, np.trace):
                expected = function(x, offset, *pair)
                found = indim.jit(lambda x, function=function, o=offset, p=pair: function(x, o, *p))(x)
                np.testing.assert_array_equal(found, expected)


def test_tables_of_numpy_are_read_at_traced_positions():
    def closest(p):
        i, j = np.triu_indices(len(p), 1)
        at = np.linalg.norm(p[i] - p[j], axis=1).argmin()
        return i[at], j[at]

    points = np.array([[0.0, 0], [5, 5], [1, 0.5], [5, 5.5]])
    assert [int(found) for found in indim.jit(closest)(points)] == [1, 3]
    for table in (np.hanning, np.blackman, lambda n: np.vander(np.arange(n))[0]):
        read = indim.jit(lambda x, table=table: table_of(table)[np.argmax(x)])
        np.testing.assert_array_equal(read(np.array([1.0, 3, 2])), table(5)[1])


def table_of(table):
    return table(5)


def test_unknown_kinds_of_sorts():
    with pytest.raises(ValueError, match="kind"):
        indim.jit(lambda x: np.sort(x, kind="bad"))(X)


def test_none_in_a_choice_of_python():
    assert indim.jit(lambda x: (1 if x == None else 2) * x)(np.float64(1)) == 2  # noqa: E711
    assert indim.jit(lambda x: x if x in [None, "a"] else 3 * x)(np.float64(1)) == 3


@pytest.mark.parametrize("initial", [0, 1, 5, True])
def test_numbers_that_extremes_of_truth_values_begin_with(initial):
    for x in (np.array([False, False]), np.array([], bool)):
        for function in (np.max, np.min, np.maximum.reduce, lambda x, initial: x.max(initial=initial)):
            found = indim.jit(lambda x, f=function: f(x, initial=initial))(x)
            expected = function(x, initial=initial)
            assert found == expected and found.dtype == expected.dtype


def test_elements_of_nothing_are_index_errors():
    function = indim.jit(lambda x, i: x[i])
    for x in (np.ones((3, 2)), np.ones((4, 2)), np.ones((0, 2))):
        if len(x):
            np.testing.assert_array_equal(function(x, np.array([1])), [[1.0, 1.0]])
        else:
            with pytest.raises(IndexError, match="axis 0 has size 0"):
                function(x, np.array([1]))
        assert function(x, np.array([], int)).shape == (0, 2)


@pytest.mark.parametrize(
    "key, values",
    [
        (slice(1, 7), [1, 2, 3, 4]),
        (slice(1, 7), np.arange(9.0)),
        (slice(None), np.array([[1, 2], [3, 4]])),
        (slice(1, 3), []),
        ([1, 2], [5, 6, 7]),
        (np.arange(8) > 4, [9, 8]),
        (slice(6, 0, -2), 7),
        (3, 5.0),
    ],
)
def test_writes_into_flat_arrays_repeat_the_values(key, values):
    def function(x):
        y = np.zeros((2, 4)) + x
        y = y.copy()
        y.flat[key] = values
        return y

    np.testing.assert_array_equal(indim.jit(function)(np.float64(2)), function(np.float64(2)))


def test_starts_of_segments_that_are_traced():
    def advised(x, starts):
        return indim.segment_sum(
            x, np.searchsorted(starts, np.arange(len(x)), side="right") - 1, len(starts)
        )

    x, starts = np.arange(10.0), np.array([1, 3, 7])
    with pytest.raises(TypeError, match=r"np.searchsorted\(starts, np.arange\(len\(x\)\), side="):
        indim.jit(np.add.reduceat)(x, starts)
    np.testing.assert_array_equal(indim.jit(advised)(x, starts), np.add.reduceat(x, starts))


def test_sums_of_segments_keep_the_sign_of_zero():
    x = np.array([-0.0, -0.0, 0.0, -0.0])
    found = indim.jit(lambda x: np.add.reduceat(x, [0, 1, 3]))(x)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(np.add.reduceat(x, [0, 1, 3])))


@pytest.mark.parametrize("axis", [0, -1, (0,), 1])
@pytest.mark.parametrize(
    "name", ["mean", "std", "var", "nanmean", "nanstd", "sum", "max", "any", "prod", "cumsum", "cumprod"]
)
def test_axes_of_numbers(name, axis):
    x = np.array(3.0)
    try:
        expected = getattr(np, name)(x, axis=axis)
    except (TypeError, ValueError, IndexError) as error:
        with pytest.raises(type(error)):
            indim.jit(lambda x: getattr(np, name)(x, axis=axis))(x)
    else:
        found = indim.jit(lambda x: getattr(np, name)(x, axis=axis))(x)
        np.testing.assert_array_equal(found, np.asarray(expected), strict=True)


def test_the_norm_of_a_number_has_no_axes():
    with pytest.raises(np.exceptions.AxisError):
        indim.jit(lambda x: np.linalg.norm(x, axis=0))(np.array(3.0))


@pytest.mark.parametrize("call", [lambda x: np.union1d(0, x), lambda x: np.union1d(x, 2.5)])
def test_numbers_of_unions_take_the_type_of_the_array(call):
    np.testing.assert_array_equal(indim.jit(call)(F4), call(F4), strict=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, k: np.take(x, [k, k + 1], axis=1),
        lambda x, k: x.take([k, 0], axis=1),
        lambda x, k: np.take(x, [[k, 0], [1, k]]),
        lambda x, k: np.stack(np.array_split([x, x + 1], 2)),
        lambda x, k: np.concatenate(np.array_split(np.gradient(x), 2)),
    ],
)
def test_lists_with_traced_values(call):
    np.testing.assert_array_equal(indim.jit(call)(X, np.int64(1)), call(X, np.int64(1)))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.dot(3, x),
        lambda x: np.dot(x, 3.0),
        lambda x: x.dot(3),
        lambda x: np.inner(3, x),
        lambda x: np.outer(3, x),
        lambda x: np.tensordot(3, x, axes=0),
    ],
)
@pytest.mark.parametrize("x", [np.uint8([100, 200]), F4])
def test_products_with_python_numbers(call, x):
    np.testing.assert_array_equal(indim.jit(call)(x), call(x), strict=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.r_[x, 3],
        lambda x: np.r_[3.5, x, 1j],
        lambda x: np.r_[x, True, 0:3],
        lambda x: np.r_[x, [3.5]],
        lambda x: np.c_[x[:1], 3],
    ],
)
@pytest.mark.parametrize("x", [np.uint8([100, 200]), F4, np.array([True, False])])
def test_joined_arrays_and_python_numbers(call, x):
    np.testing.assert_array_equal(indim.jit(call)(x), call(x), strict=True)


@pytest.mark.parametrize(
    "call", [lambda x: np.clip(x, False, True), lambda x: x.clip(x, True), lambda x: np.clip(x, True, True)]
)
def test_clip_of_bools(call):
    x = np.array([True, False])
    np.testing.assert_array_equal(indim.jit(call)(x), call(x), strict=True)


@pytest.mark.parametrize("bins", [[0, 1, NAN], [0, 1, 2, NAN], [NAN, 2, 1], [1.0, 1, 0], [2.0, 2, 2], [3.0]])
def test_digitize_with_edges_of_nan(bins):
    x, bins = np.array([0.5, 1, 1.5, 5, NAN]), np.array(bins)
    expected = np.digitize(x, bins)
    np.testing.assert_array_equal(indim.jit(np.digitize)(x, bins), expected)
    np.testing.assert_array_equal(indim.jit(lambda x: np.digitize(x, bins))(x), expected)


def test_bool_of_the_names_of_jax():
    found = indim.jit(lambda x: indim.numpy.bool(x))(X)
    np.testing.assert_array_equal(found, X.astype(bool), strict=True)
    assert indim.numpy.zeros(2, dtype=indim.numpy.bool).dtype == bool


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.bmat(x),
        lambda x: np.bmat([[x, x]]),
        lambda x: np.bmat("x, x"),
        lambda x: indim.numpy.bmat([x]),
        lambda x: bmat(x),
    ],
)
def test_block_matrices_are_refused(call):
    with pytest.raises(TypeError, match="np.bmat makes an np.matrix, .*write np.block"):
        indim.jit(call)(X)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_block_matrices_of_known_arrays():
    def call(x):
        return x[:2] + np.bmat([[X[:2, :2], X[1:, 2:]]])

    np.testing.assert_array_equal(indim.jit(call)(X), call(X))


@pytest.mark.parametrize("mode", ["constant", "edge", "empty", "linear_ramp", "mean", "reflect", "wrap"])
def test_padded_numbers(mode):
    for width in (0, 1, [(0, 0)]):
        x = np.float64(3)
        np.testing.assert_array_equal(indim.jit(lambda x: np.pad(x, width, mode))(x), np.pad(x, width, mode))


@pytest.mark.parametrize("bins", ["rice", "sqrt", "sturges"])
def test_the_advice_for_estimated_bins(bins):
    x = np.random.default_rng(0).normal(size=100)
    with pytest.raises(TypeError, match=f"the number of bins of bins='{bins}' depends on data") as error:
        indim.jit(lambda x: np.histogram(x, bins=bins))(x)
    advice = re.search(r"write bins=(.*), or pass", str(error.value))[1]
    found = indim.jit(eval(f"lambda x: np.histogram(x, bins={advice})", {"np": np, "int": int}))(x)
    np.testing.assert_array_equal(found[0], np.histogram(x, bins=bins)[0])
    np.testing.assert_array_equal(found[1], np.histogram(x, bins=bins)[1])
    with pytest.raises(ValueError, match="'best' is not a valid estimator"):
        indim.jit(lambda x: np.histogram(x, bins="best"))(x)


@pytest.mark.parametrize("call", ["ascontiguousarray", "asfortranarray", "require"])
def test_memory_layouts_of_indim_numpy(call):
    for x in (X, np.ones((2, 3)), np.float64(1)):
        expected = getattr(np, call)(x, np.float32)
        np.testing.assert_array_equal(
            indim.jit(lambda x: getattr(indim.numpy, call)(x, np.float32))(x), expected, strict=x.ndim > 0
        )
        np.testing.assert_array_equal(getattr(indim.numpy, call)(x, np.float32), expected, strict=True)


def test_sizes_in_arrays_of_indim_numpy():
    jnp = indim.numpy
    with pytest.raises(TypeError, match="write a tuple, or an array of NumPy, for an array that indim.numpy"):
        indim.jit(lambda x: x.reshape(jnp.array([1, -1])))(X)
    assert indim.jit(lambda x: x.reshape(np.array([1, -1])))(X).shape == (1, X.size)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x[x > 2],
        lambda x: x[x > 5],
        lambda x: np.repeat(x, 2, axis=0),
        lambda x: np.repeat(x, 2, axis=-1),
        lambda x: np.repeat(x, 2, axis=1),
        lambda x: np.add.accumulate(x),
        lambda x: np.add.reduce(x, axis=0),
        lambda x: np.histogramdd(x)[0],
        lambda x: np.histogramdd((x, x))[1][0],
        lambda x: np.histogram2d(x, x),
        lambda x: np.unravel_index(x.astype(int) * 0, ()),
        lambda x: np.unravel_index(np.zeros(2, int) + x.astype(int) * 0, ()),
    ],
)
def test_functions_of_numbers(call):
    assert_same(call, np.array(3.0))


@pytest.mark.parametrize("shape", [(2, 0), (0, 3), (0, 0), (2, 0, 3)])
def test_unique_slices_without_elements(shape):
    x = np.zeros(shape)
    for axis in range(x.ndim):
        assert_same(lambda x: np.unique(x, axis=axis), x)
        assert_same(lambda x: np.unique(x, True, True, True, axis=axis), x)
