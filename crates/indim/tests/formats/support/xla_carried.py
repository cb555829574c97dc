"""Programs of JAX with operations that indim lacks: `make FOLDER` writes them as StableHLO and HLO.

`check FOLDER` compares each with the program that indim wrote from it, `FILE.new`: JAX parses and verifies
both, both have the same custom calls, loops and branches, and those that XLA can run give the same results.
"""

import os
import re
import sys
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from jax._src import xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from jaxlib import _hlo
from jaxlib.mlir import ir

F32 = jnp.float32
PROGRAMS = {}


def shape(*sizes, dtype=F32):
    return jax.ShapeDtypeStruct(sizes, dtype)


def program(*arguments):
    def add(function):
        PROGRAMS[function.__name__] = (function, arguments)

    return add


def foreign(name, result, **options):
    return jax.ffi.ffi_call(f"acme.{name}", result, **options)


@program(shape(4, 8))
def attributes(x):
    y = foreign("whiten", shape(4, 8))(x * 2 + 1, scale=np.float32(0.5), name='a "b"}\n')
    return jnp.tanh(y) + x


@program(shape(4, 8))
def several_results(x):
    results = (shape(4, 4), shape(4, 4), shape(2, dtype=jnp.int32))
    a, b, c = foreign("split", results, has_side_effect=True)(x + 1)
    return a * 2, b.sum(0) + c.sum()


@program(shape(4, 8))
def aliases(x):
    return foreign("inplace", shape(4, 8), input_output_aliases={0: 0})(x * x) @ jnp.ones((8, 3))


@program(shape(6, 7))
def no_results(x):
    foreign("log", (), has_side_effect=True)(x + 1)
    return x * 2


@program(shape(6), shape(6))
def calls(x, y):
    inner = jax.jit(lambda v: foreign("inner", shape(6))(v * 2) + 1)
    other = jax.jit(lambda v: jnp.exp(v) * 2)
    return inner(x) + other(y) + inner(other(x))


@program(shape(6, 7))
def sorts(x):
    values, indices = lax.top_k(x * 2, 3)
    y = foreign("gather", shape(6, 3))(values, indices)
    return jnp.argmax(y, 1), jnp.sort(y, 1), values + 1


@program(shape(6))
def loop(x):
    def body(state):
        return state[0] + 1, foreign("step", shape(6))(state[1]) + 1

    return lax.while_loop(lambda state: state[0] < 3, body, (0, x * 2))[1] * 3


@program(shape(6))
def callback(x):
    return jax.pure_callback(np.sin, shape(6), x * 2) + 1


@program(shape(6))
def callback_in_scan(x):
    def step(state, value):
        state = jax.pure_callback(np.sin, shape(), state + value)
        return state, state * 2

    last, states = lax.scan(step, jnp.float32(0), x + 1)
    return states - last


@program(shape(6))
def callback_in_branch(x):
    def called(v):
        return jax.pure_callback(np.sin, shape(6), v)

    return lax.cond(x.sum() > 0, called, lambda v: v * 2, x + 1).max()


@program(shape(6))
def print_in_passing(x):
    y = x * 2
    jax.debug.print("{}", y.sum())
    return y + 1


@program(shape(8, 4))
def constrained(x):
    mesh = jax.make_mesh((2,), ("i",), (AxisType.Auto,))
    y = lax.with_sharding_constraint(x * 2, NamedSharding(mesh, PartitionSpec("i")))
    return foreign("whiten", shape(8, 4))(y) + 1


@program(shape(8, 4))
def mapped_over_devices(x):
    mesh = jax.make_mesh((2,), ("i",), (AxisType.Auto,))
    spec = PartitionSpec("i")
    body = lambda v: foreign("whiten", shape(4, 4))(v * 2)
    return jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)(x + 1) * 3


@program(shape(6, 7))
def runs_reduction_by_subtraction(x):
    return lax.reduce(x * 2, jnp.float32(0), lambda a, b: a - b, (1,)) + 1


@program(shape(5, 5))
def runs_cholesky(x):
    return jnp.linalg.cholesky(x @ x.T + jnp.eye(5)).sum(0)


@program(shape(5, 3))
def runs_qr(x):
    q, r = jnp.linalg.qr(x * 2)
    return q @ r, jnp.abs(r)


@program(shape(5, 3))
def runs_svd(x):
    u, s, v = jnp.linalg.svd(x + 1, full_matrices=False)
    return (u * s) @ v


@program(shape(4, 4))
def runs_eigh(x):
    values, vectors = jnp.linalg.eigh((x + x.T) / 2)
    return values.max(), jnp.abs(vectors)


@program(shape(4, 4), shape(4, 2))
def runs_solve(a, b):
    return jnp.linalg.solve(a + jnp.eye(4), b * 3) - 1


def make(folder):
    for name, (function, arguments) in PROGRAMS.items():
        lowered = jax.jit(function).lower(*arguments)
        module = lowered.compiler_ir("stablehlo")
        (folder / f"{name}.mlir").write_text(lowered.as_text())
        (folder / f"{name}.located.mlir").write_text(lowered.as_text(debug_info=True))
        generic = module.operation.get_asm(print_generic_op_form=True)
        (folder / f"{name}.generic.mlir").write_text(generic)
        (folder / f"{name}.hlo").write_text(lowered.as_text("hlo"))
    (size,) = export.symbolic_shape("n")
    whiten = foreign("whiten", jax.ShapeDtypeStruct((size, 8), F32))
    allowed = [export.DisabledSafetyCheck.custom_call("acme.whiten")]
    exported = export.export(jax.jit(lambda x: whiten(x * 2) + 1), disabled_checks=allowed)
    text = exported(jax.ShapeDtypeStruct((size, 8), F32)).mlir_module()
    (folder / "open_sizes.mlir").write_text(text)


def parsed(path):
    """The module as MLIR, and what indim must copy from it."""
    text = path.read_text()
    if ".hlo" in path.name:
        module = _hlo.hlo_module_from_text(text)
        text = xla_client._xla.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        module.operation.verify()
        return module, sorted(copied(module.operation))


def copied(operation):
    for region in operation.regions:
        for inner in (it.operation for block in region.blocks for it in block.operations):
            if inner.name.rsplit(".")[-1] in ("custom_call", "while", "case", "sharding_constraint"):
                names = [getattr(it, "name", it) for it in inner.attributes]
                attributes = sorted(f"{name} = {inner.attributes[name]}" for name in names)
                types = [str(it.type) for it in [*inner.operands, *inner.results]]
                yield inner.name, attributes, types
            yield from copied(inner)


def run(module, inputs):
    backend = xla_bridge.get_backend("cpu")
    devices = xla_client.DeviceList(tuple(backend.local_devices()[:1]))
    compiled = backend.compile_and_load(module, devices, xla_client.CompileOptions())
    results = compiled.execute_sharded([jax.device_put(value) for value in inputs])
    return [np.asarray(result[0]) for result in results.disassemble_into_single_device_arrays()]


def check(folder):
    # Fills XLA's table of LAPACK functions.
    jnp.linalg.cholesky(jnp.eye(2)).block_until_ready()
    wrong = []
    for path in sorted(folder.glob("*.new")):
        (source, kept), (new, found) = parsed(path.with_suffix("")), parsed(path)
        is_same = kept == found
        if path.name.startswith("runs_"):
            numbers = np.random.default_rng(0)
            shapes = PROGRAMS[path.name.split(".")[0]][1]
            inputs = [numbers.standard_normal(it.shape).astype(it.dtype) for it in shapes]
            pairs = zip(run(source, inputs), run(new, inputs), strict=True)
            is_same &= all(np.allclose(x, y, rtol=1e-4, atol=1e-4) for x, y in pairs)
        print(path.name, "same" if is_same else "DIFFERENT")
        if not is_same:
            wrong.append(f"{path.name}: {kept} {found}")
    sys.exit("\n".join(wrong) or None)


{"make": make, "check": check}[sys.argv[1]](Path(sys.argv[2]))
