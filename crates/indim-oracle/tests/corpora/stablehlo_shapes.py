"""Shapes and refusals of StableHLO's verifier, through the bindings in jaxlib (0.10.2 here)."""

import itertools

from jax._src.interpreters import mlir
from jaxlib.mlir import ir

from corpus import check_model, merged, operand, pick, write

CONTEXT = mlir.make_ir_context()
MESSAGES = [
    ("does not match operand rank", "dims-length-mismatch"),
    ("contains invalid value", "dim-out-of-range"),
    ("should not have duplicates", "dims-not-unique"),
    ("is not equal to 1 or size of result dimension", "size-mismatch"),
    ("requires compatible types for all operands", "shapes-differ"),
    ("requires the same shape for all operands and results", "shapes-differ"),
    ("requires compatible types for non-predicate operands", "implicit-broadcast-unsupported"),
    ("requires the same type for all operands and results", "shapes-differ"),
    ("requires the same shape for all operands\n", "implicit-broadcast-unsupported"),
    ("is not scalar and", "implicit-broadcast-unsupported"),
]


def tensor(shape, element="f32"):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


def refusal(op, operands, result, attributes=""):
    """Why the verifier refuses the operation, or None."""
    arguments = ", ".join(f"%{i}: {type}" for i, type in enumerate(operands))
    names = ", ".join(f"%{i}" for i in range(len(operands)))
    text = f"""func.func @f({arguments}) -> {result} {{
      %r = "stablehlo.{op}"({names}) {attributes} : ({", ".join(operands)}) -> {result}
      return %r : {result}
    }}"""
    try:
        ir.Module.parse(text, CONTEXT)
    except ir.MLIRError as error:
        for message, code in MESSAGES:
            if message in str(error):
                return code
        raise
    return None


def answer(code, shape):
    return {"ok": True, "shape": shape} if code is None else {"ok": False, "code": code}


def binary(a, b):
    case = {"rule": "stablehlo", "op": "add", "operands": [operand(a), operand(b)]}
    return case, answer(refusal("add", [tensor(a), tensor(b)], tensor(a)), a)


def ternary(op, shapes):
    first = "i1" if op == "select" else "f32"
    types = [tensor(shapes[0], first), tensor(shapes[1]), tensor(shapes[2])]
    operands = [operand(shape) for shape in shapes]
    operands[0]["dtype"] = "bool" if op == "select" else "f32"
    case = {"rule": "stablehlo", "op": op, "operands": operands}
    return case, answer(refusal(op, types, types[1]), shapes[1])


def onto(a, target, dims):
    case = {
        "rule": "stablehlo",
        "op": "broadcast_in_dim",
        "operands": [operand(a)],
        "target": target,
        "dims": dims,
    }
    listed = (": " if dims else "") + ", ".join(map(str, dims))
    attributes = f"{{broadcast_dimensions = array<i64{listed}>}}"
    real = answer(refusal("broadcast_in_dim", [tensor(a)], tensor(target), attributes), target)
    if real.get("code") != "dims-length-mismatch" and any(not 0 <= d < len(target) for d in dims):
        # The verifier checks duplicates first, and then sizes entry by entry; the rules first check that the
        # axes exist. If there are two mistakes, either may be named.
        real.pop("code", None)
    return case, real


def shapes(maximum_rank, sizes):
    for rank in range(maximum_rank + 1):
        yield from (list(shape) for shape in itertools.product(sizes, repeat=rank))


def lists(maximum_length, values):
    for length in range(maximum_length + 1):
        yield from (list(entries) for entries in itertools.product(values, repeat=length))


def exhaustive():
    for a, b in itertools.product(shapes(2, (0, 1, 2, 3)), repeat=2):
        yield binary(a, b)
    for three in itertools.product(shapes(2, (0, 1, 2)), repeat=3):
        yield ternary("select", list(three))
        yield ternary("clamp", list(three))
    for a, target in itertools.product(shapes(2, (0, 1, 2, 3)), shapes(3, (0, 1, 2))):
        for dims in lists(len(a) + 1, range(-1, len(target) + 1)):
            yield onto(a, target, dims)
    for a, target in itertools.product(shapes(3, (1, 2)), shapes(4, (2, 3))):
        for dims in itertools.permutations(range(len(target)), len(a)):
            yield onto(a, target, list(dims))


def main():
    pairs = list(exhaustive())
    check_model(pairs)
    print(len(pairs), "cases of StableHLO agree with the model")
    write("stablehlo_shapes", pick([(case, merged(case, real)) for case, real in pairs], 500))


main()
