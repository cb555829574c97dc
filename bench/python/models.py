"""Layers of neural networks as ONNX models: indim, ONNX Runtime and OpenVINO, two threads each.

``python bench/python/models.py`` prints the median time of a call in microseconds, and the time of indim
over that of the others. Each engine runs in a process of its own. Arguments select jobs by parts of their
names. It needs the package, ``onnx``, ``onnxruntime`` and ``openvino``.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

THREADS = 2
SECONDS = 0.6
ENGINES = ("indim", "onnxruntime", "openvino")

#: Convolutions: shape of the operand, shape of the weights, attributes.
CONVOLUTIONS = {
    "7x7/2, 3 to 64, 224": ([1, 3, 224, 224], [64, 3, 7, 7], {"stride": 2, "pad": 3}),
    "3x3, 64 to 64, 56": ([1, 64, 56, 56], [64, 64, 3, 3], {"pad": 1}),
    "3x3, 64 to 64, 56, 8 images": ([8, 64, 56, 56], [64, 64, 3, 3], {"pad": 1}),
    "3x3, 64 to 64, 56, bias, relu": ([1, 64, 56, 56], [64, 64, 3, 3], {"pad": 1, "relu": True}),
    "3x3/2, 64 to 128, 56": ([1, 64, 56, 56], [128, 64, 3, 3], {"stride": 2, "pad": 1}),
    "3x3, 256 to 256, 14": ([1, 256, 14, 14], [256, 256, 3, 3], {"pad": 1}),
    "3x3, 512 to 512, 7": ([1, 512, 7, 7], [512, 512, 3, 3], {"pad": 1}),
    "1x1, 256 to 64, 56": ([1, 256, 56, 56], [64, 256, 1, 1], {}),
    "depthwise 3x3, 96, 112": ([1, 96, 112, 112], [96, 1, 3, 3], {"pad": 1, "group": 96}),
    "depthwise 3x3/2, 96, 112": ([1, 96, 112, 112], [96, 1, 3, 3], {"stride": 2, "pad": 1, "group": 96}),
    "depthwise 5x5, 240, 28": ([1, 240, 28, 28], [240, 1, 5, 5], {"pad": 2, "group": 240}),
    "depthwise 3x3, 960, 7": ([1, 960, 7, 7], [960, 1, 3, 3], {"pad": 1, "group": 960}),
    "3x3, 128 in 32 groups, 56": ([1, 128, 56, 56], [128, 4, 3, 3], {"pad": 1, "group": 32}),
    "1-D, 5, 256 to 256, 1000": ([1, 256, 1000], [256, 256, 5], {"pad": 2}),
    "transposed 4x4/2, 64 to 32, 56": (
        [1, 64, 56, 56],
        [64, 32, 4, 4],
        {"stride": 2, "pad": 1, "operator": "ConvTranspose"},
    ),
}

#: Pools: operator, shape of the operand, attributes of the operator.
POOLS = {
    "max 3x3/2, 64, 112": (
        "MaxPool",
        [1, 64, 112, 112],
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4},
    ),
    "average 2x2/2, 64, 112": (
        "AveragePool",
        [1, 64, 112, 112],
        {"kernel_shape": [2, 2], "strides": [2, 2]},
    ),
    "average 3x3, 64, 56": ("AveragePool", [1, 64, 56, 56], {"kernel_shape": [3, 3], "pads": [1] * 4}),
    "global average, 2048, 7": ("GlobalAveragePool", [1, 2048, 7, 7], {}),
    "global max, 512, 28": ("GlobalMaxPool", [1, 512, 28, 28], {}),
}

#: Products: shapes of both operands.
PRODUCTS = {
    "64 x 64 x 64": ([64, 64], [64, 64]),
    "256 x 256 x 256": ([256, 256], [256, 256]),
    "512 x 512 x 512": ([512, 512], [512, 512]),
    "1024 x 1024 x 1024": ([1024, 1024], [1024, 1024]),
    "1 x 4096 x 4096": ([1, 4096], [4096, 4096]),
    "1000 of 32 x 32 x 32": ([1000, 32, 32], [1000, 32, 32]),
}


def model(onnx, nodes, inputs, constants):
    """A model with one output, ``result``; inputs are shapes by name."""
    value = lambda name, shape, kind=onnx.TensorProto.FLOAT: onnx.helper.make_tensor_value_info(
        name, kind, shape
    )
    given = [value(name, *shape) for name, shape in inputs.items()]
    is_integer = nodes[-1].op_type == "MatMulInteger"
    kind = onnx.TensorProto.INT32 if is_integer else onnx.TensorProto.FLOAT
    tensors = [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = onnx.helper.make_graph(nodes, "job", given, [value("result", None, kind)], tensors)
    opset = [onnx.helper.make_opsetid("", 17)]
    made = onnx.helper.make_model(graph, opset_imports=opset, ir_version=8)
    return onnx.shape_inference.infer_shapes(made)


def models(onnx):
    """The model of each job."""
    random = np.random.default_rng(0)
    node = onnx.helper.make_node
    numbers = lambda shape: random.standard_normal(shape).astype(np.float32)
    for name, (x, w, attributes) in CONVOLUTIONS.items():
        attributes = dict(attributes)
        axes, is_activated = len(x) - 2, attributes.pop("relu", False)
        constants = {"w": 0.1 * numbers(w)}
        if is_activated:
            constants["b"] = numbers(w[:1])
        stated = {
            "strides": [attributes.pop("stride", 1)] * axes,
            "pads": [attributes.pop("pad", 0)] * (2 * axes),
        }
        operator, result = attributes.pop("operator", "Conv"), "y" if is_activated else "result"
        nodes = [node(operator, ["x", *constants], [result], **stated, **attributes)]
        nodes += [node("Relu", ["y"], ["result"])] * is_activated
        yield f"conv {name}", model(onnx, nodes, {"x": (x,)}, constants)
    for name, (operator, x, attributes) in POOLS.items():
        nodes = [node(operator, ["x"], ["result"], **attributes)]
        yield f"pool {name}", model(onnx, nodes, {"x": (x,)}, {})
    for name, (x, w) in PRODUCTS.items():
        nodes = [node("MatMul", ["x", "w"], ["result"])]
        yield f"matmul {name}", model(onnx, nodes, {"x": (x,), "w": (w,)}, {})
    layer = [
        node("MatMul", ["x", "w"], ["y"]),
        node("Add", ["y", "b"], ["z"]),
        node("Relu", ["z"], ["result"]),
    ]
    constants = {"w": numbers([768, 3072]), "b": numbers([3072])}
    yield "layer 256 x 768 x 3072", model(onnx, layer, {"x": ([256, 768],)}, constants)
    constants = {
        "w": random.integers(-100, 100, [512, 512]).astype(np.int8),
        "x0": np.array(3, np.uint8),
        "w0": np.array(0, np.int8),
    }
    inputs = {"x": ([512, 512], onnx.TensorProto.UINT8)}
    nodes = [node("MatMulInteger", ["x", "w", "x0", "w0"], ["result"])]
    yield "8 bits 512 x 512 x 512", model(onnx, nodes, inputs, constants)


def program(engine, path):
    """A function that runs the model for a list of arrays."""
    if engine == "indim":
        import indim

        indim.set_num_threads(THREADS)
        loaded = indim.load(path)
        return lambda arrays: loaded(*arrays.values())
    if engine == "onnxruntime":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return lambda arrays: session.run(None, arrays)
    import openvino

    options = {
        "INFERENCE_NUM_THREADS": THREADS,
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
    }
    request = openvino.Core().compile_model(path, "CPU", options).create_infer_request()
    share = {"share_inputs": True, "share_outputs": True}
    return lambda arrays: request.infer(list(arrays.values()), **share)


def median(call):
    """The median time of a call in microseconds."""
    times, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times) < 7:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e6


def time_engine(engine, folder):
    """Prints a line of JSON for each model of the folder: job, time, and the mean magnitude of the result."""
    with open(os.path.join(folder, "jobs.json")) as file:
        jobs = json.load(file)
    for name, path, inputs in jobs:
        random = np.random.default_rng(1)
        arrays = {
            of: (200 * random.random(shape)).astype(np.uint8)
            if is_integer
            else random.standard_normal(shape, dtype=np.float32)
            for of, (shape, is_integer) in inputs.items()
        }
        run = program(engine, path)
        result = run(arrays)
        result = np.asarray(result if engine == "indim" else result[0])
        taken = median(lambda: run(arrays))
        print(json.dumps([name, taken, float(np.abs(result).mean(dtype=np.float64))]), flush=True)


def main():
    import onnx

    selected = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for name, made in models(onnx):
            if selected and not any(part in name for part in selected):
                continue
            path = os.path.join(folder, f"{len(jobs)}.onnx")
            onnx.save(made, path)
            inputs = {}
            for given in made.graph.input:
                tensor = given.type.tensor_type
                is_integer = tensor.elem_type == onnx.TensorProto.UINT8
                inputs[given.name] = ([axis.dim_value for axis in tensor.shape.dim], is_integer)
            jobs.append((name, path, inputs))
        with open(os.path.join(folder, "jobs.json"), "w") as file:
            json.dump(jobs, file)
        command = [sys.executable, __file__, "--engine"]
        results = {}
        for engine in ENGINES:
            output = subprocess.run([*command, engine, folder], stdout=subprocess.PIPE, check=True, text=True)
            results[engine] = {line[0]: line[1:] for line in map(json.loads, output.stdout.splitlines())}
    print("| job | indim | ONNX Runtime | OpenVINO | to ONNX Runtime | to OpenVINO |")
    print("|---|---|---|---|---|---|")
    for name, _, _ in jobs:
        (own, *peers), (mean, *means) = zip(*(results[engine][name] for engine in ENGINES))
        if not np.allclose(means, mean, rtol=1e-3):
            sys.exit(f"{name}: the engines disagree: {mean}, {means}")
        times = " | ".join(f"{taken:.0f}" for taken in (own, *peers))
        print(f"| {name} | {times} | " + " | ".join(f"{own / peer:.2f}" for peer in peers) + " |")


if __name__ == "__main__":
    time_engine(*sys.argv[2:]) if sys.argv[1:2] == ["--engine"] else main()
