"""Writes ONNX's node tests of some operators, with the results of its reference implementation.

    onnx_nodes.py FOLDER OPERATOR ...

FOLDER gets a folder for each test, with model.onnx, input_0.pb, ... and output_0.pb, ..., and manifest.json.
"""

import json
import pathlib
import sys
import warnings

import numpy
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases


def stored(case, operators, folder):
    """The entry of a test in the manifest, after its files are written; None for other operators."""
    names = {node.op_type for node in case.model.graph.node}
    # indim rounds sums of 16-bit floats once, the reference each step.
    if len(names) != 1 or not names <= operators or case.name.endswith("bf16"):
        return None
    place = folder / case.name
    place.mkdir(parents=True)
    onnx.save(case.model, place / "model.onnx")
    graph = case.model.graph
    sides = zip(("input", "output"), case.data_sets[0], (graph.input, graph.output))
    for side, arrays, infos in sides:
        for index, (array, info) in enumerate(zip(arrays, infos)):
            tensor = numpy_helper.from_array(numpy.asarray(array), info.name)
            (place / f"{side}_{index}.pb").write_bytes(tensor.SerializeToString())
    return {
        "name": case.name,
        "format": "onnx",
        "file": f"{case.name}/model.onnx",
        "arrays": case.name,
        "in_scope": True,
        # The reference computes transforms in 32 bits, so its zeros are rounding errors.
        "atol": 1e-6 if names == {"DFT"} else case.atol or 1e-7,
        "rtol": case.rtol or 1e-3,
    }


def main(folder, operators):
    """Writes the tests."""
    warnings.filterwarnings("ignore")
    cases = [stored(case, operators, folder) for case in collect_testcases(None)]
    manifest = {"cases": [case for case in cases if case], "errors": []}
    (folder / "manifest.json").write_text(json.dumps(manifest))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), set(sys.argv[2:]))
