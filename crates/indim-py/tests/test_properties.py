"""Random expressions, types, strides and broadcasts against NumPy, bit for bit."""

import warnings

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import indim

SETTINGS = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))

FLOATS = ["f2", "f4", "f8"]
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, 1e-40, 3.4e38, 5e-324, 1.7e308, 7.25]


def elements(random, dtype, shape):
    """Numbers of a type, with special values."""
    dtype = np.dtype(dtype)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if dtype.kind == "b":
            return random.integers(0, 2, shape).astype(bool)
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            values = random.integers(-9, 10, shape).astype(dtype)
            extremes = random.choice(np.array([limits.min, limits.max, 0, 1], dtype), shape)
            return np.where(random.random(shape) < 0.3, extremes, values)
        values = (random.standard_normal(shape) * 10).astype(dtype)
        return np.where(
            random.random(shape) < 0.3, random.choice(np.array(SPECIAL), shape).astype(dtype), values
        )


@st.composite
def arrays(draw, shape, dtypes):
    """An array that broadcasts onto ``shape``, with any strides."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = [draw(st.sampled_from([size, 1])) for size in shape]
    sizes = sizes[draw(st.integers(0, len(sizes))) :]
    steps = [draw(st.sampled_from([1, 1, 2, -1, -2])) for _ in sizes]
    axes = draw(st.permutations(range(len(sizes))))
    base = elements(random, draw(st.sampled_from(dtypes)), [sizes[axis] * abs(steps[axis]) for axis in axes])
    array = base.transpose(np.argsort(axes)) if sizes else base
    array = array[tuple(slice(None, None, step) for step in steps)]
    assert array.shape == tuple(sizes)
    return array


BINARY = [
    "{} + {}",
    "{} - {}",
    "{} * {}",
    "{} / {}",
    "maximum({}, {})",
    "minimum({}, {})",
    "where({0} > {1}, {0}, {1})",
]
UNARY = ["(-{})", "abs({})", "sqrt({})", "({} * 2)", "({} + 1.5)", "floor({})", "({} > 0)"]
WHOLE_BINARY = [
    "{} + {}",
    "{} - {}",
    "{} * {}",
    "{} & {}",
    "{} | {}",
    "{} ^ {}",
    "{} // {}",
    "{} % {}",
    "minimum({}, {})",
]
WHOLE_UNARY = ["(-{})", "(~{})", "({} * 3)", "({0} * {0})", "({} == 1)", "abs({})"]

NUMPY = {name: getattr(np, name) for name in "maximum minimum where abs sqrt floor".split()}


def maximum(x, y):
    """NumPy's ``maximum``, except that +0 is larger than -0, as in indim."""
    result = np.maximum(x, y)
    if result.dtype.kind != "f":
        return result
    return np.where((np.equal(x, 0)) & (np.equal(y, 0)), np.add(x, y), result)


def minimum(x, y):
    """The counterpart of :func:`maximum`; -0 is smaller than +0."""
    result = np.minimum(x, y)
    if result.dtype.kind != "f":
        return result
    negated = np.add(np.negative(np.asarray(x, result.dtype)), np.negative(np.asarray(y, result.dtype)))
    return np.where((np.equal(x, 0)) & (np.equal(y, 0)), np.negative(negated), result)


#: The expected functions: NumPy's, except for signs of zeros that NumPy does not define.
REFERENCE = {**NUMPY, "maximum": maximum, "minimum": minimum}


@st.composite
def cases(draw, dtypes, unary, binary):
    shape = draw(st.lists(st.sampled_from([0, 1, 2, 3, 5, 33]), max_size=4))
    names = {name: draw(arrays(shape, dtypes)) for name in "abc"}
    text = draw(st.sampled_from("abc"))
    for _ in range(draw(st.integers(1, 5))):
        if draw(st.booleans()):
            text = draw(st.sampled_from(unary)).format(text)
        else:
            other = draw(st.sampled_from("abc"))
            operands = draw(st.permutations([text, other]))
            text = f"({draw(st.sampled_from(binary)).format(*operands)})"
    return text, names


def same_bits(result, expected):
    assert result.dtype == expected.dtype, (result.dtype, expected.dtype)
    assert result.shape == expected.shape
    if expected.dtype.kind == "f":
        is_nan = np.isnan(expected)
        np.testing.assert_array_equal(np.isnan(result), is_nan)
        np.testing.assert_array_equal(np.signbit(result[~is_nan]), np.signbit(expected[~is_nan]))
    np.testing.assert_array_equal(result, expected)


def check(case):
    text, names = case
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = np.asarray(eval(text, REFERENCE, names))
        except TypeError:
            # indim lacks the operations that NumPy lacks, such as `-` of bool.
            try:
                indim.evaluate(text, names)
            except indim.IndimError:
                return
            raise
        same_bits(indim.evaluate(text, names), expected)
        function = eval(f"lambda a, b, c: {text}", dict(NUMPY))
        same_bits(indim.jit(function)(names["a"], names["b"], names["c"]), expected)


@SETTINGS
@given(cases(FLOATS, UNARY, BINARY))
def test_floats(case):
    check(case)


@SETTINGS
@given(cases(INTEGERS, WHOLE_UNARY, WHOLE_BINARY))
def test_integers(case):
    check(case)


@SETTINGS
@given(cases(["f4", "f8", "i2", "i4", "i8", "u4"], ["(-{})", "({} * 2)", "({} > 0)"], BINARY))
def test_mixed_types(case):
    check(case)


@SETTINGS
@given(st.data())
def test_out_of_any_strides_and_overlap(data):
    shape = data.draw(st.lists(st.sampled_from([1, 2, 3, 7]), min_size=1, max_size=3))
    base = np.arange(3.0 * np.prod(shape) + 7)
    first = base[: np.prod(shape)].reshape(shape)
    shift = data.draw(st.integers(0, 7))
    second = base[shift : shift + np.prod(shape)].reshape(shape)
    out = base[data.draw(st.integers(0, 7)) :][: np.prod(shape)].reshape(shape)
    expected = first * 2 + second
    indim.evaluate("first * 2 + second", out=out)
    np.testing.assert_array_equal(out, expected)


@SETTINGS
@given(st.text(alphabet="abx01.+-*/()[]<>=&|~^%, einfwhre\n\"'é", max_size=40))
def test_any_text_gives_a_result_or_an_error_of_indim(text):
    names = {name: np.ones(2) for name in "abx"}
    try:
        indim.evaluate(text, names, {})
    except indim.IndimError:
        pass
