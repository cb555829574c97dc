"""Runs models of ONNX in a folder, and compares what ONNX Runtime computes with what is expected.

A folder for each holds model.onnx, and of each array its bytes, input0.bin, and its type, input0.txt.
"""

import collections
import json
import pathlib
import sys

import numpy
import onnx
import onnxruntime

TOLERANCES = {"float32": 1e-4, "float64": 1e-9, "float16": 1e-2}

# Differences of ONNX Runtime 1.32 from ONNX: Sign of a 16-bit NaN is 0, and a sum over an axis of size 0 made
# by Expand is the operand of Expand.
KNOWN = ("sign_f16", "sum_of_nothing")


def read_array(folder, name):
    """The array in NAME.bin, of the type in NAME.txt."""
    type_name, shape = (folder / f"{name}.txt").read_text().split(" ", 1)
    elements = numpy.frombuffer((folder / f"{name}.bin").read_bytes(), type_name)
    return elements.reshape(json.loads(shape))


def agrees(found, expected):
    """Whether two arrays are of one type and as near as their type asks for."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return False
    tolerance = TOLERANCES.get(str(expected.dtype))
    if tolerance is None:
        return numpy.array_equal(found, expected)
    pair = [array.astype(numpy.float64) for array in (found, expected)]
    return numpy.allclose(*pair, rtol=tolerance, atol=tolerance, equal_nan=True)


def outcome(folder):
    """The result of one model, which must pass the checker."""
    path = str(folder / "model.onnx")
    onnx.checker.check_model(path, full_check=True)
    if any("bfloat16" in types.read_text() for types in folder.glob("*.txt")):
        return "bfloat16, which NumPy has not"
    try:
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
        return "no kernel"
    names = [value.name for value in session.get_inputs()]
    inputs = {name: read_array(folder, f"input{index}") for index, name in enumerate(names)}
    found = session.run(None, inputs)
    expected = [read_array(folder, f"output{index}") for index in range(len(found))]
    return "agrees" if all(map(agrees, found, expected)) else "differs"


def main():
    """Prints how many models agree, and those that do not."""
    onnxruntime.set_default_logger_severity(4)
    counts, differing = collections.Counter(), []
    for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        result = outcome(folder)
        if result == "differs" and any(known in folder.name for known in KNOWN):
            result = "differs as known"
        counts[result] += 1
        if result == "differs":
            differing.append(folder.name)
    print(dict(counts))
    if differing or not counts["agrees"]:
        sys.exit("\n".join(differing) or "nothing was run")


if __name__ == "__main__":
    main()
