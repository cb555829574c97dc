"""All small shapes and attributes of every rule set: `rules_model.py` against `indim oracle`.

Millions of cases, so they are made, compared and forgotten:
`INDIM=target/release/indim python3 exhaustive.py [MAXIMUM_RANK MAXIMUM_SIZE]`.
"""

import itertools
import sys

from judge import differences
from rules_model import verdict


def shapes(maximum_rank, sizes):
    for rank in range(maximum_rank + 1):
        yield from (list(shape) for shape in itertools.product(sizes, repeat=rank))


def lists(rank, values):
    """All lists of up to rank + 1 entries, legal or not."""
    for length in range(rank + 2):
        yield from (list(entries) for entries in itertools.product(values, repeat=length))


def case(rule, operand_shapes, **attributes):
    operands = [{"dtype": "f32", "shape": shape} for shape in operand_shapes]
    return {"rule": rule, "operands": operands, **attributes}


def elementwise(small):
    for a, b in itertools.product(small, repeat=2):
        for rule in ("none", "numpy", "stablehlo"):
            yield case(rule, [a, b], op="add")
        yield case("numpy", [a, b])
        for dims in lists(min(len(a), len(b)), range(-1, max(len(a), len(b)) + 1)):
            yield case("xla", [a, b], op="add", dims=dims)
        yield case("xla", [a, b])
        yield case("onnx-legacy", [a, b], op="add", broadcast=0)
        for axis in (None, *range(-3, 5)):
            attributes = {} if axis is None else {"axis": axis}
            yield case("pdpd", [a, b], op="add", **attributes)
            yield case("onnx-legacy", [a, b], op="add", **attributes)


def onto_target(small):
    for data, target in itertools.product(small, repeat=2):
        yield case("numpy", [data], op="broadcast", target=target)
        yield case("unidirectional", [data], target=target)
        yield case("bidirectional", [data], op="broadcast", target=target)
        yield case("xla", [data], op="broadcast", target=target)
        for axis in (None, *range(-2, 5)):
            attributes = {} if axis is None else {"axis": axis}
            yield case("pdpd", [data], op="broadcast", target=target, **attributes)
        for dims in lists(len(data), range(-1, len(target) + 1)):
            yield case("explicit", [data], op="broadcast", target=target, dims=dims)
            for rule in ("xla", "stablehlo"):
                yield case(rule, [data], op="broadcast_in_dim", target=target, dims=dims)


def several(small):
    for three in itertools.product(small, repeat=3):
        for rule in ("none", "numpy"):
            yield case(rule, three)
        for op in ("select", "clamp"):
            operands = [{"dtype": "f32", "shape": shape} for shape in three]
            if op == "select":
                operands[0] = {"dtype": "bool", "shape": three[0]}
            for rule in ("xla", "stablehlo", "numpy", "none"):
                yield {"rule": rule, "op": op, "operands": operands}
            if op == "select":
                for axis in (-1, 0, 1):
                    yield {"rule": "pdpd", "op": op, "operands": operands, "axis": axis}


def main():
    rank, size = (int(word) for word in sys.argv[1:]) if len(sys.argv) > 1 else (3, 2)
    everything = list(shapes(rank, range(size + 1)))
    small = list(shapes(min(rank, 2), range(size + 1)))
    for make, given in ((elementwise, everything), (onto_target, everything), (several, small)):
        report(make.__name__, make(given))


def report(name, stream):
    """Compares all of a stream of cases; of each kind of difference prints one."""
    count, kinds = 0, {}
    while batch := list(itertools.islice(stream, 100_000)):
        count += len(batch)
        for one, expected, given in differences((case, verdict(case)) for case in batch):
            answers = (expected.get("code"), expected.get("rule"), given.get("code"), given.get("rule"))
            kinds.setdefault((one["rule"], one.get("op"), *answers), []).append(one)
    print(f"{name}: {count} cases, {sum(map(len, kinds.values()))} differ", flush=True)
    for kind, cases in kinds.items():
        print("  ", len(cases), kind, cases[0])


main()
