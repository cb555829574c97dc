"""Writes numpy_types.txt and numpy_values.txt, what NumPy makes of expressions.

python numpy_expressions.py     (in this folder, with NumPy 2.4)
"""

import itertools
import re
import warnings

import numpy as np

warnings.simplefilter("ignore")

TYPES = {
    "bool": "?",
    "i8": "i1",
    "i16": "i2",
    "i32": "i4",
    "i64": "i8",
    "u8": "u1",
    "u16": "u2",
    "u32": "u4",
    "u64": "u8",
    "f16": "f2",
    "f32": "f4",
    "f64": "f8",
    "c64": "c8",
    "c128": "c16",
}
NAMES = {np.dtype(code): name for name, code in TYPES.items()}

UNARY = ["-a", "+a", "~a"] + [
    f"{name}(a)"
    for name in (
        "abs absolute negative sign floor ceil trunc round rint fabs sqrt square reciprocal isnan isinf "
        "isfinite "
        "logical_not invert exp exp2 expm1 log log2 log10 log1p sin cos tan tanh cbrt arcsin arccos arctan "
        "sinh cosh "
        "arcsinh arccosh arctanh conj real imag signbit copy ones_like "
        "positive deg2rad radians rad2deg degrees sinc nan_to_num"
    ).split()
]
BINARY = [f"a {operator} b" for operator in "+ - * / // % & | ^ << >> < <= > >= == !=".split()] + [
    f"{name}(a, b)"
    for name in (
        "add subtract multiply divide true_divide floor_divide mod remainder fmod maximum minimum "
        "logical_and "
        "logical_or logical_xor bitwise_and left_shift right_shift less equal arctan2 hypot copysign fmax "
        "fmin nextafter "
        "heaviside isclose float_power"
    ).split()
]
# With a literal NumPy's ** takes short cuts with types of their own (bool ** 2 is i8).
ARRAYS_ONLY = ["a ** b", "power(a, b)"]
LITERALS = ["True", "1", "1.5"]


def evaluate(text, names):
    scope = {name: getattr(np, name) for name in dir(np) if not name.startswith("_")}
    scope.update(abs=np.abs, round=np.round, pi=np.pi, inf=np.inf, nan=np.nan, **names)
    return eval(text, {"__builtins__": {}, "True": True, "False": False}, scope)


def substitute(text, first, second):
    """The text with `a` and `b` replaced, which stand alone in it."""
    return re.sub(r"\b[ab]\b", lambda match: first if match[0] == "a" else second, text)


def result_type(text, types):
    arrays = {name: np.ones(2, TYPES[type]) for name, type in zip("ab", types)}
    try:
        return NAMES[evaluate(text, arrays).dtype]
    except (TypeError, ValueError, OverflowError):
        return "error"


def write_types(file):
    for text in UNARY:
        for type in TYPES:
            print(text, type, result_type(text, [type]), sep=" ; ", file=file)
    for text in ARRAYS_ONLY:
        for types in itertools.product(TYPES, TYPES):
            print(text, " ".join(types), result_type(text, types), sep=" ; ", file=file)
    for text in BINARY:
        for types in itertools.product(TYPES, TYPES):
            print(text, " ".join(types), result_type(text, types), sep=" ; ", file=file)
        for literal, type in itertools.product(LITERALS, TYPES):
            for first, second in (("a", literal), (literal, "a")):
                with_literal = substitute(text, first, second)
                print(with_literal, type, result_type(with_literal, [type]), sep=" ; ", file=file)


ARRAYS = {
    "b": np.array([True, False, True]),
    "s": np.array([-128, -7, 127], "i1"),
    "u": np.array([0, 7, 255], "u1"),
    "i": np.array([-(2**31), 3, 2**31 - 1], "i4"),
    "j": np.array([[-(2**63)], [5]], "i8"),
    "k": np.array([2**63 + 1, 1, 0], "u8"),
    "f": np.array([-0.0, 1.5, np.inf], "f4"),
    "g": np.array([[0.1], [-2.5]], "f8"),
}
VALUES = """
-f ** 2
(-f) ** 2
u + 1
s + u
i + 0.5
i / 2
u / u
i // s
i % s
-7 // 2 + i * 0
g * f - b
u == 300
u < 300
-1 < u
k == -1
j < k
k < j
j >= k
k != s
s == k
k > s
b + b
b * True
~b & True
1 + 2 * 3 - 4 / 5
7 // -2 + g
2 ** 3 ** 2 + u * 0.5
(i > 0) & (f < 1)
(u & 4) | 1 ^ 2
1 << u % 8
s >> 1
k >> 60
where(b, u, s)
where(u, f, 1)
where(g > 0, 1, 2.5)
clip(i, -1, 5)
maximum(f, 1)
floor(g) + ceil(g)
trunc(i)
round(g * 3)
rint(u)
fabs(s)
sqrt(u)
sqrt(k)
square(s)
sign(g) + sign(s)
logical_and(u, g)
logical_not(f)
mod(s, 5)
fmod(s, 5)
f * pi
g / 3 // 0.01
isnan(f - f)
signbit(f)
signbit(s)
conj(b)
fmax(s, u)
f.imag + g.real
ones_like(u) + copy(s)
reciprocal(g)
g <= 0.1
f == 1.5
1.5 == f
True + u
s * -1
0x10 + u
u ** 2
i ** u
s ** 3
2 ** u
b ** b
f ** 2.0
u ** 2.0
1e-3 * f
nan_to_num(f)
nan_to_num(-f, neginf=-7)
nan_to_num(f - f, nan=5, posinf=1, neginf=2)
nan_to_num(i)
nan_to_num(b)
round(g * 3.14159, 2)
round(g, decimals=1)
round(f, 1)
round(i, 3)
round(s, -1)
round(u, -2)
heaviside(g, 0.5)
heaviside(f - f, 1)
heaviside(s, f)
heaviside(0, g)
deg2rad(g)
rad2deg(g)
degrees(u)
sinc(g * 0)
isclose(g, g + 1e-9)
isclose(f, f)
isclose(f - f, f - f, equal_nan=True)
isclose(f, 1.4, rtol=0.1, atol=0)
isclose(1, u)
float_power(u, 2)
float_power(f, 2)
float_power(2, s)
positive(s)
""".strip().splitlines()


def write_values(file):
    for text in VALUES:
        array = np.asarray(evaluate(text, ARRAYS))
        # Floats as their shortest decimal, which reads back the same.
        values = " ".join(repr(value) for value in array.ravel().tolist())
        shape = ",".join(map(str, array.shape))
        print(text, f"{NAMES[array.dtype]}[{shape}]", values, sep=" ; ", file=file)


with open("numpy_types.txt", "w") as file:
    print(f"# Element types of results in NumPy {np.__version__}; written by numpy_expressions.py", file=file)
    write_types(file)
with open("numpy_values.txt", "w") as file:
    print(f"# Values in NumPy {np.__version__}; written by numpy_expressions.py", file=file)
    write_values(file)
