"""xarray's arrays: dimensions by name, and xarray's own operations as the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indim

xr = pytest.importorskip("xarray")

SIZES = {"time": 4, "lat": 3, "lon": 2}


def labelled(dims, seed=0, **kwargs):
    """An array of random numbers with these dimensions; time and lat have coordinates."""
    data = np.random.default_rng(seed).uniform(0.5, 2, [SIZES[dim] for dim in dims])
    coords = {dim: np.arange(SIZES[dim]) * 10 for dim in dims if dim != "lon"}
    return xr.DataArray(data, dims=dims, coords=coords, **kwargs)


t = labelled(("time", "lat", "lon"), 1, name="t", attrs={"units": "K", "source": "a"})
m = labelled(("lat",), 2, name="m", attrs={"units": "K"})

orders = st.permutations(tuple(SIZES)).flatmap(
    lambda dims: st.integers(0, 3).map(lambda count: tuple(dims[:count]))
)

FUNCTIONS = [
    lambda x, y, z: (x - y) * z,
    lambda x, y, z: np.sqrt(x) / (y + 1) - np.maximum(z, 1),
    lambda x, y, z: xr.where(x > y, z, -x),
    lambda x, y, z: (x + z).T * y.transpose(),
    lambda x, y, z: x.where(y < 1.5) + z.fillna(0),
]

TEXTS = ["(x - y) * z", "sqrt(x) / (y + 1) - maximum(z, 1)", "where(x > y, z, -x)"]


def alike(result, expected):
    """Dimensions, coordinates, attributes, names and numbers are those of xarray."""
    xr.testing.assert_allclose(result, expected, rtol=1e-14)
    assert (result.dims, result.name, result.attrs) == (expected.dims, expected.name, expected.attrs)
    assert result.dtype == expected.dtype


@settings(max_examples=60, deadline=None)
@given(dims=st.tuples(orders, orders, orders), function=st.sampled_from(FUNCTIONS), chunk=st.booleans())
def test_dimensions_in_any_order_meet_by_name(dims, function, chunk):
    arrays = [labelled(of, seed, name="n", attrs={"a": seed, "b": 1}) for seed, of in enumerate(dims)]
    expected = function(*arrays)
    if chunk:
        pytest.importorskip("dask.array")
        arrays = [array.chunk(2) for array in arrays]
    result = indim.jit(function)(*arrays)
    assert (result.chunks is None) == all(array.chunks is None for array in arrays)
    alike(result, expected)


@settings(max_examples=40, deadline=None)
@given(dims=st.tuples(orders, orders, orders), choice=st.integers(0, len(TEXTS) - 1))
def test_dimensions_of_expressions_meet_by_name(dims, choice):
    x, y, z = (labelled(of, seed) for seed, of in enumerate(dims))
    result, expected = indim.evaluate(TEXTS[choice]), FUNCTIONS[choice](x, y, z)
    xr.testing.assert_allclose(result, expected.transpose(*result.dims), rtol=1e-14)


REDUCTIONS = {
    "anomaly": lambda x: (x - x.mean("time")) / x.std("time", ddof=1),
    "sum": lambda x: x.sum(["lat", "time"]),
    "all": lambda x: x.max(),
    "any": lambda x: (x > 1).any("lon"),
    "skipna": lambda x: x.where(x > 1).mean("lat"),
    "count": lambda x: x.where(x > 1).count("time"),
    "argmax": lambda x: x.argmax("time"),
    "keepdims": lambda x: x - x.min("lat", keepdims=True).isel(lat=0, drop=True),
    "slices": lambda x: x.isel(time=slice(1, None)).drop_vars("time") - x.isel(time=0, drop=True),
    "labels": lambda x: x.sel(lat=10) * 2,
    "diff": lambda x: x.diff("time"),
    "shift": lambda x: x.shift(time=1),
    "roll": lambda x: x.roll(time=1),
    "concat": lambda x: xr.concat([x, 2 * x], "time"),
    "groups": lambda x: x.groupby(x.time % 20).mean(),
    "coordinates": lambda x: (x * 2).assign_coords(height=("lat", [1.0, 2.0, 3.0])),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dims", [("time", "lat", "lon"), ("lon", "time", "lat")])
def test_what_a_compiled_function_does_by_name(name, dims):
    function, x = REDUCTIONS[name], t.transpose(*dims)
    alike(indim.jit(function)(x), function(x))


def test_arrays_of_dask_stay_lazy_and_give_the_same_bits():
    pytest.importorskip("dask.array")
    x = xr.DataArray(
        np.random.default_rng(3).standard_normal((1500, 3)), dims=("time", "lat"), attrs={"units": "K"}
    )
    anomaly = indim.jit(lambda x: (x - x.mean("time")) / x.std("time"))
    lazy = anomaly(x.chunk({"time": 512, "lat": 2}))
    assert lazy.chunks == ((512, 512, 476), (2, 1)) and lazy.attrs == {"units": "K"}
    assert lazy.values.tobytes() == anomaly(x).values.tobytes()
    assert indim.evaluate("x - 1", x=x.chunk(700)).chunks is not None


def test_datasets_of_which_nothing_can_be_computed():
    x, y = xr.Dataset({"a": ("lat", np.ones(3))}), xr.Dataset({"b": ("lat", np.ones(3))})
    for text in ("x - y", "x - y, x + y", "x - mean(y, axis=lat)"):
        with pytest.raises(ValueError, match="Datasets `x`, `y` have no variable of numbers in common"):
            indim.evaluate(text, x=x, y=y)
    with pytest.raises(ValueError, match="the Dataset `t` has no variable of numbers"):
        indim.evaluate("t * 2", t=xr.Dataset())
    # The same as xarray's operators and functions.
    assert len(indim.sub(x, y)) == len(indim.jit(lambda x, y: x - y)(x, y)) == 0


def test_datasets():
    data = xr.Dataset({"t": t, "m": m, "name": ("lat", ["a", "b", "c"])}, attrs={"title": "data"})
    numbers = data[["t", "m"]]
    result = indim.jit(lambda data: (data - data.mean("lat")) * 2)(numbers)
    xr.testing.assert_allclose(result, (numbers - numbers.mean("lat")) * 2)
    assert list(indim.jit(lambda data: data)(data)) == ["t", "m", "name"]
    difference = indim.evaluate("numbers - m")
    xr.testing.assert_allclose(difference, numbers - m)
    low, high = indim.evaluate("numbers - m, numbers + m")
    xr.testing.assert_allclose(low, numbers - m)
    xr.testing.assert_allclose(high, numbers + m)
    both = indim.jit(lambda data: {"sum": data.t + data.m, "m": data[["m"]]})(data)
    xr.testing.assert_allclose(both["sum"], t + m)
    assert isinstance(both["m"], xr.Dataset)


def test_variables_and_arrays_without_labels():
    result = indim.jit(lambda x, y, k: x * y + k)(t.variable, m.variable, 2)
    assert isinstance(result, xr.Variable) and result.dims == t.dims
    np.testing.assert_allclose(result.values, t.values * m.values[:, None] + 2)
    alike(indim.jit(lambda x, k: x * k)(m, np.arange(3.0)), m * np.arange(3.0))
    assert indim.evaluate("m * k", k=np.arange(3.0)).dims == ("lat",)
    total = indim.jit(lambda x, y: (x.data.sum(), y))(m, np.ones(2))
    assert isinstance(total[0], np.ndarray) and total[1].shape == (2,)


def test_operations_of_indim_take_labelled_arrays():
    alike(indim.add(t, m), t + m)
    alike(indim.jit(lambda t, m: indim.sub(m, t) * indim.exp(t))(t, m), (m - t) * np.exp(t))
    with pytest.raises(ValueError, match="dimension by its name"):
        indim.sum(t, axis=0)
    with pytest.raises(ValueError, match="axes are counted"):
        indim.evaluate("t - mean(t, axis=0) * m")
    alike(indim.evaluate("t - min(t, axis=0, keepdims=True)"), t - t.min("time"))


@pytest.mark.parametrize("join", ["inner", "outer", "left", "exact"])
def test_indexes_are_joined_as_the_option_says(join):
    other = m.isel(lat=[2, 0])
    functions = {
        "traced": lambda: indim.jit(lambda t, other: t - other)(t, other),
        "expression": lambda: indim.evaluate("t - other", t=t, other=other),
    }
    with xr.set_options(arithmetic_join=join):
        for call in functions.values():
            if join == "exact":
                with pytest.raises(ValueError, match="exact"):
                    call()
            else:
                xr.testing.assert_allclose(call(), t - other)


@pytest.mark.parametrize("keep", [True, False, "default"])
def test_attributes_are_kept_as_the_option_says(keep):
    with xr.set_options(keep_attrs=keep):
        expected = (t - m).attrs
        assert indim.jit(lambda t, m: t - m)(t, m).attrs == expected
        assert indim.evaluate("t - m").attrs == expected
        assert indim.jit(lambda t: t.mean("time"))(t).attrs == t.mean("time").attrs
        data = xr.Dataset({"t": t, "m": m}, attrs={"title": "data", "source": "b"})
        for x, y in ((data, t), (t, data), (data, data.assign_attrs(title="other"))):
            assert indim.evaluate("x - y").attrs == (x - y).attrs
            assert indim.evaluate("x - y")["m"].attrs == (x - y)["m"].attrs
        assert indim.evaluate("-data").attrs == (-data).attrs
        # xarray keeps the attributes of the Dataset for a Dataset and a number even so.
        assert indim.add(data, 1).attrs == ({} if keep is False else (data + 1).attrs)


def test_messages_call_arrays_by_their_names():
    complex_data = xr.Dataset({"t m": t.astype("c16"), "u": t})
    compare = indim.jit(lambda data, k: data["t m"] <= k)
    with pytest.raises(TypeError, match=r"data_t_m <= k"):
        compare(complex_data, 3)
    unknown = pytest.importorskip("dask.array").arange(5, chunks=2)
    array = xr.DataArray(unknown[unknown > 2], dims="x")
    with pytest.raises(ValueError, match=r"call `pair\[0\].compute_chunk_sizes\(\)` first"):
        indim.jit(lambda pair: pair[0] + pair[1])([array, array])


def test_lists_of_numbers_are_arrays():
    alike(indim.jit(lambda x, k: x * k)(m, [1.0, 2.0, 3.0]), m * [1.0, 2.0, 3.0])
    alike(indim.jit(lambda x, k: x * k[1])(m, [m, 3.0]), m * 3.0)


def test_what_is_not_in_memory_is_refused(tmp_path):
    pytest.importorskip("zarr")
    xr.Dataset({"t": t}).to_zarr(tmp_path / "t.zarr")
    with xr.open_zarr(tmp_path / "t.zarr", chunks=None) as data:
        for call in (
            lambda: indim.jit(lambda x: x + 1)(data.t),
            lambda: indim.evaluate("x + 1", x=data.t),
            lambda: indim.add(data.t, 1),
            lambda: indim.jit(lambda x: x + 1)(data),
        ):
            with pytest.raises(TypeError, match=r"`\.load\(\)`"):
                call()
        other = data.t
        for call in (lambda x: x + other, lambda x: x + data.t):
            with pytest.raises(TypeError, match=r"the function reads a Data.* `\.load\(\)` before"):
                indim.jit(call)(t)
        xr.testing.assert_allclose(indim.add(data.t.load(), 1), t + 1)
    with pytest.raises(TypeError, match="takes it as an argument"):
        indim.jit(lambda x: indim.add(x, np.ones(3)) + indim.asarray(m))(np.ones(3))
    with pytest.raises(TypeError, match="out"):
        indim.add(m, 1, out=np.empty(3))


def test_large_packages_are_not_imported():
    import subprocess
    import sys

    program = "import indim, numpy as np, sys; indim.evaluate('x + 1', x=np.ones(3)); indim.add(1.0, 2.0); "
    # NumPy imports numpy.ma itself before version 2.
    names = ["xarray", "dask", "pandas", *["numpy.ma"] * (np.lib.NumpyVersion(np.__version__) >= "2.0.0")]
    program += f"print([name for name in {names} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.strip() == "[]", run.stderr


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * np.cos(x.height),
        lambda x: x.assign_coords(height=x.height * 2) + 1,
        lambda x: x * 2,
    ],
)
def test_coordinates_in_chunks_stay_lazy(function):
    dask = pytest.importorskip("dask.array")
    height = dask.from_array(np.linspace(0, 1, 12).reshape(4, 3), chunks=(4, 2))
    x = labelled(("time", "lat"), 3).chunk(2).assign_coords(height=(("time", "lat"), height))
    result = indim.jit(function)(x)
    assert result.chunks is not None and result.height.chunks is not None
    xr.testing.assert_allclose(result.compute(), function(x).compute(), rtol=1e-14)


@pytest.mark.parametrize("keep_attrs", ["default", True, False])
def test_arrays_without_labels_before_labelled_ones_are_what_xarray_makes_of_numpys(keep_attrs):
    x = xr.DataArray([[1.0, 2.0, 3.0]], dims=("a", "b"), coords={"b": [1, 2, 3]}, attrs={"units": "K"})
    dataset = xr.Dataset({"x": x, "y": ("b", [4, 5, 6])}, attrs={"title": "t"})
    for function in (
        lambda k, x: k + x,
        lambda k, x: k - x * k,
        lambda k, x: k < x,
        lambda k, x: k**x,
        lambda k, x: np.maximum(k, x),
        lambda k, x: xr.where(k > x, k, x),
    ):
        compiled = indim.jit(function)
        for k in (np.array(2.0), np.float32(2), 2, 2.5, np.array([3.0, 2.0, 1.0])):
            for labelled in (x, dataset) if np.ndim(k) == 0 else (x,):
                with xr.set_options(keep_attrs=keep_attrs):
                    expected = function(k, labelled)
                    xr.testing.assert_identical(compiled(k, labelled), expected)


def test_coordinates_that_are_indexes_are_arguments_too():
    x = labelled(("time", "lat"), 3)
    x.lat.attrs["units"] = "degrees"
    for function, arguments in [
        (lambda lat: np.cos(np.deg2rad(lat)), [x.lat]),
        (lambda lat: lat, [x.lat]),
        (lambda lat: lat * 2, [x.lat.variable]),
        (lambda x, lat: (x * lat).sum("lat") / lat.sum(), [x, x.lat]),
        (lambda x: x * np.cos(x.lat), [x]),
    ]:
        expected = function(*arguments)
        if isinstance(expected, xr.IndexVariable):
            expected = expected.to_base_variable()
        xr.testing.assert_allclose(indim.jit(function)(*arguments), expected, rtol=1e-12)
    xr.testing.assert_allclose(indim.evaluate("x * cos(lat)", x=x, lat=x.lat), x * np.cos(x.lat), rtol=1e-12)


def test_what_is_no_array_of_xarray_says_what_maps_over_it():
    f = indim.jit(lambda x: x + 1)
    for value in (xr.DataTree(xr.Dataset({"a": ("x", [1.0])})), t.groupby("lat")):
        with pytest.raises(TypeError, match=r"functions take DataArrays, Datasets and Variables.*x\.map"):
            f(value)
    for explained in (lambda: f.explain(t), lambda: f.export("onnx", t), lambda: indim.explain("x + 1", x=t)):
        with pytest.raises(TypeError, match="is a DataArray of xarray, whose dimensions meet by name"):
            explained()
    with pytest.raises(TypeError, match="are those of arrays without labels"):
        indim.grad(lambda x: (x * x).sum())(t)
