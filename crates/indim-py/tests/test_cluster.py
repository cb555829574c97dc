"""A cluster of processes: a data set of Zarr larger than the memory of the workers, and a worker that is
killed during the computation."""

import importlib.util
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

import compiled_functions
import indim

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
zarr = pytest.importorskip("zarr")

#: Days, rows and columns of f32: 576 MiB, and 576 MiB for the result.
SHAPE = (4608, 128, 256)

CHUNKS = (512, 64, 128)

#: Memory limit of each of the two workers in bytes; the interpreter and its packages take more than half.
WORKER_MEMORY = 280 << 20

month = np.arange(SHAPE[0]) // 30 % 12


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """The data set, written piece by piece."""
    folder = tmp_path_factory.mktemp("data") / "temperature.zarr"
    array = zarr.open(str(folder), mode="w", shape=SHAPE, chunks=CHUNKS, dtype="f4")
    random = np.random.default_rng(7)
    for start in range(0, SHAPE[0], 512):
        array[start : start + 512] = random.standard_normal((512, *SHAPE[1:]), dtype="f4")
    return folder


@pytest.fixture
def client(tmp_path):
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            memory_limit=WORKER_MEMORY,
            local_directory=str(tmp_path),
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.upload_file(str(Path(__file__).with_name("compiled_functions.py")))
        yield client


def process_ids(client):
    """The processes of the workers, as their nannies know them: a nanny may end a worker at any time."""
    return [nanny.pid for nanny in client.cluster.workers.values()]


def kill_a_worker(client, writing, path):
    """Kills one worker when the first chunks of the result are written; the cluster restarts it."""
    # The folders of chunks in both formats of Zarr.
    while writing.status == "pending" and not any([*path.glob("c/*/*/*"), *path.glob("[0-9]*")]):
        time.sleep(0.005)
    pid = next(pid for pid in process_ids(client) if pid is not None)
    assert writing.status == "pending"
    os.kill(pid, signal.SIGKILL)
    return pid


@pytest.mark.skipif(os.name == "nt", reason="processes are killed by signals")
def test_the_anomaly_of_a_data_set_larger_than_memory_with_a_worker_killed(stored, client, tmp_path):
    x = da.from_zarr(str(stored))
    lazy = compiled_functions.anomaly(x, month)
    assert isinstance(lazy, da.Array) and lazy.chunks == x.chunks and lazy.dtype == np.float32
    path = tmp_path / "anomaly.zarr"
    result = zarr.open(str(path), mode="w", shape=SHAPE, chunks=CHUNKS, dtype="f4")
    writing = client.compute(da.store(lazy, result, lock=False, compute=False))
    killed = kill_a_worker(client, writing, path)
    writing.result(timeout=300)
    assert killed not in process_ids(client) and x.nbytes > 2 * WORKER_MEMORY
    source = zarr.open(str(stored), mode="r")
    for row in range(0, SHAPE[1], 32):
        expected = compiled_functions.anomaly(source[:, row : row + 32], month)
        assert result[:, row : row + 32].tobytes() == expected.tobytes()


def test_the_benchmark_runs_and_compares_what_it_measures(tmp_path, monkeypatch, capsys):
    path = Path(__file__).parents[1] / "bench_cluster.py"
    if not path.exists():
        pytest.skip("the package is tested without the repository")
    specification = importlib.util.spec_from_file_location("bench_cluster", path)
    benchmark = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(benchmark)
    monkeypatch.setenv("INDIM_NUM_THREADS", "1")
    small = {"SHAPE": (1024, 4, 4), "CHUNKS": (512, 4, 2), "IN_MEMORY_ROUNDS": 1, "STORED_ROUNDS": 1}
    for name, value in small.items():
        monkeypatch.setattr(benchmark, name, value)
    threads = indim.get_num_threads()
    try:
        benchmark.main(tmp_path)
    finally:
        indim.set_num_threads(threads)
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert len(rows) == 6 and "two workers" in rows[-1]
