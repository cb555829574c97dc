"""Values worth asking about, for the scripts that compare values with the real systems."""

import random

import ml_dtypes
import numpy as np

INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
HALVES = ["f16", "bf16"]
FLOATS = [*HALVES, "f32", "f64"]
COMPLEX = ["c64", "c128"]
ALL = ["bool", *INTEGERS, *FLOATS]
KINDS = {
    "bool": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
}


def dtype_of(array):
    return next(name for name, kind in KINDS.items() if array.dtype == kind)


def special(dtype, *, subnormals=True):
    """The elements of the type on which implementations differ, and a few ordinary ones."""
    kind = KINDS[dtype]
    if dtype == "bool":
        return np.array([False, True])
    if dtype in INTEGERS:
        limits, width = np.iinfo(kind), 8 * kind().itemsize
        wanted = [limits.min, limits.min + 1, -100, -width, -width - 1, -7, -3, -2, -1, 0, 1, 2, 3, 5, 7, 10]
        wanted += [
            width - 1,
            width,
            width + 1,
            2 * width,
            100,
            limits.max // 2,
            limits.max // 2 + 1,
            limits.max - 1,
            limits.max,
        ]
        inside = sorted({value for value in wanted if limits.min <= value <= limits.max})
        return np.array(inside, kind)
    if dtype in COMPLEX:
        part = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e-3, 100.0, np.inf, -np.inf, np.nan])
        real, imaginary = every_tuple([part, part])
        return pairs(real, imaginary, kind)
    limits = ml_dtypes.finfo(kind)
    positive = [
        0.0,
        0.1,
        0.25,
        0.5,
        0.75,
        1.0,
        1.5,
        2.0,
        2.5,
        3.0,
        3.5,
        np.pi,
        7.0,
        10.0,
        33.3,
        63.5,
        100.0,
        1e10,
        1e-10,
        1e30,
    ]
    positive += [float(limits.tiny), float(limits.max), float(limits.max) / 2, float(limits.eps), np.inf]
    one = kind(1)
    near = [np.nextafter(one, kind(0)), np.nextafter(one, kind(2)), np.nextafter(kind(0.5), kind(0))]
    whole = kind(2.0**limits.nmant)
    near += [kind(float(whole) - 0.5), whole, whole + one, kind(2) * whole + kind(2)]
    positive = np.array([*positive, *near], kind)
    if subnormals:
        smallest = float(limits.smallest_subnormal)
        tiny = [smallest, smallest * 3, float(limits.tiny) / 2]
        positive = np.concatenate([positive, np.array(tiny, kind)])
    return np.concatenate([positive, -positive, np.array([np.nan], kind)])


def ordinary(dtype, count, seed):
    """Random elements over the whole range of the type, and around 1."""
    source, kind = np.random.default_rng(seed), KINDS[dtype]
    if dtype == "bool":
        return source.integers(0, 2, count).astype(kind)
    if dtype in INTEGERS:
        limits = np.iinfo(kind)
        return source.integers(limits.min, limits.max, count, kind, endpoint=True)
    if dtype in COMPLEX:
        return pairs(source.normal(0, 4, count), source.normal(0, 4, count), kind)
    limits = ml_dtypes.finfo(kind)
    # f64's extremes would overflow a power of two of this width.
    exponents = source.uniform(np.log2(float(limits.tiny)), np.log2(float(limits.max)) - 1, count)
    wide = source.choice([-1.0, 1.0], count) * np.exp2(exponents)
    near = source.normal(0, 4, count)
    return np.where(source.integers(0, 3, count) == 0, wide, near).astype(kind)


def pairs(real, imaginary, kind):
    """Complex elements of these parts; a sum would mix an infinity of one into the other."""
    result = np.empty(real.shape, kind)
    result.real, result.imag = real, imaginary
    return result


def every_tuple(arrays):
    """All combinations of one element from each array, as dense arrays."""
    return [grid.reshape(-1) for grid in np.meshgrid(*arrays, indexing="ij")]


def thinned(case, expected, count, seed):
    """The case with `count` of its elements."""
    length = case["operands"][0]["shape"][0]
    picked = sorted(random.Random(seed).sample(range(length), min(count, length)))
    take = lambda data: [data[index] for index in picked]
    operands = [
        {"dtype": one["dtype"], "shape": [len(picked)], "data": take(one["data"])} for one in case["operands"]
    ]
    smaller = {**expected, "data": take(expected["data"]), "shape": [len(picked)]}
    return {**case, "operands": operands}, smaller
