"""Writes networks with loops, branches and recurrent layers, and what OpenVINO computes for them.

    openvino_control.py FOLDER COUNT

FOLDER gets a folder for each, with model.xml, model.bin, input0.npy, ... and output0.npy, ...
"""

import pathlib
import random
import sys

import numpy
import openvino
from openvino import opset13 as ops

F32, I64 = numpy.float32, numpy.int64
GATES = {"lstm": 4, "gru": 3, "rnn": 1}


class Maker:
    """A random network with its inputs."""

    def __init__(self, seed):
        self.random, self.numbers = random.Random(seed), numpy.random.RandomState(seed)
        self.parameters, self.inputs = [], []

    def array(self, *shape):
        return self.numbers.uniform(-1, 1, shape).astype(F32)

    def constant(self, *shape):
        return ops.constant(self.array(*shape))

    def input(self, *shape, array=None):
        array = self.array(*shape) if array is None else array
        self.inputs.append(array)
        self.parameters.append(ops.parameter(list(array.shape), array.dtype))
        return self.parameters[-1]

    def layer(self, is_sequence):
        choose = self.random.choice
        kind, batch, length = choose(["lstm", "gru", "rnn"]), choose([1, 2, 3]), choose([1, 2, 4])
        width, hidden = choose([1, 3]), choose([1, 2, 4])
        direction = choose(["forward", "reverse", "bidirectional"])
        before = (2 if direction == "bidirectional" else 1,) if is_sequence else ()
        within = kind == "gru" and choose([False, True])
        rows = GATES[kind] * hidden
        names = ["sigmoid", "tanh", "tanh"] if kind == "lstm" else ["sigmoid", "tanh"]
        names = names[: {"lstm": 3, "gru": 2, "rnn": 1}[kind]]
        if choose([False, True]):
            names = [choose(["sigmoid", "tanh", "relu"]) for _ in names]
        operands = [self.input(batch, length, width) if is_sequence else self.input(batch, width)]
        operands += [self.input(batch, *before, hidden) for _ in range(2 if kind == "lstm" else 1)]
        if is_sequence:
            ends = choose([length, None])
            ends = ends or self.numbers.randint(1, length + 1, batch)
            operands.append(ops.constant(numpy.broadcast_to(ends, batch).astype(numpy.int32)))
        operands += [self.constant(*before, rows, width), self.constant(*before, rows, hidden)]
        operands.append(self.constant(*before, rows + hidden if within else rows))
        operands += [hidden] + ([direction] if is_sequence else []) + [names, [], [], choose([0.0, 0.6])]
        make = getattr(ops, f"{kind}_{'sequence' if is_sequence else 'cell'}")
        return make(*operands, *([within] if kind == "gru" else [])).outputs()

    def iterator(self):
        part, count = self.random.choice([1, 2, 3]), self.random.choice([1, 2, 3])
        outer = [self.input(2, count * part), self.input(2, part), self.input(2, part)]
        x, state, factor = (ops.parameter([2, part], F32) for _ in outer)
        after = ops.tanh(ops.add(ops.multiply(x, factor), state))
        other = ops.negative(after)
        loop = ops.tensor_iterator()
        loop.set_body(openvino.Model([after, other], [x, state, factor]))
        slices = [(0, part, part, -1, 1), (-1, -part, part, 0, 1)]
        loop.set_sliced_input(x, outer[0].output(0), *self.random.choice(slices))
        loop.set_merged_input(state, outer[1].output(0), after.output(0))
        loop.set_invariant_input(factor, outer[2].output(0))
        last = loop.get_iter_value(after.output(0), -1)
        joined = loop.get_concatenated_slices(other.output(0), *self.random.choice(slices))
        return [last, joined, loop.get_iter_value(other.output(0), -1)]

    def branch(self):
        condition = self.input(array=numpy.array(self.random.choice([False, True])))
        if self.random.random() < 0.3:
            condition = ops.constant(numpy.array(self.random.choice([False, True])))
        outer = [self.input(2, 2), self.input(2, 2)]
        bodies = []
        for first, second in [(ops.matmul, ops.abs), (ops.add, ops.tanh)]:
            a, b = ops.parameter([2, 2], F32), ops.parameter([2, 2], F32)
            both = first(a, b, False, False) if first is ops.matmul else first(a, b)
            bodies.append(((a, b), [ops.result(both), ops.result(second(b))]))
        choice = ops.if_op(condition)
        choice.set_then_body(openvino.Model(bodies[0][1], list(bodies[0][0])))
        choice.set_else_body(openvino.Model(bodies[1][1], list(bodies[1][0])))
        for value, *inner in zip(outer, bodies[0][0], bodies[1][0]):
            choice.set_input(value.output(0), *inner)
        return [choice.set_output(*results) for results in zip(bodies[0][1], bodies[1][1])]

    def loop(self):
        state = ops.parameter([2, 2], F32)
        number = ops.parameter(self.random.choice([[], [1]]), I64)
        product = ops.matmul(state, self.constant(2, 2), False, False)
        after = ops.tanh(ops.add(product, ops.convert(number, "f32")))
        stacks, axis = self.random.choice([False, True]), self.random.choice([0, 1, 2])
        goes_on = ops.constant(numpy.array(True))
        if not stacks:
            total = ops.reduce_sum(after, ops.constant(numpy.array([0, 1])), False)
            goes_on = ops.less(total, ops.constant(F32(0.5)))
        row = ops.unsqueeze(after, ops.constant(numpy.array(axis)))
        results = [ops.result(value) for value in (goes_on, after, row)]
        trips = ops.constant(numpy.array(self.random.choice([1, 3, 4])))
        loop = ops.loop(trips, ops.constant(numpy.array(True)))
        loop.set_function(openvino.Model(results, [number, state]))
        loop.set_special_body_ports([0, 0])
        loop.set_merged_input(state, self.input(2, 2).output(0), after.output(0))
        last = loop.get_iter_value(after.output(0), -1)
        return [last] + ([loop.get_concatenated_slices(row.output(0), 0, 1, 1, -1, axis)] if stacks else [])


def main():
    """Writes the networks."""
    core = openvino.Core()
    for seed in range(int(sys.argv[2])):
        maker = Maker(seed)
        kinds = [lambda: maker.layer(True), lambda: maker.layer(False)]
        kinds += [maker.iterator, maker.branch, maker.loop]
        model = openvino.Model(kinds[seed % len(kinds)](), maker.parameters)
        folder = pathlib.Path(sys.argv[1]) / f"{seed:04}"
        folder.mkdir(parents=True)
        openvino.save_model(model, folder / "model.xml", compress_to_fp16=False)
        compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        results = compiled(maker.inputs)
        for index, array in enumerate(maker.inputs):
            numpy.save(folder / f"input{index}.npy", array)
        for index in range(len(compiled.outputs)):
            numpy.save(folder / f"output{index}.npy", results[index])


if __name__ == "__main__":
    main()
