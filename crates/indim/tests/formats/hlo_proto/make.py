"""Writes the programs of this folder with XLA: `NAME.hlo.pb` is the message, `NAME.hlo` the text of the same
module, `NAME.npz` inputs and what XLA computes of them. `softmax.hlo.pb` is as XLA dumps it."""

import os
import shutil
import tempfile
from pathlib import Path

DUMP = tempfile.mkdtemp()
os.environ["XLA_FLAGS"] = f"--xla_dump_to={DUMP} --xla_dump_hlo_as_proto --xla_dump_hlo_module_re=.*softmax.*"

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib import _hlo
from jaxlib.mlir import ir

HERE = Path(__file__).parent
EVERYTHING = """HloModule everything
add_f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
twice { p = f32[] parameter(0) ROOT r = f32[] add(p, p) }
halves {
  p = f32[2,3]{1,0} parameter(0)
  h = f32[] constant(0.5)
  b = f32[2,3]{1,0} broadcast(h), dimensions={}
  m = f32[2,3]{1,0} multiply(p, b)
  ROOT t = (f32[2,3]{1,0}, f32[2,3]{1,0}) tuple(m, p)
}
ENTRY main {
  x = f32[2,3]{1,0} parameter(0), metadata={op_name="left"}
  n = s32[3]{0} parameter(1)
  turned = f32[2,3]{0,1} constant({ { 1, -2.5, 3 }, { 4, 5, 1e-3 } })
  sum = f32[2,3] add(x, turned)
  zero = f32[] constant(0)
  rows = f32[2]{0} reduce(sum, zero), dimensions={1}, to_apply=add_f
  steps = f32[1,2] slice(x), slice={[1:2], [0:3:2]}
  padded = f32[4,4] pad(sum, zero), padding=1_0_1x-1_2
  flipped = f32[2,3] reverse(x), dimensions={1}
  joined = f32[2,6] concatenate(flipped, sum), dimensions={1}
  across = f32[3,2] transpose(x), dimensions={1,0}
  count = s32[2,3] iota(), iota_dimension=1
  spread = s32[2,3] broadcast(n), dimensions={1}
  less = pred[2,3] compare(count, spread), direction=LT
  total = pred[2,3] compare(x, sum), direction=GE, type=TOTALORDER
  both = pred[2,3] and(less, total)
  chosen = f32[2,3] select(both, x, sum)
  coarse = f32[2,3] reduce-precision(sum), exponent_bits=6, mantissa_bits=3
  halved = (f32[2,3]{1,0}, f32[2,3]{1,0}) call(x), to_apply=halves
  half = f32[2,3]{1,0} get-tuple-element(halved), index=0
  whole = f32[2,3]{1,0} get-tuple-element(halved), index=1
  doubled = f32[2,3] map(half), dimensions={0,1}, to_apply=twice
  bits = s32[2,3] bitcast-convert(whole)
  ROOT all = (f32[2], f32[1,2], f32[4,4], f32[2,6], f32[3,2], f32[2,3], f32[2,3], f32[2,3], s32[2,3])
    tuple(rows, steps, padded, joined, across, chosen, coarse, doubled, bits)
}
"""
CONSTANTS = """HloModule constants
ENTRY main {
  a = pred[2,2] constant({ {1, 0}, {0, 1} })
  b = s8[3] constant({ -128, 0, 127 })
  c = s16[2] constant({ -32768, 7 })
  d = s32[] constant(-7)
  e = s64[2] constant({ -9223372036854775808, 1 })
  f = u8[2] constant({ 255, 1 })
  g = u16[2] constant({ 65535, 1 })
  h = u32[2] constant({ 4294967295, 1 })
  i = u64[1] constant({ 18446744073709551615 })
  j = f16[2] constant({ 0.1, -65504 })
  k = bf16[3] constant({ 0.1, nan, 3e38 })
  l = f32[3] constant({ nan, -inf, 1e-45 })
  m = f64[2] constant({ 5e-324, -0 })
  n = c64[2] constant({ (1, -0.5), (nan, inf) })
  o = c128[1] constant({ (0.1, -2) })
  p = f32[0,3] constant({ })
  ROOT all = (pred[2,2], s8[3], s16[2], s32[], s64[2], u8[2], u16[2], u32[2], u64[1], f16[2], bf16[3], f32[3],
    f64[2], c64[2], c128[1], f32[0,3])
    tuple(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
}
"""
# XLA's own conversion to MLIR, by which it is run here, does not take constants that are tuples.
TUPLES = """HloModule tuples
ENTRY main {
  x = (f32[2], (s8[])) parameter(0)
  c = (f32[2,2]{0,1}, (s8[], u16[2])) constant(({ { 1, 2 }, { 3, 4 } }, (5, { 6, 7 })))
  ROOT r = ((f32[2], (s8[])), (f32[2,2]{0,1}, (s8[], u16[2]))) tuple(x, c)
}
"""
# Groups of features and of the batch, any layout, strides, padding, dilations and reversal.
CONVOLUTIONS = """HloModule convolutions
ENTRY main {
  x = f32[4,5,3,5] parameter(0)
  k = f32[3,2,2,4] parameter(1)
  turned = f32[4,5,3,5] add(x, x)
  first = f32[6,3,4,4] convolution(x, k), window={size=3x2 stride=2x1 pad=1_-1x0_3 lhs_dilate=2x1
    rhs_dilate=1x2 rhs_reversal=1x0}, dim_labels=f0b1_0i1o->1bf0, feature_group_count=2
  rows = f32[4,15,5] reshape(turned)
  taps = f32[3,5,8] iota(), iota_dimension=2
  second = f32[2,8,13] convolution(rows, taps), window={size=3}, dim_labels=b0f_0io->bf0,
    batch_group_count=2
  ROOT all = (f32[6,3,4,4], f32[2,8,13]) tuple(first, second)
}
"""


def softmax(x):
    shifted = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    return shifted / jnp.sum(shifted, axis=-1, keepdims=True) + jnp.arange(12, dtype=jnp.float32)


def run(module, inputs):
    proto = module.as_serialized_hlo_module_proto()
    text = xla_client._xla.mlir.xla_computation_to_mlir_module(_hlo.XlaComputation(proto))
    backend = xla_bridge.get_backend("cpu")
    devices = xla_client.DeviceList(tuple(backend.local_devices()[:1]))
    with mlir.make_ir_context():
        program = backend.compile_and_load(ir.Module.parse(text), devices, xla_client.CompileOptions())
    results = program.execute_sharded([jax.device_put(value) for value in inputs])
    return [np.asarray(result[0]) for result in results.disassemble_into_single_device_arrays()]


def write(name, module):
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    (HERE / f"{name}.hlo").write_text(module.to_string(options))
    (HERE / f"{name}.hlo.pb").write_bytes(module.as_serialized_hlo_module_proto())


def write_arrays(name, inputs, outputs):
    arrays = {f"input{number}": array for number, array in enumerate(inputs)}
    arrays |= {f"output{number}": np.asarray(array) for number, array in enumerate(outputs)}
    np.savez_compressed(HERE / f"{name}.npz", **arrays)


def main():
    jax.config.update("jax_enable_x64", True)
    # Locations without folders.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    x = np.array([[1, -2, 3.3], [0, 5, -0.25]], np.float32)
    n = np.array([1, 1, 3], np.int32)
    module = _hlo.hlo_module_from_text(EVERYTHING)
    write("everything", module)
    write_arrays("everything", [x, n], run(module, [x, n]))
    module = _hlo.hlo_module_from_text(CONSTANTS)
    # XLA's processor code changes nothing in constants; of bf16 NumPy knows the bits only.
    outputs = [
        array.view(np.uint16) if array.dtype.name == "bfloat16" else array for array in run(module, [])
    ]
    write("constants", module)
    write_arrays("constants", [], outputs)
    x = np.arange(300, dtype=np.float32).reshape(4, 5, 3, 5) % 7 - 3
    k = np.arange(48, dtype=np.float32).reshape(3, 2, 2, 4) % 5 - 2
    module = _hlo.hlo_module_from_text(CONVOLUTIONS)
    write("convolutions", module)
    write_arrays("convolutions", [x, k], run(module, [x, k]))
    write("tuples", _hlo.hlo_module_from_text(TUPLES))
    rows = np.linspace(-2, 3, 24, dtype=np.float32).reshape(2, 12)
    lowered = jax.jit(softmax).lower(rows)
    write("softmax_lowered", lowered.compiler_ir("hlo").get_hlo_module())
    write_arrays("softmax_lowered", [rows], [softmax(rows)])
    optimised = lowered.compile().runtime_executable().hlo_modules()[0]
    write("softmax", optimised)
    write_arrays("softmax", [rows], [softmax(rows)])
    dumped = next(Path(DUMP).glob("*cpu_after_optimizations.hlo.pb"))
    shutil.copy(dumped, HERE / "softmax.hlo.pb")


main()
