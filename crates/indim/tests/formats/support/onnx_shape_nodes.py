"""Random nodes of every operator of ONNX that has a type inference, each with inputs of its own."""

import random

import numpy
from onnx import TensorProto, helper, numpy_helper

FLOAT, DOUBLE, BOOL, STRING = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.BOOL, TensorProto.STRING
INT8, UINT8, INT32, INT64 = TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32, TensorProto.INT64

# Operators with their makers: the first and last opset of the maker's form, and the maker.
MAKERS = []


def of(operators, since=7, until=28):
    """Registers a function that makes a node of one of these operators in these opsets."""

    def register(function):
        for operator in operators.split():
            MAKERS.append((operator, since, until, function))
        return function

    return register


class Maker:
    """The inputs and constants of one node."""

    def __init__(self, seed, operator, opset, first_name):
        self.random = random.Random(seed)
        self.operator, self.opset, self.count = operator, opset, first_name
        self.inputs, self.constants = {}, {}

    def shape(self, low, high, sizes=(1, 9)):
        return [self.random.randint(*sizes) for _ in range(self.random.randint(low, high))]

    def sizes(self, count, low=1, high=4):
        return [self.random.randint(low, high) for _ in range(count)]

    def size(self, low=1, high=9):
        return self.random.randint(low, high)

    def chance(self, probability=0.5):
        return self.random.random() < probability

    def pick(self, *choices):
        return self.random.choice(choices)

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def input(self, shape, kind=FLOAT):
        name = self.name("x")
        self.inputs[name] = (kind, list(shape))
        return name

    def index(self, shape, kind=INT64):
        return self.input(shape, kind)

    def constant(self, numbers, kind=numpy.int64):
        name = self.name("c")
        self.constants[name] = numpy.array(numbers, kind)
        return name

    def node(self, inputs, results=1, operator=None, **attributes):
        while inputs and not inputs[-1]:
            inputs = inputs[:-1]
        names = [self.name("y") for _ in range(results)]
        return helper.make_node(operator or self.operator, inputs, names, name=names[0], **attributes)

    def maybe(self, **attributes):
        """Each attribute with probability one half."""
        return {name: value for name, value in attributes.items() if self.chance()}

    def axis(self, rank):
        return self.random.randint(-rank, rank - 1)

    def axes(self, rank):
        axes = self.random.sample(range(rank), self.random.randint(1, rank))
        return [axis - rank if self.chance(0.3) else axis for axis in axes]

    def broadcast(self, count=2):
        """Shapes that broadcast with each other."""
        result = self.shape(0, 4)
        cut = lambda: result[self.random.randint(0, len(result)) :]
        return [[1 if self.chance(0.3) else size for size in cut()] for _ in range(count)]


FLOATS = (
    "Acos Asin Atan Ceil Cos Elu Exp Floor HardSigmoid LeakyRelu Log LogSoftmax Neg Reciprocal Relu Selu "
    "Sigmoid Sin Softmax Softplus Softsign Sqrt Tan Tanh Hardmax Abs Identity LpNormalization"
)


@of(FLOATS)
@of("Acosh Asinh Atanh Cosh Erf Shrink Sign Sinh", 9)
@of("ThresholdedRelu", 10)
@of("Clip Round", 11)
@of("Celu", 12)
@of("HardSwish", 14)
@of("Mish", 18)
@of("Gelu", 20)
@of("Swish", 24)
def same(m):
    return m.node([m.input(m.shape(1, 4))])


@of("IsNaN", 9)
@of("IsInf", 10)
def predicate(m):
    return m.node([m.input(m.shape(0, 4))])


@of("Not")
def logical_not(m):
    return m.node([m.input(m.shape(0, 4), BOOL)])


@of("BitwiseNot", 18)
def bitwise_not(m):
    return m.node([m.input(m.shape(0, 4), m.pick(UINT8, INT64))])


@of("Add Sub Mul Div Pow Less Greater")
@of("Equal", 11)
@of("GreaterOrEqual LessOrEqual", 12)
def binary(m):
    a, b = m.broadcast()
    return m.node([m.input(a), m.input(b)])


@of("And Or Xor")
def logical(m):
    a, b = m.broadcast()
    return m.node([m.input(a, BOOL), m.input(b, BOOL)])


@of("BitwiseAnd BitwiseOr BitwiseXor", 18)
@of("BitShift", 11)
@of("Mod", 10)
def integers(m):
    a, b = m.broadcast()
    attributes = {"direction": "LEFT"} if m.operator == "BitShift" else {}
    return m.node([m.input(a, UINT8), m.input(b, UINT8)], **attributes)


@of("Max Min Mean Sum", 8)
def variadic(m):
    return m.node([m.input(shape) for shape in m.broadcast(m.size(1, 4))])


@of("Where", 9)
def where(m):
    condition, a, b = m.broadcast(3)
    return m.node([m.input(condition, BOOL), m.input(a), m.input(b)])


@of("PRelu")
def slope(m):
    shape = m.shape(1, 4)
    of_slope = [1 if m.chance(0.3) else size for size in shape[m.size(0, len(shape)) :]]
    return m.node([m.input(shape), m.input(of_slope)])


@of("SwiGLU", 28)
def gated(m):
    shape = m.shape(1, 4)
    return m.node([m.input(shape), m.input(shape)])


@of("Cast")
def cast(m):
    return m.node([m.input(m.shape(0, 4))], to=m.pick(DOUBLE, INT32, BOOL, UINT8))


@of("CastLike", 15)
def cast_like(m):
    return m.node([m.input(m.shape(0, 4)), m.input(m.shape(0, 4), m.pick(DOUBLE, INT32, BOOL))])


@of("BitCast", 26)
def bit_cast(m):
    return m.node([m.input(m.shape(0, 4))], to=INT32)


@of("Dropout", 7, 11)
def dropout_by_attribute(m):
    return m.node([m.input(m.shape(1, 4))], m.size(1, 2))


@of("Dropout", 12)
def dropout(m):
    optional = [m.constant(0.5, numpy.float32)] if m.chance() else []
    return m.node([m.input(m.shape(1, 4))] + optional, m.size(1, 2))


@of("QuantizeLinear", 10, 18)
def quantize(m):
    shape = m.shape(1, 4)
    axis, kind = m.axis(len(shape)), m.pick(UINT8, INT8)
    has_axis = m.opset >= 13 and m.chance()
    scale = [shape[axis]] if has_axis else []
    zero = [m.input(scale, kind)] if m.chance() else []
    return m.node([m.input(shape), m.input(scale)] + zero, **({"axis": axis} if has_axis else {}))


@of("QuantizeLinear", 21)
def quantize_to(m):
    attributes = m.maybe(output_dtype=m.pick(UINT8, INT8))
    return m.node([m.input(m.shape(1, 4)), m.input([])], **attributes)


@of("DequantizeLinear", 10)
def dequantize(m):
    shape, kind = m.shape(1, 4), m.pick(UINT8, INT8)
    axis = m.axis(len(shape))
    has_axis = m.opset >= 13 and m.chance()
    scale = [shape[axis]] if has_axis else []
    zero = [m.input(scale, kind)] if m.chance() else []
    return m.node([m.input(shape, kind), m.input(scale)] + zero, **({"axis": axis} if has_axis else {}))


@of("DynamicQuantizeLinear", 11)
def quantize_by_data(m):
    return m.node([m.input(m.shape(1, 4))], 3)


@of("CumSum", 11)
@of("CumProd", 26)
def cumulative(m):
    shape = m.shape(1, 4)
    return m.node([m.input(shape), m.constant(m.axis(len(shape)))])


@of("InstanceNormalization")
@of("GroupNormalization", 21)
def normalization(m):
    channels = 2 * m.size(1, 3)
    x = [m.size(), channels] + m.shape(1, 2)
    attributes = {"num_groups": 2} if m.operator == "GroupNormalization" else {}
    return m.node([m.input(x), m.input([channels]), m.input([channels])], **attributes)


@of("LRN")
def local_response(m):
    return m.node([m.input(m.shape(4, 4))], size=3)


@of("MeanVarianceNormalization", 9)
def mean_variance(m):
    return m.node([m.input(m.shape(4, 4))])


@of("BatchNormalization", 9)
def batch_normalization(m):
    x = m.shape(2, 4)
    return m.node([m.input(x)] + [m.input([x[1]]) for _ in range(4)])


@of("BatchNormalization", 15)
def batch_normalization_while_training(m):
    x = m.shape(2, 4)
    return m.node([m.input(x)] + [m.input([x[1]]) for _ in range(4)], 3, training_mode=1)


@of("LayerNormalization", 17)
def layer_normalization(m):
    shape = m.shape(1, 4)
    axis = m.axis(len(shape))
    bias = [m.input(shape[axis:])] if m.chance() else []
    return m.node([m.input(shape), m.input(shape[axis:])] + bias, m.size(1, 3), axis=axis)


@of("RMSNormalization", 23)
def root_mean_square(m):
    shape = m.shape(1, 4)
    axis = m.axis(len(shape))
    return m.node([m.input(shape), m.input(shape[axis:])], axis=axis)


@of("ReverseSequence", 10)
def reverse_sequence(m):
    shape, batch = m.shape(2, 4), m.size(0, 1)
    return m.node([m.input(shape), m.index([shape[batch]])], batch_axis=batch, time_axis=1 - batch)


@of("RotaryEmbedding", 23)
def rotary(m):
    batch, heads, length, half = m.sizes(4)
    has_positions = m.chance()
    caches = [m.size(5, 9), half] if has_positions else [batch, length, half]
    is_flat = m.chance()
    x = [batch, length, heads * 2 * half] if is_flat else [batch, heads, length, 2 * half]
    inputs = [m.input(x), m.input(caches), m.input(caches)]
    inputs += [m.index([batch, length])] if has_positions else []
    return m.node(inputs, **({"num_heads": heads} if is_flat else {}))


@of("Trilu", 14)
def triangle(m):
    return m.node([m.input(m.shape(2, 4))])


@of("ConstantOfShape", 9)
def constant_of_shape(m):
    value = helper.make_tensor("value", m.pick(FLOAT, INT64, INT32), [1], [1])
    return m.node([m.constant(m.shape(0, 4))], **m.maybe(value=value))


@of("Range", 11)
def ranges(m):
    start, step = m.size(-9, 9), m.pick(-3, -2, -1, 1, 2, 3)
    kind = m.pick(numpy.int64, numpy.float32)
    return m.node([m.constant(it, kind) for it in (start, m.size(-9, 9), step)])


@of("EyeLike", 9)
def eye_like(m):
    return m.node([m.input(m.shape(2, 2))], **m.maybe(dtype=m.pick(INT32, DOUBLE)))


@of("RandomNormalLike RandomUniformLike")
@of("Bernoulli", 15)
def random_like(m):
    return m.node([m.input(m.shape(0, 4))], **m.maybe(dtype=DOUBLE))


@of("RandomNormal RandomUniform")
def random_numbers(m):
    return m.node([], shape=m.shape(1, 4), **m.maybe(dtype=DOUBLE))


@of("Multinomial")
def multinomial(m):
    return m.node([m.input(m.shape(2, 2))], **m.maybe(sample_size=m.size(), dtype=INT64))


@of("BlackmanWindow HammingWindow HannWindow", 17)
def window(m):
    return m.node([m.constant(m.size())], **m.maybe(output_datatype=DOUBLE))


@of("Shape", 7, 14)
@of("Size")
def shapes(m):
    return m.node([m.input(m.shape(0, 4))])


@of("Shape", 15)
def part_of_shape(m):
    return m.node([m.input(m.shape(0, 4))], **m.maybe(start=m.size(-5, 5), end=m.size(-5, 5)))


@of("Reshape")
def reshape(m):
    shape = m.shape(1, 4)
    count = int(numpy.prod(shape))
    target = m.pick([-1], [0, -1], [count], [1, -1, 1], [shape[0], -1], [0] * len(shape), shape[::-1])
    attributes = m.maybe(allowzero=1) if m.opset >= 14 and 0 not in target else {}
    return m.node([m.input(shape), m.constant(target)], **attributes)


@of("Flatten")
def flatten(m):
    shape = m.shape(1, 4)
    low = -len(shape) if m.opset >= 11 else 0
    return m.node([m.input(shape)], axis=m.size(low, len(shape)))


@of("Squeeze")
def squeeze(m):
    shape = m.shape(1, 4)
    axes = m.axes(len(shape))
    for axis in axes:
        shape[axis] = 1
    if m.chance(0.2):
        return m.node([m.input(shape)])
    if m.opset < 13:
        # ONNX's inference takes the list for sorted.
        return m.node([m.input(shape)], axes=sorted(axis % len(shape) for axis in axes))
    return m.node([m.input(shape), m.constant(axes)])


@of("Unsqueeze")
def unsqueeze(m):
    shape = m.shape(0, 3)
    rank = len(shape) + m.size(1, 2)
    axes = m.random.sample(range(rank), rank - len(shape))
    if m.opset < 13:
        return m.node([m.input(shape)], axes=sorted(axes))
    return m.node([m.input(shape), m.constant(axes)])


@of("Transpose")
def transpose(m):
    shape = m.shape(1, 4)
    perm = m.random.sample(range(len(shape)), len(shape))
    return m.node([m.input(shape)], **m.maybe(perm=perm))


@of("Concat")
def concat(m):
    shape = m.shape(1, 4)
    axis = m.axis(len(shape)) if m.opset >= 11 else m.size(0, len(shape) - 1)

    def part():
        own = list(shape)
        own[axis] = m.size()
        return m.input(own)

    return m.node([part() for _ in range(m.size(1, 4))], axis=axis)


@of("Split")
def split(m):
    shape = m.shape(1, 4, (4, 9))
    axis = m.axis(len(shape)) if m.opset >= 11 else m.size(0, len(shape) - 1)
    first = m.size(1, shape[axis] - 1)
    parts = [first, shape[axis] - first]
    if m.opset < 13:
        return m.node([m.input(shape)], 2, axis=axis, split=parts)
    return m.node([m.input(shape), m.constant(parts)], 2, axis=axis)


@of("Split")
def split_equally(m):
    shape, count = m.shape(1, 4, (4, 9)), m.size(1, 4)
    axis = m.size(0, len(shape) - 1)
    if m.opset < 18:
        shape[axis] = count * m.size(1, 3)
        return m.node([m.input(shape)], count, axis=axis)
    return m.node([m.input(shape)], count, axis=axis, num_outputs=count)


@of("Expand", 8)
def expand(m):
    a, b = m.broadcast()
    return m.node([m.input(a), m.constant(b)])


@of("Tile")
def tile(m):
    shape = m.shape(1, 4)
    return m.node([m.input(shape), m.constant([m.size(0, 3) for _ in shape])])


@of("Pad")
def pad(m):
    shape = m.shape(1, 4)
    mode = m.pick("constant", "edge", "reflect")
    most = min(shape) - 1 if mode == "reflect" else 3
    pads = [m.size(0, most) for _ in range(2 * len(shape))]
    if m.opset < 11:
        return m.node([m.input(shape)], pads=pads, mode=mode)
    if m.opset >= 18 and m.chance():
        axes = m.axes(len(shape))
        pads = pads[: 2 * len(axes)]
        return m.node([m.input(shape), m.constant(pads), "", m.constant(axes)], mode=mode)
    return m.node([m.input(shape), m.constant(pads)], mode=mode)


@of("Slice", 10)
def slices(m):
    shape = m.shape(1, 4)
    axes = sorted(m.random.sample(range(len(shape)), m.size(1, len(shape))))
    bound = lambda: m.pick(m.size(-10, 10), m.size(-3, 3), 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
    steps = [m.pick(1, 1, 2, 3, -1, -2) for _ in axes]
    lists = [[bound() for _ in axes], [bound() for _ in axes], axes, steps]
    if m.chance(0.3):
        lists = [[bound() for _ in shape], [bound() for _ in shape]]
    return m.node([m.input(shape)] + [m.constant(it) for it in lists])


@of("Slice", 7, 9)
def slices_by_attributes(m):
    shape = m.shape(1, 4)
    axes = sorted(m.random.sample(range(len(shape)), m.size(1, len(shape))))
    bound = lambda: m.pick(m.size(-10, 10), m.size(0, 3), 2**31 - 1)
    bounds = {"starts": [bound() for _ in axes], "ends": [bound() for _ in axes]}
    return m.node([m.input(shape)], axes=axes, **bounds)


@of("DepthToSpace SpaceToDepth")
def move_blocks(m):
    block = m.size(1, 3)
    if m.operator == "DepthToSpace":
        shape = [m.size(), m.size() * block * block, m.size(), m.size()]
    else:
        shape = [m.size(), m.size(), m.size() * block, m.size() * block]
    return m.node([m.input(shape)], blocksize=block)


def matrices(m):
    a, b = m.broadcast()
    inner = m.size()
    left = a + [m.size(), inner] if m.chance(0.8) else [inner]
    right = b + [inner, m.size()] if m.chance(0.8) else [inner]
    return left, right


@of("MatMul")
def mat_mul(m):
    a, b = matrices(m)
    return m.node([m.input(a), m.input(b)])


@of("MatMulInteger", 10)
def mat_mul_integer(m):
    a, b = matrices(m)
    inputs = [m.input(a, UINT8), m.input(b, INT8)]
    zeros = [m.input([], UINT8), m.input([], INT8)][: m.size(0, 2)]
    return m.node(inputs + zeros)


@of("QLinearMatMul", 10)
def mat_mul_quantized(m):
    a, b = matrices(m)
    scalar = lambda kind=FLOAT: m.input([], kind)
    first = [m.input(a, UINT8), scalar(), scalar(UINT8)]
    return m.node(first + [m.input(b, INT8), scalar(), scalar(INT8), scalar(), scalar(UINT8)])


@of("Gemm")
def gemm(m):
    rows, inner, columns = m.sizes(3, 1, 9)
    is_a, is_b = m.size(0, 1), m.size(0, 1)
    a = [inner, rows] if is_a else [rows, inner]
    b = [columns, inner] if is_b else [inner, columns]
    bias = m.pick([columns], [1], [], [rows, 1], [rows, columns], [1, columns])
    inputs = [m.input(a), m.input(b)]
    inputs += [m.input(bias)] if m.opset < 11 or m.chance() else []
    return m.node(inputs, transA=is_a, transB=is_b)


@of("Einsum", 12)
def einsum(m):
    i, j, k, batch = m.sizes(4, 1, 9)
    equation, shapes = m.pick(
        ("ij,jk->ik", ([i, j], [j, k])),
        ("bij, bjk -> bik", ([batch, i, j], [batch, j, k])),
        ("ij,jk", ([i, j], [j, k])),
        ("...ij,...jk->...ik", ([batch, i, j], [batch, j, k])),
        ("...ij,...jk", ([batch, i, j], [1, j, k])),
        ("...ij,...jk", ([batch, i, j], [j, k])),
        ("ii->i", ([i, i],)),
        ("ii", ([i, i],)),
        ("ij->", ([i, j],)),
        ("ij->ji", ([i, j],)),
        ("ba", ([i, j],)),
        ("i,j->ij", ([i], [j])),
        ("bhqd,bhkd->bhqk", ([batch, i, j, k], [batch, i, 3, k])),
        ("i...,i...->...", ([i, j], [i, j])),
        ("ij,jk,kl->il", ([i, j], [j, k], [k, 2])),
    )
    return m.node([m.input(shape) for shape in shapes], equation=equation)


@of("Attention", 23)
def attention(m):
    batch, groups, repeats, width, value_width, length, total, past = m.sizes(8)
    heads = groups * repeats
    is_flat = m.chance()
    shape = lambda heads, length, width: (
        [batch, length, heads * width] if is_flat else [batch, heads, length, width]
    )
    has_past = m.chance()
    inputs = [
        m.input(shape(heads, length, width)),
        m.input(shape(groups, total, width)),
        m.input(shape(groups, total, value_width)),
        m.input([length, total + past * has_past]) if m.chance() else "",
    ]
    if has_past:
        inputs += [m.input([batch, groups, past, width]), m.input([batch, groups, past, value_width])]
    attributes = {"q_num_heads": heads, "kv_num_heads": groups} if is_flat else {}
    return m.node(inputs, m.pick(1, 3, 4) if has_past or m.chance() else 1, **attributes)


def window_attributes(m, rank, kernel, has_dilations=True):
    attributes = m.maybe(strides=m.sizes(rank, 1, 3))
    if has_dilations and m.chance():
        attributes["dilations"] = m.sizes(rank, 1, 2)
    choice = m.random.random()
    if choice < 0.5:
        attributes["pads"] = [m.size(0, max(0, kernel[at % rank] - 1)) for at in range(2 * rank)]
    elif choice < 0.8:
        attributes["auto_pad"] = m.pick("SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET")
    return attributes


def convolution_shapes(m):
    rank, group = m.size(1, 3), m.pick(1, 1, 2, 3)
    kernel = m.sizes(rank, 1, 3)
    channels, out = m.size(1, 4), m.size(1, 4) * group
    x = [m.size(1, 3), channels * group] + m.shape(rank, rank, (8, 14))
    attributes = {"group": group, **window_attributes(m, rank, kernel), **m.maybe(kernel_shape=kernel)}
    return x, [out, channels] + kernel, attributes


@of("Conv")
def convolution(m):
    x, weights, attributes = convolution_shapes(m)
    bias = [m.input([weights[0]])] if m.chance() else []
    return m.node([m.input(x), m.input(weights)] + bias, **attributes)


@of("ConvInteger", 10)
def convolution_integer(m):
    x, weights, attributes = convolution_shapes(m)
    return m.node([m.input(x, UINT8), m.input(weights, UINT8)], **attributes)


@of("QLinearConv", 10)
def convolution_quantized(m):
    x, weights, attributes = convolution_shapes(m)
    scalar = lambda kind=FLOAT: m.input([], kind)
    inputs = [m.input(x, UINT8), scalar(), scalar(UINT8), m.input(weights, UINT8), scalar(), scalar(UINT8)]
    return m.node(inputs + [scalar(), scalar(UINT8)], **attributes)


@of("ConvTranspose")
def transposed_convolution(m):
    rank, group = m.size(1, 3), m.pick(1, 1, 2)
    kernel = m.sizes(rank, 1, 3)
    channels, out = m.size(1, 4) * group, m.size(1, 4)
    x = [m.size(1, 3), channels] + m.shape(rank, rank, (4, 9))
    attributes = {"group": group, **window_attributes(m, rank, kernel), **m.maybe(kernel_shape=kernel)}
    strides = attributes.get("strides", [1] * rank)
    if m.chance(0.3):
        attributes["output_padding"] = [m.size(0, stride - 1) for stride in strides]
    if m.chance(0.2):
        attributes["output_shape"] = [size * stride for size, stride in zip(x[2:], strides)]
    bias = [m.input([out * group])] if m.chance() else []
    return m.node([m.input(x), m.input([channels, out] + kernel)] + bias, **attributes)


@of("DeformConv", 19)
def deformable_convolution(m):
    batch, group, offset_group = m.size(1, 3), m.pick(1, 2), m.pick(1, 2)
    kernel, strides = m.sizes(2, 1, 3), m.sizes(2, 1, 2)
    channels, out = 2 * m.size(1, 2), m.size(1, 3) * group
    x = [batch, channels * group] + m.shape(2, 2, (6, 9))
    counts = [(size - taps) // stride + 1 for size, taps, stride in zip(x[2:], kernel, strides)]
    taps = offset_group * kernel[0] * kernel[1]
    inputs = [m.input(x), m.input([out, channels] + kernel), m.input([batch, 2 * taps] + counts)]
    inputs += [m.input([out]), m.input([batch, taps] + counts)][: m.size(0, 2)]
    return m.node(inputs, group=group, offset_group=offset_group, strides=strides)


@of("MaxPool AveragePool LpPool")
def pool(m):
    rank = m.size(1, 3)
    kernel = m.sizes(rank)
    since = {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[m.operator]
    attributes = window_attributes(m, rank, kernel, m.opset >= since)
    if attributes.get("auto_pad", "NOTSET") != "NOTSET":
        attributes.pop("dilations", None)
    if m.opset >= (18 if m.operator == "LpPool" else 10) and m.chance(0.3):
        attributes["ceil_mode"] = 1
    x = m.sizes(2) + m.shape(rank, rank, (8, 14))
    results = m.size(1, 2) if m.operator == "MaxPool" and m.opset >= 8 else 1
    return m.node([m.input(x)], results, kernel_shape=kernel, **attributes)


@of("GlobalMaxPool GlobalAveragePool GlobalLpPool")
def global_pool(m):
    return m.node([m.input(m.shape(3, 5))])


@of("MaxUnpool", 9)
def unpool(m):
    rank = m.size(1, 2)
    kernel = m.sizes(rank, 1, 3)
    x = m.sizes(2) + m.shape(rank, rank, (4, 9))
    pads = [m.size(0, size - 1) for size in kernel] * 2
    attributes = m.maybe(strides=m.sizes(rank, 1, 3), pads=pads)
    return m.node([m.input(x), m.index(x)], kernel_shape=kernel, **attributes)


@of("RoiAlign", 10)
def regions(m):
    count = m.size()
    attributes = m.maybe(output_height=m.size(), output_width=m.size())
    return m.node([m.input(m.shape(4, 4)), m.input([count, 4]), m.index([count])], **attributes)


@of("MaxRoiPool")
def max_regions(m):
    return m.node([m.input(m.shape(4, 4)), m.input([m.size(), 5])], pooled_shape=m.sizes(2))


@of("Resize", 10)
def resize(m):
    shape = m.shape(2, 4, (3, 9))
    scales = [m.pick(0.5, 1.0, 1.5, 2.0, 3.0, 0.25, 0.3) for _ in shape]
    if m.opset < 11:
        return m.node([m.input(shape), m.constant(scales, numpy.float32)])
    roi = "" if m.opset >= 13 else m.constant([], numpy.float32)
    none = "" if m.opset >= 13 else m.constant([], numpy.float32)
    axes, attributes = list(range(len(shape))), {}
    if m.opset >= 18 and m.chance():
        axes = m.axes(len(shape))
        attributes = {"axes": axes}
    if m.chance():
        return m.node([m.input(shape), roi, m.constant(scales[: len(axes)], numpy.float32)], **attributes)
    if m.opset >= 18 and m.chance():
        attributes["keep_aspect_ratio_policy"] = m.pick("not_larger", "not_smaller")
    return m.node([m.input(shape), roi, none, m.constant([m.size() for _ in axes])], **attributes)


@of("Upsample", 7, 9)
def upsample(m):
    shape = m.shape(4, 4, (3, 9))
    scales = [m.pick(1.0, 1.5, 2.0, 3.0) for _ in shape]
    if m.opset < 9:
        return m.node([m.input(shape)], scales=scales)
    return m.node([m.input(shape), m.constant(scales, numpy.float32)])


@of("GridSample", 16)
def grid_sample(m):
    rank = m.size(2, 3) if m.opset >= 20 else 2
    x = m.sizes(2) + m.shape(rank, rank)
    return m.node([m.input(x), m.input([x[0]] + m.shape(rank, rank) + [rank])])


@of("AffineGrid", 20)
def affine_grid(m):
    rank = m.size(2, 3)
    batch = m.size()
    return m.node([m.input([batch, rank, rank + 1]), m.constant([batch, 3] + m.shape(rank, rank))])


@of("Gather")
def gather(m):
    shape = m.shape(1, 4)
    axis = m.axis(len(shape)) if m.opset >= 11 else m.size(0, len(shape) - 1)
    return m.node([m.input(shape), m.index(m.shape(0, 3))], axis=axis)


def element_indices(m, shape, axis):
    """The shape of indices along an axis; along the others they have at most the size of the data."""
    return [m.size(1, 9 if at == axis % len(shape) else size) for at, size in enumerate(shape)]


@of("GatherElements", 11)
def gather_elements(m):
    shape = m.shape(1, 4)
    axis = m.axis(len(shape))
    return m.node([m.input(shape), m.index(element_indices(m, shape, axis))], axis=axis)


@of("GatherND", 12)
def gather_nd(m):
    batch, shape = m.shape(0, 2), m.shape(1, 3)
    indices = batch + m.shape(0, 2) + [m.size(1, len(shape))]
    return m.node([m.input(batch + shape), m.index(indices)], batch_dims=len(batch))


@of("Scatter", 9, 10)
@of("ScatterElements", 11)
def scatter_elements(m):
    shape = m.shape(1, 4)
    axis = m.axis(len(shape)) if m.opset >= 11 else m.size(0, len(shape) - 1)
    indices = element_indices(m, shape, axis)
    return m.node([m.input(shape), m.index(indices), m.input(indices)], axis=axis)


@of("ScatterND", 11)
def scatter_nd(m):
    shape, batch = m.shape(1, 4), m.shape(0, 2)
    depth = m.size(1, len(shape))
    return m.node([m.input(shape), m.index(batch + [depth]), m.input(batch + shape[depth:])])


@of("TensorScatter", 24)
def tensor_scatter(m):
    shape = m.shape(3, 4)
    axis = m.pick(-2, 1)
    update = list(shape)
    update[axis] = m.size(1, shape[axis])
    indices = [m.index([shape[0]])] if m.chance() else []
    return m.node([m.input(shape), m.input(update)] + indices, axis=axis)


@of("TopK")
def top_k(m):
    shape = m.shape(1, 4)
    axis = m.axis(len(shape)) if m.opset >= 11 else m.size(0, len(shape) - 1)
    k = m.size(1, shape[axis])
    if m.opset < 10:
        return m.node([m.input(shape)], 2, axis=axis, k=k)
    return m.node([m.input(shape), m.constant([k])], 2, axis=axis)


@of("ArgMax ArgMin")
def arg_reduce(m):
    shape = m.shape(1, 4)
    axis = m.axis(len(shape)) if m.opset >= 11 else m.size(0, len(shape) - 1)
    return m.node([m.input(shape)], **m.maybe(axis=axis, keepdims=m.size(0, 1)))


REDUCTIONS = "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd"


@of(REDUCTIONS + " ReduceSum ReduceSumSquare")
def reduce(m):
    shape = m.shape(0, 4)
    attributes = m.maybe(keepdims=m.size(0, 1))
    axes = m.axes(len(shape)) if shape and m.chance(0.7) else None
    if m.opset < 11 and axes:
        axes = [axis % len(shape) for axis in axes]
    if m.opset < (13 if m.operator == "ReduceSum" else 18):
        return m.node([m.input(shape)], **attributes, **({"axes": axes} if axes else {}))
    attributes |= m.maybe(noop_with_empty_axes=m.size(0, 1))
    operand = [m.constant(axes)] if axes else m.pick([], [m.constant([])])
    return m.node([m.input(shape)] + operand, **attributes)


@of("OneHot", 9)
def one_hot(m):
    shape = m.shape(1, 3)
    inputs = [m.index(shape), m.constant(m.pick(m.size(), [m.size()])), m.input([2])]
    return m.node(inputs, axis=m.size(-len(shape) - 1, len(shape)))


@of("NonZero", 9)
def non_zero(m):
    return m.node([m.input(m.shape(1, 4))])


@of("Compress", 9)
def compress(m):
    shape = m.shape(1, 4)
    axis = m.axis(len(shape)) if m.opset >= 11 else m.size(0, len(shape) - 1)
    return m.node([m.input(shape), m.input([1], BOOL)], **m.maybe(axis=axis))


@of("Unique", 11)
def unique(m):
    shape = m.shape(1, 4)
    return m.node([m.input(shape)], m.size(1, 4), **m.maybe(axis=m.axis(len(shape))))


@of("NonMaxSuppression", 10)
def non_max_suppression(m):
    batch, boxes, classes = m.sizes(3, 1, 9)
    inputs = [m.input([batch, boxes, 4]), m.input([batch, classes, boxes])]
    return m.node(inputs + [m.constant([3]), m.constant([0.5], numpy.float32)][: m.size(0, 2)])


@of("SoftmaxCrossEntropyLoss NegativeLogLikelihoodLoss", 12)
def loss(m):
    batch, classes = m.sizes(2, 1, 9)
    more = m.shape(0, 2)
    inputs = [m.input([batch, classes] + more), m.index([batch] + more)]
    inputs += [m.input([classes])] if m.chance() else []
    results = m.size(1, 2) if m.operator.startswith("Softmax") else 1
    return m.node(inputs, results, reduction=m.pick("none", "sum", "mean"))


@of("LSTM GRU RNN")
def recurrent(m):
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[m.operator]
    direction = m.pick("forward", "reverse", "bidirectional")
    directions, hidden = 1 + (direction == "bidirectional"), m.size(1, 5)
    length, batch, width = m.sizes(3, 1, 5)
    is_batch_first = m.opset >= 14 and m.chance(0.3)
    x = [batch, length, width] if is_batch_first else [length, batch, width]
    state = [batch, directions, hidden] if is_batch_first else [directions, batch, hidden]
    rows = gates * hidden
    inputs = [m.input(x), m.input([directions, rows, width]), m.input([directions, rows, hidden])]
    optional = [([directions, 2 * rows], FLOAT), ([batch], INT32), (state, FLOAT)]
    if m.operator == "LSTM":
        optional += [(state, FLOAT), ([directions, 3 * hidden], FLOAT)]
    inputs += [m.input(shape, kind) if m.chance() else "" for shape, kind in optional]
    results = m.size(1, 3 if m.operator == "LSTM" else 2)
    attributes = {"layout": 1} if is_batch_first else {}
    return m.node(inputs, results, direction=direction, hidden_size=hidden, **attributes)


@of("DFT", 17, 19)
def dft_by_attribute(m):
    shape = m.shape(1, 3) + [m.pick(1, 2)]
    axis = m.size(0, len(shape) - 2) if len(shape) > 1 else 0
    length = [m.constant(m.size())] if m.chance() else []
    attributes = {"axis": axis, **m.maybe(inverse=m.size(0, 1))}
    if shape[-1] == 1 and not attributes.get("inverse"):
        attributes |= m.maybe(onesided=1)
    return m.node([m.input(shape)] + length, **attributes)


@of("DFT", 20)
def dft(m):
    shape = m.shape(1, 3) + [m.pick(1, 2)]
    length = m.constant(m.size()) if m.chance() else ""
    axis = m.constant(m.pick(m.size(0, len(shape) - 2), -2)) if m.chance() else ""
    attributes = m.maybe(inverse=m.size(0, 1))
    if shape[-1] == 1 and not attributes.get("inverse"):
        attributes |= m.maybe(onesided=1)
    return m.node([m.input(shape), length, axis], **attributes)


@of("STFT", 17)
def stft(m):
    length = m.size(8, 20)
    frame = m.size(2, 6)
    signal, step = m.input([m.size(1, 3), length, m.pick(1, 2)]), m.constant(m.size(1, 4))
    choice = m.size(0, 2)
    inputs = [signal, step, m.input([frame]) if choice else "", m.constant(frame) if choice != 1 else ""]
    return m.node(inputs, onesided=m.size(0, 1))


@of("MelWeightMatrix", 17)
def mel(m):
    inputs = [m.constant(m.size()), m.constant(m.pick(8, 9, 16)), m.constant(8000)]
    bounds = [m.constant(100.0, numpy.float32), m.constant(3000.0, numpy.float32)]
    return m.node(inputs + bounds, **m.maybe(output_datatype=DOUBLE))


@of("Det", 11)
def determinant(m):
    size = m.size()
    return m.node([m.input(m.shape(0, 2) + [size, size])])


@of("Col2Im", 18)
def col_to_image(m):
    image, block, strides = m.sizes(2, 4, 9), m.sizes(2, 1, 3), m.sizes(2, 1, 2)
    counts = [(size - taps) // stride + 1 for size, taps, stride in zip(image, block, strides)]
    x = [m.size(), m.size() * block[0] * block[1], counts[0] * counts[1]]
    return m.node([m.input(x), m.constant(image), m.constant(block)], strides=strides)


@of("CenterCropPad", 18)
def crop_or_pad(m):
    shape = m.shape(1, 4)
    axes = m.axes(len(shape))
    if m.chance():
        return m.node([m.input(shape), m.constant([m.size() for _ in axes])], axes=axes)
    return m.node([m.input(shape), m.constant([m.size() for _ in shape])])


@of("CausalConvWithState", 27)
def causal_convolution(m):
    batch, channels, length, taps = m.sizes(4, 1, 6)
    inputs = [m.input([batch, channels, length]), m.input([channels, 1, taps])]
    inputs.append(m.input([channels]) if m.chance() else "")
    inputs.append(m.input([batch, channels, taps - 1]) if m.chance() and taps > 1 else "")
    return m.node(inputs, 2)


@of("LinearAttention", 27)
def linear_attention(m):
    batch, groups, repeats, width, value_width, length = m.sizes(6)
    heads = groups * repeats
    inputs = [
        m.input([batch, length, heads * width]),
        m.input([batch, length, groups * width]),
        m.input([batch, length, groups * value_width]),
    ]
    inputs += [m.input([batch, groups, width, value_width])] if m.chance() else []
    return m.node(inputs, 2, q_num_heads=heads, kv_num_heads=groups, update_rule="linear")


@of("StringConcat", 20)
def string_concat(m):
    a, b = m.broadcast()
    return m.node([m.input(a, STRING), m.input(b, STRING)])


@of("RegexFullMatch", 20)
def string_match(m):
    return m.node([m.input(m.shape(0, 3), STRING)], pattern="a*")


@of("StringSplit", 20)
def string_split(m):
    return m.node([m.input(m.shape(0, 3), STRING)], 2)


@of("StringNormalizer", 10)
def string_normalizer(m):
    shape = m.pick([m.size()], [1, m.size()])
    attributes = {"stopwords": ["a"]} if m.chance() else {}
    return m.node([m.input(shape, STRING)], **attributes)


@of("TfIdfVectorizer", 9)
def tf_idf(m):
    attributes = {"min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0, "mode": "TF"}
    attributes |= {"ngram_counts": [0], "ngram_indexes": [0, 1, 2], "pool_int64s": [4, 5, 6]}
    return m.node([m.index(m.shape(1, 2))], **attributes)
