"""Shapes and refusals of XLA's own XlaBuilder. Needs jaxlib 0.4.38, the last that has it in Python.

Compares all small cases and many random larger ones with `rules_model.py`, then writes a sample.
"""

import itertools
import random

import numpy as np
from jax._src.lib import xla_client

from corpus import check_model, merged, operand, pick, write

ops = xla_client.ops
MESSAGES = [
    ("must either be not set or be the identity", "same-rank-dims-not-identity"),
    ("Shapes must be equal rank", "rank-mismatch-without-dims"),
    ("has to match lower-rank operand's rank", "dims-length-mismatch"),
    ("has to match operand's rank", "dims-length-mismatch"),
    ("cannot be negative", "dim-negative"),
    ("too large; higher-rank", "dim-too-large"),
    ("order is wrong", "dims-not-strictly-increasing"),
    ("Binary op with incompatible shapes", "degenerate-incompatible"),
    ("is out of bound", "dim-out-of-range"),
    ("Input dimension should be either 1 or equal", "size-mismatch"),
    ("must be to an equal or higher ranked shape", None),
    ("Unimplemented implicit broadcast", "implicit-broadcast-unsupported"),
]


def code(message):
    if "mismatch: " in message and "Broadcast dimension " in message:
        return "dim-size-mismatch"
    if "different element types" in message:
        return "element-type-mismatch"
    for text, code in MESSAGES:
        if text in message:
            return code
    raise AssertionError(message)


def answer(build, shapes, dtypes):
    builder = xla_client.XlaBuilder("case")
    parameters = [
        ops.Parameter(builder, i, xla_client.Shape.array_shape(np.dtype(dtype), shape))
        for i, (shape, dtype) in enumerate(zip(shapes, dtypes))
    ]
    try:
        shape = builder.get_shape(build(*parameters))
    except Exception as error:
        refused = code(str(error))
        return {"ok": False} if refused is None else {"ok": False, "code": refused}
    return {"ok": True, "shape": list(shape.dimensions())}


F32, S32, PRED = np.float32, np.int32, np.bool_


def binary(a, b, dims, dtypes=(F32, F32)):
    case = {"rule": "xla", "op": "add", "operands": [operand(a), operand(b)], "dims": dims}
    names = {F32: "f32", S32: "i32"}
    for one, dtype in zip(case["operands"], dtypes):
        one["dtype"] = names[dtype]
    return case, answer(lambda x, y: ops.Add(x, y, dims), [a, b], dtypes)


def ternary(op, shapes):
    case = {"rule": "xla", "op": op, "operands": [operand(shape) for shape in shapes]}
    if op == "select":
        case["operands"][0]["dtype"] = "bool"
        return case, answer(ops.Select, shapes, [PRED, F32, F32])
    return case, answer(ops.Clamp, shapes, [F32] * 3)


def onto(a, target, dims):
    case = {"rule": "xla", "op": "broadcast_in_dim", "operands": [operand(a)], "target": target, "dims": dims}
    real = answer(lambda x: ops.BroadcastInDim(x, target, dims), [a], [F32])
    if len(target) in dims:
        # XlaBuilder's first range check accepts this entry, so it may report another mistake.
        real.pop("code", None)
    return case, real


def in_front(a, sizes):
    case = {"rule": "xla", "op": "broadcast", "operands": [operand(a)], "target": sizes}
    return case, answer(lambda x: ops.Broadcast(x, sizes), [a], [F32])


def shapes(maximum_rank, sizes):
    for rank in range(maximum_rank + 1):
        yield from (list(shape) for shape in itertools.product(sizes, repeat=rank))


def lists(maximum_length, values):
    for length in range(maximum_length + 1):
        yield from (list(entries) for entries in itertools.product(values, repeat=length))


def exhaustive():
    for a, b in itertools.product(shapes(3, (0, 1, 2)), repeat=2):
        low, high = sorted((len(a), len(b)))
        for dims in lists(min(low + 1, 3), range(-1, high + 1)):
            yield binary(a, b, dims)
    for a, b in itertools.product(shapes(2, (0, 1, 3)), repeat=2):
        yield binary(a, b, [], (F32, S32))
        yield in_front(a, b)
    for a, target in itertools.product(shapes(2, (0, 1, 2, 3)), shapes(3, (0, 1, 2))):
        for dims in lists(len(a) + 1, range(-1, len(target) + 1)):
            yield onto(a, target, dims)
    for three in itertools.product(shapes(2, (0, 1, 2)), repeat=3):
        for op in ("select", "clamp"):
            yield ternary(op, list(three))


def sizes_like(source, sizes):
    """Mostly the same sizes, some of them 1, few of them wrong."""
    change = lambda size: source.choice([size, size, size, size, 1, 1, source.randint(0, 5)])
    return [change(size) for size in sizes]


def larger(count):
    source = random.Random(1)
    for _ in range(count):
        rank = source.randint(2, 6)
        a = [source.choice([0, 1, 2, 3, 4, 5, 5, 4, 3, 2]) for _ in range(rank)]
        dims = sorted(source.sample(range(rank), source.randint(0, rank)))
        b = sizes_like(source, [a[axis] for axis in dims])
        a = [1 if source.random() < 0.15 else size for size in a]
        if dims and source.random() < 0.25:
            dims[source.randrange(len(dims))] = source.randint(-1, rank)
        if source.random() < 0.05:
            dims = dims[:-1]
        if source.random() < 0.1:
            source.shuffle(dims)
        yield onto(b, a, dims)
        pair = (a, b) if source.random() < 0.5 else (b, a)
        yield binary(*pair, dims)


def main():
    pairs = [*exhaustive(), *larger(20_000)]
    check_model(pairs)
    print(len(pairs), "cases of XLA agree with the model")
    write("xla_shapes", pick([(case, merged(case, real)) for case, real in pairs], 720))


main()
