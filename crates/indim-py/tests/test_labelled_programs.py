"""Programs of labelled arrays: traced once for equal labels, and again if anything visible to a function
changes.

A function that reads labels runs once more for each combination of types: its first run finds that it does.
Functions that read none are in `test_open_labels.py`."""

import functools
import threading

import numpy as np
import pytest

import indim
from traces import counting

pd = pytest.importorskip("pandas")
xr = pytest.importorskip("xarray")


def made(seed=0, dims=("time", "lat"), **kwargs):
    sizes = {"time": 4, "lat": 3}
    data = np.random.default_rng(seed).uniform(1, 2, [sizes[dim] for dim in dims])
    kwargs.setdefault("attrs", {"units": "K"})
    coords = {"time": np.arange(4)} if "time" in dims else {}
    return xr.DataArray(data, dims=dims, coords=coords, name="t", **kwargs)


def check(call, *arguments):
    """A call of a compiled function equals a call of its function, labels included."""
    result, expected = call(*arguments), call.__wrapped__(*arguments)
    xr.testing.assert_identical(result.copy(data=expected.data), expected)
    np.testing.assert_allclose(result.values, expected.values, rtol=1e-14)
    return result


def described(x):
    """Labels that contain every property of an array."""
    y = x * 2
    y.attrs = {"of": str(x.attrs), "name": str(x.name), "dims": str(x.dims), "encoding": str(x.encoding)}
    return y.assign_coords({name: (c.dims, c.values, c.attrs) for name, c in x.coords.items()}).rename(x.name)


def test_equal_labels_are_traced_once():
    f, runs = counting(lambda x: (x - x.mean("time")) / x.std("time"))
    for seed in range(3):
        check(f, made(seed))
    assert len(runs) == 1 + 3, "the function itself is run three times by `check`"


CHANGES = {
    "attribute": lambda x: x.attrs.update(units="C"),
    "nested attribute": lambda x: x.attrs["list"].append(4),
    "array among the attributes": lambda x: x.attrs["array"].__setitem__(0, 7.0),
    "name": lambda x: setattr(x, "name", "other"),
    "index": lambda x: x.__setitem__("time", np.arange(4) + 5),
    "coordinate": lambda x: x.__setitem__("height", ("lat", [5.0, 6.0, 7.0])),
    "elements of a coordinate": lambda x: x["depth"].values.__setitem__(0, 9.0),
    "attribute of a coordinate": lambda x: x["depth"].attrs.update(units="m"),
    "encoding": lambda x: x.encoding.update(dtype="f4"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_in_place_is_seen(change):
    x = made(attrs={"units": "K", "list": [1, 2], "array": np.zeros(2)})
    x = x.assign_coords(depth=("lat", np.array([1.0, 2.0, 3.0])))
    f = indim.jit(described)
    f(x)
    before = check(f, x).copy(deep=True)
    CHANGES[change](x)
    after = check(f, x)
    assert not (before.identical(after) and str(before.attrs) == str(after.attrs))


def test_dimensions_types_and_sizes_are_told_apart():
    f, runs = counting(described)
    x = made()
    others = [x.T, x.astype("f4"), x.astype(int), x[:2], x[:, 0], x.rename(lat="y"), x.drop_vars("time")]
    for given in [x, *others]:
        check(f, given)
        check(f, given)
    # `x` and `x[:2]` differ in lengths alone.
    assert len(runs) == 8 * 3 + 6


def test_results_are_their_callers_own():
    x = made().assign_coords(depth=("lat", np.array([1.0, 2.0, 3.0])))
    x.attrs["list"] = [1]
    f = indim.jit(lambda x: x + x.sel(time=1))
    expected = f(x).copy(deep=True)
    result = f(x)
    result["depth"].values[:] = -1
    result.attrs["list"].append(2)
    result.values[:] = 0
    assert x["depth"].values.tolist() == [1.0, 2.0, 3.0] and x.attrs["list"] == [1]
    xr.testing.assert_identical(f(x), expected)


def test_results_have_the_indexes_of_their_own_arguments():
    f, runs = counting(lambda x, y: (x + y).isel(lat=slice(None, None, -1)))
    x, y = made(1).assign_coords(lat=[5.0, 6.0, 7.0]), made(2).assign_coords(lat=[5.0, 6.0, 7.0])
    first = check(f, x, y)
    again = x.copy(deep=True)
    result = check(f, again, y)
    assert len(runs) == 2 + 2
    assert result.indexes["time"] is again.indexes["time"] and first.indexes["time"] is x.indexes["time"]
    # The function computed this index, so each result has one of its own.
    assert result.indexes["lat"] is not first.indexes["lat"]
    result.indexes["lat"].name = "changed"
    result["lat"].attrs["units"] = "m"
    assert list(result.coords) == list(f.__wrapped__(x, y).coords)
    assert check(f, x, y).indexes["lat"].name == "lat" and not x["time"].attrs
    levels = pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=("letter", "number"))
    stacked = x.drop_vars("time").assign_coords(xr.Coordinates.from_pandas_multiindex(levels, "time"))
    given = stacked.copy(deep=True)
    f(stacked, stacked)
    assert f(given, given).xindexes["letter"] is given.xindexes["time"]
    assert check(f, given, given).sel(letter="a").sizes["number"] == 2


def test_large_coordinates_that_change_in_place_are_seen():
    x = xr.DataArray(np.ones((2, 1000)), dims=("time", "lat"), coords={"lat": np.arange(1000.0)})
    x = x.assign_coords(depth=("lat", np.arange(1000.0)), area=(("time", "lat"), np.ones((2, 1000))))
    f, runs = counting(lambda x: x * x.depth * x.area)
    for _ in range(3):
        check(f, x)
    check(f, x.copy(deep=True))
    assert len(runs) == 1 + 4
    x["depth"].values[999] = -1.0
    check(f, x)
    x["area"].values[1, 999] = -1.0
    check(f, x)
    x["depth"].values[999] = 999.0
    check(f, x)
    assert len(runs) == 1 + 4 + 3 + 3


def test_a_dataset_that_changes_in_place_changes_no_program():
    def data():
        depth, text = np.array([1.0, 2.0, 3.0]), np.array(["a", "b", "c"], object)
        return xr.Dataset({"t": made(), "name": ("lat", text)}, coords={"depth": ("lat", depth)})

    f = indim.jit(lambda data: data.assign(t=data.t * 2 + data.depth))
    changed = data()
    f(changed)
    changed["depth"].values[:] = 9
    changed["name"].values[0] = "z"
    result = f(data())
    xr.testing.assert_identical(result, f.__wrapped__(data()))
    result["depth"].values[:] = 7
    result["name"].values[0] = "y"
    xr.testing.assert_identical(f(data()), f.__wrapped__(data()))


def test_options_are_looked_at():
    x, y = made(1), made(2)[::-1][:3]
    f, runs = counting(lambda x, y: x - y)
    for join in ("inner", "outer", "left", "inner"):
        for keep in (True, False):
            with xr.set_options(arithmetic_join=join, keep_attrs=keep):
                check(f, x, y)
    assert len(runs) == 2 * 6 + 8
    with xr.set_options(arithmetic_join="exact"), pytest.raises(ValueError, match="exact"):
        f(x, y)


def test_arrays_from_outside():
    weights, offset = made(3, ("lat",)), xr.DataArray([1.0, 2.0, 3.0], dims="lat", attrs={"units": "K"})
    groups = np.array([0, 0, 1, 1])
    f, runs = counting(lambda x: (x * weights + offset).groupby(x.time * 0 + groups).mean())
    x = made()
    check(f, x)
    check(f, x)
    assert len(runs) == 2 + 2
    # New elements, new labels, and another array of the same name.
    weights.values[:] = 5
    check(f, x)
    offset.attrs["units"] = "C"
    check(f, x)
    groups[:] = [0, 1, 0, 1]
    check(f, x)
    weights = made(4, ("lat",))
    check(f, x)
    offset = offset.assign_coords(lat=[0, 1, 2])
    check(f, x)
    offset["lat"] = [2, 3, 4]
    check(f, x)


def test_numbers_containers_and_what_is_passed_as_it_is():
    x, y = made(1), made(2)

    def function(pair, k, how):
        result = (pair["x"] * k).rename(how) if k > 0 else pair["y"].T * k
        return result.assign_attrs(how=how)

    f = indim.jit(function, static="how")
    for k, how in ((2, "a"), (-2, "a"), (3, "b"), (2, "a"), (-1, "a")):
        check(f, {"x": x, "y": y}, k, how)
    xr.testing.assert_allclose(f({"y": x, "x": y}, 2, "a"), (y * 2))
    assert sorted(indim.jit(lambda pair: {"x": pair[0], "y": pair[1] * 2})([x, y])) == ["x", "y"]


def test_numbers_that_are_part_of_a_program():
    f = indim.jit(lambda x, k, step: (x.isel(time=k) * step).assign_attrs(k=str(int(k))))
    x = made()
    for k, step in ((1, 2), (2, 3), (1, 4), (3, 2), (2, 2)):
        check(f, x, k, step)


def test_functions_that_wrap_others_have_their_own():
    f = indim.jit(lambda x: x * 2)
    x = made()
    f(x)

    @functools.wraps(f)
    def wrapping(x):
        return (x * 3).rename("three")

    g = indim.jit(wrapping)
    for _ in range(2):
        assert g(x).name == "three" and f(x).name == "t"
    both = indim.jit(lambda x: f(x) + g(x).rename("t"))
    xr.testing.assert_allclose(both(x), x * 5)


class Scaled:
    def __init__(self, weights):
        self.weights = weights

    @indim.jit(static="self")
    def scale(self, x):
        return x * self.weights


def test_attributes_of_an_object():
    x, scaled = made(), Scaled(made(5, ("lat",)))
    for weights in (scaled.weights, scaled.weights.copy(), scaled.weights + 1):
        scaled.weights = weights
        xr.testing.assert_identical(scaled.scale(x), x * weights)
        weights.values[:] = 7
        weights.attrs["units"] = "m"
        xr.testing.assert_identical(scaled.scale(x), x * weights)


def test_functions_that_are_bound_anew_or_take_others():
    def scaled(x):
        return (x * 2).assign_attrs(by="two")

    f = indim.jit(lambda x: scaled(x))
    x = made()
    check(f, x)

    def scaled(x):
        return (x * 3).assign_attrs(by="three")

    assert check(f, x).attrs["by"] == "three"


def test_indexes_of_every_kind():
    f = indim.jit(lambda x: x - x.isel(time=0, drop=True))
    levels = pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=("letter", "number"))
    indexes = {
        "days": pd.date_range("2001-01-01", periods=4),
        "zone": pd.date_range("2001-01-01", periods=4, tz="UTC"),
        "text": ["a", "b", "c", "d"],
        "categories": pd.CategoricalIndex(["a", "b", "a", "c"]),
        "range": pd.RangeIndex(2, 10, 2),
        "periods": pd.period_range("2001", periods=4, freq="D"),
        "floats": [0.0, -0.0, np.nan, 1.0],
    }
    x = made().drop_vars("time")
    for index in indexes.values():
        for _ in range(2):
            check(f, x.assign_coords(time=index))
    stacked = x.assign_coords(xr.Coordinates.from_pandas_multiindex(levels, "time"))
    other = x.assign_coords(xr.Coordinates.from_pandas_multiindex(levels.set_levels([3, 4], level=1), "time"))
    for given in (stacked, other, stacked):
        xr.testing.assert_identical(f(given).coords.to_dataset(), given.coords.to_dataset())


def test_attributes_that_are_no_plain_values_are_traced_anew():
    class Unit:
        text = "K"

        def __str__(self):
            return self.text

    unit = Unit()
    f, runs = counting(lambda x: (x * 2).assign_attrs(unit=str(x.attrs["unit"])))
    x = made(attrs={"unit": unit})
    assert f(x).attrs == {"unit": "K"}
    unit.text = "C"
    assert f(x).attrs == {"unit": "C"}
    assert len(runs) == 2


def test_datasets_and_variables_that_are_no_numbers():
    data = xr.Dataset({"t": made(), "name": ("lat", ["a", "b", "c"])}, attrs={"title": "data"})
    f = indim.jit(lambda data: data.assign(t=data.t * 2))
    xr.testing.assert_identical(f(data), data.assign(t=f(data).t))
    data["name"].values[0] = "z"
    assert f(data)["name"].values.tolist() == ["z", "b", "c"]
    data.attrs["title"] = "other"
    assert f(data).attrs == {"title": "other"}
    text = data[["name"]]
    xr.testing.assert_identical(indim.jit(lambda data: data)(text), text)


def test_dask_arrays_are_no_part_of_what_is_kept():
    pytest.importorskip("dask.array")
    f, runs = counting(lambda x: (x - x.mean("time")).rename("anomaly"))
    x = made()
    expected = f(x)
    for chunks in (2, {"lat": 1}):
        lazy = f(x.chunk(chunks))
        assert lazy.chunks is not None and lazy.name == "anomaly"
        assert lazy.values.tobytes() == expected.values.tobytes()
    # Dask's arrays and those of NumPy have programs of their own.
    assert len(runs) == 2


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_file_that_is_opened_again(tmp_path):
    pytest.importorskip("zarr")
    made().to_dataset().to_zarr(tmp_path / "t.zarr", zarr_format=2)
    f, runs = counting(lambda x: x - x.mean("time"))
    opened = xr.open_zarr(tmp_path / "t.zarr", chunks=None).t.load()
    for _ in range(3):
        f(opened)
    assert len(runs) == 1 and opened.encoding
    again = xr.open_zarr(tmp_path / "t.zarr", chunks=None).t.load()
    again.encoding["dtype"] = np.dtype("f4")
    f(again)
    assert len(runs) == 2


def test_only_so_many_are_kept_and_no_data():
    import weakref

    f, runs = counting(lambda x: x * 2)
    x = made()
    kept = weakref.ref(x.variable._data)
    f(x)
    del x
    assert kept() is None
    for start in range(40):
        f(made().assign_coords(time=np.arange(4) + start))
    assert len(f._labelled) <= 32


def test_threads_share_programs():
    f = indim.jit(lambda x: (x - x.mean("time")).assign_attrs(first=int(x.time[0])))
    wrong = []

    def call(start):
        x = made(start).assign_coords(time=np.arange(4) + start)
        for _ in range(20):
            if f(x).attrs["first"] != start:
                wrong.append(start)

    threads = [threading.Thread(target=call, args=(start % 3,)) for start in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
