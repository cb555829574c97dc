"""The arguments of compiled functions: static ones, containers of arrays, and `out`."""

from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import indim


@pytest.fixture
def x():
    return np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


# Static arguments.


def test_a_static_array_is_told_apart_by_its_elements(x):
    @indim.jit(static="coefficients")
    def polynomial(x, coefficients):
        value = 0
        for coefficient in coefficients:
            value = value * x + float(coefficient)
        return value

    for coefficients in ([2.0, 0.5], [2.0, 0.25], [1, 2, 3]):
        for _ in range(2):
            given = np.array(coefficients)
            np.testing.assert_allclose(polynomial(x, given), np.polyval(coefficients, x))
    assert polynomial.trace_count == 3
    given[0] = 7
    np.testing.assert_allclose(polynomial(x, given), np.polyval(given, x))


def test_a_static_array_that_is_computed_with_is_the_one_of_its_call(x):
    f = indim.jit(lambda x, w: x * w, static="w")
    w = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(f(x, w), x * [1, 2, 3])
    w[:] = 5
    # Another array with the elements of the first call; the first array has changed since.
    np.testing.assert_array_equal(f(x, np.array([1.0, 2.0, 3.0])), x * [1, 2, 3])
    np.testing.assert_array_equal(f(x, w), x * 5)
    assert f.trace_count == 2


def test_static_arrays_differ_by_type_and_shape_too():
    f = indim.jit(lambda x, w: x * float(w.ndim) + w.dtype.itemsize, static="w")
    one = np.zeros(1)
    for w in (
        np.zeros(2),
        np.zeros((1, 2)),
        np.zeros((2, 1)),
        np.zeros(4, np.float32),
        np.zeros(2)[::-1],
        np.zeros(()),
    ):
        assert f(one, w)[0] == w.dtype.itemsize
        assert f(one + 1, w)[0] == w.ndim + w.dtype.itemsize


@pytest.mark.parametrize(
    "values",
    [
        (1, 1.0, True, np.float32(1), np.int8(1)),
        (0.0, -0.0),
        ((1, 2), (1.0, 2), [1, 2], (True, 2), ((1,), 2)),
        ({"a": 1}, {"a": 1.0}, {"b": 1}, {"a": np.ones(1)}),
        ({1, 2}, frozenset({1, 2}), {1.0, 2}),
        (slice(1), slice(2), None, "1", b"1", ..., int),
        ([np.ones(2), 1], [np.ones(3), 1], [np.zeros(2), 1]),
    ],
    ids=str,
)
def test_static_values_are_told_apart(values):
    seen = []
    f = indim.jit(lambda x, value: seen.append(value) or x, static="value")
    for _ in range(2):
        for value in values:
            f(np.ones(2), value)
    assert len(seen) == len(values)
    for value, given in zip(values, seen):
        assert type(given) is type(value) and repr(given) == repr(value)


def test_a_static_list_that_changes_is_another(x):
    f = indim.jit(lambda x, factors: sum(x * factor for factor in factors), static="factors")
    factors = [1.0, 2.0]
    np.testing.assert_array_equal(f(x, factors), 3 * x)
    factors.append(4.0)
    np.testing.assert_array_equal(f(x, factors), 7 * x)


def test_a_static_nan_is_itself():
    f = indim.jit(lambda x, k: x + k, static="k")
    for _ in range(3):
        assert np.isnan(f(np.ones(2), float("nan"))).all()
    assert f.trace_count == 1


def test_static_values_that_cannot_be_told_apart_are_refused(x):
    class Odd:
        def __eq__(self, other):
            return np.array([True, False])

    f = indim.jit(lambda x, odd: x, static="odd")
    f(x, Odd())
    with pytest.raises(TypeError, match="no plain answer to `==`"):
        f(x, Odd())
    with pytest.raises(TypeError, match="array of objects"):
        f(x, np.array([object()]))
    with pytest.raises(TypeError, match="masked"):
        f(x, np.ma.array([1.0], mask=[True]))


# Containers.

Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "container", [list, tuple, lambda pair: Point(*pair)], ids=["list", "tuple", "namedtuple"]
)
def test_a_sequence_of_arrays_is_passed_as_one(x, container):
    seen = []

    @indim.jit
    def distance(first, second):
        seen.append(type(first))
        return np.sqrt(sum((a - b) ** 2 for a, b in zip(first, second)))

    first, second = container([x, x * 2]), container([x + 1, np.float32(3)])
    expected = np.sqrt((x - x - 1) ** 2 + (x * 2 - np.float32(3)) ** 2)
    for _ in range(2):
        np.testing.assert_array_equal(distance(first, second), expected)
    assert seen == [type(first)]
    # New sizes need no trace, new types do.
    distance(container([x[0], x[0]]), container([x[0], x[0]]))
    assert len(seen) == 2


def test_a_dict_of_arrays_is_passed_as_one(x):
    @indim.jit
    def layer(x, params):
        return {"y": x * params["w"] + params["b"]["inner"], "twice": x * params["k"]}

    params = OrderedDict(w=np.array([1.0, 2.0, 3.0]), b={"inner": np.ones(3)}, k=2)
    result = layer(x, params)
    np.testing.assert_array_equal(result["y"], x * [1, 2, 3] + 1)
    np.testing.assert_array_equal(result["twice"], x * 2)
    params["k"] = 3
    np.testing.assert_array_equal(layer(x, params=params)["twice"], x * 3)
    params["w"] = params["w"] + 1
    np.testing.assert_array_equal(layer(x, params)["y"], x * [2, 3, 4] + 1)
    assert layer.trace_count == 1
    with pytest.raises(indim.ShapeError, match="params_w"):
        layer(x, {**params, "w": np.ones(2)})


def test_a_list_of_numbers_is_an_array():
    double = indim.jit(lambda x: x + x)
    assert double([1.0, 2.0]).tolist() == [2.0, 4.0]
    assert double([(1, 2), (3, np.int64(4))]).tolist() == [[2, 4], [6, 8]]


def test_compiled_functions_call_each_other_with_containers(x):
    total = indim.jit(lambda parts: parts[0] + parts[1]["z"])
    outer = indim.jit(lambda x, y: total([x * 2, {"z": y}]))
    np.testing.assert_array_equal(outer(x, x), 3 * x)
    assert total.trace_count == 0


def test_containers_that_cannot_be_arguments(x):
    f = indim.jit(lambda parts: parts[0])
    with pytest.raises(TypeError, match=r"`parts\['a'\]\[0\]`"):
        f({"a": ["text"]})
    endless = [x]
    endless.append(endless)
    with pytest.raises(ValueError, match="deeper than 32"):
        f(endless)


def test_containers_are_explained_by_types():
    f = indim.jit(lambda parts: parts["a"] + parts["b"][0])
    assert f.explain({"a": "f32[2, 3]", "b": ["f32[3]"]}).json["outputs"] == [
        {"dtype": "f32", "shape": [2, 3]}
    ]


# `out`.


def test_a_tuple_of_one_is_out_for_one_result(x):
    f = indim.jit(lambda x: x + 1)
    out = np.empty_like(x)
    assert f(x, out=(out,)) is out
    np.testing.assert_array_equal(out, x + 1)
    np.testing.assert_array_equal(f(x, out=(None,)), x + 1)
    for wrong in ((), (out, out.copy())):
        with pytest.raises(ValueError, match=f"`out` has {len(wrong)} arrays for 1 results"):
            f(x, out=wrong)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_none_in_out_is_a_new_array(x, dtype):
    f = indim.jit(lambda x: (x * 2, x > 3))
    first, second = np.empty(x.shape, dtype), np.empty(x.shape, bool)
    for out in ((first, None), (None, second), (None, None), [first, None]):
        results = f(x, out=out)
        assert type(results) is tuple
        for result, given, expected in zip(results, out, (x * 2, x > 3)):
            assert given is None or result is given
            np.testing.assert_array_equal(result, expected)
    g = indim.jit(lambda x: {"a": x + 1, "b": x})
    result = g(x, out={"a": first, "b": None})
    assert result["a"] is first
    np.testing.assert_array_equal(result["b"], x)


def test_out_names_what_is_returned(x):
    f = indim.jit(lambda x: {"a": x})
    out = {"a": np.zeros_like(x), "b": np.zeros_like(x)}
    with pytest.raises(ValueError, match="`out` has 2 arrays for 1 results"):
        f(x, out=out)
    assert not out["a"].any()
    with pytest.raises(KeyError):
        f(x, out={"b": out["b"]})


def test_parameters_may_have_the_names_of_options():
    x, y = np.array([1.0, 2.0]), np.array([10.0, 20.0])

    @indim.jit
    def scaled(x, out, order=2.0, *, casting=1.0):
        return x * out + order * casting

    expected = x * y + 2
    np.testing.assert_array_equal(scaled(x, y), expected)
    np.testing.assert_array_equal(scaled(x, out=y), expected)
    np.testing.assert_array_equal(scaled(x=x, out=y, order=3.0, casting=2.0), x * y + 6)
    with pytest.raises(TypeError, match="missing a required argument: 'out'"):
        scaled(x)

    @indim.jit
    def by_position(x, out, /):
        return x + out

    target = np.empty(2)
    assert by_position(x, y, out=target) is target
    np.testing.assert_array_equal(target, x + y)

    @indim.jit(static="order")
    def chosen(x, order):
        return x * 2 if order == "twice" else x

    np.testing.assert_array_equal(chosen(x, order="twice", out=target), 2 * x)
    np.testing.assert_array_equal(indim.grad(lambda out: np.sum(out**2))(x), 2 * x)


def test_static_arguments_by_name_and_by_position():
    def function(x, power, *, name="none"):
        return x**power if name == "none" else x

    x = np.array([1.0, 2.0, 3.0])
    for options in (
        {"static": ("power", "name")},
        {"static_argnames": ["power", "name"]},
        {"static_argnames": "name", "static_argnums": 1},
        {"static": "name", "static_argnums": (-1,)},
    ):
        compiled = indim.jit(function, **options)
        assert sorted(compiled.static) == ["name", "power"]
        np.testing.assert_array_equal(compiled(x, 2), x**2)
        np.testing.assert_array_equal(compiled(x, 2, name="other"), x)
    with pytest.raises(TypeError, match="static='nothing' is none of the parameters"):
        indim.jit(function, static_argnames="nothing")
    with pytest.raises(TypeError, match="static_argnums=2 is not a position of the parameters"):
        indim.jit(function, static_argnums=2)
