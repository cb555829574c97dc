"""Networks with random weights as ONNX models, of the operators that exporters write."""

import numpy as np


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


def detector(onnx):
    """A detector of the form of YOLOv5s: boxes and classes of cells at three scales, without selection."""
    graph, kind = Graph(onnx, 5), onnx.TensorProto.FLOAT

    def layer(x, inputs, outputs, size=1, stride=1):
        y = graph.convolution(x, inputs, outputs, size, stride)
        return graph.add("Mul", y, graph.add("Sigmoid", y))

    def block(x, inputs, outputs, count, adds=True):
        """Half of the channels go through `count` pairs of layers, the other half pass by."""
        half = outputs // 2
        y, z = layer(x, inputs, half), layer(x, inputs, half)
        for _ in range(count):
            step = layer(layer(y, half, half), half, half, 3)
            y = graph.add("Add", y, step) if adds else step
        return layer(graph.add("Concat", y, z, axis=1), outputs, outputs)

    def joined(x, y):
        return graph.add("Concat", x, y, axis=1)

    def doubled(x):
        scales = graph.constant(np.array([1, 1, 2, 2], np.float32))
        nearest = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        return graph.add("Resize", x, "", scales, **nearest)

    def boxes(x, channels, cells):
        """Three boxes of each cell: centre, size, score and 80 classes."""
        weights = graph.weights(255, channels, 1, 1, scale=channels**-0.5)
        y = graph.reshaped(graph.add("Conv", x, weights, graph.near(0, 255)), 1, 3, 85, cells, cells)
        y = graph.add("Sigmoid", graph.add("Transpose", y, perm=[0, 1, 3, 4, 2]))
        centre, size, rest = graph.add("Split", y, [2, 2, 81], outputs=3, axis=4)
        grid = np.stack(np.meshgrid(np.arange(cells), np.arange(cells)), -1).astype(np.float32) - 0.5
        centre = graph.add("Add", graph.add("Mul", centre, 2.0), grid)
        size = graph.add(
            "Mul", graph.add("Pow", graph.add("Mul", size, 2.0), 2.0), graph.near(2, 1, 3, 1, 1, 2)
        )
        return graph.reshaped(graph.add("Concat", centre, size, rest, axis=4), 1, 3 * cells * cells, 85)

    x = layer(layer(graph.input("images", kind, [1, 3, 320, 320]), 3, 32, 3, 2), 32, 64, 3, 2)
    x = block(x, 64, 64, 1)
    fine = block(layer(x, 64, 128, 3, 2), 128, 128, 2)
    middle = block(layer(fine, 128, 256, 3, 2), 256, 256, 3)
    x = layer(block(layer(middle, 256, 512, 3, 2), 512, 512, 1), 512, 256)
    pools = [x]
    for _ in range(3):
        pools.append(graph.add("MaxPool", pools[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4))
    coarse = layer(layer(graph.add("Concat", *pools, axis=1), 1024, 512), 512, 256)
    half = layer(block(joined(doubled(coarse), middle), 512, 256, 1, adds=False), 256, 128)
    fine = block(joined(doubled(half), fine), 256, 128, 1, adds=False)
    middle = block(joined(layer(fine, 128, 128, 3, 2), half), 256, 256, 1, adds=False)
    coarse = block(joined(layer(middle, 256, 256, 3, 2), coarse), 512, 512, 1, adds=False)
    found = [boxes(fine, 128, 40), boxes(middle, 256, 20), boxes(coarse, 512, 10)]
    graph.output(graph.add("Concat", *found, axis=1), "boxes", [1, 6300, 85])
    return graph.model(), {"images": [1, 3, 320, 320]}


#: A function that makes each model and the shapes of its inputs.
MODELS = {
    "ResNet-50": resnet_50,
    "MobileNetV2": mobilenet_v2,
    "BERT-base, 128 tokens": bert_base,
    "ViT-B/16": vit_base,
    "detector, 320²": detector,
    "GPT-2 step, 127 past tokens": gpt_2,
}
