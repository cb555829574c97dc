"""Times whole models in ONNX files in indim and ONNX Runtime.

    python whole_models.py [--threads N] [--processor-time] [--command INDIM] [--keep FOLDER]
                           [part of a name ...]

The models are ResNet-50 (convolutions and batch normalizations), MobileNetV2 (normalizations folded into the
convolutions), BERT-base (normalizations as chains of operators, open sizes), ViT-B/16, and one step of GPT-2
with its cache. Their operators are those that exporters write, their weights are random. Both engines have
two threads, or N, and each runs in a process of its own.

The tables have milliseconds until the first result (load, compile, run once), milliseconds of a run (median),
the peak of resident memory in MiB without that of Python and the imported packages, and the quotients of
indim over ONNX Runtime. ``--processor-time`` measures the processor time of all threads instead of elapsed
time, for a machine with other work. ``--command`` also runs the command. ``--keep`` keeps the model files in
a folder. It needs the package, ``onnx`` and ``onnxruntime``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

SECONDS = 3
ENGINES = ("indim", "onnxruntime")
#: Numbers of a result may differ by this part of the largest one.
TOLERANCE = 1e-3


class Graph:
    """A graph of ONNX, node by node."""

    def __init__(self, onnx, seed):
        self.onnx, self.random = onnx, np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []

    def add(self, operator, *operands, outputs=1, **attributes):
        """Adds a node; operands are names, arrays and numbers."""
        operands = [operand if isinstance(operand, str) else self.constant(operand) for operand in operands]
        names = [f"{operator}_{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(self.onnx.helper.make_node(operator, operands, names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array):
        """Adds an array to the weights; Python's integers are i64, its floats f32."""
        if not isinstance(array, np.ndarray):
            is_float = np.asarray(array).dtype.kind == "f"
            array = np.asarray(array, np.float32 if is_float else np.int64)
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def weights(self, *shape, scale):
        """Adds normally distributed weights."""
        return self.constant(np.float32(scale) * self.random.standard_normal(shape, np.float32))

    def near(self, center, *shape):
        """Adds weights near a number."""
        return self.constant(np.float32(center) + np.float32(0.1) * self.random.random(shape, np.float32))

    def input(self, name, kind, shape):
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, value, name, shape):
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        kind = self.onnx.TensorProto.FLOAT
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, kind, shape))

    def model(self):
        graph = self.onnx.helper.make_graph(self.nodes, "model", self.inputs, self.outputs, self.constants)
        opset = [self.onnx.helper.make_opsetid("", 17)]
        return self.onnx.helper.make_model(graph, opset_imports=opset, ir_version=8)

    def convolution(self, x, inputs, outputs, size, stride=1, group=1, is_folded=True, gain=1):
        """A convolution with its normalization, which is folded into it or a node of its own."""
        scale = (2 / (inputs // group * size * size)) ** 0.5
        operands = [x, self.weights(outputs, inputs // group, size, size, scale=scale)]
        attributes = {
            "kernel_shape": [size, size],
            "strides": [stride, stride],
            "pads": [size // 2] * 4,
            "dilations": [1, 1],
            "group": group,
        }
        if is_folded:
            return self.add("Conv", *operands, self.near(0, outputs), **attributes)
        y = self.add("Conv", *operands, **attributes)
        normalization = [self.near(center, outputs) for center in (gain, 0, 0, 1)]
        return self.add("BatchNormalization", y, *normalization, epsilon=1e-5)

    def linear(self, x, inputs, outputs):
        """A product and a bias."""
        y = self.add("MatMul", x, self.weights(inputs, outputs, scale=inputs**-0.5))
        return self.add("Add", self.near(0, outputs), y)

    def normalized(self, x, size):
        """A layer normalization as one operator."""
        return self.add(
            "LayerNormalization", x, self.near(1, size), self.near(0, size), axis=-1, epsilon=1e-5
        )

    def normalized_by_steps(self, x, size):
        """A layer normalization as the operators that older opsets have."""
        centered = self.add("Sub", x, self.add("ReduceMean", x, axes=[-1]))
        variance = self.add("ReduceMean", self.add("Pow", centered, 2.0), axes=[-1])
        deviation = self.add("Sqrt", self.add("Add", variance, 1e-12))
        y = self.add("Div", centered, deviation)
        return self.add("Add", self.add("Mul", y, self.near(1, size)), self.near(0, size))

    def gelu(self, x):
        """The exact form."""
        y = self.add("Add", self.add("Erf", self.add("Div", x, 2**0.5)), 1.0)
        return self.add("Mul", self.add("Mul", x, y), 0.5)

    def gelu_of_tanh(self, x):
        """The approximation of GPT-2."""
        y = self.add("Add", x, self.add("Mul", self.add("Pow", x, 3.0), 0.044715))
        y = self.add("Add", self.add("Tanh", self.add("Mul", y, (2 / np.pi) ** 0.5)), 1.0)
        return self.add("Mul", self.add("Mul", x, 0.5), y)

    def size(self, x, axis):
        """The size of an axis, as a list of one integer."""
        size = self.add("Gather", self.add("Shape", x), axis, axis=0)
        return self.add("Unsqueeze", size, [0])

    def reshaped(self, x, *sizes, like=None):
        """A reshape; where a size is ``None``, it is that of the array ``like``, computed."""
        if like is None:
            return self.add("Reshape", x, list(sizes))
        parts = [
            self.size(like, axis) if size is None else self.constant([size])
            for axis, size in enumerate(sizes)
        ]
        return self.add("Reshape", x, self.add("Concat", *parts, axis=0))


def resnet_50(onnx):
    """ResNet-50 v1.5 with normalizations as nodes."""
    graph, kind = Graph(onnx, 50), onnx.TensorProto.FLOAT
    folded = {"is_folded": False}
    x = graph.input("images", kind, [1, 3, 224, 224])
    x = graph.add("Relu", graph.convolution(x, 3, 64, 7, 2, **folded))
    x = graph.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            step = stride if block == 0 else 1
            y = graph.add("Relu", graph.convolution(x, channels, width, 1, **folded))
            y = graph.add("Relu", graph.convolution(y, width, width, 3, step, **folded))
            y = graph.convolution(y, width, 4 * width, 1, **folded, gain=0.25)
            if block == 0:
                x = graph.convolution(x, channels, 4 * width, 1, step, **folded)
            channels = 4 * width
            x = graph.add("Relu", graph.add("Add", y, x))
    x = graph.add("Flatten", graph.add("GlobalAveragePool", x))
    weights = graph.weights(1000, channels, scale=channels**-0.5)
    graph.output(graph.add("Gemm", x, weights, graph.near(0, 1000), transB=1), "scores", [1, 1000])
    return graph.model(), {"images": [1, 3, 224, 224]}


def mobilenet_v2(onnx):
    """MobileNetV2 with folded normalizations."""
    graph, kind = Graph(onnx, 2), onnx.TensorProto.FLOAT
    clipped = lambda x: graph.add("Clip", x, 0.0, 6.0)
    x = graph.input("images", kind, [1, 3, 224, 224])
    x, channels = clipped(graph.convolution(x, 3, 32, 3, 2)), 32
    settings = (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    )
    for factor, outputs, blocks, stride in settings:
        for block in range(blocks):
            step, hidden, y = stride if block == 0 else 1, factor * channels, x
            if factor != 1:
                y = clipped(graph.convolution(y, channels, hidden, 1))
            y = clipped(graph.convolution(y, hidden, hidden, 3, step, group=hidden))
            y = graph.convolution(y, hidden, outputs, 1)
            x = graph.add("Add", x, y) if step == 1 and channels == outputs else y
            channels = outputs
    x = clipped(graph.convolution(x, channels, 1280, 1))
    x = graph.add("Flatten", graph.add("GlobalAveragePool", x))
    weights = graph.weights(1000, 1280, scale=1280**-0.5)
    graph.output(graph.add("Gemm", x, weights, graph.near(0, 1000), transB=1), "scores", [1, 1000])
    return graph.model(), {"images": [1, 3, 224, 224]}


def attention(graph, query, key, value, size, mask=None):
    """Scaled products of queries and transposed keys, softmax, products with values."""
    scores = graph.add("Div", graph.add("MatMul", query, key), size**0.5)
    if mask is not None:
        scores = mask(scores)
    return graph.add("MatMul", graph.add("Softmax", scores, axis=-1), value)


def bert_base(onnx):
    """BERT-base with open sizes of batch and sequence, normalizations as chains, and a mask."""
    graph, kind = Graph(onnx, 12), onnx.TensorProto.INT64
    open_sizes = ["batch", "sequence"]
    words = graph.input("input_ids", kind, open_sizes)
    mask = graph.input("attention_mask", kind, open_sizes)
    types = graph.input("token_type_ids", kind, open_sizes)
    x = graph.add("Gather", graph.weights(30522, 768, scale=1), words)
    x = graph.add("Add", x, graph.add("Gather", graph.weights(2, 768, scale=1), types))
    positions = graph.constant(np.arange(512)[None])
    positions = graph.add("Slice", positions, [0], graph.size(words, 1), [1])
    x = graph.add("Add", x, graph.add("Gather", graph.weights(512, 768, scale=1), positions))
    x = graph.normalized_by_steps(x, 768)
    mask = graph.add("Cast", graph.add("Unsqueeze", mask, [1, 2]), to=onnx.TensorProto.FLOAT)
    mask = graph.add("Mul", graph.add("Sub", 1.0, mask), float(np.finfo(np.float32).min))
    for _ in range(12):
        heads = {}
        for name, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
            y = graph.reshaped(graph.linear(x, 768, 768), None, None, 12, 64, like=x)
            heads[name] = graph.add("Transpose", y, perm=order)
        y = attention(graph, *heads.values(), 64, lambda scores: graph.add("Add", scores, mask))
        y = graph.reshaped(graph.add("Transpose", y, perm=[0, 2, 1, 3]), None, None, 768, like=x)
        x = graph.normalized_by_steps(graph.add("Add", graph.linear(y, 768, 768), x), 768)
        y = graph.gelu(graph.linear(x, 768, 3072))
        x = graph.normalized_by_steps(graph.add("Add", graph.linear(y, 3072, 768), x), 768)
    graph.output(x, "last_hidden_state", [*open_sizes, 768])
    first = graph.add("Gather", x, 0, axis=1)
    pooled = graph.add("Gemm", first, graph.weights(768, 768, scale=768**-0.5), graph.near(0, 768), transB=1)
    graph.output(graph.add("Tanh", pooled), "pooler_output", ["batch", 768])
    return graph.model(), {name: [1, 128] for name in ("input_ids", "attention_mask", "token_type_ids")}


def vit_base(onnx):
    """ViT-B/16."""
    graph, kind = Graph(onnx, 16), onnx.TensorProto.FLOAT
    x = graph.input("images", kind, [1, 3, 224, 224])
    weights = graph.weights(768, 3, 16, 16, scale=768**-0.5)
    x = graph.add("Conv", x, weights, graph.near(0, 768), kernel_shape=[16, 16], strides=[16, 16])
    x = graph.add("Transpose", graph.reshaped(x, 1, 768, 196), perm=[0, 2, 1])
    x = graph.add("Concat", graph.weights(1, 1, 768, scale=1), x, axis=1)
    x = graph.add("Add", x, graph.weights(1, 197, 768, scale=0.1))
    for _ in range(12):
        y = graph.reshaped(graph.linear(graph.normalized(x, 768), 768, 2304), 1, 197, 3, 12, 64)
        y = graph.add("Transpose", y, perm=[2, 0, 3, 1, 4])
        query, key, value = (graph.add("Gather", y, index, axis=0) for index in range(3))
        y = attention(graph, query, graph.add("Transpose", key, perm=[0, 1, 3, 2]), value, 64)
        y = graph.reshaped(graph.add("Transpose", y, perm=[0, 2, 1, 3]), 1, 197, 768)
        x = graph.add("Add", x, graph.linear(y, 768, 768))
        y = graph.gelu(graph.linear(graph.normalized(x, 768), 768, 3072))
        x = graph.add("Add", x, graph.linear(y, 3072, 768))
    first = graph.add("Gather", graph.normalized(x, 768), 0, axis=1)
    weights = graph.weights(1000, 768, scale=768**-0.5)
    scores = graph.add("Gemm", first, weights, graph.near(0, 1000), transB=1)
    graph.output(scores, "scores", [1, 1000])
    return graph.model(), {"images": [1, 3, 224, 224]}


def gpt_2(onnx, past=127, tokens=1):
    """GPT-2 (124 million weights) with its cache: a step for new tokens."""
    graph, kind = Graph(onnx, 2), onnx.TensorProto.FLOAT
    words = graph.input("input_ids", onnx.TensorProto.INT64, ["batch", "sequence"])
    caches = [
        graph.input(f"past_key_values.{layer}.{part}", kind, ["batch", 12, "past", 64])
        for layer in range(12)
        for part in ("key", "value")
    ]
    embedding = graph.random.standard_normal((50257, 768), np.float32)
    past_size, new_size = graph.size(caches[0], 2), graph.size(words, 1)
    total = graph.add("Add", past_size, new_size)
    scalar = lambda size: graph.add("Squeeze", size, [0])
    positions = graph.add("Unsqueeze", graph.add("Range", scalar(past_size), scalar(total), 1), [0])
    x = graph.add("Gather", graph.constant(embedding), words)
    x = graph.add("Add", x, graph.add("Gather", graph.weights(1024, 768, scale=0.1), positions))
    causal = graph.constant(np.tril(np.ones((1, 1, 1024, 1024), np.bool_)))
    causal = graph.add("Slice", graph.add("Slice", causal, past_size, total, [2]), [0], total, [3])
    lowest = graph.constant(np.array(np.finfo(np.float32).min))

    def product(x, inputs, outputs):
        """GPT-2's linear layer: rows of all batches times weights."""
        rows = graph.reshaped(x, -1, inputs)
        weights = graph.weights(inputs, outputs, scale=inputs**-0.5)
        y = graph.add("Gemm", rows, weights, graph.near(0, outputs))
        return graph.reshaped(y, None, None, outputs, like=x)

    for layer in range(12):
        y = product(graph.normalized(x, 768), 768, 2304)
        parts = graph.add("Split", y, [768, 768, 768], outputs=3, axis=2)
        parts = [graph.reshaped(part, None, None, 12, 64, like=part) for part in parts]
        query, key, value = (graph.add("Transpose", part, perm=[0, 2, 1, 3]) for part in parts)
        key = graph.add("Concat", caches[2 * layer], key, axis=2)
        value = graph.add("Concat", caches[2 * layer + 1], value, axis=2)
        for part, cache in (("key", key), ("value", value)):
            graph.output(cache, f"present.{layer}.{part}", ["batch", 12, "total", 64])
        key = graph.add("Transpose", key, perm=[0, 1, 3, 2])
        y = attention(graph, query, key, value, 64, lambda s: graph.add("Where", causal, s, lowest))
        y = graph.reshaped(graph.add("Transpose", y, perm=[0, 2, 1, 3]), None, None, 768, like=x)
        x = graph.add("Add", product(y, 768, 768), x)
        y = graph.gelu_of_tanh(product(graph.normalized(x, 768), 768, 3072))
        x = graph.add("Add", product(y, 3072, 768), x)
    weights = np.ascontiguousarray(np.float32(768**-0.5) * embedding.T)
    logits = graph.add("MatMul", graph.normalized(x, 768), graph.constant(weights))
    graph.output(logits, "logits", ["batch", "sequence", 50257])
    shapes = {cache: [1, 12, past, 64] for cache in caches}
    return graph.model(), {"input_ids": [1, tokens], **shapes}


MODELS = {
    "ResNet-50": resnet_50,
    "MobileNetV2": mobilenet_v2,
    "BERT-base, 128 tokens": bert_base,
    "ViT-B/16": vit_base,
    "GPT-2 step, 127 past tokens": gpt_2,
}


def arrays_for(shapes):
    """The arguments of a model by name: token numbers below 1000, a mask of ones and zeros, or pictures."""
    random = np.random.default_rng(1)
    arrays = {}
    for name, shape in shapes.items():
        if name == "attention_mask":
            arrays[name] = np.ones(shape, np.int64)
            arrays[name][:, -shape[1] // 8 :] = 0
        elif name.endswith("ids"):
            arrays[name] = random.integers(0, 2 if "type" in name else 1000, shape)
        else:
            arrays[name] = random.standard_normal(shape, np.float32)
    return arrays


def program(engine, path, threads):
    """A function that runs the model for arrays by name, and returns its results by name."""
    if engine == "indim":
        import indim

        indim.set_num_threads(threads)
        model = indim.load(path)
        names = model.outputs
        listed = lambda results: results if len(names) > 1 else [results]
        return lambda arrays: dict(zip(names, listed(model(*arrays.values()))))
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda arrays: dict(zip(names, session.run(names, arrays)))


def resident(line):
    """Resident memory of the process in MiB: now (``VmRSS``) or the peak (``VmHWM``)."""
    with open("/proc/self/status") as file:
        return next(int(text.split()[1]) / 1024 for text in file if text.startswith(line))


def time_engine(engine, path, inputs, results, threads, clock):
    """Prints JSON: milliseconds until the first result and of a run, MiB; writes the results."""
    __import__(engine)
    now = getattr(time, clock)

    def milliseconds(call):
        start = now()
        result = call()
        return 1e3 * (now() - start), result

    arrays = dict(np.load(inputs))
    before = resident("VmRSS")
    load, run = milliseconds(lambda: program(engine, path, int(threads)))
    first, values = milliseconds(lambda: run(arrays))
    times, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times) < 5:
        times.append(milliseconds(lambda: run(arrays))[0])
    peak = resident("VmHWM") - before
    np.savez(results, **{name: np.asarray(value) for name, value in values.items()})
    measured = {"first": load + first, "run": sorted(times)[len(times) // 2], "peak": peak}
    print(json.dumps(measured))


def time_command(command, path, arrays, folder, threads):
    """Milliseconds and MiB of a run of the command."""
    sources = []
    for index, (name, array) in enumerate(arrays.items()):
        np.save(os.path.join(folder, f"input-{index}.npy"), array)
        sources.append(f"{name}={folder}/input-{index}.npy")
    output = os.path.join(folder, "command.npz")
    environment = {**os.environ, "INDIM_NUM_THREADS": str(threads)}
    start = time.perf_counter()
    arguments = [command, "run", path, *sources, "-o", output]
    process = subprocess.Popen(arguments, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    taken = 1e3 * (time.perf_counter() - start)
    if status != 0:
        sys.exit(f"the command fails: {status}")
    return taken, usage.ru_maxrss / 1024, dict(np.load(output))


def check(job, expected, found):
    """Exits if results differ."""
    for name, value in expected.items():
        largest = np.abs(value).max()
        difference = np.abs(value - found[name].reshape(value.shape)).max()
        if not (np.isfinite(largest) and difference <= TOLERANCE * largest):
            sys.exit(f"{job}: {name} differs by {difference}, the largest number is {largest}")


def main():
    import onnx

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--threads", type=int, default=2, help="the number of threads")
    parser.add_argument("--processor-time", action="store_true", help="measures processor time")
    parser.add_argument("--command", help="also times this command")
    parser.add_argument("--keep", help="keeps the model files in this folder, and uses those in it")
    parser.add_argument("names", nargs="*", help="parts of names of models")
    options = parser.parse_args()
    clock = "process_time" if options.processor_time else "perf_counter"
    rows, commands = [], []
    with tempfile.TemporaryDirectory() as folder:
        for index, (job, make) in enumerate(MODELS.items()):
            if options.names and not any(name in job for name in options.names):
                continue
            kept = options.keep or folder
            path, inputs = os.path.join(kept, f"{index}.onnx"), os.path.join(kept, f"{index}.npz")
            if not os.path.exists(path):
                model, shapes = make(onnx)
                onnx.save(model, path)
                np.savez(inputs, **arrays_for(shapes))
                del model
            measured, results = {}, {}
            for engine in ENGINES:
                output = os.path.join(folder, f"{engine}.npz")
                command = [sys.executable, __file__, "--engine", engine, path, inputs, output]
                command += [str(options.threads), clock]
                child = subprocess.run(command, stdout=subprocess.PIPE, text=True)
                if child.returncode != 0:
                    print(f"{job}: {engine} fails", file=sys.stderr)
                    break
                measured[engine] = json.loads(child.stdout)
                results[engine] = dict(np.load(output))
            if len(measured) < len(ENGINES):
                continue
            check(job, results["onnxruntime"], results["indim"])
            cells = []
            for column in ("first", "run", "peak"):
                own, peer = (measured[engine][column] for engine in ENGINES)
                text = lambda number: f"{number:.0f}" if number >= 100 else f"{number:.3g}"
                cells.append(f"{text(own)} / {text(peer)} = {own / peer:.2f}")
            rows.append(f"| {job} | " + " | ".join(cells) + " |")
            print(rows[-1], file=sys.stderr, flush=True)
            if options.command:
                arrays = dict(np.load(inputs))
                taken, peak, found = time_command(options.command, path, arrays, folder, options.threads)
                check(f"{job}, command", results["onnxruntime"], found)
                commands.append(f"| {job} | {taken:.0f} | {peak:.0f} |")
                print(commands[-1], file=sys.stderr, flush=True)
            if not options.keep:
                os.remove(path)
    print("| model | until the first result, ms | a run, ms | peak memory, MiB |")
    print("|---|---|---|---|")
    print("\n".join(rows))
    if commands:
        print("\n| model | `indim run`, ms | peak memory, MiB |\n|---|---|---|")
        print("\n".join(commands))


if __name__ == "__main__":
    time_engine(*sys.argv[2:]) if sys.argv[1:2] == ["--engine"] else main()
