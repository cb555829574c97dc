"""Calls of each engine for the tables of ``programs.py`` and ``products.py``.

Each function makes a call without arguments from a function or a model and its arguments. It returns None
if the package of the engine is not installed.
"""

import contextlib
import functools
import importlib
import os
import sys

import numpy as np

import indim
import tables


def optional(name):
    """A module, or None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


jax, numba, bottleneck = optional("jax"), optional("numba"), optional("bottleneck")
jnp = jax and optional("jax.numpy")
onnx, onnxruntime, openvino = optional("onnx"), optional("onnxruntime"), optional("openvino")
ml_dtypes, spatial = optional("ml_dtypes"), optional("scipy.spatial")
#: The range of a parallel loop of numba.
prange = numba.prange if numba else range
#: The threads that this process has processors for.
THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def missing():
    """Says which engines are left out."""
    modules = {"jax": jax, "onnx": onnx, "onnxruntime": onnxruntime, "openvino": openvino}
    modules |= {"bottleneck": bottleneck, "numba": numba, "scipy": spatial}
    names = [name for name, module in modules.items() if not module]
    return f"not installed, so left out: {', '.join(names)}" if names else ""


def by_indim(function, *arguments):
    """A function over NumPy's names, compiled by indim."""
    return functools.partial(indim.jit(function), *arguments)


def by_numpy(function, *arguments):
    return functools.partial(function, *arguments)


def by_jax(function, *arguments, wide=False):
    """A function compiled by JAX, until its result is ready; ``wide`` allows 64 bits."""
    if not jax:
        return None
    with jax.enable_x64(True) if wide else contextlib.nullcontext():
        arrays = [jnp.asarray(argument) for argument in arguments]
        compiled = jax.jit(function).lower(*arrays).compile()
    return lambda: jax.block_until_ready(compiled(*arrays))


def by_numba(function, *arguments, parallel=True):
    """A loop compiled by numba for the types of the arguments."""
    if not numba:
        return None
    compiled = numba.njit(parallel=parallel)(function)
    compiled.compile(tuple(numba.typeof(argument) for argument in arguments))
    return functools.partial(compiled, *arguments)


def by_bottleneck(function, *arguments):
    """``function`` takes the module first."""
    return functools.partial(function, bottleneck, *arguments) if bottleneck else None


def by_scipy(function, *arguments):
    """``function`` takes ``scipy.spatial`` first."""
    return functools.partial(function, spatial, *arguments) if spatial else None


def model_of(nodes, inputs, constants, opset=17):
    """The bytes of a model; inputs and constants are arrays by name, ``result`` is its result."""
    value = onnx.helper.make_tensor_value_info
    kind = {name: onnx.helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in inputs.items()}
    given = [value(name, kind[name], array.shape) for name, array in inputs.items()]
    integers = nodes[-1].op_type == "MatMulInteger"
    kinds = [onnx.TensorProto.INT32 if integers else next(iter(kind.values())), onnx.TensorProto.INT64]
    outputs = [value(name, of, None) for name, of in zip(nodes[-1].output, kinds, strict=False)]
    tensors = [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = onnx.helper.make_graph(nodes, "job", given, outputs, tensors)
    opsets = [onnx.helper.make_opsetid("", opset)]
    made = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
    return onnx.shape_inference.infer_shapes(made).SerializeToString()


def model(operator, arrays, constants=(), opset=17, **attributes):
    """The bytes of a model of one node. Its operands are inputs, then constants; None is left out."""
    inputs = {f"x{index}": array for index, array in enumerate(arrays)}
    given = {f"c{index}": array for index, array in enumerate(constants)}
    operands = [*inputs, *(name if array is not None else "" for name, array in given.items())]
    results = ["result", "positions"] if operator == "TopK" else ["result"]
    nodes = [onnx.helper.make_node(operator, operands, results, **attributes)]
    given = {name: array for name, array in given.items() if array is not None}
    return model_of(nodes, inputs, given, opset)


def by_onnxruntime(content, *arrays):
    """The first result of a model by ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
    # Threads that spin between calls would take the processors of the other engines.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    feeds = {of.name: array for of, array in zip(session.get_inputs(), arrays, strict=True)}
    return lambda: session.run(None, feeds)[0]


def by_openvino(content, *arrays):
    """The first result of a model by OpenVINO."""
    options = {
        "INFERENCE_NUM_THREADS": THREADS,
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
    }
    core = openvino.Core()
    request = core.compile_model(core.read_model(content), "CPU", options).create_infer_request()
    share = {"share_inputs": True, "share_outputs": True}
    return lambda: request.infer(list(arrays), **share)[0]


def run_model(content, *arrays, only=("ONNX Runtime", "OpenVINO")):
    """Calls of the engines that run ONNX models, by name."""
    calls = {}
    if onnxruntime and "ONNX Runtime" in only:
        calls["ONNX Runtime"] = by_onnxruntime(content, *arrays)
    if openvino and "OpenVINO" in only:
        calls["OpenVINO"] = by_openvino(content, *arrays)
    return calls


def by_models(operator, arrays, constants=(), only=("ONNX Runtime", "OpenVINO"), opset=17, **attributes):
    """Like ``run_model``, of one node."""
    if not onnx:
        return {}
    return run_model(model(operator, arrays, constants, opset, **attributes), *arrays, only=only)


def loaded(operator, arrays, constants=(), opset=17, **attributes):
    """The model of one node by ``indim.load``."""
    if not onnx:
        return None
    return functools.partial(indim.load(model(operator, arrays, constants, opset, **attributes)), *arrays)


def main(jobs, text):
    """Measures jobs and prints their table."""
    options = tables.options(text)
    indim.set_num_threads(options.threads)
    if left_out := missing():
        print(left_out)
    failed = tables.run(jobs, options)
    for name, text in failed.items():
        print(f"{name} failed:\n{text}", file=sys.stderr)
    sys.exit(bool(failed))
