"""Values of OpenVINO's reference evaluator (2026.4.1 here) under each rule set, and of operations that
others lack.

Greater and GreaterEqual are not among them: under `pdpd` the evaluator says that -46 >= 30.
"""

import random

import numpy as np
import openvino
from openvino import opset13 as opset
from openvino.utils.node_factory import NodeFactory

from corpus import numbers, operand, write
from judge import report
from rules_model import verdict
from values import KINDS

FACTORY = NodeFactory("opset13")
NAMES = {
    "add": "Add",
    "sub": "Subtract",
    "mul": "Multiply",
    "max": "Maximum",
    "min": "Minimum",
    "squared_difference": "SquaredDifference",
    "rem": "Mod",
    "py_mod": "FloorMod",
    "lt": "Less",
}


def run(name, arrays, attributes, constants=()):
    parameters = [opset.parameter(list(array.shape), array.dtype) for array in arrays]
    inputs = [*parameters, *(opset.constant(np.array(c, np.int64)) for c in constants)]
    model = openvino.Model([FACTORY.create(name, inputs, attributes)], parameters)
    results = [openvino.Tensor(model.output(0).element_type, model.output(0).shape)]
    assert model.evaluate(results, [openvino.Tensor(np.asarray(array)) for array in arrays])
    return np.array(results[0].data)


def pair(case, result):
    dtype = next(name for name, kind in KINDS.items() if result.dtype == kind)
    return case, {"ok": True, "dtype": dtype, "shape": list(result.shape), "data": numbers(result, dtype)}


def operands(arrays):
    kinds = [next(name for name, kind in KINDS.items() if a.dtype == kind) for a in arrays]
    return [operand(a.shape, kind, numbers(a, kind)) for a, kind in zip(arrays, kinds)]


def filled(shape, seed, kind=np.int32):
    source = np.random.default_rng(seed)
    values = source.integers(1, 60, shape) * source.choice([-1, 1], shape)
    return np.asarray(values > 0 if kind is np.bool_ else values).astype(kind)


def part_of(shape, source):
    """A run of the axes with its start, some sizes 1."""
    start = source.randint(0, len(shape))
    end = source.randint(start, len(shape))
    return [size if source.random() < 0.75 else 1 for size in shape[start:end]], start


def elementwise(count):
    source = random.Random(7)
    for index in range(count):
        shape = [source.randint(1, 3) for _ in range(source.randint(1, 4))]
        small, start = part_of(shape, source)
        rule = source.choice(("pdpd", "pdpd", "numpy", "none"))
        small = shape if rule == "none" else small
        op, kind = source.choice(list(NAMES)), source.choice((np.int32, np.float32))
        # The evaluator has squared_difference for floats only and rem for integers; of floats its
        # py_mod loses the sign of a zero.
        kind = {"squared_difference": np.float32, "rem": np.int32, "py_mod": np.int32}.get(op, kind)
        arrays = [filled(shape, 2 * index, kind), filled(small, 2 * index + 1, kind)]
        case = {"rule": rule, "op": op, "operands": operands(arrays)}
        attributes = {"auto_broadcast": rule}
        if rule == "pdpd":
            case["axis"] = attributes["auto_broadcast.auto_broadcast_axis"] = source.choice(
                (start, start, -1)
            )
        if verdict(case)["ok"]:
            yield pair(case, run(NAMES[op], arrays, attributes))


def select(count):
    source = random.Random(8)
    for index in range(count):
        shape = [source.randint(1, 3) for _ in range(source.randint(1, 3))]
        small, axis = part_of(shape, source)
        # The reference evaluator puts a condition wrongly when its rank differs from the other's.
        other = [size if source.random() < 0.75 else 1 for size in small]
        arrays = [filled(small, index, np.bool_), filled(shape, index + 1), filled(other, index + 2)]
        for rule, attributes in (("pdpd", {"axis": axis}), ("numpy", {})):
            case = {"rule": rule, "op": "select", "operands": operands(arrays), **attributes}
            if verdict(case)["ok"]:
                spec = {"auto_broadcast": rule}
                if attributes:
                    spec["auto_broadcast.auto_broadcast_axis"] = axis
                yield pair(case, run("Select", arrays, spec))


def onto(count):
    source = random.Random(9)
    for index in range(count):
        target = [source.randint(1, 3) for _ in range(source.randint(1, 4))]
        small, start = part_of(target, source)
        if not small:
            continue
        array = filled(small, index)
        for rule in ("unidirectional", "bidirectional", "explicit"):
            case = {"rule": rule, "op": "broadcast", "operands": operands([array]), "target": target}
            constants = [target]
            if rule == "explicit":
                case["dims"] = list(range(start, start + len(small)))
                constants.append(case["dims"])
            if verdict(case)["ok"]:
                mode = {"unidirectional": "numpy"}.get(rule, rule)
                yield pair(case, run("Broadcast", [array], {"mode": mode}, constants))


def divisions():
    """Integers by either rounding; the evaluator refuses a zero divisor."""
    x, y = np.arange(-13, 14, dtype=np.int32), np.array([-7, -3, -2, -1, 1, 2, 3, 7, 11], np.int32)
    x, y = np.repeat(x, len(y)), np.tile(y, len(x))
    for op, pythondiv in (("floor_div", True), ("div", False)):
        case = {"rule": "numpy", "op": op, "operands": operands([x, y])}
        yield pair(case, run("Divide", [x, y], {"auto_broadcast": "numpy", "m_pythondiv": pythondiv}))


def main():
    pairs = [*elementwise(150), *select(60), *onto(50), *divisions()]
    report("OpenVINO", pairs)
    write("openvino_values", pairs)


main()
