"""zarr-python writes to a server with the interface of S3, the command reads it and writes results there."""

import os
import subprocess
import sys

import numpy
import s3fs
import zarr
from moto.server import ThreadedMotoServer

command = sys.argv[1]
server = ThreadedMotoServer(port=0)
server.start()
host, port = server.get_host_and_port()
address = f"http://127.0.0.1:{port}"
os.environ |= {
    "AWS_ENDPOINT_URL": address,
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
}
options = {"endpoint_url": address, "key": "testing", "secret": "testing"}
files = s3fs.S3FileSystem(**options, use_listings_cache=False)
files.mkdir("bucket")


def store(name, read_only=False):
    return zarr.storage.FsspecStore.from_url(
        f"s3://bucket/{name}", storage_options=options, read_only=read_only
    )


def indim(*arguments):
    ran = subprocess.run([command, *arguments], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


x = numpy.arange(12 * 50 * 30, dtype="f4").reshape(12, 50, 30)
expected = x.mean(axis=0, dtype="f8").astype("f4")
kinds = {
    "v2": {"zarr_format": 2, "chunks": (1, 50, 30)},
    "v3": {"zarr_format": 3, "chunks": (1, 50, 30)},
    "sharded": {"zarr_format": 3, "chunks": (1, 25, 10), "shards": (4, 50, 30)},
}
for name, kind in kinds.items():
    group = zarr.create_group(store(f"{name}.zarr"), zarr_format=kind.pop("zarr_format"))
    array = group.create_array("t", shape=x.shape, dtype=x.dtype, **kind)
    array[...] = x
    zarr.consolidate_metadata(store(f"{name}.zarr"))
    indim("eval", "mean(t, axis=0)", f"t=s3://bucket/{name}.zarr/t", "-o", "s3://bucket/mean.npy")
    with files.open("s3://bucket/mean.npy", "rb") as file:
        numpy.testing.assert_allclose(numpy.load(file), expected, rtol=1e-6)
    indim("eval", "t * 2", f"t=s3://bucket/{name}.zarr/t", "-o", f"s3://bucket/{name}-twice.zarr/t")
    written = zarr.open_group(store(f"{name}-twice.zarr", True), mode="r")["t"]
    numpy.testing.assert_array_equal(written[...], 2 * x)
    arguments = [command, "eval", "t", f"t=s3://bucket/{name}.zarr"]
    failed = subprocess.run(arguments, capture_output=True, text=True)
    assert "error[zarr-group]" in failed.stderr and "there are t" in failed.stderr, failed.stderr

large = numpy.arange(6 << 20, dtype="f4")
with files.open("s3://bucket/large.npy", "wb") as file:
    numpy.save(file, large)
indim("eval", "x + 1", "x=s3://bucket/large.npy", "-o", "s3://bucket/more.npy")
with files.open("s3://bucket/more.npy", "rb") as file:
    numpy.testing.assert_array_equal(numpy.load(file), large + 1)
server.stop()
print("all equal")
