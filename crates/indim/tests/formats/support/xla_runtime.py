"""Compiles the programs in a folder with XLA and compares what they give.

Each line of `index.tsv` is a file, the number of its inputs, then arrays: `file:type:2x3`, inputs first.
"""

import sys
from pathlib import Path

import jax
import ml_dtypes
import numpy as np
from jax._src import xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib import _hlo
from jaxlib.mlir import ir

TYPES = {"bool": np.bool_, "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}
TYPES |= {"f64": np.float64, "c64": np.complex64, "c128": np.complex128}
TYPES |= {f"{kind}{bits}": np.dtype(f"{kind}{bits // 8}") for kind in "iu" for bits in (8, 16, 32, 64)}


def array(folder, text):
    name, dtype, sizes = text.split(":")
    shape = tuple(int(size) for size in sizes.split("x") if size)
    return np.fromfile(folder / name, dtype=TYPES[dtype]).reshape(shape)


def module(path):
    text = path.read_text()
    if path.suffix == ".hlo":
        proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
        text = xla_client._xla.mlir.xla_computation_to_mlir_module(_hlo.XlaComputation(proto))
    with mlir.make_ir_context():
        parsed = ir.Module.parse(text)
        parsed.operation.verify()
        return parsed


def run(path, inputs):
    backend = xla_bridge.get_backend("cpu")
    devices = xla_client.DeviceList(tuple(backend.local_devices()[:1]))
    program = backend.compile_and_load(module(path), devices, xla_client.CompileOptions())
    results = program.execute_sharded([jax.device_put(value) for value in inputs])
    return [np.asarray(result[0]) for result in results.disassemble_into_single_device_arrays()]


def agree(found, expected):
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if found.dtype.kind in "biu":
        return np.array_equal(found, expected)
    return np.allclose(found, expected, rtol=1e-4, atol=1e-4, equal_nan=True)


def main():
    jax.config.update("jax_enable_x64", True)
    folder = Path(sys.argv[1])
    lines = (folder / "index.tsv").read_text().splitlines()
    wrong = []
    for line in lines:
        name, count, *arrays = line.split("\t")
        values = [array(folder, text) for text in arrays]
        inputs, expected = values[: int(count)], values[int(count) :]
        found = run(folder / name, inputs)
        if len(found) != len(expected) or not all(map(agree, found, expected)):
            wrong.append(name)
    print(f"{len(lines)} programs were run by XLA")
    sys.exit(f"other results: {wrong}" if wrong else 0)


main()
