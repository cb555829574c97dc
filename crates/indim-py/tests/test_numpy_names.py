"""Every function, ufunc and method of NumPy that `docs/numpy.md` lists under "works" equals NumPy's."""

import importlib.util
import itertools
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import indim
import numpy_calls as calls
from indim import _arrays, _refused

if np.__version__.startswith("1."):
    pytest.skip("NumPy 1 has other types of results", allow_module_level=True)

#: Relative tolerance by element type, for names that NumPy rounds.
TOLERANCE = {"f2": 2e-3, "f4": 1e-5, "c8": 1e-5, "f8": 1e-12, "c16": 1e-12}

SEEDS = range(2)


def traced(call, arrays):
    """The results of ``call(arrays)`` compiled; the type of the arrays is static."""
    values = {name: value for name, value in vars(arrays).items() if name != "dtype"}

    @indim.jit
    def compiled(values):
        return calls.quietly(call, types.SimpleNamespace(**values, dtype=arrays.dtype))

    return compiled(values)


def assert_equal(name, found, expected, is_rounded):
    assert len(found) == len(expected), name
    for ours, theirs in zip(found, expected):
        theirs = np.asarray(theirs)
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), name
        if theirs.dtype.kind in "fc" and is_rounded:
            tolerance = TOLERANCE[theirs.dtype.str[1:]]
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(ours, theirs)


def check(name, call, dtype):
    """Compares a call with NumPy, unless NumPy refuses it for the type."""
    for seed in SEEDS:
        arrays = calls.arrays(np.random.default_rng(seed), dtype)
        try:
            expected = calls.quietly(call, arrays)
        except (TypeError, ValueError, OverflowError, ZeroDivisionError):
            continue
        kind = np.dtype(dtype).kind
        if any(name in calls.REFUSED_TYPES.get(key, ()) for key in (kind, dtype)):
            with pytest.raises(TypeError):
                traced(call, arrays)
            continue
        assert_equal(name, traced(call, arrays), expected, calls.is_rounded(name, kind))


def of_numpy(table):
    """The calls of a table with NumPy as the module."""
    return [
        pytest.param(name, lambda a, call=call: call(np, a), id=f"{name}-{index}")
        for name, listed in table.items()
        if _has(name)
        for index, call in enumerate(listed)
    ]


def _has(name):
    try:
        calls._named(np, name)
    except AttributeError:
        return False
    return True


@pytest.mark.parametrize("dtype", calls.DTYPES)
@pytest.mark.parametrize(("name", "call"), of_numpy(calls.FUNCTIONS))
def test_functions(name, call, dtype):
    check(name, call, dtype)


class EagerModule:
    """NumPy, with the functions of `indim.numpy` in the place of those of the same names."""

    def __getattr__(self, name):
        return vars(indim.numpy).get(name) or getattr(np, name)


#: Functions of `indim.numpy` whose arguments are not those of NumPy's functions.
OTHER_ARGUMENTS = {"argsort", "cumulative_prod", "cumulative_sum", "put_along_axis", "select"}


def eager(table):
    """The first call of each name that `indim.numpy` has, with its functions, which take arrays."""
    names = [name for name in table if name in vars(indim.numpy) and name not in OTHER_ARGUMENTS]
    return [pytest.param(name, table[name][0], id=name) for name in names]


@pytest.mark.parametrize("dtype", calls.DTYPES)
@pytest.mark.parametrize(("name", "call"), [*eager(calls.FUNCTIONS), *eager(calls.ufuncs())])
def test_functions_of_indim_of_the_same_names(name, call, dtype):
    arrays = calls.arrays(np.random.default_rng(7), dtype)
    kind = np.dtype(dtype).kind
    if any(name in calls.REFUSED_TYPES.get(key, ()) for key in (kind, dtype)):
        return
    try:
        expected = calls.quietly(call, np, arrays)
    except (TypeError, ValueError):
        return
    found = calls.quietly(call, EagerModule(), arrays)
    assert_equal(name, found, expected, calls.is_rounded(name, kind))


@pytest.mark.parametrize("dtype", calls.DTYPES)
@pytest.mark.parametrize(("name", "call"), of_numpy(calls.ufuncs()))
def test_ufuncs(name, call, dtype):
    check(name, call, dtype)


@pytest.mark.parametrize("dtype", calls.DTYPES)
@pytest.mark.parametrize(("name", "call"), of_numpy(calls.UFUNC_METHODS))
def test_methods_of_ufuncs(name, call, dtype):
    check(name, call, dtype)


@pytest.mark.parametrize("dtype", calls.DTYPES)
@pytest.mark.parametrize(("name", "call"), calls.METHODS.items(), ids=list(calls.METHODS))
def test_methods(name, call, dtype):
    check(name, call, dtype)


def test_like_of_a_traced_value_makes_arrays_that_meet_it():
    def f(x):
        made = np.ones(4, like=x) + np.arange(4, like=x) + np.eye(4, like=x)[0] + np.full(4, 2, like=x)
        stacked = np.array([[x[0, 0], 2], [3, x[1, 1]]], dtype="f4", like=x)
        return x + made, stacked, np.asarray([1, 2], like=x), np.array(x[0], ndmin=3, like=x)

    for found, expected in zip(indim.jit(f)(X), f(X)):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected, strict=True)


def test_a_number_among_the_arguments_is_weak():
    x = np.float32([1, 2])
    for function in (
        lambda x, k: np.linspace(x, k, 3),
        lambda x, k: np.choose([0, 1], [x, k]),
        lambda x, k: np.unwrap(x, period=k),
        lambda x, k: np.trapezoid(x, dx=k),
        lambda x, k: np.full_like(x, k),
        lambda x, k: np.gradient(x, k),
    ):
        compiled = indim.jit(function)
        for k in (2.5, 7.0):
            expected = np.asarray(function(x, k))
            assert compiled(x, k).dtype == expected.dtype
            np.testing.assert_allclose(compiled(x, k), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "?", "c16"])
@pytest.mark.parametrize("name", ["add", "divide", "sin", "less", "left_shift", "modf", "isnan", "power"])
def test_the_type_of_a_ufunc_is_chosen_by_dtype(name, dtype):
    ufunc = getattr(np, name)
    for of_x, y, casting in itertools.product(
        ("f4", "f8", "i4", "u1"), (2, np.int8(3), np.arange(1, 5, dtype="i2")), ("same_kind", "unsafe")
    ):
        rest = (y,) if ufunc.nin == 2 else ()

        def call(x, rest=rest, casting=casting):
            return calls.quietly(lambda x: ufunc(x, *rest, dtype=dtype, casting=casting), x)

        assert_like_numpy(call, np.arange(1, 5).astype(of_x))


def assert_like_numpy(call, x):
    """Compares a call with NumPy: the error, or types and values."""
    try:
        expected = call(x)
    except TypeError:
        with pytest.raises(TypeError):
            indim.jit(call)(x)
        return
    for found, value in zip(indim.jit(call)(x), expected):
        assert found.dtype == value.dtype
        np.testing.assert_allclose(found, value, rtol=1e-6)


def test_floats_of_any_size_are_taken_apart_and_put_together():
    for dtype in (np.float32, np.float64):
        limits = np.finfo(dtype)
        random = np.random.default_rng(1).integers(0, 2**63, 2000, dtype=np.uint64) * np.uint64(2)
        bits = random.view(np.float64) if dtype == np.float64 else random.view(np.uint32).view(np.float32)
        edges = [0, -0.0, np.inf, -np.inf, np.nan, 1, 0.5, limits.max, limits.tiny, limits.smallest_subnormal]
        around = np.nextafter(np.array([1, 2, 4, 0.5], dtype), np.array([0, 0, 9, 0], dtype))
        x = np.concatenate([np.array(edges, dtype), around, bits])
        for found, expected in zip(indim.jit(lambda x: np.frexp(x))(x), np.frexp(x)):
            is_finite = np.isfinite(x) if found.dtype == np.int32 else slice(None)
            np.testing.assert_array_equal(found[is_finite], expected[is_finite], strict=True)
        for n in (-3000, -1074, -60, -1, 0, 1, 60, 1023, 3000):
            with np.errstate(all="ignore"):
                expected = np.ldexp(x, np.full(x.shape, n))
            found = indim.jit(lambda x: np.ldexp(x, np.full(x.shape, n)))(x)
            np.testing.assert_array_equal(found, expected, strict=True)
            numbers = ~np.isnan(x)
            np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


def test_an_index_out_of_range_is_an_error_when_it_is_computed():
    unravel = indim.jit(lambda i: np.unravel_index(i, (3, 4)))
    join = indim.jit(lambda i, j: np.ravel_multi_index((i, j), (3, 4)))
    np.testing.assert_array_equal(unravel(np.array([11, 0])), np.unravel_index([11, 0], (3, 4)))
    for index in (12, -1):
        with pytest.raises(IndexError):
            unravel(np.array([index, 0]))
        with pytest.raises(IndexError):
            join(np.array([0]), np.array([index]))


def test_what_numpy_1_26_lacks_is_not_needed(monkeypatch):
    # NumPy's functions in C have no signature there.
    program = """
import inspect, numpy
signature = inspect.signature
def without_dot(function):
    if function is numpy.dot:
        raise ValueError("no signature found")
    return signature(function)
inspect.signature = without_dot
import indim
print(indim.jit(lambda x: numpy.dot(x, x))(numpy.ones(2)))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout == "2.0\n", ran.stderr
    monkeypatch.delattr(np, "bool")
    assert _arrays.numpy_dtype("bool") == np.bool_


# The page and the messages.


ROOT = Path(__file__).parents[1]
X = np.arange(12.0).reshape(3, 4)


@pytest.fixture(scope="module")
def page():
    spec = importlib.util.spec_from_file_location("make_numpy_page", ROOT / "make_numpy_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_name_that_works_is_compared_with_numpy(page):
    assert set(page.working_functions()) <= set(calls.FUNCTIONS)
    assert set(page.working_methods()) == set(calls.METHODS)
    reduced = {f"{name}.reduce" for name in page.REDUCTIONS}
    accumulated = {f"{name}.accumulate" for name in page.ACCUMULATIONS}
    assert reduced | accumulated <= set(calls.UFUNC_METHODS)


@pytest.mark.skipif(not np.__version__.startswith("2.4"), reason="the page is that of NumPy 2.4")
def test_the_page_is_up_to_date():
    ran = subprocess.run(
        [sys.executable, ROOT / "make_numpy_page.py", "--check"], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def message(call):
    with pytest.raises((TypeError, AttributeError)) as raised:
        indim.jit(call)(X)
    return str(raised.value)


def test_each_function_of_numpy_that_is_refused_has_a_message_of_its_own(page):
    for name, function in page.functions().items():
        if function in page.ARRAY_FUNCTIONS:
            continue
        text = message(lambda x: x.__array_function__(function, (), (x,), {}))
        assert f"numpy.{name} cannot be traced, because " in text
        if name not in _refused.NOT_FOR_INDIM:
            assert text.endswith(_refused.REFUSED[name][1])


def test_each_ufunc_that_is_refused_has_a_message_of_its_own():
    for name, (_, advice) in _refused.REFUSED_UFUNCS.items():
        ufunc = getattr(np, name)
        text = message(lambda x: ufunc(*[x] * ufunc.nin))
        assert text.startswith(f"numpy.{name} cannot be traced, because ") and text.endswith(advice)


def test_each_method_that_is_refused_has_a_message_of_its_own():
    for name, advice in _refused.REFUSED_METHODS.items():
        assert advice in message(lambda x: getattr(x, name))


#: Advised code and the function of NumPy that it replaces.
REPLACEMENTS = {
    "poly": (
        lambda x: np.convolve([1.0, -2.0], np.stack([1, -x[0, 1]])),
        lambda x: np.poly([2, 1.0]),
    ),
    "polymul": (lambda x: np.convolve(x[1], x[2]), lambda x: np.polymul(x[1], x[2])),
}


@pytest.mark.parametrize("name", REPLACEMENTS)
def test_advised_code_computes_what_the_function_of_numpy_does(name):
    advised, replaced = REPLACEMENTS[name]
    found, expected = indim.jit(advised)(X), replaced(X)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
