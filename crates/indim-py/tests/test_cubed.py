"""Cubed arrays: results over chunks have the bits of one process, nothing is computed early, and memory stays
within that of the Spec."""

import functools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indim

cubed = pytest.importorskip("cubed", minversion="0.27")

random = np.random.default_rng(5)


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    return cubed.Spec(work_dir=str(tmp_path_factory.mktemp("cubed")), allowed_mem="200MB")


def same_bits(lazy, expected):
    """A Cubed array whose shape and type are those of the array that it becomes, and that array."""
    assert isinstance(lazy, cubed.Array), type(lazy)
    computed = np.asarray(lazy.compute())
    assert lazy.shape == computed.shape == expected.shape
    assert lazy.dtype == computed.dtype == expected.dtype
    assert computed.tobytes() == np.ascontiguousarray(expected).tobytes()


def check(function, *arrays):
    """The results of a compiled function have the bits of the same function in memory."""
    f = indim.jit(function)
    lazy = f(*arrays)
    expected = f(*(np.asarray(x.compute()) if isinstance(x, cubed.Array) else x for x in arrays))
    pairs = zip(lazy, expected) if isinstance(lazy, tuple) else [(lazy, expected)]
    for result, of_memory in pairs:
        same_bits(result, of_memory)
    return lazy


def standardise(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


V = random.standard_normal(7).astype("f4")

#: Functions of an array of (n, 7), and whether an axis is merged into one chunk.
FUNCTIONS = {
    "element by element": (lambda x: np.sqrt(np.abs(x)) * 2 + 1, False),
    "with a captured array": (lambda x: (x - V) * V, False),
    "several results": (lambda x: (x * 2, x + 1, x), False),
    "standardise": (standardise, False),
    "reductions": (lambda x: (x.sum(), x.max(axis=0), x.min(axis=1), np.prod(x, axis=0)), False),
    "argmax": (lambda x: (x.argmax(axis=0), np.argmin(x, axis=1)), False),
    "any": (lambda x: (np.any(x > 2, axis=0), np.count_nonzero(x > 0)), False),
    "transposed": (lambda x: x.T * 2, False),
    "differences": (lambda x: x[1:] - x[:-1], False),
    "slices": (lambda x: x[:10] * 2 + x[3], False),
    "counters": (lambda x: x + np.arange(x.shape[0])[:, None], False),
    "constants": (lambda x: np.ones(x.shape) * x.sum(), False),
    "cumsum": (lambda x: np.cumsum(x, axis=0), True),
    "median": (lambda x: np.median(x, axis=0), True),
    "reshape": (lambda x: x.reshape(-1) * 2, True),
}


@pytest.mark.filterwarnings("ignore:.*rechunked into one chunk")
@settings(max_examples=3, deadline=None)
@given(st.integers(1, 2500), st.integers(1, 900), st.integers(1, 7), st.sampled_from(["f4", "f8", "i4"]))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_over_random_chunks(spec, name, rows, chunk, columns, dtype):
    rows = max(rows, 20)
    array = (random.standard_normal((rows, 7)) * 9).astype(dtype)
    # Few tasks, because each takes milliseconds.
    chunk = max(chunk, rows // 6)
    check(FUNCTIONS[name][0], cubed.from_array(array, chunks=(min(chunk, rows), columns), spec=spec))


@pytest.mark.parametrize("name", [name for name, (_, merges) in FUNCTIONS.items() if merges])
def test_an_axis_that_is_merged_has_a_warning(spec, name):
    x = cubed.ones((100, 7), chunks=(30, 7), spec=spec)
    with pytest.warns(RuntimeWarning, match="an axis of size 100 is rechunked into one chunk"):
        indim.jit(FUNCTIONS[name][0])(x)


def test_a_tree_of_several_levels(spec):
    array = random.standard_normal((20_000, 2))
    x = cubed.from_array(array, chunks=(512, 2), spec=spec)
    mean, first = check(lambda x: (x.mean(axis=0), x.argmax(axis=0)), x)
    assert x.numblocks == (40, 1) and mean.shape == first.shape == (2,)


def test_nothing_is_computed_before_cubed_computes(spec):
    def forbidden(block):
        raise AssertionError("it is computed")

    x = cubed.map_blocks(forbidden, cubed.ones((600, 3), chunks=(512, 3), spec=spec), dtype="f8")
    results = [
        indim.jit(standardise)(x),
        indim.evaluate("2 * x + sum(x, axis=0)"),
        indim.evaluate("x[:10] * 2"),
        indim.add(x, 1),
        indim.jit(lambda x: x.argmax(axis=0))(x),
    ]
    for lazy in results:
        assert isinstance(lazy, cubed.Array)
        with pytest.raises(AssertionError, match="it is computed"):
            lazy.compute()


def test_arrays_meet_arrays_of_memory_and_of_other_chunks(spec):
    array, other = random.standard_normal((900, 40)), random.standard_normal((900, 40))
    x = cubed.from_array(array, chunks=(300, 30), spec=spec)
    check(lambda x, y: x * y, x, cubed.from_array(other, chunks=(200, 40), spec=spec))
    check(lambda x, y: x * y, x, other)
    check(lambda x, y, k: (x - y) * k, x, other[0], 3)
    # More than Cubed keeps in its plan.
    large = random.standard_normal((900, 400))
    check(lambda x, y: x[:, :1] * y, x, large)
    pair = indim.jit(lambda pair: {"sum": pair["x"] + pair["y"]})({"x": x, "y": other})
    same_bits(pair["sum"], array + other)


def test_chunks_are_those_of_the_argument_if_reductions_allow_it(spec):
    x = cubed.ones((3000, 70), chunks=(700, 30), dtype="f4", spec=spec)
    assert indim.add(x, 1).chunks == x.chunks
    assert indim.jit(lambda x: x - x.mean(axis=1, keepdims=True))(x[:, :30]).chunks == x[:, :30].chunks
    # A sum along axis 0 needs 512·2^k rows; the columns are divided for the memory.
    assert indim.jit(standardise)(x).chunksize == (512, 30)
    rows = cubed.ones((3000, 64), chunks=(64, 64), dtype="f4", spec=spec)
    assert indim.jit(standardise)(rows).chunksize == (512, 8)


def test_products_are_cut_along_the_summed_axis(spec):
    array = random.standard_normal((2500, 9)).astype("f4")
    x = cubed.from_array(array, chunks=(600, 4), spec=spec)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        check(lambda x: (x - x.mean(axis=0)).T @ x, x)
        check(lambda x: np.vecdot(x, x, axis=0), x)


def test_memory_is_that_of_the_spec(tmp_path):
    spec = cubed.Spec(work_dir=str(tmp_path), allowed_mem="12MB")
    x = cubed.random.random((4096, 1000), chunks=(512, 250), spec=spec)
    assert x.nbytes > 2.5 * spec.allowed_mem
    lazy = indim.jit(standardise)(x)
    assert lazy.plan().max_projected_mem <= spec.allowed_mem
    assert abs(float(np.asarray(indim.sum(lazy).compute()))) < 1e-6
    with pytest.raises(ValueError, match="(?s)within its memory.*`allowed_mem`.*512, 1024"):
        indim.jit(lambda x: np.cumsum(x, axis=0))(cubed.ones((9000, 250), chunks=(450, 250), spec=spec))


def test_either_byte_order(spec):
    x = np.arange(12.0).reshape(4, 3).astype(">f8")
    lazy = cubed.from_array(x, chunks=(2, 3), spec=spec)
    same_bits(indim.jit(lambda x: x * 2 + x.sum(axis=0))(lazy), x.astype("f8") * 2 + x.sum(axis=0))
    same_bits(indim.add(lazy, 1.0), x.astype("f8") + 1)


def test_tasks_run_in_other_processes(tmp_path):
    spec = cubed.Spec(work_dir=str(tmp_path), allowed_mem="200MB", executor_name="processes")
    array = random.standard_normal((1500, 3))
    check(lambda x: (standardise(x), x.argmax(axis=0)), cubed.from_array(array, chunks=(512, 2), spec=spec))


def test_labels(spec):
    xr = pytest.importorskip("xarray")
    array = random.standard_normal((1000, 4))
    labels = {"dims": ("time", "lat"), "coords": {"lat": [1, 2, 3, 4]}, "name": "t", "attrs": {"units": "K"}}
    x = xr.DataArray(cubed.from_array(array, chunks=(512, 2), spec=spec), **labels)
    of_memory = xr.DataArray(array, **labels)
    functions = [
        lambda x: (x - x.mean("time")) / x.std("time"),
        lambda x: x.isel(time=0) * 2,
        lambda x: x - indim.mean(x, axis="time"),
        functools.partial(indim.max, axis="time"),
        lambda x: x.idxmax("lat"),
        lambda x: x.assign_coords(lat=np.arange(4).astype("M8[ns]")).idxmax("lat"),
    ]
    for function in functions:
        f = indim.jit(function) if not isinstance(function, functools.partial) else function
        result, expected = f(x), f(of_memory)
        same_bits(result.data, expected.values)
        xr.testing.assert_identical(result.copy(data=expected.values), expected)
    medians = functools.partial(xr.apply_ufunc, np.median, input_core_dims=[["lat"]], vectorize=True)
    for function in (lambda x: medians(x), lambda x: x * float(x.mean())):
        f = indim.jit(function)
        for _ in range(2):
            with pytest.raises(TypeError, match="cannot be traced.*might load arrays of Cubed"):
                f(x)
            # The program of the same labels in memory is plain xarray.
            with warnings.catch_warnings(record=True):
                xr.testing.assert_identical(f(of_memory), function(of_memory))


def test_what_is_refused(spec):
    x = cubed.ones((4, 3), chunks=(2, 3), spec=spec)
    with pytest.raises(TypeError, match="`x` is a cubed Array, .*pass it to a compiled function.*x.compute"):
        indim.jit(lambda v: v * x)(np.ones(3))
    with pytest.raises(TypeError, match="results of arrays of Dask, Cubed and xarray"):
        indim.add(x, 1, out=np.empty((4, 3)))
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match=r"`y` is an array of Cubed mixed.*`cubed.to_zarr\(y, path\)`"):
        indim.evaluate("x + y", x=da.ones((4, 3)), y=x)
    pd = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="mixed with arrays of Cubed"):
        indim.evaluate("x + y", x=pd.DataFrame(np.ones((4, 3))), y=x)
    with pytest.raises(indim.ShapeError):
        indim.add(x, np.ones(4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "f64[4, 3]" in str(indim.jit(lambda x: x * 2).explain(x))


class Row(tuple):
    """A tree that copies NumPy arrays."""

    def __new__(cls, items):
        return super().__new__(cls, (np.array(x) if isinstance(x, np.ndarray) else x for x in items))


def test_arrays_whose_placeholder_is_lost_are_an_error(spec):
    x = cubed.ones((4, 3), chunks=(2, 3), spec=spec)
    with pytest.raises(TypeError, match=r"`row\[0\]` is an array of Cubed, .*as an argument of its own"):
        indim.jit(lambda row: row[0] + 1)(Row([x]))


def test_cubed_is_not_imported():
    import subprocess
    import sys

    code = "import sys, numpy, indim; indim.add(numpy.ones(3), 1); assert 'cubed' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
