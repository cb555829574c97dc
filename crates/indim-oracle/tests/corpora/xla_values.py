"""Values of XLA's CPU backend through jax.lax (jaxlib 0.10.2 here), over special and ordinary elements.

Left out: subnormal operands and results, which XLA's CPU flushes. Elementary functions are compared within
the distance that the table gives; XLA's own are that far from correct rounding, indim's stay within 1 ULP.
"""

import jax
import ml_dtypes
import numpy as np
from jax import lax

from corpus import numbers, operand, write
from judge import ask, known, report
from values import ALL, FLOATS, INTEGERS, KINDS, dtype_of, every_tuple, ordinary, special, thinned

jax.config.update("jax_enable_x64", True)
SIGNED = [name for name in INTEGERS if name[0] == "i"]
NUMBERS = [*INTEGERS, *FLOATS]
BITS = ["bool", *INTEGERS]
EVEN, AWAY = lax.RoundingMethod.TO_NEAREST_EVEN, lax.RoundingMethod.AWAY_FROM_ZERO

# name: element types, XLA's operation, ULP.
UNARY = {
    "neg": (NUMBERS, lax.neg, 0),
    "abs": ([*SIGNED, *FLOATS], lax.abs, 0),
    "sign": ([*SIGNED, *FLOATS], lax.sign, 0),
    "not": (BITS, lax.bitwise_not, 0),
    "popcnt": (INTEGERS, lax.population_count, 0),
    "clz": (INTEGERS, lax.clz, 0),
    "floor": (FLOATS, lax.floor, 0),
    "ceil": (FLOATS, lax.ceil, 0),
    "is_finite": (FLOATS, lax.is_finite, 0),
    "round_even": (FLOATS, lambda x: lax.round(x, EVEN), 0),
    "round_away": (FLOATS, lambda x: lax.round(x, AWAY), 0),
    "sqrt": (FLOATS, lax.sqrt, 0),
    "rsqrt": (FLOATS, lax.rsqrt, 2),
    "cbrt": (FLOATS, lax.cbrt, 2),
    "square": (FLOATS, lax.square, 0),
    "reciprocal": (FLOATS, lax.reciprocal, 0),
    "exp": (FLOATS, lax.exp, 4),
    "exp2": (FLOATS, lax.exp2, 128),
    "expm1": (FLOATS, lax.expm1, 8),
    "log": (FLOATS, lax.log, 4),
    "log1p": (FLOATS, lax.log1p, 128),
    "sin": (FLOATS, lax.sin, 4),
    "cos": (FLOATS, lax.cos, 4),
    "tan": (FLOATS, lax.tan, 8),
    "tanh": (FLOATS, lax.tanh, 16),
    "sinh": (FLOATS, lax.sinh, 32),
    "cosh": (FLOATS, lax.cosh, 32),
    "asin": (FLOATS, lax.asin, 16),
    "acos": (FLOATS, lax.acos, 16),
    "atan": (FLOATS, lax.atan, 16),
    "asinh": (FLOATS, lax.asinh, 16),
    "acosh": (FLOATS, lax.acosh, 16),
    "atanh": (FLOATS, lax.atanh, 128),
    "erf": (FLOATS, lax.erf, 16),
    "erfc": (FLOATS, lax.erfc, 64),
    "logistic": (FLOATS, lax.logistic, 16),
}
BINARY = {
    "add": (NUMBERS, lax.add, 0),
    "mul": (NUMBERS, lax.mul, 0),
    "sub": (NUMBERS, lax.sub, 0),
    "div": (NUMBERS, lax.div, 0),
    "rem": (NUMBERS, lax.rem, 0),
    "max": (ALL, lax.max, 0),
    "min": (ALL, lax.min, 0),
    "pow": (FLOATS, lax.pow, 16),
    "atan2": (FLOATS, lax.atan2, 16),
    "nextafter": (FLOATS, lax.nextafter, 0),
    "and": (BITS, lax.bitwise_and, 0),
    "or": (BITS, lax.bitwise_or, 0),
    "xor": (BITS, lax.bitwise_xor, 0),
    "shl": (INTEGERS, lax.shift_left, 0),
    "shr_arithmetic": (INTEGERS, lax.shift_right_arithmetic, 0),
    "shr_logical": (INTEGERS, lax.shift_right_logical, 0),
    "mulhi": (INTEGERS, getattr(lax, "mulhi", None), 0),
    "eq": (ALL, lax.eq, 0),
    "ne": (ALL, lax.ne, 0),
    "lt": (ALL, lax.lt, 0),
    "le": (ALL, lax.le, 0),
    "gt": (ALL, lax.gt, 0),
    "ge": (ALL, lax.ge, 0),
}


def inputs(dtype, arity):
    mixed = every_tuple([special(dtype, subnormals=False)] * arity)
    return [np.concatenate([m, ordinary(dtype, 300, seed)]) for seed, m in enumerate(mixed)]


def vector_case(op, arrays, dtypes):
    operands = [operand(x.shape, dtype, numbers(x, dtype)) for x, dtype in zip(arrays, dtypes)]
    return {"rule": "xla", "op": op, "operands": operands}


def expectation(array, ulp=0):
    dtype = dtype_of(array)
    expected = {"ok": True, "dtype": dtype, "shape": list(array.shape), "data": numbers(array, dtype)}
    return {**expected, "ulp": ulp} if ulp else expected


def without_flushed(case, expected):
    """Without the elements whose result, or a step to it, XLA flushes to zero: those next to subnormal."""
    dtype = expected["dtype"]
    if dtype not in FLOATS:
        return case, expected
    [verdict] = ask([case])
    tiny = float(ml_dtypes.finfo(KINDS[dtype]).tiny)
    keep = [
        i for i, x in enumerate(verdict.get("data", [])) if isinstance(x, str) or x == 0 or abs(x) > 4 * tiny
    ]
    take = lambda data: [data[i] for i in keep]
    operands = [{**one, "shape": [len(keep)], "data": take(one["data"])} for one in case["operands"]]
    return {**case, "operands": operands}, {**expected, "shape": [len(keep)], "data": take(expected["data"])}


def table():
    for rows, arity in ((UNARY, 1), (BINARY, 2)):
        for op, (dtypes, function, ulp) in rows.items():
            for dtype in dtypes if function else []:
                arrays = inputs(dtype, arity)
                result = np.asarray(jax.jit(function)(*arrays))
                yield vector_case(op, arrays, [dtype] * arity), expectation(result, ulp)


def ternary():
    for dtype in ALL:
        x, y = inputs(dtype, 2)
        predicate = ordinary("bool", len(x), 3)
        result = np.asarray(jax.jit(lax.select)(predicate, x, y))
        yield vector_case("select", [predicate, x, y], ["bool", dtype, dtype]), expectation(result)
    for dtype in NUMBERS:
        arrays = every_tuple([special(dtype, subnormals=False)[::3]] * 3)
        yield vector_case("clamp", arrays, [dtype] * 3), expectation(np.asarray(jax.jit(lax.clamp)(*arrays)))


def conversions():
    for source in ALL:
        x = inputs(source, 1)[0]
        for target in ALL:
            convert = jax.jit(lambda x: lax.convert_element_type(x, KINDS[target]))
            yield {**vector_case("convert", [x], [source]), "to": target}, expectation(np.asarray(convert(x)))


def main():
    pairs = [without_flushed(*pair) for pair in known([*table(), *ternary(), *conversions()])]
    report("XLA", pairs)
    write("xla_values", [thinned(*pair, 5, i) for i, pair in enumerate(pairs)])


main()
