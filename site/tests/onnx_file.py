"""Files of ONNX, written field by field: the models of the tests, and the example of the site."""

import pathlib
import struct

#: Numbers of element types.
F32, I64 = 1, 7


def varint(number):
    """A number in groups of seven bits."""
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(groups + bytes([number]))


def field(number, value):
    """A field of a message: a number, a text, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name, dims, raw, dtype=F32):
    """A constant."""
    sizes = b"".join(field(1, size) for size in dims)
    return sizes + field(2, dtype) + field(8, name) + field(9, raw)


def value(name, dims, dtype=F32):
    """Name and type of an input or output; a size is a number or a name."""
    sizes = b"".join(field(1, field(2 if isinstance(size, str) else 1, size)) for size in dims)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, sizes)))


def node(operator, operands, results, name=""):
    """An operation without attributes."""
    texts = b"".join([*(field(1, it) for it in operands), *(field(2, it) for it in results)])
    return texts + field(3, name or results[0]) + field(4, operator)


def model(nodes, constants, inputs, outputs, opset=17):
    """A model."""
    graph = b"".join([
        *(field(1, it) for it in nodes), field(2, "graph"), *(field(5, it) for it in constants),
        *(field(11, it) for it in inputs), *(field(12, it) for it in outputs),
    ])
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, opset))


def bias():
    """A bias of 16 channels that is added along the wrong axis."""
    raw = struct.pack("<16f", *(0.1 * k * k for k in range(16)))
    weights = struct.pack("<432f", *(0.01 * (k * k % 97) for k in range(432)))
    nodes = [
        node("Conv", ["image", "conv1.weight"], ["/Conv_output_0"], "/conv1/Conv"),
        node("Add", ["/Conv_output_0", "conv1.bias"], ["/Add_output_0"], "/conv1/bias/Add"),
        node("Relu", ["/Add_output_0"], ["features"], "/Relu"),
    ]
    constants = [tensor("conv1.weight", [16, 3, 3, 3], weights), tensor("conv1.bias", [16], raw)]
    inputs, outputs = [value("image", ["N", 3, 10, 10])], [value("features", ["N", 16, 8, 8])]
    return model(nodes, constants, inputs, outputs)


def chain(length):
    """A model of so many nodes. The last one is illegal."""
    names = ["x", *(f"step_{k}" for k in range(length))]
    nodes = [node("Add", [names[k], "v"], [names[k + 1]]) for k in range(length)]
    nodes[-1] = node("Add", [names[-2], "w"], [names[-1]])
    constants = [tensor("v", [4], struct.pack("<4f", 1, 2, 4, 8)), tensor("w", [2], struct.pack("<2f", 1, 2))]
    return model(nodes, constants, [value("x", [3, 4])], [value(names[-1], [3, 4])])


def layers(count, width):
    """Products with square matrices: so many constants of 4 * width * width bytes."""
    names = ["x", *(f"layer_{k}" for k in range(count))]
    nodes = [node("MatMul", [names[k], f"w{k}"], [names[k + 1]]) for k in range(count)]
    line = struct.pack(f"<{width}f", *(k * 7919 % width for k in range(width)))
    weights = b"".join(line[4 * k :] + line[: 4 * k] for k in range(width))
    constants = [tensor(f"w{k}", [width, width], weights) for k in range(count)]
    return model(nodes, constants, [value("x", ["N", width])], [value(names[-1], ["N", width])])


if __name__ == "__main__":
    (pathlib.Path(__file__).parents[1] / "models/bias.onnx").write_bytes(bias())
