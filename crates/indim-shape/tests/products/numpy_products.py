"""Writes `numpy_products.txt`: shapes of products by NumPy, or `error` where NumPy refuses the operands."""

import pathlib
import random

import numpy

choose = random.Random(1)
lines = set()


def shape(rank):
    return [choose.choice([0, 1, 2, 2, 3, 3]) for _ in range(rank)]


def written(sizes):
    return "[" + ",".join(map(str, sizes)) + "]"


def add(call, function, shapes):
    arrays = [numpy.zeros(sizes, dtype="i4") for sizes in shapes]
    try:
        result = written(numpy.shape(function(*arrays)))
    except (ValueError, IndexError, TypeError):
        result = "error"
    lines.add(f"{call} {' '.join(map(written, shapes))} -> {result}")


def related(first):
    """A shape of the same sizes in another order, with few changes."""
    sizes = list(first)
    choose.shuffle(sizes)
    sizes = sizes[: choose.randint(0, len(sizes))] + shape(choose.randint(0, 2))
    choose.shuffle(sizes)
    return sizes[:4]


binary = {
    "matmul": numpy.matmul,
    "dot": numpy.dot,
    "inner": numpy.inner,
    "vecdot": numpy.vecdot,
    "matvec": numpy.matvec,
    "vecmat": numpy.vecmat,
}
for _ in range(1300):
    name = choose.choice(list(binary))
    first = shape(choose.randint(0, 4))
    add(name, binary[name], [first, related(first)])

for _ in range(350):
    first = shape(choose.randint(0, 4))
    second = related(first)
    count = choose.randint(0, 2)
    axes = [
        [choose.randint(-len(sizes) - (choose.random() < 0.1), len(sizes)) for _ in range(count)]
        for sizes in (first, second)
    ]
    if choose.random() < 0.7:
        # Pairs of equal sizes.
        pairs = [(i, j) for i, m in enumerate(first) for j, n in enumerate(second) if m == n]
        choose.shuffle(pairs)
        axes = [[pair[0] for pair in pairs[:count]], [pair[1] for pair in pairs[:count]]]
    call = f"tensordot{written(axes[0])}{written(axes[1])}"
    add(call, lambda x, y, axes=axes: numpy.tensordot(x, y, axes), [first, second])

letters = "ijkA"
for _ in range(800):
    sizes = {letter: choose.choice([0, 1, 2, 3]) for letter in letters}
    terms, shapes = [], []
    for _ in range(choose.randint(1, 3)):
        term = [choose.choice(letters) for _ in range(choose.randint(0, 3))]
        of = [sizes[letter] for letter in term]
        if choose.random() < 0.2:
            place = choose.randint(0, len(term))
            more = shape(choose.randint(0, 2))
            term.insert(place, "...")
            of[place:place] = more
        if choose.random() < 0.2 and of:
            of[choose.randrange(len(of))] = choose.choice([1, 2])
        if choose.random() < 0.04:
            of = of + [2]
        terms.append("".join(term))
        shapes.append(of)
    equation = ",".join(terms)
    if choose.random() < 0.7:
        used = [letter for letter in letters if letter in equation]
        output = choose.sample(used, choose.randint(0, len(used)))
        if "..." in equation and choose.random() < 0.8:
            output.insert(choose.randint(0, len(output)), "...")
        if choose.random() < 0.05:
            output.append(choose.choice(letters))
        equation += "->" + "".join(output)
    add(f"einsum:{equation}", lambda *arrays: numpy.einsum(equation, *arrays), shapes)

path = pathlib.Path(__file__).with_suffix(".txt")
path.write_text("".join(f"{line}\n" for line in sorted(lines)))
