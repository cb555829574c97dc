"""One function in memory, over Dask's chunks on threads, and on two workers: `cargo xtask bench-cluster`
prints the table of docs/from-one-core-to-a-cluster.md.

128 MiB of f32 are standardised along the first axis, by indim and by NumPy, which take turns; results are
compared. A time is the best of the rounds.
"""

import os
import tempfile
import time
from pathlib import Path

import dask
import dask.array as da
import distributed
import numpy as np
import zarr

import indim

SHAPE, CHUNKS = (4096, 64, 128), (1024, 16, 128)

#: Rounds in which the engines take turns, in memory and from file to file.
IN_MEMORY_ROUNDS, STORED_ROUNDS = 20, 5


@indim.jit
def standardise(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


ENGINES = {"indim": standardise, "NumPy": standardise.__wrapped__}


def best_of_each(calls, rounds):
    """The shortest time of each call in seconds. Calls take turns, so other work on the machine affects all
    of them alike."""
    shortest = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            shortest[name] = min(shortest[name], time.perf_counter() - start)
    return shortest


def in_memory(data):
    """The times of both engines with one thread, and of indim with two."""

    def with_threads(count):
        indim.set_num_threads(count)
        return standardise(data)

    calls = {
        "indim": lambda: with_threads(1),
        "indim, two threads": lambda: with_threads(2),
        "NumPy": lambda: ENGINES["NumPy"](data),
    }
    times = best_of_each(calls, IN_MEMORY_ROUNDS)
    indim.set_num_threads(1)
    return times


class Stored:
    """The data set in a file of Zarr, and the path of results."""

    def __init__(self, data, folder):
        self._folder, self._expected = folder, standardise(data)
        self.source = str(folder / "data.zarr")
        self._open("data")[:] = data

    def _open(self, name):
        return zarr.open(
            str(self._folder / f"{name}.zarr"), mode="w", shape=SHAPE, chunks=CHUNKS, dtype="f4"
        )

    def call(self, engine):
        """Computes from file to file by the scheduler that is set."""
        lazy = ENGINES[engine](da.from_zarr(self.source))
        result = self._open(engine)
        da.store(lazy.rechunk(CHUNKS), result, lock=False)
        return result

    def check(self):
        """indim's results have the same bits as in memory; NumPy's are close."""
        assert self.call("indim")[:].tobytes() == self._expected.tobytes()
        np.testing.assert_allclose(self.call("NumPy")[:], self._expected, rtol=1e-3, atol=1e-4)

    def times(self):
        self.check()
        return best_of_each(
            {engine: lambda engine=engine: self.call(engine) for engine in ENGINES}, STORED_ROUNDS
        )


def row(name, times):
    numpy = f"{times['NumPy']:.3f} | {times['NumPy'] / times['indim']:.1f}" if "NumPy" in times else "|"
    print(f"| {name} | {times['indim']:.3f} | {numpy} |", flush=True)


def main(folder):
    data = np.random.default_rng(0).standard_normal(SHAPE, dtype="f4")
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; NumPy {np.__version__}, ", end="")
    print(f"Dask {dask.__version__}, zarr {zarr.__version__}; {data.nbytes >> 20} MiB\n")
    print("| | indim, s | NumPy, s | NumPy over indim |\n|---|---|---|---|")
    times = in_memory(data)
    row("in memory, one thread", times)
    row("in memory, two threads", {"indim": times["indim, two threads"]})
    stored = Stored(data, folder)
    for count, name in ((1, "from Zarr to Zarr with Dask, one thread"), (2, "two threads")):
        with dask.config.set(scheduler="threads", num_workers=count):
            row(name, stored.times())
    # A worker has one thread, so indim has one there too.
    os.environ["INDIM_NUM_THREADS"] = "1"
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        row("two workers", stored.times())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder))
