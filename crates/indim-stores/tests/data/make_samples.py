"""Writes `samples.zip`: arrays that other packages wrote, and `.npy` of what they hold.

    pip install numpy zarr numcodecs pillow tifffile imagecodecs rasterio
    python make_samples.py
"""

import pathlib
import shutil
import tempfile
import zipfile

import numcodecs
import numpy as np
import rasterio
import rasterio.transform
import tifffile
import zarr
from PIL import Image

ARCHIVE = pathlib.Path(__file__).parent / "samples.zip"
HERE = pathlib.Path(tempfile.mkdtemp())


def save_npy(path, array):
    """Row by row in the byte order of most machines, so that the bytes behind the header are the elements."""
    array = np.asarray(array)
    np.save(path, np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape))


def counted(dtype, shape=(5, 7)):
    """Numbers that differ, of any element type."""
    numbers = np.arange(np.prod(shape)).reshape(shape)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return numbers % 3 == 0
    if dtype.kind == "c":
        return (numbers - 3.5j * numbers).astype(dtype)
    if dtype.kind == "f":
        return (numbers / 4 - 3).astype(dtype)
    return numbers.astype(dtype)


def zarr_array(name, array, chunks=(2, 3), **options):
    """An array in a folder of its own."""
    path = HERE / "zarr" / name
    made = zarr.create_array(str(path), data=array, chunks=chunks, **options)
    save_npy(HERE / "zarr" / f"{name}.npy", made[...])


def zarr_samples():
    (HERE / "zarr").mkdir()
    names = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
    for name in [*names.split(), "complex64", "complex128"]:
        zarr_array(f"v3-{name}", counted(name), zarr_format=3)
        zarr_array(f"v2-{name}", counted(name), zarr_format=2)
    zarr_array("v2-big-endian", counted(">f4"), zarr_format=2)
    zarr_array("v2-fortran", counted("i2"), zarr_format=2, order="F")
    zarr_array("v2-nested-keys", counted("i2"), zarr_format=2,
               chunk_key_encoding={"name": "v2", "separator": "/"})
    zarr_array("v2-not-compressed", counted("i2"), zarr_format=2, compressors=None)
    zarr_array("v2-gzip", counted("i2"), zarr_format=2, compressors=numcodecs.GZip(5))
    zarr_array("v2-zlib", counted("i2"), zarr_format=2, compressors=numcodecs.Zlib(5))
    big = counted("i4", (60, 70)) * 3 // 7
    for library in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]:
        for shuffle in range(3):
            codec = numcodecs.Blosc(cname=library, clevel=5, shuffle=shuffle)
            zarr_array(f"v2-blosc-{library}-{shuffle}", big, (40, 50), zarr_format=2, compressors=codec)
    for length in (17, 100, 3001):
        # The bits of so few elements are not shuffled.
        zarr_array(f"v2-blosc-bits-{length}", np.arange(length) * 3.0, (length,), zarr_format=2,
                   compressors=numcodecs.Blosc(cname="zstd", shuffle=2))
    zarr_array("v2-fortran-scalar", np.array(7, ">i2"), (), zarr_format=2, order="F")
    partly = zarr.create_array(str(HERE / "zarr/v2-complex-anything"), shape=(5,), chunks=(2,), dtype=">c16",
                               zarr_format=2, fill_value=None, attributes={"units": "V"})
    partly[:2] = [1 + 2j, 3]
    save_npy(HERE / "zarr/v2-complex-anything.npy", partly[...])
    noise = np.random.default_rng(0).integers(0, 256, (40, 50), np.uint8)
    zarr_array("v2-blosc-copy", noise, (40, 50), zarr_format=2, compressors=numcodecs.Blosc())
    wide = (counted("f8", (100, 300)) / 3).round(1)
    zarr_array("v2-blosc-blocks", wide, (100, 300), zarr_format=2,
               compressors=numcodecs.Blosc(cname="blosclz", shuffle=1, blocksize=40_000))
    zarr_array("v3-blosc", big, (40, 50), compressors=zarr.codecs.BloscCodec(cname="lz4"))
    zarr_array("v3-gzip", counted("i2"), compressors=zarr.codecs.GzipCodec())
    zarr_array("v3-transposed", counted("i2"), filters=zarr.codecs.TransposeCodec(order=(1, 0)))
    zarr_array("v3-big-endian", counted("f4"), serializer=zarr.codecs.BytesCodec(endian="big"))
    zarr_array("v3-checksum", counted("i2"), compressors=zarr.codecs.Crc32cCodec())
    zarr_array("v3-sharded", counted("i2", (9, 10)), (2, 3), shards=(4, 6))
    zarr_array("v3-scalar", np.array(2.5), ())
    zarr_array("v3-empty", np.zeros((0, 4), "f4"), (2, 2))
    missing = zarr.create_array(str(HERE / "zarr" / "v3-missing"), shape=(5, 7), chunks=(2, 3), dtype="f4",
                                fill_value=1.5)
    missing[0:2, 0:3] = 9
    save_npy(HERE / "zarr" / "v3-missing.npy", missing[...])
    zarr.create_array(str(HERE / "zarr" / "v3-string"), data=np.array(["a", "b"]), chunks=(2,))
    for version in [2, 3]:
        group = zarr.open_group(str(HERE / "zarr" / f"group-v{version}"), mode="w", zarr_format=version)
        inner = group.create_group("climate")
        names = {"dimension_names": ("time", "y")} if version == 3 else {}
        packed = inner.create_array("temperature", data=counted("i2"), chunks=(2, 3), **names)
        packed.attrs.update(scale_factor=0.01, add_offset=273.15, _FillValue=-9999)
        if version == 2:
            packed.attrs["_ARRAY_DIMENSIONS"] = ["time", "y"]
        save_npy(HERE / "zarr" / f"group-v{version}.npy", packed[...])
        zarr.consolidate_metadata(str(HERE / "zarr" / f"group-v{version}"))


def image(channels, dtype, size=(6, 5)):
    shape = size if channels == 1 else (*size, channels)
    numbers = np.arange(np.prod(shape)).reshape(shape) * 37
    return (numbers % (np.iinfo(dtype).max + 1)).astype(dtype)


def png_samples():
    folder = HERE / "png"
    folder.mkdir(exist_ok=True)
    for name, channels in [("L", 1), ("LA", 2), ("RGB", 3), ("RGBA", 4)]:
        array = image(channels, np.uint8)
        Image.fromarray(array, name).save(folder / f"{name}.png")
        save_npy(folder / f"{name}.npy", array)
    array = image(1, np.uint16)
    Image.fromarray(array).save(folder / "L16.png")
    save_npy(folder / "L16.npy", array)
    bits = Image.fromarray(image(1, np.uint8) > 120)
    bits.save(folder / "bits.png")
    save_npy(folder / "bits.npy", np.asarray(bits).astype(np.uint8) * 255)
    palette = Image.fromarray(image(3, np.uint8), "RGB").quantize(16)
    palette.save(folder / "palette.png")
    save_npy(folder / "palette.npy", np.asarray(palette.convert("RGB")))


def tiff_samples():
    folder = HERE / "tiff"
    folder.mkdir(exist_ok=True)

    def save(name, array, **options):
        tifffile.imwrite(folder / f"{name}.tif", array, metadata=None, **options)
        save_npy(folder / f"{name}.npy", array)

    for name in "int8 int16 int32 uint8 uint16 uint32 float32 float64".split():
        save(name, counted(name), photometric="minisblack")
    save("rgb", image(3, np.uint8), photometric="rgb")
    save("rgba16", image(4, np.uint16), photometric="rgb", extrasamples=["unassalpha"])
    save("strips", counted("f4"), photometric="minisblack", rowsperstrip=2)
    save("tiles", counted("u2", (40, 35)), photometric="minisblack", tile=(16, 16))
    save("big", counted("i2"), photometric="minisblack", bigtiff=True)
    save("big-endian", counted("i2"), photometric="minisblack", byteorder=">")
    for name in ["lzw", "deflate", "packbits", "zstd"]:
        save(name, counted("u2", (40, 35)), photometric="minisblack", compression=name)
    save("lzw-predictor", counted("i2", (40, 35)), photometric="minisblack", compression="lzw", predictor=2)
    save("float-predictor", counted("f4", (40, 35)), photometric="minisblack", compression="deflate",
         predictor=3)
    noise = np.random.default_rng(0).integers(0, 255, (40, 35), np.uint8)
    for bigtiff, byteorder in [(False, "<"), (True, ">")]:
        save(f"lzw-tiles-{bigtiff}", noise, photometric="minisblack", compression="lzw", tile=(16, 16),
             bigtiff=bigtiff, byteorder=byteorder)
    bands = counted("i2", (3, 20, 35))
    tifffile.imwrite(folder / "planar-tiles.tif", bands, photometric="minisblack", planarconfig="separate",
                     metadata=None, tile=(16, 16), compression="deflate")
    save_npy(folder / "planar-tiles.npy", np.moveaxis(bands, 0, -1))
    bands = counted("i2", (4, 6, 5))
    tifffile.imwrite(folder / "planar.tif", bands, photometric="minisblack", planarconfig="separate",
                     metadata=None, rowsperstrip=2)
    save_npy(folder / "planar.npy", np.moveaxis(bands, 0, -1))
    save("five-bands", counted("f4", (6, 5, 5)), photometric="minisblack", planarconfig="contig")
    with tifffile.TiffWriter(folder / "pages.tif") as file:
        for page in range(3):
            file.write(counted("u1") + np.uint8(page), photometric="minisblack", metadata=None)
    save_npy(folder / "pages.npy", counted("u1") + np.uint8(1))
    bands = counted("u2", (4, 6, 5))
    with rasterio.open(folder / "geo.tif", "w", driver="GTiff", height=6, width=5, count=4, dtype="uint16",
                       crs="EPSG:32633", transform=rasterio.transform.from_origin(500000, 4600000, 10, 10),
                       nodata=0, tiled=False) as file:
        file.write(bands)
        file.update_tags(AREA_OR_POINT="Area", sensor="none")
    save_npy(folder / "geo.npy", np.moveaxis(bands, 0, -1))


if __name__ == "__main__":
    zarr_samples()
    png_samples()
    tiff_samples()
    with zipfile.ZipFile(ARCHIVE, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(HERE.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(HERE))
    shutil.rmtree(HERE)
