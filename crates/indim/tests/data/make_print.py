"""Writes `numpy_print.txt` into the folder of this file.

Run `pip install numpy==2.4.6`, then `python make_print.py`.

Each case is a line `# TYPE SHAPE BYTES` and the text that `print` of NumPy gives for the array. The bytes
are those of the elements, little-endian, in hexadecimal; when there are fewer than the shape asks for they
are repeated.
"""

import pathlib

import numpy as np

NAMES = {
    "b1": "bool",
    "i1": "i8",
    "i2": "i16",
    "i4": "i32",
    "i8": "i64",
    "u1": "u8",
    "u2": "u16",
    "u4": "u32",
    "u8": "u64",
    "f2": "f16",
    "f4": "f32",
    "f8": "f64",
    "c8": "c64",
    "c16": "c128",
}
FLOATS = ("f2", "f4", "f8")
INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
random = np.random.default_rng(20)


def case(code, shape, elements):
    elements = np.asarray(elements, dtype=code).ravel()
    count = int(np.prod(shape, dtype=int))
    array = np.resize(elements, count).reshape(shape)
    sizes = ",".join(map(str, shape)) or "-"
    little = elements[:count].astype(elements.dtype.newbyteorder("<"))
    return f"# {NAMES[code]} {sizes} {little.tobytes().hex() or '-'}\n{str(array)}\n"


def special(code):
    """Floats at the edges of the type and of the ways to print them."""
    limits = np.finfo(code)
    values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.1,
        1 / 3,
        -2 / 3,
        0.5,
        100.0,
        999.0,
        1000.0,
        1001.0,
        2048.0,
        12345.678,
        1e5,
        999999.0,
    ]
    values += [
        1e6,
        1000001.0,
        16777216.0,
        99999999.0,
        1e8,
        123456789.0,
        1e15,
        9999999999999998.0,
        1e16,
        1e17,
        1e22,
        1e23,
    ]
    values += [
        1e-3,
        1.5e-4,
        1e-4,
        9.999e-5,
        1e-5,
        2.5e-8,
        1e-100,
        3e100,
        0.1 + 0.2,
        np.pi,
        0.30000001,
        1.000000005,
        1e-9,
    ]
    values += [0.000123456789, 1.123456785, 2.00000000499, 0.12345678501, 5e-324, 1.7976931348623157e308]
    values += [
        limits.max,
        limits.tiny,
        limits.smallest_subnormal,
        limits.eps,
        1 + float(limits.eps),
        np.nan,
        np.inf,
        -np.inf,
    ]
    return np.unique(np.array(values).astype(code).view("u" + code[1:])).view(code)


def scalars():
    yield from (case("b1", (), [value]) for value in (False, True))
    for code in INTEGERS:
        limits = np.iinfo(code)
        yield from (case(code, (), [value]) for value in (0, 7, limits.min, limits.max))
    for code in FLOATS:
        yield from (case(code, (), [value]) for value in special(code))
        yield from (
            case(code, (), [value])
            for value in random.integers(0, 1 << 8 * int(code[1]), 12, dtype="u8")
            .astype("u" + code[1:])
            .view(code)
        )


def integers():
    for code in INTEGERS:
        limits = np.iinfo(code)
        yield case(code, (1,), [limits.max])
        yield case(code, (2, 3), [limits.min, limits.max, 0, 1, 10, 100])
        yield case(code, (2, 1, 4), [0, 1, 2, 3, 4, 5, 6, 7])
        yield case(code, (40,), [3, limits.max, limits.min])
        for length in (10, 25, 26, 37, 38, 39, 75):
            yield case(code, (length,), np.arange(length) % 97)
    for length in (0, 1, 2, 12, 13, 14, 30):
        yield case("b1", (length,), [True, False, False])
    yield case("b1", (3, 20), [True, False, True, True])


def floats():
    for code in FLOATS:
        values = special(code)
        yield from (case(code, (1,), [value]) for value in values)
        yield from (case(code, (2,), [value, 1.0]) for value in values)
        yield from (case(code, (4,), random.choice(values, 4)) for _ in range(30))
        # Numbers for which the gap to the next lower float is half of the gap to the next higher one.
        powers = 2.0 ** np.arange(
            np.finfo(code).minexp, np.finfo(code).maxexp, {"f2": 1, "f4": 1, "f8": 12}[code]
        )
        yield from (case(code, (1,), [power]) for power in powers)
        yield from (case(code, (3,), powers[at : at + 3]) for at in range(0, len(powers) - 3, 5))
        for group in (
            [np.nan],
            [np.inf],
            [-np.inf],
            [np.nan, -np.inf],
            [np.nan, 1.0],
            [np.inf, 1e20],
            [-np.inf, 0.25],
        ):
            with np.errstate(over="ignore"):
                yield case(code, (3,), group)
                yield case(code, (3,), group + [-1234.5])
        for scale in (1e-6, 1e-3, 1.0, 50.0, 1e3, 1e4, 1e7):
            with np.errstate(over="ignore"):
                yield case(code, (5,), random.normal(size=5) * scale)
                yield case(code, (2, 3), np.round(random.normal(size=6) * scale, 3))
                yield case(code, (2, 2), np.round(random.uniform(size=4) * scale))
                yield case(code, (3,), scale * 10.0 ** random.uniform(-2, 2, 3))


def complexes():
    for code in ("c8", "c16"):
        parts = [0.0, -0.0, 1.0, -2.5, 1 / 3, 1e-5, 1e10, np.nan, np.inf, -np.inf, 123456.0]
        numbers = [complex(a, b) for a in parts for b in parts]
        yield from (case(code, (), [number]) for number in numbers[::5])
        yield from (case(code, (1,), [number]) for number in numbers[::5])
        yield from (
            case(code, (3,), [numbers[index] for index in random.integers(0, len(numbers), 3)])
            for _ in range(20)
        )
        yield from (case(code, (2, 3), random.normal(size=6) + 1j * random.normal(size=6)) for _ in range(3))
        yield case(code, (1001,), numbers)


def layouts():
    for shape in ((0,), (0, 3), (2, 0, 4), (3, 0), (1, 1, 0, 1)):
        yield from (case(code, shape, [1]) for code in ("b1", "i4", "f4"))
    for shape in (
        (1, 1),
        (1, 1, 1, 1),
        (2, 2, 2),
        (2, 3, 1, 2),
        (2, 1, 2, 1, 2),
        (1, 2, 30),
        (1,) * 12 + (20,),
        (1,) * 40 + (12,),
        (1,) * 63 + (5,),
    ):
        yield case("i8", shape, [0, -5, 123])
        yield case("f4", shape, [0.5, -5.25, 123])
        yield case("f8", shape, [1e-300, -np.pi, np.nan])
        yield case("b1", shape, [True, False, False])
    for length in range(1, 30):
        yield case("f8", (length,), [0.125, 1.0, 22.5])
        yield case("u8", (2, length), [10 ** (length % 18)])


def summaries():
    shapes = [
        (1000,),
        (1001,),
        (2000,),
        (1001, 1),
        (1, 1001),
        (7, 200),
        (200, 7),
        (6, 200),
        (200, 6),
        (3, 400),
        (500, 2),
    ]
    shapes += [
        (1001, 2, 2),
        (10, 10, 10),
        (10, 10, 11),
        (2, 3, 4, 5, 9),
        (7, 7, 7, 7),
        (1, 1, 1, 1100),
        (2, 2, 2, 2, 70),
    ]
    for shape in shapes:
        yield case("i4", shape, [1, -2, 3, 4, 50, 6, 7, 8, 9, 100000, 11])
        if shape[0] < 1000 or shape == (1001,):
            yield case("f8", shape, [0.5, 1.25, 3e9, np.nan, 7.0, 8.0, 9.0, 1e-9, 3.0, 4.0, 2.0, 1.0, -1.0])
    yield case("b1", (1001,), [True, False])
    yield case("f4", (5000,), [1 / 3, 2.0, 1e7])
    # Elements that are not shown do not widen the columns.
    yield case("i8", (1001,), [1] * 500 + [10**12] + [1] * 500)
    yield case("f4", (1001,), [1] * 500 + [-np.inf] + [1] * 500)


def main():
    parts = (scalars, integers, floats, complexes, layouts, summaries)
    text = "".join(dict.fromkeys(line for part in parts for line in part()))
    (pathlib.Path(__file__).parent / "numpy_print.txt").write_text(text)


main()
