"""Shapes and refusals of OpenVINO's shape inference (2026.4.1 here).

Its errors name no axis, so only legality and shapes are its own; codes and labels are the rules'. The
rules deviate from OpenVINO's code on purpose in the cases of `deviates`, which are left out.
"""

import itertools
import random

import numpy as np
from openvino import opset13 as opset
from openvino.utils.node_factory import NodeFactory

from corpus import check_model, merged, operand, pick, write

FACTORY = NodeFactory("opset13")
OPS = {"add": "Add", "mul": "Multiply", "sub": "Subtract", "div": "Divide", "max": "Maximum", "lt": "Less"}


def answer(name, inputs, attributes):
    try:
        node = FACTORY.create(name, inputs, attributes)
    except RuntimeError:
        return {"ok": False}
    return {"ok": True, "shape": [int(size) for size in node.output(0).shape]}


def parameters(shapes, first=np.float32):
    kinds = [first] + [np.float32] * (len(shapes) - 1)
    return [opset.parameter(list(shape), kind) for shape, kind in zip(shapes, kinds)]


def elementwise(rule, a, b, axis=None, op="add"):
    case = {"rule": rule, "op": op, "operands": [operand(a), operand(b)]}
    attributes = {"auto_broadcast": rule}
    if axis is not None:
        case["axis"] = attributes["auto_broadcast.auto_broadcast_axis"] = axis
    return case, answer(OPS[op], parameters([a, b]), attributes)


def select(rule, shapes, axis=None):
    operands = [operand(shapes[0], "bool"), operand(shapes[1]), operand(shapes[2])]
    case = {"rule": rule, "op": "select", "operands": operands}
    attributes = {"auto_broadcast": rule}
    if axis is not None:
        case["axis"] = attributes["auto_broadcast.auto_broadcast_axis"] = axis
    return case, answer("Select", parameters(shapes, np.bool_), attributes)


def onto(rule, data, target, axes=None):
    case = {"rule": rule, "op": "broadcast", "operands": [operand(data)], "target": target}
    inputs = [*parameters([data]), opset.constant(np.array(target, np.int64))]
    if axes is not None:
        case["dims"] = axes
        inputs.append(opset.constant(np.array(axes, np.int64)))
    mode = {"unidirectional": "numpy"}.get(rule, rule)
    return case, answer("Broadcast", inputs, {"mode": mode})


def deviates(case, real):
    """Whether the rules differ from OpenVINO's code here, and say so."""
    rule, shapes = case["rule"], [one["shape"] for one in case["operands"]]
    if rule == "pdpd":
        # The document knows no exception for zero sizes, the code has two; an axis absent is -1.
        return any(0 in shape for shape in shapes) or "axis" not in case
    if rule == "explicit":
        # The code lets axes repeat, and a scalar have one entry.
        dims = case["dims"]
        return len(set(dims)) < len(dims) or (not shapes[0] and len(dims) == 1)
    return False


def shapes(maximum_rank, sizes):
    for rank in range(maximum_rank + 1):
        yield from (list(shape) for shape in itertools.product(sizes, repeat=rank))


def lists(maximum_length, values):
    for length in range(maximum_length + 1):
        yield from (list(entries) for entries in itertools.product(values, repeat=length))


def exhaustive():
    for a, b in itertools.product(shapes(3, (0, 1, 2)), repeat=2):
        for rule in ("none", "numpy"):
            yield elementwise(rule, a, b)
        for axis in range(-2, 5):
            yield elementwise("pdpd", a, b, axis)
    for a, b in itertools.product(shapes(3, (0, 1, 2, 3)), repeat=2):
        yield onto("unidirectional", a, b)
        yield onto("bidirectional", a, b)
    for a, target in itertools.product(shapes(2, (0, 1, 2)), shapes(3, (0, 1, 2))):
        for dims in lists(len(a) + 1, range(-1, len(target) + 1)):
            yield onto("explicit", a, target, dims)
    for three in itertools.product(shapes(2, (1, 2, 3)), repeat=3):
        for rule in ("none", "numpy"):
            yield select(rule, list(three))
        for axis in (-1, 0, 1):
            yield select("pdpd", list(three), axis)


def larger(count):
    source = random.Random(2)
    for _ in range(count):
        rank = source.randint(3, 6)
        a = [source.choice((1, 2, 3, 4, 5)) for _ in range(rank)]
        start = source.randint(0, rank)
        end = source.randint(start, rank)
        b = [source.choice((size, size, size, 1)) for size in a[start:end]]
        if b and source.random() < 0.1:
            b[source.randrange(len(b))] = source.randint(1, 5)
        op = source.choice(list(OPS))
        yield elementwise("pdpd", a, b, source.choice((start, start, start, -1)), op)
        yield elementwise("numpy", a, [1] * 0 + b, op=op)
        yield onto("unidirectional", b, a)
        yield onto("bidirectional", a, b)
        yield onto("explicit", b, a, list(range(start, end)))


def main():
    everything = [*exhaustive(), *larger(3000)]
    pairs = [(case, real) for case, real in everything if not deviates(case, real)]
    check_model(pairs)
    print(len(pairs), "cases of OpenVINO agree with the model,", len(everything) - len(pairs), "left out")
    write("openvino_shapes", pick([(case, merged(case, real)) for case, real in pairs], 520))


main()
