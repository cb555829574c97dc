"""Values of NumPy (2.4.6 here) for every operation that it has, over special and ordinary elements.

Elements for which the table of operations documents another value than NumPy's are left out:
- an integer divided by zero, as dividend of `rem` or `div`: NumPy gives 0, the operations XLA's values;
- `sign(-0.0)`: NumPy gives 0.0, `maximum` and `minimum` of zeros of both signs: either;
- `bitwise_count` of a negative number counts the bits of its magnitude;
- `power` of integers to negative exponents is an error;
- `nextafter` of zeros of both signs gives the first for f16, C99 the second.

Elementary functions are compared with mpmath's values, correctly rounded, within 1 ULP; what NumPy's own are
away from them is printed.
"""

import mpmath
import numpy as np

from corpus import numbers, operand, write
from judge import bits, known, report
from values import ALL, COMPLEX, FLOATS, INTEGERS, KINDS, dtype_of, every_tuple, ordinary, special, thinned

SIGNED = [name for name in INTEGERS if name[0] == "i"]
UNSIGNED = [name for name in INTEGERS if name[0] == "u"]
NUMBERS = [*INTEGERS, *FLOATS]
everywhere = lambda *operands: np.ones(operands[0].shape, bool)


def is_integer(x):
    return x.dtype.kind in "iu"


def is_float(x):
    return np.bool_(dtype_of(x) in FLOATS)


def truncated(x, y):
    """The quotient of integers towards zero, exactly."""
    quotient = [
        abs(int(a)) // abs(int(b)) * (-1 if (a < 0) != (b < 0) else 1) if b else 0 for a, b in zip(x, y)
    ]
    return np.array([int(q) & (2 ** (8 * x.itemsize) - 1) for q in quotient], np.uint64).astype(x.dtype)


def divide(x, y):
    return truncated(x, y) if is_integer(x) else x / y


# name: element types, NumPy's function, where it is comparable.
EXACT = {
    "neg": ([*NUMBERS, *COMPLEX], np.negative, everywhere),
    "conj": (COMPLEX, np.conjugate, everywhere),
    "real": ([*FLOATS, *COMPLEX], np.real, everywhere),
    "imag": ([*FLOATS, *COMPLEX], np.imag, everywhere),
    "abs": ([*SIGNED, *FLOATS], np.abs, everywhere),
    "sign": (NUMBERS, np.sign, lambda x: (x != 0) | is_integer(x)),
    "not": (["bool", *INTEGERS], np.invert, everywhere),
    "popcnt": (INTEGERS, np.bitwise_count, lambda x: x >= 0),
    "floor": (FLOATS, np.floor, everywhere),
    "ceil": (FLOATS, np.ceil, everywhere),
    "trunc": (FLOATS, np.trunc, everywhere),
    "round_even": (FLOATS, np.rint, everywhere),
    "is_finite": (FLOATS, np.isfinite, everywhere),
    "is_nan": (FLOATS, np.isnan, everywhere),
    "is_inf": (FLOATS, np.isinf, everywhere),
    "square": (FLOATS, np.square, everywhere),
    "reciprocal": (FLOATS, np.reciprocal, everywhere),
    "sqrt": (FLOATS, np.sqrt, everywhere),
    "add": ([*ALL, *COMPLEX], np.add, everywhere),
    "sub": ([*NUMBERS, *COMPLEX], np.subtract, everywhere),
    "mul": (ALL, np.multiply, everywhere),
    "div": (NUMBERS, divide, lambda x, y: (y != 0) | ~is_integer(x)),
    "floor_div": (NUMBERS, np.floor_divide, everywhere),
    "py_mod": (NUMBERS, np.remainder, everywhere),
    "rem": (NUMBERS, np.fmod, lambda x, y: (y != 0) | ~is_integer(x)),
    "max": (ALL, np.maximum, lambda x, y: (x != 0) | (y != 0) | ~is_float(x)),
    "min": (ALL, np.minimum, lambda x, y: (x != 0) | (y != 0) | ~is_float(x)),
    "copysign": (FLOATS, np.copysign, lambda x, y: ~np.isnan(y)),
    "nextafter": (FLOATS, np.nextafter, lambda x, y: (x != 0) | (y != 0)),
    "fmax": (FLOATS, np.fmax, lambda x, y: (x != 0) | (y != 0)),
    "fmin": (FLOATS, np.fmin, lambda x, y: (x != 0) | (y != 0)),
    "and": (["bool", *INTEGERS], np.bitwise_and, everywhere),
    "or": (["bool", *INTEGERS], np.bitwise_or, everywhere),
    "xor": (["bool", *INTEGERS], np.bitwise_xor, everywhere),
    "shl": (INTEGERS, np.left_shift, everywhere),
    "shr_arithmetic": (SIGNED, np.right_shift, everywhere),
    "shr_logical": (UNSIGNED, np.right_shift, everywhere),
    "eq": ([*ALL, *COMPLEX], np.equal, everywhere),
    "ne": ([*ALL, *COMPLEX], np.not_equal, everywhere),
    "lt": (ALL, np.less, everywhere),
    "le": (ALL, np.less_equal, everywhere),
    "gt": (ALL, np.greater, everywhere),
    "ge": (ALL, np.greater_equal, everywhere),
}

# name: NumPy's function, mpmath's.
ELEMENTARY = {
    "exp": (np.exp, mpmath.exp),
    "exp2": (np.exp2, lambda x: mpmath.mpf(2) ** x),
    "expm1": (np.expm1, mpmath.expm1),
    "log": (np.log, mpmath.log),
    "log2": (np.log2, lambda x: mpmath.log(x, 2)),
    "log10": (np.log10, mpmath.log10),
    "log1p": (np.log1p, mpmath.log1p),
    "cbrt": (np.cbrt, lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x))),
    "sin": (np.sin, mpmath.sin),
    "cos": (np.cos, mpmath.cos),
    "tan": (np.tan, mpmath.tan),
    "asin": (np.arcsin, mpmath.asin),
    "acos": (np.arccos, mpmath.acos),
    "atan": (np.arctan, mpmath.atan),
    "sinh": (np.sinh, mpmath.sinh),
    "cosh": (np.cosh, mpmath.cosh),
    "tanh": (np.tanh, mpmath.tanh),
    "asinh": (np.arcsinh, mpmath.asinh),
    "acosh": (np.arccosh, mpmath.acosh),
    "atanh": (np.arctanh, mpmath.atanh),
    "pow": (np.power, lambda x, y: x**y),
    "atan2": (np.arctan2, mpmath.atan2),
    "hypot": (np.hypot, mpmath.hypot),
    "logaddexp": (np.logaddexp, lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y))),
}


def vector_case(op, arrays, dtype):
    operands = [operand(x.shape, dtype, numbers(x, dtype)) for x in arrays]
    return {"rule": "numpy", "op": op, "operands": operands}


def expectation(array, ulp=0, data=None):
    dtype = dtype_of(array)
    expected = {"ok": True, "dtype": dtype, "shape": list(array.shape)}
    expected["data"] = numbers(array, dtype) if data is None else data
    return {**expected, "ulp": ulp} if ulp else expected


def inputs(dtype, arity):
    chosen = special(dtype)
    mixed = every_tuple([chosen[:: 3 if dtype in COMPLEX and arity == 2 else 1]] * arity)
    return [np.concatenate([m, ordinary(dtype, 400, seed)]) for seed, m in enumerate(mixed)]


def exact():
    for op, (dtypes, function, comparable) in EXACT.items():
        for dtype in dtypes:
            arity = 1 if op in ("real", "imag") else getattr(function, "nin", 2)
            arrays = inputs(dtype, arity)
            kept = comparable(*arrays)
            arrays = [x[kept] for x in arrays]
            result = function(*arrays)
            if op == "popcnt":
                result = result.astype(KINDS[dtype])
            yield vector_case(op, arrays, dtype), expectation(result)


def integer_powers():
    for dtype in INTEGERS:
        x, y = inputs(dtype, 2)
        kept = (y >= 0) & (y < 1000)
        x, y = x[kept], y[kept]
        yield vector_case("pow", [x, y], dtype), expectation(np.power(x, y))


def rounded(function, arrays, native):
    """mpmath's values, rounded to the type; NumPy's at zeros, infinities and NaNs, which mpmath has not."""
    kind, values = native.dtype.type, []
    with mpmath.workprec(300):
        for element, *xs in zip(native, *arrays):
            if not all(np.isfinite(x) and x != 0 for x in (element, *xs)):
                values.append(element)
                continue
            with np.errstate(over="ignore"):
                values.append(kind(float(function(*(mpmath.mpf(float(x)) for x in xs)).real)))
    return np.array(values, kind)


def elementary():
    for op, (function, exact_function) in ELEMENTARY.items():
        for dtype in FLOATS:
            arrays = inputs(dtype, function.nin)
            if function.nin == 2:
                picked = np.random.default_rng(5).choice(len(arrays[0]), 1500, replace=False)
                arrays = [x[picked] for x in arrays]
            if op in ("logaddexp", "sinh", "cosh", "exp", "expm1", "exp2"):
                # Beyond this mpmath would build numbers of as many digits.
                kept = np.all([~(np.abs(x) > 1e4) | np.isinf(x) for x in arrays], axis=0)
                arrays = [x[kept] for x in arrays]
            if op == "pow":
                with np.errstate(all="ignore"):
                    size = np.abs(arrays[1].astype(np.float64)) * np.abs(
                        np.log2(np.abs(arrays[0].astype(np.float64)))
                    )
                kept = ~(size > 1e5) | ~np.isfinite(size)
                arrays = [x[kept] for x in arrays]
            native = function(*arrays)
            wanted = rounded(exact_function, arrays, native)
            away = max(
                (
                    abs(bits(a, dtype) - bits(b, dtype))
                    for a, b in zip(native, wanted)
                    if not np.isnan(a) and not np.isnan(b)
                ),
                default=0,
            )
            print(f"  numpy.{function.__name__} {dtype}: {away} ULP from mpmath")
            yield vector_case(op, arrays, dtype), expectation(wanted, ulp=1)


def ternary():
    for dtype in [*ALL, *COMPLEX]:
        x, y = inputs(dtype, 2)
        predicate = ordinary("bool", len(x), 9)
        operands = [operand(x.shape, "bool", numbers(predicate, "bool"))]
        operands += [operand(x.shape, dtype, numbers(a, dtype)) for a in (x, y)]
        case = {"rule": "numpy", "op": "select", "operands": operands}
        yield case, expectation(np.where(predicate, x, y))
    for dtype in NUMBERS:
        low, x, high = every_tuple([special(dtype)[::3]] * 3)
        result = np.minimum(np.maximum(x, low), high)
        kept = (result != 0) | ~is_float(result)
        yield vector_case("clamp", [low[kept], x[kept], high[kept]], dtype), expectation(result[kept])


def conversions():
    """float to integer only inside the range: beyond it C does not say, and NumPy follows the machine."""
    for source in [*ALL, *COMPLEX]:
        x = inputs(source, 1)[0]
        for target in [*ALL, *COMPLEX]:
            kept = np.ones(x.shape, bool)
            if source in [*FLOATS, *COMPLEX] and target in INTEGERS:
                limits, part = np.iinfo(KINDS[target]), x.real.astype(np.float64)
                kept = np.isfinite(part) & (part > float(limits.min)) & (part < float(limits.max))
            case = vector_case("convert", [x[kept]], source)
            given = x[kept]
            if source in COMPLEX and target not in ("bool", *COMPLEX):
                given = given.real
            yield {**case, "to": target}, expectation(given.astype(KINDS[target]))


def broadcasts():
    """Small operands of many shapes, so that values are read from the right places."""
    source = np.random.default_rng(11)
    for _ in range(300):
        rank = source.integers(0, 6)
        whole = source.integers(1, 4, rank)
        shapes = [
            [int(n) if source.random() < 0.6 else 1 for n in whole[source.integers(0, rank + 1) :]]
            for _ in range(2)
        ]
        if rank and source.random() < 0.1:
            shapes = [[0 if n == 1 and axis == 0 else n for axis, n in enumerate(shape)] for shape in shapes]
        x, y = (source.integers(0, 100, shape).astype(np.int32) for shape in shapes)
        try:
            result = x - y
        except ValueError:
            continue
        operands = [operand(a.shape, "i32", numbers(a, "i32")) for a in (x, y)]
        yield {"rule": "numpy", "op": "sub", "operands": operands}, expectation(result)


def main():
    np.seterr(all="ignore")
    dense = [*exact(), *integer_powers(), *elementary(), *ternary(), *conversions()]
    dense = known(dense)
    shaped = list(broadcasts())
    report("NumPy", dense + shaped)
    write("numpy_values", [thinned(*pair, 6, i) for i, pair in enumerate(dense)] + shaped[:60])


if __name__ == "__main__":
    main()
