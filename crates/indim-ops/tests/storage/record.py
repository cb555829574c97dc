"""Records how ml_dtypes converts to and from the storage types, in `recorded.txt` next to this file.

    pip install numpy ml_dtypes
    python crates/indim-ops/tests/storage/record.py

A digest is the 64-bit FNV-1a hash of the result bytes. NaNs of 8-bit floats are replaced by the positive one,
because indim's NaNs are canonical.
"""

from pathlib import Path

import ml_dtypes
import numpy as np

FLOATS = {
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
}
INTEGERS = {"i4": ml_dtypes.int4, "u4": ml_dtypes.uint4}
MASK = (1 << 64) - 1


def digest(data: bytes) -> str:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & MASK
    return f"{value:016x}"


def random_bits(count: int) -> np.ndarray:
    """The first words of SplitMix64 from the state 1."""
    state, words = 1, []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        words.append(mixed ^ (mixed >> 31))
    return np.array(words, np.uint64)


def f64_inputs() -> np.ndarray:
    """Floats of 64 bits with the exponents that 8-bit floats have, and those around them."""
    bits = random_bits(20000)
    exponent = (bits >> np.uint64(52)) % np.uint64(48) + np.uint64(1023 - 26)
    sign, fraction = bits & np.uint64(1 << 63), bits & np.uint64((1 << 52) - 1)
    return (sign | exponent << np.uint64(52) | fraction).view(np.float64)


def narrowed(numbers: np.ndarray, dtype: type) -> bytes:
    with np.errstate(all="ignore"):
        result = numbers.astype(dtype)
    nan = np.array([np.nan], dtype).view(np.uint8)[0]
    is_nan = np.isnan(result.astype(np.float32))
    return np.where(is_nan, nan, result.view(np.uint8)).astype(np.uint8).tobytes()


def main() -> None:
    every = np.arange(1 << 16, dtype=np.uint16)
    lines = []
    for name, dtype in FLOATS.items():
        values = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
        values = np.where(np.isnan(values), np.float32(np.nan), values)
        lines.append(f"{name} widened " + " ".join(f"{bits:x}" for bits in values.view(np.uint32)))
        inputs = {
            "f16": every.view(np.float16),
            "bf16": every.view(ml_dtypes.bfloat16).astype(np.float32),
            "f64": f64_inputs(),
            "i16": every.view(np.int16).astype(np.float32),
        }
        for source, numbers in inputs.items():
            lines.append(f"{name} {source} {digest(narrowed(numbers, dtype))}")
    for name, dtype in INTEGERS.items():
        values = np.arange(16, dtype=np.uint8).view(dtype).astype(np.int8)
        lines.append(f"{name} widened " + " ".join(str(value) for value in values))
        lines.append(f"{name} i16 {digest(every.view(np.int16).astype(dtype).tobytes())}")
    Path(__file__).with_name("recorded.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
