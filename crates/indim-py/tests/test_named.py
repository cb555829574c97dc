"""The rule `named`, with xarray's own operations as the oracle."""

import numpy as np
import pytest

import indim

xr = pytest.importorskip("xarray")

NAMES = ("time", "level", "lat", "lon")


def random_variables(random, count):
    """Arrays with some of the names in any order; most sizes follow from names."""
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


REDUCTIONS = {
    "x - mean(x, axis=time)": lambda x, y: x - x.mean("time"),
    "(x - mean(x, axis=lat)) / std(y, axis=[lat])": lambda x, y: (x - x.mean("lat")) / y.std("lat"),
    "max(x * y, axis=[lat, time])": lambda x, y: (x * y).max(["lat", "time"]),
    "y + sum(where(x > 1, x, 0), axis=level)": lambda x, y: y + xr.where(x > 1, x, 0).sum("level"),
    "argmin(y, axis=lat)": lambda x, y: y.argmin("lat"),
}


def labelled(dims, seed, **kwargs):
    """An array with these dimensions; time has a coordinate, lat has two."""
    sizes = dict(zip(NAMES, (6, 2, 3, 4)))
    coords = {dim: np.arange(sizes[dim]) * 10 for dim in dims if dim in ("time", "lat")}
    if "lat" in dims:
        coords["height"] = ("lat", [3.0, 1.0, 2.0])
    data = np.random.default_rng(seed).uniform(0.5, 2, [sizes[dim] for dim in dims])
    return xr.DataArray(data, dims=dims, coords=coords, **kwargs)


@pytest.mark.parametrize("text", REDUCTIONS)
@pytest.mark.parametrize("keep", [True, False, "default"])
def test_reductions_by_name_are_those_of_xarray(text, keep):
    random = np.random.default_rng(list(text.encode()))
    for seed in range(6):
        dims = [str(name) for name in random.permutation(["time", "level", "lat"])]
        x = labelled(dims, seed, name="a", attrs={"units": "K", "from": "x"})
        dims = [str(name) for name in random.permutation(["lat", "lon"])]
        y = labelled(dims, seed, name="a", attrs={"units": "K"})
        with xr.set_options(keep_attrs=keep):
            expected, result = REDUCTIONS[text](x, y), indim.evaluate(text, {"x": x, "y": y})
            again = indim.evaluate(text, {"x": x, "y": y}, rule="named")
        xr.testing.assert_allclose(result, expected, rtol=1e-14)
        xr.testing.assert_identical(again, result)
        assert (result.dims, result.name, result.dtype) == (expected.dims, "a", expected.dtype)
        if "where" not in text:
            assert result.attrs == expected.attrs


def test_reductions_by_name_over_chunks_and_datasets():
    pytest.importorskip("dask.array")
    x = xr.DataArray(np.random.default_rng(3).standard_normal((1500, 3)), dims=("time", "lat"))
    text = "(x - mean(x, axis=time)) / std(x, axis=time)"
    lazy = indim.evaluate(text, x=x.chunk({"time": 512, "lat": 2}))
    assert lazy.chunks == ((512, 512, 476), (2, 1))
    assert lazy.values.tobytes() == indim.evaluate(text, x=x).values.tobytes()
    data = xr.Dataset({"a": x, "b": x.T * 2}, attrs={"title": "data"})
    expected = data - data.mean("time")
    low, high = indim.evaluate("x - mean(x, axis=time), max(x, axis=time)", x=data)
    xr.testing.assert_allclose(low, expected)
    xr.testing.assert_allclose(high, data.max("time"))
    assert low.attrs == expected.attrs


def test_functions_along_axes_take_their_names():
    x = labelled(("lat", "time"), 1, name="x")
    xr.testing.assert_allclose(indim.mean(x, axis="time"), x.mean("time"))
    xr.testing.assert_allclose(indim.max(x, axis=["time", "lat"]), x.max())
    xr.testing.assert_allclose(indim.sum(x, axis="time", where=x.time > 20), x.where(x.time > 20).sum("time"))
    with pytest.raises(indim.ShapeError, match=r"no axis `tme`; its axes are \[lat, time\]"):
        indim.mean(x, axis="tme")
    with pytest.raises(indim.ShapeError, match="no axis `time`"):
        indim.mean(np.ones(3), axis="time")
    for name in ("my time", "time, of day", "[time]", "1"):
        renamed = x.rename(time=name)
        xr.testing.assert_allclose(indim.mean(renamed, axis=name), renamed.mean(name))
        xr.testing.assert_allclose(indim.max(renamed, axis=[name, "lat"]), renamed.max())
    # Names that print alike without quotes are different axes.
    both = xr.DataArray(np.arange(24.0).reshape(2, 3, 4), dims=("a, b", "a", "b"))
    assert indim.sum(both, axis="a, b").dims == ("a", "b")
    assert indim.sum(both, axis=["a", "b"]).dims == ("a, b",)


def test_functions_along_axes_take_names_in_compiled_functions():
    x = labelled(("lat", "time"), 1, name="x")
    for name in ("time", "my time"):
        named = x.rename(time=name)
        centred = indim.jit(lambda x: x - indim.mean(x, axis=name))
        xr.testing.assert_allclose(centred(named), named - named.mean(name))
        share = indim.jit(lambda x: indim.softmax(x, axis=name))
        assert share(named).dims == named.dims
        np.testing.assert_allclose(share(named).sum(name), 1)
    dataset = xr.Dataset({"a": x, "b": x * 2})
    total = indim.jit(lambda d: indim.sum(d, axis=["time", "lat"]))
    xr.testing.assert_allclose(total(dataset), dataset.sum())
    with pytest.warns(RuntimeWarning, match="runs as plain xarray"):
        total = indim.jit(lambda x: indim.vecdot(x, x, axis="time"))(x)
    xr.testing.assert_allclose(total, xr.dot(x, x, dim="time"))


def test_what_names_cannot_say_is_refused():
    x = labelled(("lat", "time"), 1, name="x")
    calls = {
        "rule xla matches no axis by its name": lambda: indim.evaluate(
            "x - mean(x, axis=time)", {"x": x}, rule="xla"
        ),
        "axis-name-missing.*`k`": lambda: indim.evaluate("x - mean(x, axis=time) * k", x=x, k=np.ones(3)),
        "leave `keepdims` out": lambda: indim.evaluate("max(x, axis=time, keepdims=True)", x=x),
        "select with `.isel`": lambda: indim.evaluate("max(x, axis=lat)[1:]", x=x),
        "no variable of numbers in common": lambda: indim.evaluate(
            "x - mean(y, axis=time)", x=xr.Dataset({"a": x}), y=xr.Dataset({"b": x})
        ),
    }
    for message, call in calls.items():
        with pytest.raises(ValueError, match=message):
            call()
    other = x.isel(lat=[0, 1])
    inner = indim.evaluate("x - mean(other, axis=time)", x=x, other=other)
    xr.testing.assert_allclose(inner, x - other.mean("time"))
    with xr.set_options(arithmetic_join="exact"), pytest.raises(ValueError, match="exact"):
        indim.evaluate("x - mean(other, axis=time)", x=x, other=other)


def test_arrays_without_names_are_refused():
    x = xr.DataArray(np.ones((2, 3)), dims=("time", "lat"))
    with pytest.raises(ValueError, match=r"axis-name-missing.*`y`.*xarray.DataArray"):
        indim.evaluate("x + y", {"x": x, "y": np.ones(3)}, rule="named")
    assert indim.evaluate("x + y", {"x": x, "y": 2.0}, rule="named").dims == ("time", "lat")
    with pytest.raises(indim.ShapeError) as caught:
        indim.evaluate("a + b", {"a": np.ones((2, 3)), "b": np.ones(3)}, rule="named")
    assert caught.value.code == "axis-name-missing"


def test_functions_that_move_elements_would_leave_labels_behind():
    """The labels of `flip(x)` were those of `x`, and so the dimensions of a square `transpose(x)`."""
    x = xr.DataArray(np.eye(2) * [1, 2], dims=("t", "x"), coords={"t": [10, 20], "x": [1, 2]})
    w = np.array([3.0, 1.0])
    for text in ("flip(x)", "roll(x, 1)", "transpose(x)", "1 + sort(x * 2)", "x[::-1]", "(x + 1)[::-1]"):
        with pytest.raises(TypeError, match="labels would stay where they are"):
            indim.evaluate(text)
    with pytest.raises(TypeError, match="labels would stay where they are"):
        indim.evaluate("flip(x, axis=t)")
    for function in (indim.flip, lambda x: indim.roll(x, 1), indim.transpose):
        for call in (function, indim.jit(function)):
            with pytest.raises(TypeError, match=r"x.roll\(t=1\)"):
                call(x)
            with pytest.raises(TypeError, match="labels would stay where they are"):
                call(x.to_dataset(name="v"))
    # What moves elements of other arrays has no labels to move, and names follow their axes.
    xr.testing.assert_identical(indim.evaluate("x * w[::-1] + sort(w)"), x * w[::-1] + np.sort(w))
    xr.testing.assert_identical(indim.evaluate("cumsum(x, axis=t)"), x.cumsum("t").assign_coords(t=x.t))
    with pytest.raises(TypeError, match=r"takes `x.data`, and `x.copy\(data=result\)` labels"):
        indim.jit(indim.sort)(x)
