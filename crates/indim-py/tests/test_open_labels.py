"""Functions of labelled arrays that read no labels: one program serves all labels and lengths."""

import numpy as np
import pytest

import indim
from traces import counting

pd = pytest.importorskip("pandas")
xr = pytest.importorskip("xarray")


def made(length, start=0, lat=3, **kwargs):
    data = np.random.default_rng(length + 7 * start).uniform(1, 2, [length, lat])
    coords = {"time": start + np.arange(length), "lat": np.arange(lat) / 2}
    return xr.DataArray(data, dims=("time", "lat"), coords=coords, name="t", attrs={"units": "K"}, **kwargs)


def check(f, function, *arguments):
    result, expected = f(*arguments), function(*arguments)
    xr.testing.assert_allclose(result, expected, rtol=1e-13)
    assert result.name == expected.name and result.attrs == expected.attrs
    for name, index in expected.xindexes.items():
        assert type(result.xindexes[name]) is type(index)
        pd.testing.assert_index_equal(result.indexes[name], expected.indexes[name])
    return result


LABEL_FREE = {
    "elementwise": lambda x: np.exp(x) * 2 + x,
    "anomaly": lambda x: x - x.mean("time"),
    "standardised": lambda x: (x - x.mean("time")) / x.std("time"),
    "normalised": lambda x: x / x.sum("lat"),
    "where": lambda x: xr.where(x > 1.5, x, 0.0),
    "transposed": lambda x: (x.T + 1).max("time"),
    "a size": lambda x: x.sum("time") / x.sizes["time"],
}


@pytest.mark.parametrize("name", LABEL_FREE)
def test_one_trace_serves_all_labels_and_lengths(name):
    f, runs = counting(LABEL_FREE[name])
    for length, start in ((5, 0), (5, 3), (8, 3), (1000, -1), (2, 0), (17, 0)):
        check(f, LABEL_FREE[name], made(length, start))
    dates = made(6).assign_coords(time=pd.date_range("2000-01-01", periods=6))
    for days in (0, 1, 400):
        check(f, LABEL_FREE[name], dates.assign_coords(time=dates.time + np.timedelta64(days, "D")))
    assert len(runs) == 2, "one for each type of labels"


@pytest.mark.parametrize("name", LABEL_FREE)
def test_special_lengths(name):
    f = indim.jit(LABEL_FREE[name])
    rng = np.random.default_rng(1)
    for length, lat in ((4, 3), (1, 3), (3, 1), (1, 1), (4, 4), *rng.integers(1, 9, (12, 2)).tolist()):
        check(f, LABEL_FREE[name], made(length, lat=lat))


def test_the_length_zero():
    f = indim.jit(lambda x: x * 2 + 1)
    for length in (3, 0, 4):
        check(f, lambda x: x * 2 + 1, made(length))


READS_LABELS = {
    "a label": lambda x: x.sel(time=x.time[1].item()),
    "a position": lambda x: x.isel(time=slice(1, None)),
    "values": lambda x: x * x.time,
    "values as an array": lambda x: x + x.time.values.max(),
    "truth values of labels": lambda x: x.where(x.time > 3),
    "a difference of neighbours": lambda x: x - x.shift(time=1),
    "a branch by labels": lambda x: x * 2 if x.indexes["time"][0] > 2 else x + 1,
    "a branch by the length": lambda x: x * 2 if x.sizes["time"] > 5 else x + 1,
    "a branch by a size": lambda x: x * 2 if len(x.time) > 5 else x + 1,
    "aligned to a part": lambda x: x + x[1:-1],
    "a dimension renamed": lambda x: x.rename(time="t") * 2,
    "new labels": lambda x: x.assign_coords(time=x.time + 1) * 2,
    "groups": lambda x: x.groupby(x.time % 2).mean(),
    "text": lambda x: x.assign_attrs(times=str(x.time.values), sizes=str(x.sizes["time"])),
    "an index as the result": lambda x: x.time * 1,
}


@pytest.mark.parametrize("name", READS_LABELS)
@pytest.mark.filterwarnings("ignore:.*plain xarray")
def test_labels_that_are_read(name):
    f = indim.jit(READS_LABELS[name])
    for length, start in ((4, 0), (4, 3), (8, 3), (8, 0), (4, 0), (5, 3)):
        check(f, READS_LABELS[name], made(length, start))


def made_dataset(length, start=0, lat=3):
    t = made(length, start, lat)
    pressure = made(length, start + 1, lat)[:, 0].drop_vars("lat").assign_coords(time=t.time) * 2
    return xr.Dataset({"t": t, "p": pressure}, attrs={"title": "a"}).assign_coords(height=("lat", t.lat.data))


def check_dataset(f, function, dataset):
    result, expected = f(dataset), function(dataset)
    xr.testing.assert_allclose(result, expected, rtol=1e-13)
    assert list(result.sizes.items()) == list(expected.sizes.items()) and result.attrs == expected.attrs
    if isinstance(expected, xr.Dataset):
        assert list(result.variables) == list(expected.variables)
    for name in expected.xindexes:
        pd.testing.assert_index_equal(result.indexes[name], expected.indexes[name])


DATASETS = {
    "elementwise": lambda ds: np.exp(ds) * 2 + ds,
    "anomaly": lambda ds: ds - ds.mean("time"),
    "a reduction": lambda ds: ds.max(),
    "a DataArray": lambda ds: ds.t / ds.p,
    "a new variable": lambda ds: ds.assign(q=ds.t * ds.p),
    "some variables": lambda ds: ds[["p"]] * 3,
    "without a variable": lambda ds: ds.drop_vars("p") * 3,
    "a size": lambda ds: ds.sum("time") / ds.sizes["time"],
    "mapped": lambda ds: ds.map(lambda x: x * 2),
}


@pytest.mark.parametrize("name", DATASETS)
def test_one_trace_serves_datasets_of_all_labels_and_lengths(name):
    f, runs = counting(DATASETS[name])
    for length, start in ((5, 0), (5, 3), (8, 3), (1000, -1), (2, 0), (17, 0)):
        check_dataset(f, DATASETS[name], made_dataset(length, start))
    assert len(runs) == 1
    for length, lat in ((1, 3), (3, 1), (1, 1), (4, 4), (7, 2)):
        check_dataset(f, DATASETS[name], made_dataset(length, lat=lat))


READING_DATASETS = {
    "a label": lambda ds: ds.sel(time=ds.time[1].item()),
    "positions": lambda ds: ds.isel(time=slice(1, None)) * 2,
    "values": lambda ds: ds * ds.time,
    "a branch by labels": lambda ds: ds * 2 if ds.indexes["time"][0] > 2 else ds + 1,
    "a branch by a size": lambda ds: ds * 2 if ds.sizes["time"] > 5 else ds + 1,
    "an attribute": lambda ds: (ds * 2).assign_attrs(size=ds.sizes["time"]),
    "an attribute of a variable": lambda ds: ds.assign(p=(ds.p * 2).assign_attrs(size=ds.sizes["time"])),
    "its own variable": lambda ds: (ds * 2).assign(count=("time", np.arange(ds.sizes["time"]))),
    "a renamed dimension": lambda ds: ds.rename(time="t2") * 2,
    "groups": lambda ds: ds.groupby(ds.time % 2).mean(),
}


@pytest.mark.parametrize("name", READING_DATASETS)
@pytest.mark.filterwarnings("ignore:.*plain xarray")
def test_labels_of_datasets_that_are_read(name):
    f = indim.jit(READING_DATASETS[name])
    for length, start in ((4, 0), (4, 3), (8, 3), (8, 0), (4, 0), (5, 3)):
        check_dataset(f, READING_DATASETS[name], made_dataset(length, start))


def test_a_dimension_of_coordinates_alone():
    f = indim.jit(lambda ds: ds * ds.sizes["z"])
    for depth in (3, 4, 3):
        check_dataset(f, lambda ds: ds * ds.sizes["z"], made_dataset(4).assign_coords(z=np.arange(depth)))


def test_datasets_of_unequal_labels():
    f = indim.jit(lambda a, b: a - b)
    for start in (0, 1, 0):
        a, b = made_dataset(5), made_dataset(5, start)
        xr.testing.assert_allclose(f(a, b), a - b)


def test_datasets_with_text_and_other_variables():
    f = indim.jit(lambda ds: ds * 2)
    for length in (3, 4):
        count = np.arange(length)
        ds = made_dataset(length).assign(count=("time", count), flag=("time", count > 1))
        check_dataset(f, lambda ds: ds * 2, ds)
    g = indim.jit(lambda ds: ds.assign(t=ds.t * 2))
    for length in (3, 4):
        ds = made_dataset(length).assign(name=("time", [f"n{k}" for k in range(length)]))
        check_dataset(g, lambda ds: ds.assign(t=ds.t * 2), ds)


def test_equal_labels_of_several_arrays():
    def product(x, y):
        return x * y

    f, runs = counting(product)
    for length, start in ((5, 0), (9, 4), (6, 2)):
        x = made(length, start)
        check(f, product, x, made(length, start) * 3)
    assert len(runs) == 1
    # Labels that are not equal meet at those in common.
    for length in (5, 6):
        check(f, product, made(length, 0), made(length, 1))
        check(f, product, made(length, 0), made(length, 0))
    # Without a dimension of the other array, and with labels of another name.
    check(f, product, made(5, 1), made(5, 1).mean("lat"))
    check(f, product, made(7, 1), made(7, 1).mean("lat"))
    check(f, product, made(3, 1), made(3, 1).rename(time="t", lat="l"))
    check(f, product, made(4, 1), made(3, 1).rename(time="t", lat="l"))


def test_dimensions_without_labels():
    def product(x, y):
        return x * y + x.sum("time")

    f, runs = counting(product)
    for length in (5, 9, 6):
        x = made(length).drop_vars(["time", "lat"])
        check(f, product, x, x[:, 0] * 2)
    assert len(runs) == 1
    with pytest.raises(ValueError):
        f(x, x[1:, 0])


def test_arrays_from_outside_keep_their_labels():
    weights = made(3).mean("time")
    f = indim.jit(lambda x: x * weights)
    for lat in (3, 2, 3):
        check(f, lambda x: x * weights, made(4, lat=lat))


def test_changes_of_a_result_or_argument_stay_its_own():
    x = made(4).assign_attrs(list=[1])
    f = indim.jit(lambda x: x * 1 if x.attrs["list"].append(2) else x * 2)
    with xr.set_options(keep_attrs=True):
        f(x).attrs["list"].append(3)
        assert x.attrs["list"] == [1]
        later = f(made(6).assign_attrs(list=[1]))
    assert later.attrs["list"] == f.__wrapped__(made(6).assign_attrs(list=[1])).attrs["list"]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.drop_indexes("t") * 2,
        lambda x: x.reset_index("t") * 2,
        lambda x: (x * 2).assign_coords(u=x.t),
        lambda x: (x * 2).assign_coords(u=x.t.variable),
        lambda x: xr.DataArray((x * 2).data, dims="t", coords={"u": ("t", x.t.variable)}),
    ],
)
def test_labels_of_coordinates_without_an_index_are_those_of_the_call(function):
    compiled = indim.jit(function)
    for length, first in ((5, 0), (6, 10), (5, 3)):
        x = xr.DataArray(np.ones(length), dims="t", coords={"t": np.arange(length) + first})
        xr.testing.assert_identical(compiled(x), function(x))


def over(labels):
    return xr.DataArray(np.ones(len(labels)), dims="t", coords={"t": labels})


def test_sizes_in_attributes_and_names_are_those_of_the_call():
    def f(x):
        return (x * 2).assign_attrs(n=x.sizes["t"], shape=x.shape).rename(x.shape[0])

    compiled = indim.jit(f)
    for length in (5, 6, 5):
        found = compiled(over(np.arange(length)))
        assert (found.attrs, found.name) == ({"n": length, "shape": (length,)}, length)
        assert type(found.attrs["n"]) is int


def test_indexes_that_differ_in_type_alone_are_equal():
    def f(x, y):
        return x * 2 if x.xindexes["t"].equals(y.xindexes["t"]) else x - 1

    compiled = indim.jit(f)
    for x, y in (([0, 1], [0.0, 1.0]), ([0, 1], [0.0, 2.0]), ([0, 1, 2], [0.0, 1.0, 2.0])):
        x, y = over(np.array(x)), over(np.array(y))
        xr.testing.assert_identical(compiled(x, y), f(x, y))


def test_a_result_has_the_index_from_which_xarray_took_it():
    x, y = over(np.array(["a", "b"])), over(np.array(["a", "b"], "U5"))
    for f in (lambda x, y: x * 2, lambda x, y: y * 2):
        assert indim.jit(f)(x, y).t.dtype == f(x, y).t.dtype
