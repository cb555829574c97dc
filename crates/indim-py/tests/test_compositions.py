"""Compositions equal NumPy's functions of the same names, on arrays and on traced values."""

import inspect
import warnings

import indim
import numpy as np
import pytest
from indim._indim import _compositions

NAN, INF = float("nan"), float("inf")
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.125, -2.5, 1e-3, 123.456, -7654.321, NAN, INF, -INF]
ARRAYS = {
    "bool": np.array([True, False]),
    "int8": np.array([-128, -15, -5, 0, 5, 25, 127], np.int8),
    "uint8": np.array([0, 5, 15, 149, 200], np.uint8),
    "int64": np.array([-(10**15), -151, -50, 0, 150, 10**15]),
    "uint64": np.array([0, 150, 10**15], np.uint64),
    "float16": np.array([0, -0.0, 1, -1.5, 100, NAN, INF, -INF], np.float16),
    "float32": np.array(FLOATS, np.float32),
    "float64": np.array(FLOATS),
    "complex64": np.array([complex(x, y) for x in FLOATS for y in FLOATS], np.complex64),
    "complex128": np.array([complex(x, y) for x in FLOATS for y in FLOATS]),
}

CASES = {
    "nan_to_num": [{}, {"nan": 7.5}, {"posinf": 1.0, "neginf": -1.0}, {"nan": NAN, "posinf": INF}],
    "round": [{}, {"decimals": 2}, {"decimals": 1}, {"decimals": -1}, {"decimals": -2}],
    "positive": [{}],
    "deg2rad": [{}],
    "rad2deg": [{}],
    "radians": [{}],
    "degrees": [{}],
    "sinc": [{}],
}


def numpys(name, *operands, **numbers):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(np, name)(*operands, **numbers)


def assert_like_numpy(found, expected, name):
    assert found.dtype == expected.dtype
    exact = name in ("nan_to_num", "positive", "heaviside", "isclose", "round")
    if exact:
        np.testing.assert_array_equal(found, expected)
        if found.dtype.kind == "f":
            np.testing.assert_array_equal(
                np.signbit(found[~np.isnan(found)]), np.signbit(expected[~np.isnan(found)])
            )
    else:
        tolerance = {"f2": 2e-3, "f4": 3e-7, "c8": 1e-6}.get(found.dtype.str[1:], 1e-14)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ARRAYS)
@pytest.mark.parametrize("name", CASES)
def test_functions_of_one_array(name, dtype):
    x = ARRAYS[dtype]
    for numbers in CASES[name]:
        if name == "round" and dtype == "bool" and numbers:
            continue
        try:
            expected = numpys(name, x, **numbers)
        except TypeError:
            with pytest.raises(indim.IndimError):
                getattr(indim, name)(x, **numbers)
            continue
        if name == "sinc" and x.dtype.kind == "c":
            # Tests of complex `sin` cover infinities and huge imaginary parts.
            x = x[np.abs(x) < 2]
            expected = numpys(name, x)
        assert_like_numpy(getattr(indim, name)(x, **numbers), expected, name)
        traced = indim.jit(lambda a: getattr(np, name)(a, **numbers))
        assert_like_numpy(traced(x), expected, name)


@pytest.mark.parametrize("second", ["bool", "int8", "int64", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("first", ["bool", "uint8", "int64", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["heaviside", "isclose", "float_power"])
def test_functions_of_two_arrays(name, first, second):
    x, y = ARRAYS[first][:, None], ARRAYS[second][None, :]
    if name == "float_power":
        # Other tests cover the edge cases of `pow`; this one compares types.
        x, y = np.ones_like(x) * 2, np.ones_like(y)
    try:
        expected = numpys(name, x, y)
    except TypeError:
        with pytest.raises(indim.IndimError):
            getattr(indim, name)(x, y)
        return
    assert_like_numpy(getattr(indim, name)(x, y), expected, name)
    assert_like_numpy(indim.jit(lambda a, b: getattr(np, name)(a, b))(x, y), expected, name)


def test_float_power_computes_in_double_precision():
    x = np.array([1.1, 3.0, 700.5], np.float32)
    assert indim.jit(lambda a: np.float_power(a, 3))(x).dtype == np.float64
    np.testing.assert_allclose(indim.float_power(x, 3), np.float_power(x, 3), rtol=1e-15)
    z = np.array([1 + 2j], np.complex64)
    assert (
        indim.float_power(z, 0.5).dtype == indim.jit(lambda a: np.float_power(a, 2))(z).dtype == np.complex128
    )
    assert indim.evaluate("float_power(x, 0.5)").dtype == np.float64


def test_isclose_with_its_numbers():
    x = np.array([1.0, 1.0, NAN, INF, 1e-10])
    y = np.array([1.05, 1.2, NAN, INF, 0.0])
    for numbers in ({"rtol": 0.1}, {"atol": 1e-3}, {"equal_nan": True}, {"rtol": 0, "atol": 0}):
        expected = np.isclose(x, y, **numbers)
        assert np.array_equal(indim.isclose(x, y, **numbers), expected)
        assert np.array_equal(indim.jit(lambda a, b: np.isclose(a, b, **numbers))(x, y), expected)
    wide = np.stack([x, y])
    by_rule = indim.xla.isclose(wide, x, 0.1, broadcast_dimensions=(1,), equal_nan=True)
    assert np.array_equal(by_rule, np.isclose(wide, x, 0.1, equal_nan=True))
    assert indim.pdpd.heaviside(np.zeros((2, 3)), np.array([5.0, 6.0]), axis=0)[1, 2] == 6.0


@pytest.mark.parametrize("row", _compositions(), ids=lambda row: row[0])
def test_every_composition_is_a_function_with_a_signature(row):
    name, count, numbers, doc, aliases = row
    for known in (name, *aliases):
        function = getattr(indim, known)
        assert function.__name__ == known and function.__doc__ == doc
        parameters = list(inspect.signature(function).parameters)
        assert parameters[:count] == ["x", "y"][:count]
        assert parameters[count : count + len(numbers)] == [number for number, _, _ in numbers]
    x = np.array([0.5, 2.0], np.float32)
    given = {"exponent_bits": 5, "mantissa_bits": 2} if name == "reduce_precision" else {}
    text = "".join(f", {key}={value}" for key, value in given.items())
    expected = indim.evaluate(f"{name}({', '.join('xy'[:count])}{text})", {"x": x, "y": x})
    assert np.array_equal(getattr(indim, name)(*[x] * count, **given), expected)


def test_numbers_are_numbers():
    x = np.ones(3)
    with pytest.raises(TypeError, match="`alpha` of elu.. is a number, not ndarray"):
        indim.elu(x, np.ones(3))
    with pytest.raises(indim.ExprError, match="`decimals` of `round` must be a whole number"):
        indim.round(x, 0.5)
    with pytest.raises(TypeError, match="missing a required argument"):
        indim.reduce_precision(x)
    with pytest.raises(TypeError):
        indim.gelu(x, 2)
    assert indim.elu(-x, np.float32(2.0))[0] == 2 * np.expm1(-1.0)
    assert indim.evaluate("elu(y, a)", {"y": -x, "a": 2.0})[0] == 2 * np.expm1(-1.0)
    assert np.array_equal(indim.jit(lambda a: round(a, 1))(x / 3), np.round(x / 3, 1))
