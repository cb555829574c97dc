"""ONNX's rules: Expand (bidirectional) by onnxruntime 1.31.1, and the rule before opset 7.

No engine computes the old rule as written. OpenVINO 2026.4.1 reads such models, but also takes what the old
text refuses, so it is asked only about legal cases and must agree on each shape. The codes of illegal cases
come from `rules_model.py`, which reads the rules.
"""

import io
import itertools

import numpy as np
import onnx
import onnxruntime
import openvino
from onnx import TensorProto, helper

from corpus import check_model, merged, operand, pick, write
from rules_model import verdict

CORE = openvino.Core()
onnxruntime.set_default_logger_severity(4)


def expander():
    node = helper.make_node("Expand", ["x", "target"], ["y"])
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)]
    inputs.append(helper.make_tensor_value_info("target", TensorProto.INT64, None))
    graph = helper.make_graph(
        [node], "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=10)
    return onnxruntime.InferenceSession(model.SerializeToString())


def expand(session, data, target):
    case = {"rule": "bidirectional", "op": "broadcast", "operands": [operand(data)], "target": target}
    inputs = {"x": np.zeros(data, np.float32), "target": np.array(target, np.int64)}
    try:
        return case, {"ok": True, "shape": list(session.run(None, inputs)[0].shape)}
    except Exception:
        return case, {"ok": False}


def legacy_case(a, b, axis, broadcast):
    case = {"rule": "onnx-legacy", "op": "add", "operands": [operand(a), operand(b)], "broadcast": broadcast}
    return case if axis is None else {**case, "axis": axis}


def read_by_openvino(case):
    """The shape that OpenVINO gives the old operation."""
    a, b = (one["shape"] for one in case["operands"])
    attributes = {"broadcast": case["broadcast"]}
    if "axis" in case:
        attributes["axis"] = case["axis"]
    node = helper.make_node("Add", ["a", "b"], ["y"], **attributes)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("a", a), ("b", b))
    ]
    graph = helper.make_graph(
        [node], "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 6)], ir_version=3)
    read = CORE.read_model(io.BytesIO(model.SerializeToString()))
    return [int(size) for size in read.output(0).shape]


def shapes(maximum_rank, sizes):
    for rank in range(maximum_rank + 1):
        yield from (list(shape) for shape in itertools.product(sizes, repeat=rank))


def main():
    session = expander()
    pairs = [expand(session, a, t) for a, t in itertools.product(shapes(3, (0, 1, 2)), repeat=2)]
    check_model(pairs)
    print(len(pairs), "cases of onnxruntime's Expand agree with the model")
    pairs = [(case, merged(case, real)) for case, real in pairs]
    asked, differ = 0, []
    for a, b in itertools.product(shapes(3, (1, 2, 3)), repeat=2):
        for broadcast, axis in ((0, None), *((1, axis) for axis in (None, 0, 1, 2))):
            case = legacy_case(a, b, axis, broadcast)
            answer = verdict(case)
            if answer["ok"] and (axis is None or axis + len(b) <= len(a)):
                asked += 1
                try:
                    shape = read_by_openvino(case)
                except RuntimeError as error:
                    shape = str(error).splitlines()[-1]
                if shape != answer["shape"]:
                    differ.append((case, shape))
            pairs.append((case, answer))
    print(asked, "legal uses of the old rule read by OpenVINO,", len(differ), "differ", differ[:3])
    write("onnx_shapes", pick(pairs, 300))


main()
