"""Polynomials, weighted quantiles, filled gaps and computed indices of labelled arrays with missing values.
"""

import importlib.util
import warnings
from fractions import Fraction

import numpy as np
import pytest

import indim

pd = pytest.importorskip("pandas")
xr = pytest.importorskip("xarray")

pytestmark = pytest.mark.filterwarnings("error:.*plain xarray")


def made(seed=0, dtype="f8", missing=0.3):
    """A random array with missing values, and a column for each number of values that are not missing."""
    random = np.random.default_rng(seed)
    data = random.standard_normal((12, 4, 5)).astype(dtype)
    data[random.random(data.shape) < missing] = np.nan
    for count in range(5):
        data[random.permutation(12)[count:], 0, count] = np.nan
    coords = {
        "time": pd.date_range("2001-01-01", periods=12, freq="D"),
        "lat": [-40.0, -10.0, 25.0, 60.0],
        "lon": np.arange(5),
        "day": ("time", np.arange(12.0) - 4),
        "season": ("time", [f"s{k // 3}" for k in range(12)]),
    }
    dims = ("time", "lat", "lon")
    return xr.DataArray(data, coords, dims, name="t", attrs={"units": "K"})


def quiet(function, *arguments):
    """The result of xarray, which warns of series with few values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


def check(function, x, tolerance=1e-11):
    result, expected = indim.jit(function)(x), quiet(function, x)
    xr.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)
    xr.testing.assert_identical(result.coords.to_dataset(), expected.coords.to_dataset())
    assert result.attrs == expected.attrs and result.dims == expected.dims
    if isinstance(result, xr.DataArray):
        assert (result.name, result.dtype) == (expected.name, expected.dtype)
        assert np.array_equal(pd.isnull(result), pd.isnull(expected))
    return result


def exact_polynomial(x, y, degree):
    """The coefficients by rational arithmetic, highest power first."""
    x, y = [Fraction(float(value)) for value in x], [Fraction(float(value)) for value in y]
    powers = [[value ** (degree - k) for k in range(degree + 1)] for value in x]
    rows = [
        [sum(row[i] * row[j] for row in powers) for j in range(degree + 1)]
        + [sum(row[i] * value for row, value in zip(powers, y))]
        for i in range(degree + 1)
    ]
    for i, pivot in enumerate(rows):
        rows[i] = pivot = [entry / pivot[i] for entry in pivot]
        for j, row in enumerate(rows):
            if j != i:
                rows[j] = [a - row[i] * b for a, b in zip(row, pivot)]
    return np.array([float(row[-1]) for row in rows])


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_polynomials_are_the_exact_ones(degree):
    x = made(1)
    found = indim.jit(lambda x: x.polyfit("day", degree).polyfit_coefficients)(x)
    for lat in range(1, 4):
        for lon in range(5):
            series = x[:, lat, lon].dropna("time")
            expected = exact_polynomial(series.day.values, series.values, degree)
            np.testing.assert_allclose(found[:, lat, lon], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4])
def test_polynomials_of_few_values_have_the_least_norm(degree, dtype):
    x = made(2, dtype)
    for options in ({}, {"full": True}, {"w": np.arange(1.0, 13)}, {"rcond": 1e-3}):
        check(lambda x: x.polyfit("day", degree, **options), x, 1e-9)
    check(lambda x: x[:, 1:].polyfit("day", degree, cov=True), x, 1e-9)


def test_polynomials_of_values_that_are_all_given():
    x = made(3).fillna(1.5)
    for degree in (1, 3):
        check(lambda x: x.polyfit("day", degree), x)
        check(lambda x: (x * 10).astype(int).polyfit("day", degree), x)
    check(lambda x: xr.polyval(x.time, x.polyfit("time", 1).polyfit_coefficients), x)
    check(lambda x: x.to_dataset().assign(u=x[:, 0] * 2).polyfit("lon", 2), x)


@pytest.mark.parametrize("dim", ["lat", "time", ["lat", "lon"]])
def test_weighted_quantiles(dim):
    x = made(4)
    weights = xr.DataArray([0.0, 0.5, 2.0, 0.25], dims="lat", coords={"lat": x.lat})
    for q in (0.3, [0, 0.5, 1]):
        check(lambda x: x.weighted(weights).quantile(q, dim=dim), x)
        check(lambda x: x.weighted(weights).quantile(q, dim=dim, skipna=False), x)
        check(lambda x: x.weighted(abs(x).fillna(0).round()).quantile(q, dim=dim), x)
    check(lambda x: (x * 9).fillna(0).astype(int).weighted(weights).quantile(0.4, dim=dim), x)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_gaps_between_values_are_filled(method, dtype):
    if method == "nearest":
        pytest.importorskip("scipy")
    x = made(5, dtype)
    for options in ({}, {"use_coordinate": False}, {"limit": 1}, {"use_coordinate": "day"}):
        check(lambda x: x.interpolate_na("time", method, **options), x, 1e-6)
    check(lambda x: x.interpolate_na("lat", method, fill_value=-2.0), x, 1e-6)
    check(lambda x: x.fillna(0).astype(int).interpolate_na("lat", method), x)


@pytest.mark.parametrize("limit", [None, 1, 2])
def test_values_fill_gaps_after_and_before_them(limit):
    x = made(6).isel(lon=slice(1, None))
    forward = indim.jit(lambda x: x.ffill("time", limit))(x)
    backward = indim.jit(lambda x: x.transpose("lat", "time", "lon").bfill("time", limit))(x)
    table = pd.DataFrame(x.values.reshape(12, -1))
    np.testing.assert_array_equal(forward.values.reshape(12, -1), table.ffill(limit=limit))
    backward = backward.transpose("time", "lat", "lon")
    np.testing.assert_array_equal(backward.values.reshape(12, -1), table.bfill(limit=limit))
    assert forward.attrs == x.attrs and forward.name == "t"


LOOKED_UP = {
    "times": lambda x: x.idxmax("time"),
    "fill": lambda x: x.idxmin("time", fill_value=np.datetime64("1999-01-01", "ns")),
    "intervals": lambda x: x.idxmax("time") - np.datetime64("2001-01-03", "ns"),
    "since the first": lambda x: x.idxmax("time") - x.time[0],
    "comparison": lambda x: x.idxmax("time") > np.datetime64("2001-01-03", "ns"),
    "missing": lambda x: x.idxmax("time").isnull(),
    "choice": lambda x: x.idxmax("time").where(x.mean("time") > 0),
    "fields": lambda x: x.fillna(0).round().astype(int).idxmax("time").dt.dayofyear * 2,
    "season": lambda x: x.season[x.fillna(0).argmax("time")],
    "transposed": lambda x: x.idxmax("time").T.rename("when").expand_dims(e=2),
    "stacked": lambda x: x.idxmax("time").stack(z=("lat", "lon")),
    "joined": lambda x: xr.concat([x.idxmax("time"), x.idxmin("time")], "e"),
    "coordinates": lambda x: x.isel(time=x.fillna(0).argmax("time")) * 2,
    "new coordinate": lambda x: x.max("time").assign_coords(when=x.idxmax("time")),
    "Dataset": lambda x: xr.Dataset({"high": x.max("time"), "when": x.idxmax("time")}, attrs={"a": 1}),
    "one axis": lambda x: x.fillna(0)[:, 1, 2].idxmax(),
    "a row": lambda x: x[x.fillna(0).sum(["lat", "lon"]).argmax()],
    "several": lambda x: x.isel(x.fillna(0).argmin(["time", "lon"])),
}


@pytest.mark.parametrize("name", LOOKED_UP)
def test_elements_at_computed_indices(name):
    function, x = LOOKED_UP[name], made(7)
    check(function, x)
    pytest.importorskip("dask.array")
    f = indim.jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lazy = f(x.chunk(lon=2))
        xr.testing.assert_allclose(lazy.compute(), function(x), rtol=1e-14)
    arrays = lazy.data_vars.values() if isinstance(lazy, xr.Dataset) else [lazy]
    assert all(array.chunks is not None for array in arrays)


def test_one_program_serves_other_elements_but_no_other_times():
    runs = []

    def f(x):
        runs.append(1)
        return x.idxmax("time")

    compiled = indim.jit(f)
    later = made(8).assign_coords(time=pd.date_range("2010-05-01", periods=12))
    for x in (made(7), made(8), later):
        xr.testing.assert_identical(compiled(x), x.idxmax("time"))
    # For each type of labels, the first run finds that the function reads them.
    assert len(runs) == 2 * 2


def test_results_without_labels_are_looked_up_too():
    x = made(9)
    found = indim.jit(lambda x: (x.idxmax("time").data, x.season[x.fillna(0).argmax("time")].variable))(x)
    np.testing.assert_array_equal(found[0], x.idxmax("time").data)
    xr.testing.assert_identical(found[1], x.season[x.fillna(0).argmax("time")].variable)


NO_POSITIONS = {
    "a series": lambda x: x.isel(time=x.argmax("time")),
    "the element before": lambda x: x.isel(time=x.argmin("time") - 1),
    "32 bits": lambda x: x.isel(time=x.argmin("time").astype("i4")),
    "moved": lambda x: x.isel(time=x.argmax("time").T.rename("at").expand_dims(e=2)),
    "a coordinate": lambda x: x.season[x.argmax("time")],
    "several": lambda x: x.isel(x.argmax(["time", "lon"])),
    "one": lambda x: x[:, 1, 2].isel(time=x[:, 1, 2].argmax()),
}


@pytest.mark.parametrize("name", NO_POSITIONS)
def test_series_without_values_have_no_position(name):
    f, x = indim.jit(NO_POSITIONS[name]), made(7, "f4").fillna(1)
    xr.testing.assert_allclose(f(x), NO_POSITIONS[name](x))
    x = x.where(x.lat != x.lat[1])
    for argument in (x, x.chunk(lon=2)) if importlib.util.find_spec("dask") else (x,):
        with pytest.raises(IndexError, match="index -?[0-9]+, at .*, names no element of axis 0"):
            f(argument).compute()


def test_filled_positions_of_series_without_values_are_indices():
    x = made(7).fillna(1).where(lambda x: x.lat != x.lat[1])
    given = x.notnull().any("time")
    found = indim.jit(lambda x: x.isel(time=x.argmax("time").where(given, 0)).drop_vars("time"))(x)
    np.testing.assert_array_equal(found, x.max("time"))


@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_interpolation_at_points_of_several_coordinates(method):
    pytest.importorskip("scipy")
    x = made(10, missing=0)[:, 1:]
    lat, lon = xr.DataArray([[0.0, 60.0], [-10, 70]], dims=("a", "b")), xr.DataArray([0.5, 4.0], dims="b")
    when = xr.DataArray(pd.date_range("2001-01-02T07", periods=2), dims="b")
    for dtype in ("f4", "f8", "i8"):
        y = (x * 50).astype(dtype)
        for fill_value in (np.nan, None, -1.0):
            options = {"method": method, "kwargs": {"fill_value": fill_value}}
            check(lambda x: x.interp(lat=lat, lon=lon, **options), y, 1e-5)
        check(lambda x: x.interp(lat=lat, lon=lon, time=when, method=method), y, 1e-5)
