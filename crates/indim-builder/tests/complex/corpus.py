"""Writes the corpus of complex functions: special values from NumPy, others from mpmath.

Special quotients are those of the C compiler (C99, annex G), which XLA follows and NumPy does not. NumPy has
no
special values of expm1.

Run: python3 corpus.py (needs numpy, mpmath and cc); it writes special_values.txt, values.txt and edges.txt
into its folder. `python3 corpus.py edges` writes only the last.
A line is a function, the bits of its operands' parts, and the bits of its result's parts.
"""

import ctypes
import itertools
import math
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import mpmath
import numpy as np

UNARY = {
    "sign": None,
    "exp": mpmath.exp,
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log1p": lambda z: mpmath.log(1 + z),
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "reciprocal": lambda z: 1 / z,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "logistic": lambda z: 1 / (1 + mpmath.exp(-z)),
}
BINARY = {"mul": lambda x, y: x * y, "div": lambda x, y: x / y, "pow": lambda x, y: x**y}
NUMPY_NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "mul": "multiply",
    "div": "divide",
    "pow": "power",
}
PARTS = [0.0, -0.0, 1.0, -1.0, 2.5, -0.5, np.inf, -np.inf, np.nan]


def bits(*numbers):
    """The parts of complex numbers, 16 hexadecimal digits each; every NaN is the same."""
    parts = [part for z in numbers for part in (complex(z).real, complex(z).imag)]
    canonical = [float("nan") if part != part else part for part in parts]
    return " ".join(struct.pack(">d", abs(p) if p != p else p).hex() for p in canonical)


def c_division():
    """Division of complex numbers as the C compiler does it."""
    library = Path(tempfile.mkdtemp()) / "divide.so"
    source = "#include <complex.h>\nvoid divide(double complex *x, double complex *y) { *x /= *y; }\n"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=source.encode(), check=True
    )
    function = ctypes.CDLL(str(library)).divide

    def divide(x, y):
        x, y = np.array([x], dtype=complex), np.array([y], dtype=complex)
        function(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data))
        return x[0]

    return divide


def special_values():
    """The functions that NumPy has, at all pairs of special parts."""
    grid = [complex(re, im) for re, im in itertools.product(PARTS, PARTS)]
    with np.errstate(all="ignore"):
        for name in UNARY:
            function = getattr(np, NUMPY_NAMES.get(name, name), None)
            if function is not None and name not in ("expm1", "reciprocal"):
                for z in grid:
                    yield f"{name} {bits(z)} {bits(function(np.complex128(z)))}"
        divide = c_division()
        for z in grid:
            yield f"reciprocal {bits(z)} {bits(divide(1.0, z))}"
        small = [
            z for z in grid if abs(z.real) != 2.5 and abs(z.imag) != 2.5 and z.real != -0.5 and z.imag != -0.5
        ]
        for x, y in itertools.product(small, small):
            yield f"div {bits(x, y)} {bits(divide(x, y))}"


def rounded(z):
    """The complex number nearest to one of mpmath."""
    z = mpmath.mpc(z)
    return complex(float(z.real), float(z.imag))


def values():
    """Functions at numbers of all sizes that 32 bits hold, to the nearest 64 bits."""
    random.seed(1)
    mpmath.mp.prec = 300

    def part(limit):
        size = random.choice([1.0, limit, 2.0 ** random.randint(-30, 5)])
        return float(np.float32(random.uniform(-size, size)))

    for name, function in UNARY.items():
        if function is None:
            continue
        for _ in range(120):
            z = complex(part(30.0), part(30.0))
            if random.random() < 0.2:
                z = complex(np.complex64(z / abs(z) if z else 1.0))
            yield f"{name} {bits(z)} {bits(rounded(function(mpmath.mpc(z))))}"
    for name, function in BINARY.items():
        for _ in range(200):
            x, y = (complex(part(8.0), part(8.0)) for _ in range(2))
            yield f"{name} {bits(x, y)} {bits(rounded(function(mpmath.mpc(x), mpmath.mpc(y))))}"
    # Quotients and moduli near the ends of the range.
    for exponents in itertools.product([-1070, -1000, 0, 1000, 1023], repeat=4):
        a, b, c, d = (random.choice([-1, 1]) * random.uniform(0.5, 1.0) * 2.0**e for e in exponents)
        quotient = rounded(mpmath.mpc(a, b) / mpmath.mpc(c, d))
        yield f"div {bits(complex(a, b), complex(c, d))} {bits(quotient)}"


def edges():
    """The poles of atanh and atan, and the tangents, which have many, at numbers of all sizes that 64 bits
    hold."""
    random.seed(2)
    mpmath.mp.prec = 2400
    for exponent in [-17, -50, -99, -101, -154, -160, -163, -200, -300, -310, -323]:
        for sign, other in itertools.product([1.0, -1.0], repeat=2):
            tiny = other * float(f"1e{exponent}")
            yield f"atanh {bits(complex(sign, tiny))} {bits(rounded(mpmath.atanh(mpmath.mpc(sign, tiny))))}"
            yield f"atan {bits(complex(tiny, sign))} {bits(rounded(mpmath.atan(mpmath.mpc(tiny, sign))))}"
    for _ in range(1000):
        near, far = random.uniform(-3.5, 3.5), random.uniform(-40, 40)
        size = 2.0 ** random.randint(-30, 2) if random.random() < 0.9 else 2.0 ** random.randint(-1000, -30)
        near *= size
        # Every other one by a pole or a zero of the tangent.
        if random.random() < 0.5:
            far = random.randint(-12, 12) * math.pi / 2 + random.uniform(-1, 1) * size
        yield f"tanh {bits(complex(near, far))} {bits(rounded(mpmath.tanh(mpmath.mpc(near, far))))}"
        yield f"tan {bits(complex(far, near))} {bits(rounded(mpmath.tan(mpmath.mpc(far, near))))}"


folder = Path(__file__).parent
folder.joinpath("edges.txt").write_text("\n".join(edges()) + "\n")
if "edges" in sys.argv:
    sys.exit()
folder.joinpath("special_values.txt").write_text("\n".join(special_values()) + "\n")
folder.joinpath("values.txt").write_text("\n".join(values()) + "\n")
