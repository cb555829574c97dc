"""Shapes and refusals of NumPy (2.4.6 here): `broadcast_shapes` for 1 to 6 operands, and `broadcast_to`."""

import itertools
import random

import numpy as np

from corpus import check_model, merged, operand, pick, write


def answer(ask):
    try:
        return {"ok": True, "shape": list(ask())}
    except ValueError:
        return {"ok": False}


def several(shapes):
    case = {"rule": "numpy", "operands": [operand(shape) for shape in shapes]}
    return case, answer(lambda: np.broadcast_shapes(*map(tuple, shapes)))


def onto(data, target):
    case = {"rule": "unidirectional", "op": "broadcast", "operands": [operand(data)], "target": target}
    return case, answer(lambda: np.broadcast_to(np.zeros(data), target).shape)


def shapes(maximum_rank, sizes):
    for rank in range(maximum_rank + 1):
        yield from (list(shape) for shape in itertools.product(sizes, repeat=rank))


def exhaustive():
    small = list(shapes(3, (0, 1, 2, 3)))
    for a, b in itertools.product(small, repeat=2):
        yield several([a, b])
        yield onto(a, b)
    for three in itertools.product(shapes(2, (0, 1, 2)), repeat=3):
        yield several(list(three))


def larger(count):
    source = random.Random(3)
    for _ in range(count):
        rank = source.randint(0, 6)
        whole = [source.randint(0, 5) for _ in range(rank)]
        operands = []
        for _ in range(source.randint(1, 6)):
            shape = [1 if source.random() < 0.35 else size for size in whole[source.randint(0, rank) :]]
            if shape and source.random() < 0.05:
                shape[source.randrange(len(shape))] = source.randint(0, 5)
            operands.append(shape)
        yield several(operands)


def main():
    pairs = [*exhaustive(), *larger(20_000)]
    check_model(pairs)
    print(len(pairs), "cases of NumPy agree with the model")
    write("numpy_shapes", pick([(case, merged(case, real)) for case, real in pairs], 500))


main()
