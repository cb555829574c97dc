"""The rule `named`, with xarray's own operations as the oracle."""

import numpy as np
import pytest

import indim

xr = pytest.importorskip("xarray")

NAMES = ("time", "level", "lat", "lon")


def random_variables(random, count):
    """Arrays with some of the names in any order; sizes follow from names, but for some."""
    sizes = {name: int(random.integers(1, 4)) for name in NAMES}
    variables = []
    for _ in range(count):
        dims = [str(name) for name in random.permutation(NAMES)[: random.integers(0, 4)]]
        shape = [int(random.integers(0, 4)) if random.random() < 0.06 else sizes[name] for name in dims]
        variables.append(xr.Variable(dims, random.integers(1, 100, shape).astype(float)))
    return variables


def case(operation, variables):
    """The same operation as a case of the oracle."""
    operands = [
        {"dtype": "f64", "shape": list(v.shape), "data": v.values.ravel().tolist()} for v in variables
    ]
    names = [list(v.dims) for v in variables]
    return {"rule": "named", "op": operation, "operands": operands, "names": names}


def clamped(low, x, high):
    return np.minimum(np.maximum(x, low), high)


OPERATIONS = {
    "add": (2, lambda x, y: x + y),
    "sub": (2, lambda x, y: x - y),
    "div": (2, lambda x, y: x / y),
    "max": (2, lambda x, y: xr.apply_ufunc(np.maximum, x, y)),
    "clamp": (3, lambda low, x, high: xr.apply_ufunc(clamped, low, x, high)),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_legality_order_sizes_and_elements_are_those_of_xarray(operation):
    count, function = OPERATIONS[operation]
    random = np.random.default_rng(list(operation.encode()))
    legal = 0
    for _ in range(400):
        variables = random_variables(random, count)
        answer = indim.oracle(case(operation, variables))
        try:
            expected = function(*variables)
        except ValueError as error:
            assert not answer["ok"], (variables, error)
            assert (answer["code"], answer["rule"]) == ("size-mismatch", "D3")
            continue
        legal += 1
        assert answer["ok"] and answer["shape"] == list(expected.shape), (variables, answer)
        given = np.array(answer["data"], dtype=float).reshape(expected.shape)
        np.testing.assert_array_equal(given, expected.values)
    assert 100 < legal < 400


def test_a_size_of_one_does_not_expand():
    x, y = xr.Variable(("t", "y"), np.zeros((1, 3))), xr.Variable(("t",), np.zeros(4))
    with pytest.raises(ValueError):
        x + y
    clash = "axis `t` of `operand 1` is 4, axis `t` of `operand 0` is 1"
    with pytest.raises(indim.ShapeError, match=clash) as caught:
        indim.broadcast_shapes((1, 3), (4,), rule="named", names=[["t", "y"], ["t"]])
    assert caught.value.code == "size-mismatch"


def test_shapes_by_the_names_of_their_axes():
    names = [["lat"], ["time", "lat"]]
    assert indim.broadcast_shapes((3,), (2, 3), rule="named", names=names) == (3, 2)
    assert indim.convert((2, 3), (2,), rule="named", names=[["t", "y"], ["t"]], to="xla") == (
        "xla broadcast_dimensions=[0]"
    )
    assert "dims=[1, 0]" in indim.explain((3,), (2, 3), rule="named", names=names)
    with pytest.raises(ValueError, match="rule numpy takes no `names`"):
        indim.broadcast_shapes((3,), (2, 3), rule="numpy", names=names)
    with pytest.raises(TypeError):
        indim.explain("x", x="f32[3]", names=names)


def random_arrays(random, count):
    sizes = dict(zip(NAMES, (2, 1, 3, 4)))
    arrays = []
    for _ in range(count):
        dims = [str(name) for name in random.permutation(NAMES)[: random.integers(0, 5)]]
        coords = {dim: np.arange(sizes[dim]) for dim in dims if dim != "lon"}
        data = random.uniform(0.5, 2, [sizes[dim] for dim in dims])
        arrays.append(xr.DataArray(data, dims=dims, coords=coords))
    return arrays


TEXTS = {
    "x - y * z": lambda x, y, z: x - y * z,
    "y * x + z / 2": lambda x, y, z: y * x + z / 2,
    "where(x > y, z, -x)": lambda x, y, z: xr.where(x > y, z, -x),
    "sqrt(z) + x - y": lambda x, y, z: np.sqrt(z) + x - y,
}


@pytest.mark.parametrize("text", TEXTS)
def test_expressions_of_labelled_arrays_in_any_order_of_dimensions(text):
    random = np.random.default_rng(list(text.encode()))
    for _ in range(40):
        x, y, z = random_arrays(random, 3)
        expected = TEXTS[text](x, y, z)
        result = indim.evaluate(text, {"x": x, "y": y, "z": z}, rule="named")
        if not isinstance(result, xr.DataArray):
            assert expected.dims == ()
            result = xr.DataArray(result)
        assert result.dims == expected.dims
        xr.testing.assert_allclose(result, expected, rtol=1e-14)


def test_arrays_without_names_are_refused():
    x = xr.DataArray(np.ones((2, 3)), dims=("time", "lat"))
    with pytest.raises(ValueError, match=r"axis-name-missing.*`y`.*xarray.DataArray"):
        indim.evaluate("x + y", {"x": x, "y": np.ones(3)}, rule="named")
    assert indim.evaluate("x + y", {"x": x, "y": 2.0}, rule="named").dims == ("time", "lat")
    with pytest.raises(indim.ShapeError) as caught:
        indim.evaluate("a + b", {"a": np.ones((2, 3)), "b": np.ones(3)}, rule="named")
    assert caught.value.code == "axis-name-missing"
