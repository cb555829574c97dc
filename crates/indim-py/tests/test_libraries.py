"""pandas, Dask, joblib: compiled functions and expressions over arrays of other packages."""

from pathlib import Path

import numpy as np
import pytest

import compiled_functions
import indim


def test_columns_of_pandas_are_operands():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4, 5, 6], "c": [True, False, True]})
    a, b, c = frame["a"], frame["b"], frame.c
    np.testing.assert_array_equal(indim.evaluate("where(c, a * b, -1)"), [4.0, -1.0, 18.0])
    np.testing.assert_array_equal(indim.evaluate("a + b", frame), [5.0, 7.0, 9.0])
    np.testing.assert_array_equal(
        indim.evaluate("frame * 2", frame=frame[["a"]].to_numpy()), [[2.0], [4.0], [6.0]]
    )
    np.testing.assert_array_equal(indim.evaluate("table * 2", table=pd.DataFrame([[1.0, 2.0]])), [[2.0, 4.0]])
    f = indim.jit(lambda x, y: x + y)
    np.testing.assert_array_equal(f(a, b), [5.0, 7.0, 9.0])
    with pytest.raises(TypeError, match="`text`"):
        indim.evaluate("text + 1", text=pd.Series(["x", "y"]))


def refused(value, advice):
    """Expressions, compiled functions and operations refuse `value`, and the message says what to call."""
    calls = (
        lambda: indim.evaluate("value + 1", value=value),
        lambda: indim.jit(lambda value: value + 1)(value),
        lambda: indim.jit(lambda x: indim.add(x, value))(np.ones(3)),
        lambda: indim.add(1.0, value),
    )
    for call in calls:
        with pytest.raises(TypeError, match=advice):
            call()


def test_indexes_and_arrays_of_pandas_are_arrays():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})
    assert indim.evaluate("index + 1", index=frame["a"][::-1].index).tolist() == [3, 2, 1]
    assert indim.evaluate("a * 2", a=frame["a"].array).tolist() == [2, 4, 6]


def test_map_blocks_and_apply_ufunc_call_compiled_functions():
    da = pytest.importorskip("dask.array")
    chunked = da.ones((4, 3), chunks=2)
    np.testing.assert_array_equal(
        chunked.map_blocks(indim.jit(lambda x: x + 1)).compute(), np.full((4, 3), 2)
    )
    xr = pytest.importorskip("xarray")
    labelled = xr.DataArray(np.ones((2, 3)), dims=("x", "y"), coords={"x": [10, 20]})
    added = xr.apply_ufunc(indim.jit(lambda x: x + 1), labelled)
    assert added.dims == ("x", "y") and float(added.sum()) == 12


def test_stored_arrays_are_not_loaded_without_a_word(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        stored = file.create_dataset("x", data=np.ones((4, 3)))
        refused(stored, r"\[\.\.\.\]")
        assert indim.evaluate("x + 1", x=stored[...]).sum() == 24
    zarr = pytest.importorskip("zarr")
    stored = zarr.array(np.ones((4, 3)), chunks=(2, 3))
    refused(stored, r"\[\.\.\.\].*dask\.array\.from_array")

    class Chunked:
        chunks = (2, 2)

        def __array__(self, dtype=None, copy=None):
            raise AssertionError("it is loaded")

    refused(Chunked(), r"\[\.\.\.\]")


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("dask.distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        # The workers import the functions as this process does, not by the name of the file: the scheduler
        # loads that again from its own folder.
        client.upload_file(str(Path(__file__).with_name("compiled_functions.py")))
        yield client


def test_map_blocks_on_a_cluster_of_processes(cluster):
    da = pytest.importorskip("dask.array")
    random = np.random.default_rng(1)
    table = random.standard_normal((1000, 8))
    mean, deviation = table.mean(axis=0), table.std(axis=0)
    chunked = da.from_array(table, chunks=(130, 8))
    result = chunked.map_blocks(compiled_functions.standardise, mean, deviation, dtype=table.dtype)
    np.testing.assert_array_equal(result.compute(), (table - mean) / deviation)


def test_blockwise_broadcasts_between_chunked_arrays(cluster):
    da = pytest.importorskip("dask.array")
    x, y = np.linspace(0, 1, 90)[:, None], np.linspace(-1, 1, 70)[None, :]
    chunked = da.blockwise(
        compiled_functions.outer_sum,
        "ij",
        da.from_array(x, chunks=(32, 1)),
        "ij",
        da.from_array(y, chunks=(1, 20)),
        "ij",
        dtype=x.dtype,
    )
    np.testing.assert_array_equal(chunked.compute(), np.sqrt(x) + y)


def test_a_lambda_on_a_cluster(cluster):
    da = pytest.importorskip("dask.array")
    x = np.arange(40.0).reshape(8, 5)
    scale = 3.0
    f = indim.jit(lambda x: x * scale + 1)
    np.testing.assert_array_equal(
        da.from_array(x, chunks=(3, 5)).map_blocks(f, dtype=x.dtype).compute(), x * 3 + 1
    )


def test_joblib():
    joblib = pytest.importorskip("joblib")
    jobs = (joblib.delayed(compiled_functions.scaled)(np.full(3, float(n))) for n in range(4))
    results = joblib.Parallel(n_jobs=2)(jobs)
    assert [result[0] for result in results] == [1.0, 2.0, 5.0, 10.0]


def test_groups_of_arrays_are_no_arrays():
    zarr = pytest.importorskip("zarr")
    with pytest.raises(TypeError, match=r"`x` is a zarr Group, which is not an array: name one in it, `x\["):
        indim.jit(lambda x: x + 1)(zarr.group())


def test_functions_of_scipy():
    special = pytest.importorskip("scipy.special")
    x, y = np.array([-2.0, -0.0, 0.0, 0.5, 3.0, np.inf]), np.array([0.0, 0.0, 2.0, 0.5, 7.0, 1.0])
    for name, operands in (("ndtr", (x,)), ("xlogy", (x, y)), ("xlog1py", (x, y)), ("entr", (x,))):
        function = getattr(special, name)
        for dtype in ("f2", "f4", "f8", "i4"):
            with np.errstate(all="ignore"):
                given = [np.nan_to_num(operand, posinf=5).astype(dtype) for operand in operands]
                expected = function(*given)
                found = indim.jit(lambda *operands: function(*operands))(*given)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=1e-14 if dtype in ("f8", "i4") else 1e-6)
    number = indim.jit(lambda x: special.xlogy(x, 2.0))(np.float32([1, 2]))
    assert number.dtype == special.xlogy(np.float32([1, 2]), 2.0).dtype
    written = indim.jit(lambda x: special.ndtr(x, out=np.zeros(6)))(x)
    np.testing.assert_allclose(written, special.ndtr(x), rtol=1e-14)
