"""Writes networks of one layer with random attributes, and what OpenVINO computes for them.

    openvino_operators.py FOLDER COUNT

FOLDER gets a folder for each, with model.xml, model.bin, input0.npy, ... and output0.npy, ...
"""

import pathlib
import random
import sys

import numpy
import openvino
from openvino import opset1, opset10, opset11, opset13, opset14

F32, I64 = numpy.float32, numpy.int64
COORDINATES = [
    "half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners",
]
ROUNDINGS = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"]


class Maker:
    """A random layer with its input."""

    def __init__(self, seed):
        self.random, self.numbers = random.Random(seed), numpy.random.RandomState(seed)
        self.parameters, self.inputs = [], []

    def input(self, *shape):
        self.inputs.append(self.numbers.uniform(-1, 1, shape).astype(F32))
        self.parameters.append(openvino.opset13.parameter(list(shape), F32))
        return self.parameters[-1]

    def image(self):
        choose = self.random.choice
        return self.input(1, choose([1, 2]), choose([1, 3, 4, 7]), choose([2, 5, 6]))

    def interpolate(self):
        choose = self.random.choice
        x = self.image()
        sizes = [choose([1, 2, 3, 5, 8, 12]) for _ in range(2)]
        scales = [choose([0.6, 1.0, 1.5, 2.0, 2.5]) for _ in range(2)]
        by_sizes = choose([True, False])
        options = {
            "coordinate_transformation_mode": choose(COORDINATES),
            "nearest_mode": choose(ROUNDINGS),
            "cube_coeff": choose([-0.75, -0.5]),
        }
        version = choose([1, 4, 11])
        if version == 1:
            attributes = {
                "axes": [2, 3],
                "mode": choose(["nearest", "linear"]),
                "align_corners": choose([True, False]),
            }
            return opset1.interpolate(x, numpy.array(sizes, I64), attributes)
        calculation = "sizes" if by_sizes else "scales"
        if version == 4:
            mode = choose(["nearest", "linear", "linear_onnx", "cubic"])
            operands = [numpy.array(sizes, I64), numpy.array(scales, F32)]
            return opset10.interpolate(
                x, *operands, mode, calculation, axes=numpy.array([2, 3], I64), **options
            )
        mode = choose(["bilinear_pillow", "bicubic_pillow", "cubic", "nearest"])
        if mode == "bicubic_pillow":  # The CPU back end takes no other coefficient.
            options["cube_coeff"] = -0.5
        operand = numpy.array(sizes, I64) if by_sizes else numpy.array(scales, F32)
        return opset11.interpolate(
            x, operand, mode, calculation, axes=numpy.array([2, 3], I64), **options
        )

    def pad(self):
        choose = self.random.choice
        x = self.input(choose([3, 4]), choose([3, 5]))
        mode = choose(["reflect", "symmetric", "edge", "constant"])
        begins, ends = [[choose([0, 1, 2]) for _ in range(2)] for _ in range(2)]
        value = numpy.array(0.5, F32) if mode == "constant" else None
        return opset13.pad(x, numpy.array(begins, I64), numpy.array(ends, I64), mode, value)

    def lrn(self):
        choose = self.random.choice
        axes = numpy.array(choose([[1], [2, 3]]), I64)
        return opset13.lrn(self.image(), axes, 0.5, 0.75, 2.0, choose([1, 3, 5]))

    def max_pool(self):
        choose = self.random.choice
        x = self.image()
        shape = list(x.get_output_shape(0))
        dilation, rounding = choose([1, 1, 2]), choose(["floor", "ceil", "ceil_torch"])
        kernel = [choose(range(1, (min(size, 4) - 1) // dilation + 2)) for size in shape[2:]]
        strides = [choose([1, 2, 3]) for _ in range(2)]
        if rounding == "ceil":
            strides = [min(pair) for pair in zip(strides, kernel)]
        # A window of padding alone is -inf for indim, and the lowest number for OpenVINO.
        begins = [choose(range(size)) if dilation == 1 else 0 for size in kernel]
        element, axis = choose(["i32", "i64"]), choose([0, 1, 2, -1])
        return opset14.max_pool(
            x, strides, [dilation] * 2, begins, [0, 0], kernel, rounding, "explicit", element, axis
        )

    def reverse_sequence(self):
        length = self.random.choice([1, 4])
        lengths = self.numbers.randint(1, length + 1, 3).astype(I64)
        batch, axis = self.random.choice([(0, 1), (1, 0)])
        x = self.input(*((3, length, 2) if batch == 0 else (length, 3, 2)))
        return opset13.reverse_sequence(x, lengths, batch, axis)

    def fourier(self):
        choose = self.random.choice
        shape = [choose([1, 2, 3, 4, 6]) for _ in range(choose([1, 2, 3]))]
        axes = self.random.sample(range(len(shape)), self.random.randint(1, len(shape)))
        kind = choose(["dft", "idft", "rdft", "irdft"])
        # The CPU back end takes no -1 and no padding for real transforms.
        is_real = kind in ("rdft", "irdft")
        sizes = [choose(range(1, shape[axis] + 1) if is_real else [-1, 2, 3, 5, 8]) for axis in axes]
        if kind == "irdft":  # With three axes it gives other numbers at each run.
            axes, sizes = axes[-2:], sizes[-2:]
            sizes[-1] = choose(range(1, 2 * shape[axes[-1]]))
        x = self.input(*shape) if kind == "rdft" else self.input(*shape, 2)
        axes = [axis - len(shape) if choose([True, False]) else axis for axis in axes]
        operands = [numpy.array(axes, I64)]
        if kind == "irdft" or choose([True, False]):
            operands.append(numpy.array(sizes, I64))
        return getattr(openvino.opset13, kind)(x, *operands)

    def model(self):
        made = getattr(self, self.random.choice(KINDS))()
        return openvino.Model(made.outputs(), self.parameters, "random")


KINDS = [
    "interpolate", "interpolate", "interpolate", "max_pool", "pad", "lrn", "reverse_sequence", "fourier",
    "fourier",
]


def main(folder, count):
    """Writes the networks and their results."""
    core = openvino.Core()
    for number in range(count):
        maker, place = Maker(number), folder / f"{number:04}"
        place.mkdir(parents=True)
        model = maker.model()
        openvino.serialize(model, place / "model.xml")
        results = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(maker.inputs)
        for index, array in enumerate(maker.inputs):
            numpy.save(place / f"input{index}.npy", array)
        for index in range(len(model.outputs)):
            numpy.save(place / f"output{index}.npy", results[index])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
