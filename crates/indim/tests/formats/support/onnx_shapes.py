"""Writes a model of many nodes with random attributes, and the types that ONNX's own inference gives.

    onnx_shapes.py FOLDER COUNT SEED

FOLDER gets model.onnx, and types.txt with a line for each result: its name and sizes, or `-` where ONNX knows
nothing, such as `y12 2 3 4`. Nodes that ONNX refuses are left out.
"""

import pathlib
import random
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


class Maker:
    """Random nodes, each with inputs of its own."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.inputs, self.arrays, self.count = [], [], 0

    def shape(self, low, high, sizes=(1, 9)):
        return [self.random.randint(*sizes) for _ in range(self.random.randint(low, high))]

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def input(self, shape, kind=FLOAT):
        name = self.name("x")
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def array(self, numbers, kind=numpy.int64):
        name = self.name("c")
        self.arrays.append(numpy_helper.from_array(numpy.array(numbers, kind), name))
        return name

    def node(self, operator, inputs, results=1, **attributes):
        names = [self.name("y") for _ in range(results)]
        return helper.make_node(operator, inputs, names, name=names[0], **attributes)

    def maybe(self, **attributes):
        """Each attribute with probability one half."""
        return {name: value for name, value in attributes.items() if self.random.random() < 0.5}

    def axis(self, rank):
        return self.random.randint(-rank, rank - 1)

    def axes(self, rank):
        axes = self.random.sample(range(rank), self.random.randint(1, rank))
        return [axis - rank if self.random.random() < 0.3 else axis for axis in axes]

    def broadcast_pair(self):
        result = self.shape(0, 4)
        start = lambda: self.random.randint(0, len(result))
        cut = lambda: [1 if self.random.random() < 0.3 else n for n in result[start():]]
        return cut(), cut()


def binary(m):
    a, b = m.broadcast_pair()
    operator = m.random.choice(["Add", "Sub", "Mul", "Div", "Pow", "Less", "Equal"])
    return m.node(operator, [m.input(a), m.input(b)])


def where(m):
    a, b = m.broadcast_pair()
    return m.node("Where", [m.input([1], BOOL), m.input(a), m.input(b)])


def mat_mul(m):
    a, b = m.broadcast_pair()
    k = m.random.randint(1, 9)
    left = a + [m.random.randint(1, 9), k] if m.random.random() < 0.8 else [k]
    right = b + [k, m.random.randint(1, 9)] if m.random.random() < 0.8 else [k]
    return m.node("MatMul", [m.input(left), m.input(right)])


def gemm(m):
    rows, inner, columns = (m.random.randint(1, 9) for _ in range(3))
    a_is, b_is = m.random.randint(0, 1), m.random.randint(0, 1)
    a = [inner, rows] if a_is else [rows, inner]
    b = [columns, inner] if b_is else [inner, columns]
    inputs = [m.input(a), m.input(b)] + ([m.input([columns])] if m.random.random() < 0.5 else [])
    return m.node("Gemm", inputs, transA=a_is, transB=b_is)


def windows(m, rank, kernel):
    attributes = m.maybe(
        strides=[m.random.randint(1, 3) for _ in range(rank)],
        dilations=[m.random.randint(1, 2) for _ in range(rank)],
    )
    choice = m.random.random()
    if choice < 0.5:
        attributes["pads"] = [m.random.randint(0, max(0, kernel[i % rank] - 1)) for i in range(2 * rank)]
    elif choice < 0.8:
        attributes["auto_pad"] = m.random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        attributes.pop("dilations", None)
    return attributes


def conv(m):
    rank, group = m.random.randint(1, 3), m.random.choice([1, 1, 2])
    kernel = [m.random.randint(1, 3) for _ in range(rank)]
    channels, out = m.random.randint(1, 4), m.random.randint(1, 4) * group
    x = [m.random.randint(1, 3), channels * group] + m.shape(rank, rank, (8, 14))
    inputs = [m.input(x), m.input([out, channels] + kernel)]
    return m.node("Conv", inputs, group=group, **windows(m, rank, kernel))


def conv_transpose(m):
    rank = m.random.randint(1, 2)
    kernel = [m.random.randint(1, 3) for _ in range(rank)]
    channels, out = m.random.randint(1, 4), m.random.randint(1, 4)
    x = [1, channels] + m.shape(rank, rank, (4, 9))
    attributes = m.maybe(strides=[m.random.randint(1, 3) for _ in range(rank)], pads=[0, 1][:1] * 2 * rank)
    return m.node("ConvTranspose", [m.input(x), m.input([channels, out] + kernel)], **attributes)


def pool(m):
    rank = m.random.randint(1, 3)
    kernel = [m.random.randint(1, 4) for _ in range(rank)]
    attributes = windows(m, rank, kernel)
    operator = m.random.choice(["MaxPool", "AveragePool"])
    if operator == "AveragePool":
        attributes.pop("dilations", None)
    # With ceil_mode ONNX's inference counts windows that begin behind the axis, which its runtimes leave out.
    x = [1, 2] + m.shape(rank, rank, (8, 14))
    return m.node(operator, [m.input(x)], kernel_shape=kernel, **attributes)


def global_pool(m):
    return m.node(m.random.choice(["GlobalMaxPool", "GlobalAveragePool"]), [m.input(m.shape(3, 5))])


def reduce(m):
    shape = m.shape(1, 4)
    operator = m.random.choice(["ReduceMean", "ReduceMax", "ReduceProd", "ReduceL2"])
    attributes = m.maybe(axes=m.axes(len(shape)), keepdims=m.random.randint(0, 1))
    return m.node(operator, [m.input(shape)], **attributes)


def reduce_sum(m):
    shape = m.shape(1, 4)
    inputs = [m.input(shape), m.array(m.axes(len(shape)))]
    return m.node("ReduceSum", inputs, **m.maybe(keepdims=0))


def arg_max(m):
    shape = m.shape(1, 4)
    return m.node("ArgMax", [m.input(shape)], axis=m.axis(len(shape)), **m.maybe(keepdims=0))


def gather(m):
    shape = m.shape(1, 4)
    inputs = [m.input(shape), m.input(m.shape(0, 3), INT64)]
    return m.node("Gather", inputs, axis=m.axis(len(shape)))


def element_indices(m, shape, axis):
    """The shape of indices along an axis; along the others they have at most the size of the data."""
    return [m.random.randint(1, 9 if at == axis % len(shape) else size) for at, size in enumerate(shape)]


def gather_elements(m):
    shape = m.shape(1, 4)
    axis = m.axis(len(shape))
    inputs = [m.input(shape), m.input(element_indices(m, shape, axis), INT64)]
    return m.node("GatherElements", inputs, axis=axis)


def gather_nd(m):
    batch, shape = m.shape(0, 2), m.shape(1, 3)
    depth = m.random.randint(1, len(shape))
    indices = batch + m.shape(0, 2) + [depth]
    return m.node("GatherND", [m.input(batch + shape), m.input(indices, INT64)], batch_dims=len(batch))


def scatter_elements(m):
    shape = m.shape(1, 4)
    indices = element_indices(m, shape, 0)
    return m.node("ScatterElements", [m.input(shape), m.input(indices, INT64), m.input(indices)])


def top_k(m):
    shape = m.shape(1, 4)
    axis = m.axis(len(shape))
    return m.node("TopK", [m.input(shape), m.array([m.random.randint(1, shape[axis])])], 2, axis=axis)


def one_hot(m):
    shape = m.shape(1, 3)
    inputs = [m.input(shape, INT64), m.array([m.random.randint(1, 9)]), m.input([2])]
    return m.node("OneHot", inputs, axis=m.random.randint(-len(shape) - 1, len(shape)))


def non_zero(m):
    return m.node("NonZero", [m.input(m.shape(1, 4))])


def transpose(m):
    shape = m.shape(1, 4)
    perm = m.random.sample(range(len(shape)), len(shape))
    return m.node("Transpose", [m.input(shape)], **m.maybe(perm=perm))


def concat(m):
    shape = m.shape(1, 4)
    axis = m.axis(len(shape))
    def part():
        own = list(shape)
        own[axis] = m.random.randint(1, 9)
        return m.input(own)
    return m.node("Concat", [part() for _ in range(m.random.randint(1, 4))], axis=axis)


def split(m):
    shape = m.shape(1, 4, (4, 9))
    axis = m.axis(len(shape))
    first = m.random.randint(1, shape[axis] - 1)
    return m.node("Split", [m.input(shape), m.array([first, shape[axis] - first])], 2, axis=axis)


def slices(m):
    shape = m.shape(1, 4)
    axes = sorted(m.random.sample(range(len(shape)), m.random.randint(1, len(shape))))
    bound = lambda: m.random.choice([m.random.randint(-10, 10), 2**31 - 1, -(2**31)])
    steps = [m.random.choice([1, 1, 2, 3, -1, -2]) for _ in axes]
    lists = [[bound() for _ in axes], [bound() for _ in axes], axes, steps]
    return m.node("Slice", [m.input(shape)] + [m.array(it) for it in lists])


def reshape(m):
    shape = m.shape(1, 4)
    count = int(numpy.prod(shape))
    target = m.random.choice([[-1], [0, -1], [count], [1, -1, 1], [shape[0], -1]])
    return m.node("Reshape", [m.input(shape), m.array(target)])


def squeeze(m):
    shape = m.shape(1, 4)
    axes = m.axes(len(shape))
    for axis in axes:
        shape[axis] = 1
    return m.node("Squeeze", [m.input(shape), m.array(axes)])


def unsqueeze(m):
    shape = m.shape(0, 3)
    rank = len(shape) + m.random.randint(1, 2)
    axes = m.random.sample(range(rank), rank - len(shape))
    return m.node("Unsqueeze", [m.input(shape), m.array(axes)])


def flatten(m):
    shape = m.shape(1, 4)
    return m.node("Flatten", [m.input(shape)], axis=m.random.randint(-len(shape), len(shape)))


def expand(m):
    a, b = m.broadcast_pair()
    return m.node("Expand", [m.input(a), m.array(b)])


def tile(m):
    shape = m.shape(1, 4)
    return m.node("Tile", [m.input(shape), m.array([m.random.randint(0, 3) for _ in shape])])


def pad(m):
    shape = m.shape(1, 4)
    pads = [m.random.randint(0, 3) for _ in range(2 * len(shape))]
    return m.node("Pad", [m.input(shape), m.array(pads)])


def einsum(m):
    i, j, k = (m.random.randint(1, 9) for _ in range(3))
    equation, shapes = m.random.choice([
        ("ij,jk->ik", ([i, j], [j, k])),
        ("bij, bjk -> bik", ([2, i, j], [2, j, k])),
        ("ij,jk", ([i, j], [j, k])),
        ("...ij,...jk->...ik", ([4, i, j], [4, j, k])),
        ("ii->i", ([i, i],)),
        ("ij->", ([i, j],)),
    ])
    return m.node("Einsum", [m.input(shape) for shape in shapes], equation=equation)


def resize(m):
    shape = [1, 2] + m.shape(2, 2, (3, 9))
    if m.random.random() < 0.5:
        scales = [1.0, 1.0] + [m.random.choice([0.5, 1.5, 2.0, 3.0]) for _ in range(2)]
        return m.node("Resize", [m.input(shape), "", m.array(scales, numpy.float32)])
    return m.node("Resize", [m.input(shape), "", "", m.array([1, 2] + m.shape(2, 2))])


def recurrent(m):
    operator, gates = m.random.choice([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    direction = m.random.choice(["forward", "reverse", "bidirectional"])
    directions, hidden = 1 + (direction == "bidirectional"), m.random.randint(1, 9)
    x = m.shape(3, 3)
    rows = gates * hidden
    inputs = [m.input(x), m.input([directions, rows, x[2]]), m.input([directions, rows, hidden])]
    results = 3 if operator == "LSTM" else 2
    return m.node(operator, inputs, results, direction=direction, hidden_size=hidden)


def same(m):
    shape = m.shape(1, 4)
    operator = m.random.choice(["Relu", "Softmax", "Erf", "Dropout", "Identity", "Hardmax", "LogSoftmax"])
    return m.node(operator, [m.input(shape)])


def moved(m):
    block = m.random.randint(1, 3)
    if m.random.random() < 0.5:
        return m.node("DepthToSpace", [m.input([1, 2 * block * block, 3, 4])], blocksize=block)
    return m.node("SpaceToDepth", [m.input([1, 2, 3 * block, 4 * block])], blocksize=block)


def layer_normalization(m):
    shape = m.shape(1, 4)
    axis = m.axis(len(shape))
    return m.node("LayerNormalization", [m.input(shape), m.input(shape[axis:])], axis=axis)


def shapes_of(m):
    shape = m.shape(0, 4)
    start, end = m.random.randint(-4, 4), m.random.randint(-4, 4)
    return m.node("Shape", [m.input(shape)], **m.maybe(start=start, end=end))


def compress(m):
    shape = m.shape(1, 4)
    return m.node("Compress", [m.input(shape), m.input([3], BOOL)], **m.maybe(axis=m.axis(len(shape))))


MAKERS = [
    binary, where, mat_mul, gemm, conv, conv_transpose, pool, global_pool, reduce, reduce_sum, arg_max,
    gather, gather_elements, gather_nd, scatter_elements, top_k, one_hot, non_zero, transpose, concat, split,
    slices, reshape, squeeze, unsqueeze, flatten, expand, tile, pad, einsum, resize, recurrent, same, moved,
    layer_normalization, shapes_of, compress,
]


def model_of(node, inputs, arrays):
    used = set(node.input)
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output]
    graph = helper.make_graph(
        [node],
        "g",
        [it for it in inputs if it.name in used],
        outputs,
        [it for it in arrays if it.name in used],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def inferred(node, maker):
    """The sizes of each result, or None where ONNX refuses the node."""
    try:
        model = shape_inference.infer_shapes(
            model_of(node, maker.inputs, maker.arrays), check_type=True, strict_mode=True, data_prop=True
        )
    except Exception:
        return None
    lines = []
    for value in model.graph.output:
        tensor = value.type.tensor_type
        if not tensor.HasField("shape"):
            lines.append(f"{value.name} -")
            continue
        sizes = [str(d.dim_value) if d.HasField("dim_value") else "?" for d in tensor.shape.dim]
        lines.append(" ".join([value.name, *sizes]))
    return lines


def main():
    folder, count, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    nodes, lines, inputs, arrays = [], [], [], []
    for index in range(count):
        maker = Maker(seed * 1_000_003 + index)
        maker.count = index * 100
        node = MAKERS[index % len(MAKERS)](maker)
        known = inferred(node, maker)
        if known is None:
            continue
        nodes.append(node)
        lines += known
        inputs += maker.inputs
        arrays += maker.arrays
    outputs = [onnx.ValueInfoProto(name=name) for node in nodes for name in node.output]
    graph = helper.make_graph(nodes, "g", inputs, outputs, arrays)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "types.txt").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
