"""Values of XlaBuilder operations with `broadcast_dimensions`, run on the CPU. Needs jaxlib 0.4.38."""

import random

import numpy as np
from jax._src.lib import xla_client

from corpus import numbers, operand, write
from judge import report
from values import INTEGERS, ordinary, special

ops, CLIENT = xla_client.ops, xla_client.make_cpu_client()
BINARY = {"add": ops.Add, "sub": ops.Sub, "mul": ops.Mul, "div": ops.Div, "max": ops.Max, "rem": ops.Rem}


def run(build, arrays):
    builder = xla_client.XlaBuilder("case")
    parameters = [
        ops.Parameter(builder, i, xla_client.Shape.array_shape(a.dtype, a.shape))
        for i, a in enumerate(arrays)
    ]
    computation = builder.build(build(*parameters))
    module = xla_client._xla.mlir.xla_computation_to_mlir_module(computation)
    buffers = [CLIENT.buffer_from_pyval(array) for array in arrays]
    return np.asarray(CLIENT.compile(module).execute(buffers)[0])


def pair(op, arrays, result, dtype, **attributes):
    operands = [operand(a.shape, dtype, numbers(a, dtype)) for a in arrays]
    case = {"rule": "xla", "op": op, "operands": operands, **attributes}
    return case, {"ok": True, "dtype": dtype, "shape": list(result.shape), "data": numbers(result, dtype)}


def filled(shape, seed):
    return np.random.default_rng(seed).integers(-50, 50, shape).astype(np.int32)


def binary(count):
    source = random.Random(4)
    for index in range(count):
        rank = source.randint(1, 4)
        a = [source.choice((1, 2, 3)) for _ in range(rank)]
        dims = sorted(source.sample(range(rank), source.randint(0, rank)))
        b = [source.choice((a[axis], a[axis], 1)) if a[axis] > 1 else source.choice((1, 3)) for axis in dims]
        arrays = [filled(a, index), filled(b, index + count)]
        arrays = arrays if source.random() < 0.5 else arrays[::-1]
        op = source.choice(list(BINARY))
        result = run(lambda x, y: BINARY[op](x, y, dims), arrays)
        yield pair(op, arrays, result, "i32", dims=dims)


def onto(count):
    source = random.Random(5)
    for index in range(count):
        target = [source.choice((1, 2, 3)) for _ in range(source.randint(1, 4))]
        dims = sorted(source.sample(range(len(target)), source.randint(0, len(target))))
        array = filled([source.choice((target[axis], 1)) for axis in dims], index)
        if index % 2:
            result = run(lambda x: ops.BroadcastInDim(x, target, dims), [array])
            yield pair("broadcast_in_dim", [array], result, "i32", target=target, dims=dims)
        else:
            result = run(lambda x: ops.Broadcast(x, target), [array])
            yield pair("broadcast", [array], result, "i32", target=target)


def ternary(count):
    source = random.Random(6)
    for index in range(count):
        shape = [source.choice((1, 2, 3)) for _ in range(source.randint(1, 3))]
        arrays = [filled(source.choice((shape, [])), 3 * index + k) for k in range(3)]
        yield pair("clamp", arrays, run(ops.Clamp, arrays), "i32")


def integer_powers():
    """Powers of integers that this version of XLA computes correctly: it reads only the low 6 bits of an
    exponent, and is wrong for base -1 with a negative exponent."""
    for dtype in INTEGERS:
        x, y = special(dtype), ordinary(dtype, 64, 1) % 64
        x, y = np.repeat(x, 4), np.resize(y, 4 * len(x))
        if dtype[0] == "i":
            y = np.where(np.arange(len(y)) % 4 == 3, -y, y)
        kept = (x.astype(object) != -1) | (y >= 0)
        arrays = [x[kept][:40], y[kept][:40]]
        yield pair("pow", arrays, run(lambda x, y: ops.Pow(x, y), arrays), dtype)


def main():
    pairs = [*binary(160), *onto(60), *ternary(30), *integer_powers()]
    report("XlaBuilder", pairs)
    write("xla_broadcasts", pairs)


main()
