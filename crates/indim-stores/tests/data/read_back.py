"""Reads the arrays that `tests/python.rs` wrote into a folder, and compares them with what they are to be."""

import pathlib
import sys

import numpy as np
import rasterio
import tifffile
import xarray
import zarr
from PIL import Image

FOLDER = pathlib.Path(sys.argv[1])
TYPES = {"bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4",
         "u64": "u8", "f32": "f4", "f64": "f8"}
read = 0


def check(name, array, shape, dtype):
    global read
    numbers = np.arange(np.prod(shape)).reshape(shape) % 120
    expected = (numbers % 2 == 1) if dtype == "bool" else numbers
    array = np.asarray(array)
    assert array.dtype == np.dtype(TYPES[dtype]), (name, array.dtype)
    assert array.shape == tuple(shape), (name, array.shape)
    assert (array == expected).all(), name
    read += 1


group = xarray.open_zarr(FOLDER / "all.zarr", consolidated=False)
for name in TYPES:
    assert group[name].dims == ("y", "x")
    assert group[name].encoding["chunks"] == (2, 3)
    check(name, group[name], (5, 7), name)
check("root", zarr.open(FOLDER / "root.zarr")[...], (300, 400), "f32")

for path in FOLDER.glob("*.png"):
    dtype, channels = path.stem.split("-")
    shape = (6, 5) if channels == "1" else (6, 5, int(channels))
    check(path, np.asarray(Image.open(path)), shape, dtype)

with rasterio.open(FOLDER / "original-geo") as original:
    for path in FOLDER.glob("*.tif"):
        dtype, shape = path.stem.split("-")
        shape = tuple(int(size) for size in shape.split("x"))
        check(path, tifffile.imread(path), shape, dtype)
        with rasterio.open(path) as file:
            bands = np.moveaxis(file.read(), 0, -1)
            assert (bands.reshape(shape) == tifffile.imread(path)).all(), path
            fits = shape[:2] == (6, 5)
            assert (file.crs == original.crs and file.transform == original.transform) == fits, path
            assert (file.nodata == original.nodata) == fits, path
            if fits:
                assert file.tags()["sensor"] == "none", path

print(f"read {read} arrays")
