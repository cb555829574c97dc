"""Daily temperatures minus their monthly mean, divided by their monthly deviation: in one process, and on a
cluster of two, from Zarr to Zarr. The bits are the same."""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from distributed import Client, LocalCluster

import indim


@indim.jit
def anomaly(temperature):
    months = temperature.groupby("time.month")
    return (months - months.mean("time")).groupby("time.month") / months.std("time")


def made_up():
    """Two years of daily values on a small map."""
    days = pd.date_range("2001-01-01", periods=730)
    season = 10 * np.sin(2 * np.pi * np.arange(730) / 365)[:, None, None]
    noise = np.random.default_rng(1).standard_normal((730, 12, 16))
    coords = {"time": days, "lat": np.linspace(-82.5, 82.5, 12)}
    data = (15 + season + noise).astype("f4")
    return xr.DataArray(data, dims=("time", "lat", "lon"), coords=coords, attrs={"long_name": "temperature"})


def main(folder):
    source, target = str(folder / "temperature.zarr"), str(folder / "anomaly.zarr")
    temperature = made_up()
    whole = anomaly(temperature)

    # Each chunk has all days of a part of the map, because the days of a month are not contiguous.
    temperature.chunk({"lat": 4}).to_dataset(name="temperature").to_zarr(source, zarr_format=2)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        lazy = anomaly(xr.open_zarr(source).temperature)
        lazy.to_dataset(name="anomaly").to_zarr(target, zarr_format=2)

    result = xr.open_zarr(target).anomaly.load()
    assert result.values.tobytes() == whole.values.tobytes()
    assert result.dims == ("time", "lat", "lon")
    assert result.indexes["time"].equals(temperature.indexes["time"])
    print(f"{result.nbytes} bytes in {lazy.data.npartitions} chunks; the same bits as in one process")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder))
