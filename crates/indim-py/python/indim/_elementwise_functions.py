"""NumPy's element-wise functions that are no single operation, on traced values: compositions."""

from __future__ import annotations

import functools
import operator

import numpy as np

from . import _arrays, _loops, _view_functions
from ._advice import refused_keyword
from ._functions import asarray
from ._handlers import UFUNCS, implements
from ._operands import loop_operands, tracer_of
from ._shape_functions import axis_index, promoted

# NumPy's function is traced only if the array itself is.
_take = _view_functions.define("numpy")["take"]


@implements(np.isreal)
def _isreal(x):
    return asarray(x).imag == 0 if asarray(x).dtype.kind == "c" else np.ones_like(x, bool)


@implements(np.iscomplex)
def _iscomplex(x):
    return asarray(x).imag != 0 if asarray(x).dtype.kind == "c" else np.zeros_like(x, bool)


@implements(np.i0)
def _i0(x):
    from ._bessel import i0

    return i0(x)


# Comparisons of whole arrays.


@implements(np.allclose)
def _allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return np.all(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan))


@implements(np.array_equal)
def _array_equal(a1, a2, equal_nan=False):
    a1, a2 = asarray(a1), asarray(a2)
    return _all_equal(a1, a2, equal_nan) if a1.shape == a2.shape else np.False_


@implements(np.array_equiv)
def _array_equiv(a1, a2):
    a1, a2 = asarray(a1), asarray(a2)
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return np.False_
    return _all_equal(a1, a2, False)


def _all_equal(x, y, equal_nan):
    are_equal = x == y
    if equal_nan and x.dtype.kind in "fcV" and y.dtype.kind in "fcV":
        are_equal = are_equal | (np.isnan(x) & np.isnan(y))
    return np.all(are_equal)


@implements(np.isin)
def _isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    element, table = asarray(element), np.ravel(asarray(test_elements))
    if table.shape[0] == 0:
        return np.full_like(element, invert, bool)
    dtype, is_in_range = promoted(element, table), True
    if dtype.kind == "f" and element.dtype.kind in "iu" and table.dtype.kind in "iu":
        # Signed integers and uint64 compare in the type of the table: their common type, float64, rounds.
        dtype = np.dtype(np.int64 if table.dtype.kind == "i" else np.uint64)
        is_in_range = element <= np.iinfo(np.int64).max if table.dtype.kind == "i" else element >= 0
    element, table = element.astype(dtype), np.sort(table.astype(dtype))
    is_equal = (_take(table, np.searchsorted(table, element), mode="clip") == element) & is_in_range
    return ~is_equal if invert else is_equal


if hasattr(np, "in1d"):
    # NumPy has it until 2.3.
    @implements(np.in1d)
    def _in1d(ar1, ar2, assume_unique=False, invert=False, *, kind=None):
        return _isin(np.ravel(asarray(ar1)), ar2, assume_unique, invert)


@implements(np.sort_complex)
def _sort_complex(a):
    ordered = np.sort(a)
    if ordered.dtype.kind == "c":
        return ordered
    return ordered.astype(np.complex64 if ordered.dtype.char in "bhBH" else np.complex128)


@implements(np.apply_over_axes)
def _apply_over_axes(func, a, axes):
    a = asarray(a)
    for axis in np.ravel(axes):
        axis = axis_index(axis, a.ndim)
        reduced = func(a, axis)
        reduced = reduced if reduced.ndim == a.ndim else np.expand_dims(reduced, axis)
        if reduced.ndim != a.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        a = reduced
    return a


if hasattr(np, "astype"):
    # NumPy has it since 2.1.
    @implements(np.astype)
    def _astype(x, dtype, /, *, copy=True, device=None):
        return x.astype(dtype, copy=copy)


# Indices of arrays as positions in row-major order.


def _checked_index(index, size, mode="raise"):
    """An index of an axis; one out of range is an error when it is computed, or is clipped or wrapped."""
    index = _whole(index)
    if mode == "raise":
        # A negative index is an error too, and not counted from the end.
        return _take(np.arange(size), np.where(index < 0, np.int64(size), index))
    if mode not in ("clip", "wrap"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    return index % size if mode == "wrap" else np.clip(index, 0, size - 1)


def _whole(index):
    index = asarray(index)
    if index.dtype.kind not in "biu":
        raise TypeError("only int indices permitted")
    return index.astype(np.int64)


def _is_row_major(order):
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    return order == "C"


@implements(np.ravel_multi_index)
def _ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    dims = _arrays.integers(dims)
    modes = [mode] * len(dims) if isinstance(mode, str) else list(mode)
    indices, is_row_major = list(multi_index), _is_row_major(order)
    if len(modes) != len(dims):
        raise ValueError(f"list of clipmodes has wrong length ({len(modes)} instead of {len(dims)})")
    if len(indices) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    axes = list(zip(indices, dims, modes))
    position = 0
    for index, size, axis_mode in axes if is_row_major else axes[::-1]:
        position = position * size + _checked_index(index, size, axis_mode)
    return position


@implements(np.unravel_index)
def _unravel_index(indices, shape, order="C"):
    sizes, is_row_major = _arrays.integers(shape), _is_row_major(order)
    rest, found = _whole(indices), []
    if not sizes:
        if rest.ndim:
            raise ValueError("multiple indices are not supported for 0d arrays")
        return ()
    sizes = sizes if is_row_major else sizes[::-1]
    for size in sizes[:0:-1]:
        found.append(rest % size)
        rest = rest // size
    found.append(_checked_index(rest, sizes[0]))
    return tuple(found[::-1] if is_row_major else found)


# Bits.


def _bit_positions(bitorder):
    """The shift of each bit of a byte."""
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    return np.arange(8, dtype=np.uint8)[:: -1 if bitorder == "big" else 1]


@implements(np.packbits)
def _packbits(a, axis=None, bitorder="big"):
    a = np.ravel(a) if axis is None else np.moveaxis(a, axis, -1)
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    size = a.shape[-1]
    bits = np.pad((a != 0).astype(np.uint8), [(0, 0)] * (a.ndim - 1) + [(0, -size % 8)])
    bits = bits.reshape((*a.shape[:-1], -(-size // 8), 8))
    # Operations on all bytes are faster than a reduction of eight elements for each.
    shifted = [bits[..., bit] << shift for bit, shift in enumerate(_bit_positions(bitorder))]
    packed = functools.reduce(operator.or_, shifted)
    return packed if axis is None else np.moveaxis(packed, -1, axis)


@implements(np.unpackbits)
def _unpackbits(a, axis=None, count=None, bitorder="big"):
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    a = np.ravel(a) if axis is None else np.moveaxis(a, axis, -1)
    size = a.shape[-1] * 8
    bits = ((a[..., None] >> _bit_positions(bitorder)) & np.uint8(1)).reshape((*a.shape[:-1], size))
    if count is not None:
        count = operator.index(count)
        if count < -size:
            raise ValueError("-count larger than number of elements")
        bits = bits[..., :count]
        bits = np.pad(bits, [(0, 0)] * (a.ndim - 1) + [(0, max(count - size, 0))])
    return bits if axis is None else np.moveaxis(bits, -1, axis)


# Ufuncs.


def _ufunc(name):
    """Makes the decorated function the ufunc of this name; its operands have the types of NumPy's loop."""
    ufunc = getattr(np, name)

    def register(function):
        def handler(*operands, **keywords):
            for keyword in keywords:
                recording = tracer_of(operands)._recording
                raise TypeError(refused_keyword(recording.function, ufunc, keyword, keywords))
            return function(*loop_operands(ufunc, operands))

        UFUNCS[name] = handler
        return function

    return register


@_ufunc("modf")
def _modf(x):
    whole = np.trunc(x)
    return np.copysign(np.where(np.isinf(x), np.zeros((), x.dtype), x - whole), x), whole


@_ufunc("frexp")
def _frexp(x):
    is_number = np.isfinite(x) & (x != 0)
    exponent = np.where(is_number, np.floor(np.log2(np.abs(x))) + 1, np.zeros((), x.dtype))
    # Two factors, because a power of two with the exponent of a subnormal number overflows.
    half = np.floor(exponent / 2)
    mantissa = x * np.exp2(-half) * np.exp2(half - exponent)
    # The logarithm of a number next to a power of two may round to that of the power.
    size = np.abs(mantissa)
    is_small, is_large = is_number & (size < 0.5), is_number & (size >= 1)
    mantissa = np.where(is_small, mantissa * 2, np.where(is_large, mantissa / 2, mantissa))
    exponent = exponent.astype(np.int32)
    return mantissa, np.where(is_small, exponent - 1, np.where(is_large, exponent + 1, exponent))


@_ufunc("ldexp")
def _ldexp(x, n):
    mantissa, exponent = _frexp(x)
    # Beyond these exponents every float has overflowed, or is 0.
    exponent = np.clip(exponent.astype(np.int64) + np.clip(n.astype(np.int64), -9999, 9999), -2000, 2000)
    power = exponent.astype(x.dtype)
    # One product rounds. The greatest exponent is one more than that of the greatest power of two.
    scaled = np.where(exponent > 0, mantissa * 2 * np.exp2(power - 1), mantissa * np.exp2(power))
    return np.where(np.isfinite(x) & (x != 0), scaled, x)


@_ufunc("spacing")
def _spacing(x):
    if x.dtype == np.float16:
        return _spacing_of_half(x.astype(np.float32))
    infinity = np.full((), np.inf, x.dtype)
    return np.nextafter(x, np.where(x < 0, -infinity, infinity)) - x


def _spacing_of_half(x):
    """The spacing of float16 numbers, given as float32. NumPy's is positive, and that of a negative power of
    two is the spacing of the interval towards zero."""
    mantissa, exponent = _frexp(x)
    exponent = np.where(mantissa == -0.5, exponent - 2, exponent - 1)
    exponent = np.where(x == 0, np.int32(-24), np.maximum(exponent - 10, -24))
    spacing = np.where(x == 65504, np.float32(np.inf), np.exp2(exponent.astype(np.float32)))
    return np.where(np.isfinite(x), spacing, np.float32(np.nan)).astype(np.float16)


@_ufunc("logaddexp2")
def _logaddexp2(x, y):
    difference = np.where((x == y) & np.isinf(x), 0, x - y)
    more = np.log1p(np.exp2(-np.abs(difference))) * float(np.log2(np.e))
    # The Taylor series, which also has the derivatives at equal arguments; |difference| has none there.
    equal = x * 0.5 + y * 0.5 + 1 + difference * difference * float(np.log(2) / 8)
    return np.where(x == y, equal, np.maximum(x, y) + more)


@_ufunc("gcd")
def _gcd(x, y):
    x, y = np.broadcast_arrays(x, y)

    # Euclid's steps, until no element has a remainder.
    def step(state):
        x, y = state
        return np.where(y != 0, y, x), np.where(y != 0, x % y, y)

    return np.abs(_loops.while_loop(lambda state: np.any(state[1] != 0), step, (x, y))[0])


@_ufunc("lcm")
def _lcm(x, y):
    # NumPy divides first, so the product is in the type if the result is.
    divisor = _gcd(x, y)
    return np.abs(np.where(divisor == 0, divisor, x // np.where(divisor == 0, 1, divisor) * y))
