"""Functions of labelled arrays, as users of xarray write them: those that indim traces, and those that it
runs as plain xarray."""

import importlib.util
import threading
import traceback
import warnings

import numpy as np
import pytest

import indim

pd = pytest.importorskip("pandas")
xr = pytest.importorskip("xarray")

HAS_SCIPY = importlib.util.find_spec("scipy") is not None

#: xarray calls their functions in C for arrays in memory if they are installed.
ACCELERATED = any(importlib.util.find_spec(name) for name in ("bottleneck", "numbagg"))


def anomaly(x):
    return x - x.mean("time")


def weights(x):
    return np.cos(np.deg2rad(x.lat))


#: Latitudes and longitudes of points.
POINTS = xr.DataArray([-31.0, 0.4, 50.0], dims="p"), xr.DataArray([1.0, 29.0, 11.0], dims="p")

TRACED = {
    "rolling mean": lambda x: anomaly(x).rolling(time=3).mean() * 2,
    "rolling sum": lambda x: (x * 2).rolling(time=5, center=True, min_periods=2).sum() + 1,
    "rolling max": lambda x: (x * 2).rolling(time=4).max() + 1,
    "rolling construct": lambda x: (x * 2).rolling(time=4).construct("w").mean("w") + 1,
    "weighted mean": lambda x: anomaly(x).weighted(weights(x)).mean("lat") * 2,
    "weighted sum": lambda x: anomaly(x).weighted(weights(x)).sum(["lat", "lon"]) * 2,
    "weights from elements": lambda x: (x * 2).weighted(abs(x).fillna(0)).mean("lat") + 1,
    "quantile": lambda x: (x * 2).quantile(0.3, "time") + 1,
    "quantiles": lambda x: x - (x * 2).quantile([0.25, 0.5], "lat"),
    "median": lambda x: x * 2 - (x * 2).median("time"),
    "cumsum": lambda x: (x * 2).cumsum("time") + 1,
    "cumprod": lambda x: (x / 2).cumprod("time") + 1,
    "resample": lambda x: (x * 2).resample(time="7D").mean() + 1,
    "groupby": lambda x: x.groupby("time.month") - x.groupby("time.month").mean(),
    "groupby map": lambda x: (x * 2).groupby("time.month").map(lambda g: anomaly(g) / g.std("time")) + 1,
    "groupby quantile": lambda x: (x * 2).groupby("time.month").quantile(0.5) + 1,
    "groupby_bins": lambda x: (x * 2).groupby_bins("lat", 3).mean() + 1,
    "differentiate": lambda x: (x * 2).differentiate("lat") + 1,
    "integrate": lambda x: (x * 2).integrate("lat") + 1,
    "diff": lambda x: (x * 2).diff("time") + 1,
    "shift": lambda x: (x * 2).shift(time=1) + 1,
    "roll": lambda x: (x * 2).roll(lon=1) + 1,
    "pad": lambda x: (x * 2).pad(lon=1, mode="wrap") + 1,
    "coarsen": lambda x: (x * 2).coarsen(lat=2, lon=2).mean() + 1,
    "dot": lambda x: (x * 2).dot(weights(x), dim="lat") + 1,
    "corr": lambda x: xr.corr(x * 2, x * x, "time") + 1,
    "argmax": lambda x: (x * 2).argmax("lat") + 1,
    "fillna": lambda x: (x * 2).where(x > 0).fillna(0) + 1,
    "sortby": lambda x: (x * 2).sortby("lat", ascending=False) + 1,
    "sel": lambda x: (x * 2).sel(lat=slice(-20, 20)) - x.sel(lat=10, method="nearest"),
    "idxmax": lambda x: (x * 2).idxmax("lat") + 1,
    "idxmin without NaN": lambda x: (x * 2).where(x > -1).idxmin("lat", fill_value=7.0) + 1,
    "idxmax of times": lambda x: (x * 2).idxmax("time"),
    "idxmax of texts": lambda x: x.assign_coords(lat=list("abcdef")).idxmin("lat"),
    "idxmax of one axis": lambda x: x.isel(lat=0, lon=1).idxmax() - np.datetime64("2001-01-01"),
    "fields of times": lambda x: (x * 100).astype(int).idxmax("time").dt.month + 1,
    "polyfit": lambda x: x - xr.polyval(x.lon, (x * 2).polyfit("lon", 1).polyfit_coefficients),
    "polyfit without NaN": lambda x: (x * 2).polyfit("lon", 1, skipna=False).polyfit_coefficients + 1,
    "polyfit by time": lambda x: x - xr.polyval(x.time, x.polyfit("time", 1).polyfit_coefficients),
    "interpolate_na": lambda x: (x * 2).where(x > 0).interpolate_na("lat") + 1,
    "interpolate_na by time": lambda x: x.where(x > 0).interpolate_na("time", limit=2) + 1,
    "interpolate_na to the nearest": lambda x: x.where(x > 0).interpolate_na("lat", method="nearest"),
    "weighted quantile": lambda x: (x * 2).weighted(weights(x)).quantile([0.3, 0.5], dim="lat") + 1,
    "resample first": lambda x: x.where(x > 0).resample(time="5D").first() + 1,
    "groupby last": lambda x: x.where(x > 0).groupby("time.month").last() + 1,
    "computed indices": lambda x: (x * 2).isel(time=x.argmax("time")) + 1,
    "several computed indices": lambda x: (x * 2).isel(x.argmax(["time", "lat"])) + 1,
    "a computed place": lambda x: x.isel(time=x.mean(["lat", "lon"]).argmax()) * 2,
    "places of a coordinate": lambda x: x.lat[x.argmax("lat")] + x.height[x.argmin("lat")],
    "points": lambda x: (x * 2).sel(lat=POINTS[0], lon=POINTS[1], method="nearest") + 1,
    "elements": lambda x: (x * 2).isel(lat=xr.DataArray([[0, 2], [5, 1]], dims=["a", "b"])) + 1,
    "stack": lambda x: (x * 2).stack(z=("lat", "lon")).mean("z") + 1,
}

#: xarray runs these over Dask too.
PLAIN = {
    "intervals": lambda x: (x * 2).idxmax("time") - x.idxmin("time"),
    "series by series": lambda x: series_by_series(x * 2),
}

#: They need packages besides NumPy.
OF_SCIPY = {
    "cubic": lambda x: (x * 2).interp(lat=[-10.0, 10.0], method="cubic") + 1,
    "interpolate_na": lambda x: (x * 2).where(x > 0).interpolate_na("lat", method="slinear") + 1,
    "a function of SciPy": lambda x: anomaly(
        xr.apply_ufunc(
            detrend,
            x * 2,
            input_core_dims=[["time"]],
            output_core_dims=[["time"]],
            dask="parallelized",
            output_dtypes=[x.dtype],
        )
    ),
}

#: These need elements, which Dask would have to load.
LOADING = {
    "values": lambda x: x * 2 - x.values.mean(),
    "branch": lambda x: x * 2 if float(x.mean()) > 0 else x,
    "dropna": lambda x: (x * 2).where(x > -1).dropna("time") + 1,
}


def series_by_series(x):
    """The medians by latitude, for which NumPy calls a function with one series after the other."""
    options = {"vectorize": True, "dask": "parallelized", "output_dtypes": [float]}
    return xr.apply_ufunc(np.median, x, input_core_dims=[["lat"]], **options)


def detrend(array):
    from scipy.signal import detrend

    return detrend(array, axis=-1).astype(array.dtype)


def made(seed, dtype=None):
    """A random array of random dimensions in random order, types and labels."""
    random = np.random.default_rng(seed)
    sizes = {"time": int(random.integers(30, 50)), "lat": 6, "lon": 4}
    dims = [str(dim) for dim in random.permutation(list(sizes))]
    coords = {
        "time": pd.date_range("2001-01-01", periods=sizes["time"]),
        "lat": np.linspace(-50, 50, 6),
        "lon": np.arange(4.0) * 10,
        "height": ("lat", random.standard_normal(6)),
        "month": 5,
    }
    data = random.standard_normal([sizes[dim] for dim in dims]).astype(dtype or random.choice(["f4", "f8"]))
    attrs = {"units": "K"} if random.integers(2) else {}
    return xr.DataArray(data, coords, dims, name=random.choice(["t", "u"]), attrs=attrs)


def check(result, expected, tolerance=1e-4):
    xr.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)
    assert result.dims == expected.dims and result.attrs == expected.attrs and result.name == expected.name
    xr.testing.assert_identical(result.coords.to_dataset(), expected.coords.to_dataset())


def is_chunked(array):
    return array.chunks is not None


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", TRACED)
def test_functions_that_are_traced(name, seed):
    function, x = TRACED[name], made(seed)
    f = indim.jit(function)
    chunked = x.chunk(lon=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not (ACCELERATED and "rolling" in name):
            warnings.filterwarnings("error", message=".*runs as plain xarray")
        check(f(x), function(x))
        lazy = f(chunked)
    assert is_chunked(lazy)
    check(lazy.compute(), function(x))


#: `interp` of xarray needs SciPy.
INTERPOLATED = {
    "linear": lambda x: (x * 2).interp(lat=[-60.0, -10.0, 10.0]) + 1,
    "nearest": lambda x: (x * 2).interp(lat=[-60.0, -10.0, 10.0], method="nearest") + 1,
    "a place": lambda x: (x * 2).interp(lat=3.0) + 1,
    "two dimensions": lambda x: (x * 2).interp(lat=[-10.0, 12.0], lon=[3.0, 30.0, 31.0]) + 1,
    "times": lambda x: (x * 2).interp(time=pd.date_range("2001-01-03", periods=3, freq="7h")) + 1,
    "extrapolated": lambda x: (x * 2).interp(lat=[-99.0, 99.0], kwargs={"fill_value": "extrapolate"}),
    "filled": lambda x: (x * 2).interp(lat=[-99.0, 0.5, 99.0], kwargs={"fill_value": -1.5}),
    "like another": lambda x: (x * 2).interp_like(x.isel(lat=[1, 3])) + 1,
    "a matrix": lambda x: (x * 2).interp(lat=xr.DataArray([[0.0, 1], [2, 70]], dims=["a", "b"])) + 1,
    "descending": lambda x: (x * 2).sortby("lat", ascending=False).interp(lat=[0.5, 1.5]) + 1,
    "missing": lambda x: x.where(x > 0).interp(lat=[-10.0, 10.0]),
}


@pytest.mark.filterwarnings("error:.*plain xarray")
@pytest.mark.skipif(not HAS_SCIPY, reason="SciPy is not installed")
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
@pytest.mark.parametrize("name", INTERPOLATED)
def test_interpolation_between_known_coordinates_is_traced(name, dtype):
    function, x = INTERPOLATED[name], (made(3, "f8") * 8).astype(dtype)
    f = indim.jit(function)
    result, expected = f(x), function(x)
    check(result, expected, 1e-5)
    assert result.dtype == expected.dtype
    with warnings.catch_warnings():
        # An axis in chunks is merged.
        warnings.simplefilter("ignore", da_performance_warning())
        lazy = f(x.chunk(lon=2))
    assert is_chunked(lazy)
    check(lazy.compute(), expected, 1e-5)


def da_performance_warning():
    return pytest.importorskip("dask.array.core").PerformanceWarning


def test_untraced_arrays_take_the_functions_of_xarray():
    x = made(4, "f8")
    before = x.idxmax("lat"), x.sel(lat=POINTS[0], method="nearest")
    indim.jit(lambda x: x.idxmax("lat"))(x)
    after = x.idxmax("lat"), x.sel(lat=POINTS[0], method="nearest")
    for first, second in zip(before, after):
        xr.testing.assert_identical(first, second)


@pytest.mark.filterwarnings("error:.*plain xarray")
def test_masks_of_the_data_of_labelled_arrays_run_in_stages():
    def f(x):
        kept = (x.data * 2)[x.data > 0.5]
        return xr.DataArray(kept, dims="k", name="kept") + 1, kept.sum()

    for seed in (1, 2):
        x = made(seed, "f8")
        (labelled, total), (expected, expected_total) = indim.jit(f)(x), f(x)
        xr.testing.assert_identical(labelled, expected)
        np.testing.assert_allclose(total, expected_total)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", [*PLAIN, *OF_SCIPY])
def test_functions_that_run_as_plain_xarray(name, seed):
    if name in OF_SCIPY and not HAS_SCIPY:
        pytest.skip("SciPy is not installed")
    function, x = (PLAIN | OF_SCIPY)[name], made(seed)
    f = indim.jit(function)
    with pytest.warns(RuntimeWarning, match="`<lambda>` runs as plain xarray.*xarray computes all of it"):
        result = f(x)
    xr.testing.assert_identical(result, function(x))
    lazy = f(x.chunk(lon=2))
    expected = function(x.chunk(lon=2))
    assert is_chunked(lazy) and lazy.chunks == expected.chunks
    xr.testing.assert_identical(lazy.compute(), expected.compute())


@pytest.mark.parametrize("name", LOADING)
def test_functions_that_need_elements_never_load_arrays_of_dask(name):
    function, x = LOADING[name], made(1)
    f = indim.jit(function)
    with pytest.warns(RuntimeWarning, match="runs as plain xarray"):
        xr.testing.assert_identical(f(x), function(x))
    with pytest.raises(TypeError, match="the function loads an array of Dask.*pass it as an argument"):
        f(x.chunk(lon=2))


def test_the_warning_names_the_call_and_its_line_once(recwarn):
    @indim.jit
    def warmest(x, k):
        y = x * k
        return xr.apply_ufunc(np.median, y, input_core_dims=[["lat"]], vectorize=True)

    line = warmest.__wrapped__.__code__.co_firstlineno + 3
    for seed in (1, 2):
        warmest(made(seed), 2)
    (warning,) = [warning for warning in recwarn if "plain xarray" in str(warning.message)]
    assert warning.filename == __file__
    text = str(warning.message)
    assert "warmest` runs as plain xarray" in text
    assert "apply_ufunc" in text and f"(line {line} of test_plain_xarray.py) cannot be traced" in text
    assert "xarray computes all of it, except compiled functions that it calls" in text


@pytest.mark.filterwarnings("ignore:.*plain xarray")
def test_a_function_is_not_traced_again_for_equal_labels():
    runs = []

    @indim.jit
    def f(x):
        runs.append(type(x.variable._data))
        return series_by_series(x) * 2

    x = made(1)
    for _ in range(3):
        f(x)
    # Traced with labels of any call, then with these.
    assert len(runs) == 5 and runs[2:] == [np.ndarray] * 3


@pytest.mark.filterwarnings("ignore:.*plain xarray")
def test_compiled_functions_within_stay_compiled():
    kinds = []

    @indim.jit
    def scaled(x):
        kinds.append(type(x.variable._data).__name__)
        return x * 2 + 1

    @indim.jit
    def f(x):
        return scaled(series_by_series(scaled(x)))

    x = made(2)
    xr.testing.assert_allclose(f(x), series_by_series(x * 2 + 1) * 2 + 1)
    # Traced twice within `f`, then alone for two kinds of labels.
    assert kinds == ["Tracer"] * 4


@pytest.mark.filterwarnings("ignore:.*plain xarray")
def test_arguments_and_results_keep_their_containers():
    def f(pair, how, k=2.0):
        best = series_by_series(pair["x"]) * k
        return {"best": best, how: pair["y"] * k}, pair["x"].variable + 1

    x, y = made(1), made(2)
    for argument in (x, x.chunk(lon=2)):
        pair = {"x": argument, "y": y}
        (first, second), (expected, other) = indim.jit(f, static="how")(pair, "a"), f(pair, "a")
        assert list(first) == ["best", "a"]
        for name, array in first.items():
            xr.testing.assert_identical(array.compute(), expected[name].compute())
        xr.testing.assert_identical(second.compute(), other.compute())
    data = xr.Dataset({"x": x, "y": x + 1, "text": ("lat", list("abcdef"))})
    g = indim.jit(lambda data: series_by_series(data[["x", "y"]]) + 1)
    xr.testing.assert_identical(g(data), series_by_series(data[["x", "y"]]) + 1)
    lazy = g(data.chunk(lon=2))
    assert all(map(is_chunked, lazy.data_vars.values()))
    xr.testing.assert_identical(lazy.compute(), g(data))


@pytest.mark.filterwarnings("ignore:.*plain xarray")
def test_arguments_are_not_written_into():
    @indim.jit
    def f(x, y):
        x -= x.mean("time")
        x.attrs["units"] = "1"
        y += 1
        return series_by_series(x) + y[0]

    for x in (made(1, "f8"), made(1, "f8").chunk(lon=2)):
        before, y = x.copy(deep=True), np.zeros(3)
        f(x, y)
        xr.testing.assert_identical(x.compute(), before.compute())
        assert not y.any() and x.attrs == before.attrs


@pytest.mark.filterwarnings("ignore:.*plain xarray")
def test_errors_of_any_class_of_libraries():
    class TypingError(Exception):
        pass

    def of_arrays(array):
        if type(array) is not np.ndarray:
            raise TypingError(type(array))
        return array * 2

    x = made(1)
    f = indim.jit(lambda x: xr.apply_ufunc(of_arrays, x + 1) - 1)
    xr.testing.assert_identical(f(x), f.__wrapped__(x))


def test_mistakes_are_errors():
    x = made(1)
    with pytest.raises(AttributeError, match="no attribute 'meen'"):
        indim.jit(lambda x: x.meen("time"))(x)
    with pytest.raises(AttributeError, match="'numpy.ndarray' object has no attribute 'meen'"):
        indim.jit(lambda x: x.values.meen("time"))(x)
    with pytest.raises(TypeError, match="within a function|dimension by its name"):
        indim.jit(lambda x: indim.matmul(x, x))(x)
    with pytest.raises(indim.ElementTypeError):
        indim.jit(lambda x: (x.astype("c16") <= 1).idxmax("lat"))(x)
    with pytest.raises(KeyError, match="nowhere"):
        indim.jit(lambda x: x.idxmax("nowhere"))(x)


def test_a_mistake_of_both_runs_is_shown_once():
    def failing(x):
        raise ValueError("a mistake")

    def caused(x):
        try:
            {}["key"]
        except KeyError as error:
            raise ValueError("a mistake") from error

    def differing(x):
        raise ValueError(type(x.variable._data).__name__)

    def shown(function):
        with pytest.raises(ValueError) as caught:
            indim.jit(function)(made(1))
        return "".join(traceback.format_exception(caught.value))

    assert shown(failing).count("ValueError: a mistake\n") == 1
    text = shown(caused)
    assert text.count("ValueError: a mistake\n") == text.count("KeyError: 'key'\n") == 1
    text = shown(differing)
    assert "ValueError: Tracer\n" in text and "ValueError: ndarray\n" in text


@pytest.mark.filterwarnings("ignore:.*plain xarray")
def test_other_threads_compute_arrays_of_dask_meanwhile():
    import dask

    x, others = made(1).chunk(lon=2), []

    def other():
        others.append(float(x.sum()))

    @indim.jit
    def f(x):
        if is_chunked(x):
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
        return series_by_series(x)

    assert is_chunked(f(x))
    assert others == [float(x.sum())] and dask.config.get("scheduler", None) is None


class Other:
    """A thread that configures a scheduler of Dask from one call to the other."""

    def __init__(self, scheduler):
        self._scheduler, self._steps = scheduler, [threading.Event() for _ in range(3)]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        import dask

        entered, leave, left = self._steps
        with dask.config.set(scheduler=self._scheduler):
            entered.set()
            leave.wait(60)
        left.set()

    def entered(self):
        assert self._steps[0].wait(60)
        return self

    def leave(self):
        self._steps[1].set()
        assert self._steps[2].wait(60)


def plain_after(steps):
    """A function that runs as plain xarray, and then runs the steps if its argument is in chunks."""

    def f(x):
        result = series_by_series(x)
        if is_chunked(x):
            steps()
        return result

    return indim.jit(f)


@pytest.mark.filterwarnings("ignore:.*plain xarray")
def test_a_scheduler_that_another_thread_configures_meanwhile():
    import dask

    x, others, used = made(1).chunk(lon=2), [], []

    def scheduler(graph, keys, **options):
        used.append("other")
        return dask.get(graph, keys, **options)

    f = plain_after(lambda: others.append(Other(scheduler).entered()))
    assert is_chunked(f(x))
    # It stays configured until that thread leaves, and nothing is refused then.
    float(x.sum())
    assert used == ["other"]
    others.pop().leave()
    xr.testing.assert_identical(x.compute(), made(1))
    assert used == ["other"]
    assert dask.base.get_scheduler() is None
    # The next function still refuses, and clears the configuration.
    with pytest.raises(TypeError, match="loads an array of Dask"):
        plain_after(lambda: x.compute())(x)
    assert dask.config.get("scheduler", None) is None


@pytest.mark.filterwarnings("ignore:.*plain xarray")
def test_a_scheduler_that_another_thread_leaves_meanwhile():
    import dask

    x, used = made(1).chunk(lon=2), []

    def scheduler(graph, keys, **options):
        used.append(threading.get_ident())
        return dask.get(graph, keys, **options)

    other = Other(scheduler).entered()

    def steps():
        # Until then, other threads compute by it.
        thread = threading.Thread(target=x.compute)
        thread.start()
        thread.join()
        other.leave()

    assert is_chunked(plain_after(steps)(x))
    assert len(used) == 1 and dask.config.get("scheduler", None) is None
    x.compute()
    assert len(used) == 1
    with dask.config.set(scheduler=scheduler):
        plain_after(lambda: None)(x)
        assert dask.config.get("scheduler") is scheduler


@pytest.mark.filterwarnings("ignore:.*plain xarray")
def test_a_function_waits_for_another_thread_that_runs_one():
    import dask

    x, results = made(1).chunk(lon=2), []

    def steps():
        thread = threading.Thread(target=lambda: results.append(inner(x)), daemon=True)
        thread.start()
        thread.join(30)
        # The end of the other thread's function does not end this one's.
        x.compute()

    inner = plain_after(lambda: None)
    with pytest.raises(TypeError, match="loads an array of Dask"):
        plain_after(steps)(x)
    assert [is_chunked(result) for result in results] == [True]
    assert dask.config.get("scheduler", None) is None


@pytest.mark.filterwarnings("ignore:.*plain xarray")
def test_functions_within_functions_refuse_until_the_outer_one_is_over():
    x = made(1).chunk(lon=2)
    inner = plain_after(lambda: None)

    def steps():
        inner(x)
        x.compute()

    with pytest.raises(TypeError, match="loads an array of Dask"):
        plain_after(steps)(x)
    assert isinstance(x.compute().data, np.ndarray)


@pytest.mark.filterwarnings("ignore:.*plain xarray")
def test_other_threads_persist_on_workers_meanwhile():
    distributed = pytest.importorskip("distributed")
    x, persisted = made(1).chunk(lon=2), []

    def steps():
        thread = threading.Thread(target=lambda: persisted.append(x.persist()))
        thread.start()
        thread.join()

    with distributed.Client(processes=False, dashboard_address=None):
        f = plain_after(steps)
        assert is_chunked(f(x))
        assert distributed.futures_of(persisted)
        with pytest.raises(TypeError, match="loads an array of Dask"):
            plain_after(lambda: x.persist())(x)


def test_xarray_without_the_replaced_functions_runs_as_plain_xarray(monkeypatch):
    from indim import _xarray_hooks
    from xarray.core import missing

    of_indim = missing._interp1d
    monkeypatch.setattr(missing, "_interp1d", of_indim.__wrapped__)
    x = made(2, "f8")
    if HAS_SCIPY:
        with pytest.warns(RuntimeWarning, match="runs as plain xarray"):
            indim.jit(lambda x: x.interp(lat=3.0))(x)
    monkeypatch.delattr(missing, "_interp1d")
    _xarray_hooks.install()
    assert not hasattr(missing, "_interp1d")
    monkeypatch.setattr(missing, "_interp1d", of_indim.__wrapped__, raising=False)
    _xarray_hooks.install()
    once = missing._interp1d
    _xarray_hooks.install()
    assert missing._interp1d is once and once.__wrapped__ is of_indim.__wrapped__


def test_labels_that_are_written_into_an_argument():
    def function(x):
        x["t"] = x.t + 100
        return x * 2

    x = xr.DataArray(np.arange(3.0), dims="t", coords={"t": [1, 2, 3]})
    expected = function(x.copy())
    with pytest.warns(RuntimeWarning, match="runs as plain xarray"):
        found = indim.jit(function)(x.copy())
    xr.testing.assert_identical(found, expected)

    def advised(x):
        x = x.assign_coords(t=x.t + 100)
        x["s"] = "t", [7, 8, 9]
        return x * 2

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xr.testing.assert_identical(indim.jit(advised)(x.copy()), advised(x.copy()))
