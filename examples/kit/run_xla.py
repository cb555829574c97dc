"""Run a conformance kit of StableHLO or HLO programs in XLA, as JAX brings it, and compare.

indim oracle --kit kit --rule stablehlo-broadcast-in-dim --files stablehlo
python run_xla.py kit
"""

import argparse
from pathlib import Path

import jax
import numpy as np
from comparison import compare_kit
from jax._src import xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib import _hlo
from jaxlib.mlir import ir


def stablehlo(folder: Path) -> str:
    """The text of the program, which XLA itself converts where it is HLO."""
    path = folder / "model.hlo"
    if not path.exists():
        return (folder / "model.mlir").read_text()
    module = _hlo.hlo_module_from_text(path.read_text())
    computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    return xla_client._xla.mlir.xla_computation_to_mlir_module(computation)


def run(folder: Path, inputs: list[np.ndarray]) -> np.ndarray:
    """The result of the program in a folder of the kit; the program's own error where it refuses."""
    backend = xla_bridge.get_backend("cpu")
    devices = xla_client.DeviceList(tuple(backend.local_devices()[:1]))
    with mlir.make_ir_context():
        module = ir.Module.parse(stablehlo(folder))
        module.operation.verify()
        program = backend.compile_and_load(module, devices, xla_client.CompileOptions())
    results = program.execute_sharded([jax.device_put(array) for array in inputs])
    return np.asarray(results.disassemble_into_single_device_arrays()[0][0])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kit", type=Path)
    raise SystemExit(compare_kit(parser.parse_args().kit, run))
