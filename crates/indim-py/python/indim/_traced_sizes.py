"""Slices and ranges by computed numbers, ``x[k:]`` and ``np.arange(k)``: a later stage knows their sizes.

See `_data_stages.py`. Such a slice is a view in NumPy: after a write into the slice, a read of the array is
an error; after a write into the array, a read of the slice is one.
"""

from __future__ import annotations

import operator

import numpy as np

from ._data_stages import FIRST_OUTSIDE, STEP_OF_ZERO, positions_below
from ._functions import asarray
from ._operands import has_tracer
from ._tracing import Tracer

#: The largest position.
_LAST = np.iinfo(np.int64).max


def is_traced_slice(key):
    """Whether an index is a slice with a traced end."""
    return isinstance(key, slice) and has_tracer((key.start, key.stop, key.step))


def getitem(x, keys):
    """``x[keys]``, where some keys are slices with traced ends."""
    axis, found = 0, x
    for place, key in enumerate(keys):
        if key is Ellipsis:
            axis = x.ndim - sum(other is not None for other in keys[place + 1 :])
            continue
        if is_traced_slice(key):
            if not 0 <= axis < x.ndim:
                raise IndexError(f"too many indices for `{x._value_text}`, which has {x.ndim} axes")
            found = _sliced(found, x._value_text, key, axis)
        axis += key is not None
    found = found[tuple(slice(None) if is_traced_slice(key) else key for key in keys)]
    x._share(found, None)
    return found


def _sliced(x, name, key, axis):
    """The elements of a slice along an axis; messages call the array ``name``."""
    if isinstance(key.step, Tracer):
        key.step._refuse("the step of a slice", "name it in `static=`, or take x[step * np.arange(n)]")
    step = 1 if key.step is None else operator.index(key.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    # A read of `shape` would tie the traced function to it.
    size = np.sum(np.ones_like(x, np.int64)) if x.ndim == 1 else x._used_shape()[axis]
    first, last = _ends(key, size, step > 0)
    kept = positions_below(
        np.maximum((last - first + (step - 1 if step > 0 else step + 1)) // step, 0),
        f"how many elements a slice of `{name}` has",
        "write lax.dynamic_slice, which has a known size, or np.where(np.arange(n) >= k, x, other)",
    )
    return np.take(x, kept * step + first, axis=axis, mode="clip")


def _ends(key, size, is_forward):
    """The first position of a slice, and that after its last one in the direction of the slice."""
    least, most = (0, size) if is_forward else (-1, size - 1)

    def position(end, default):
        if end is None:
            return default
        end = _whole(end, "the end of a slice")
        if isinstance(end, Tracer):
            end = np.where(end < 0, end + size, end)
        elif end < 0:
            end = end + size
        return np.minimum(np.maximum(end, least), most)

    ends = (least, most) if is_forward else (most, least)
    return tuple(position(end, default) for end, default in zip((key.start, key.stop), ends))


def _whole(value, what):
    """A whole number, which may be traced, in 64 bits."""
    if not isinstance(value, Tracer):
        return max(-_LAST, min(_LAST, operator.index(value)))
    if value.ndim or value.dtype.kind not in "iu":
        text = value._value_text
        instead = f"a tuple of sizes, or {text}[i]" if value.ndim else f"{text}.astype(int)"
        found = f"is {value.dtype}{list(value._shape)}, and not one whole number"
        raise TypeError(f"{what}, `{text}`, {found}: write {instead}")
    # A larger number would wrap.
    value = np.minimum(value, np.uint64(_LAST)) if value.dtype == np.uint64 else value
    return value.astype(np.int64)


def arange(start=None, stop=None, step=1, dtype=None, **_):
    """``np.arange`` of traced and known numbers."""
    start, stop = (0, start) if stop is None else (0 if start is None else start, stop)
    if stop is None:
        raise TypeError("np.arange requires stop")
    if any(map(_is_float, (start, stop, step))):
        return _range_of_floats(start, stop, step, dtype)
    # NumPy gives integers of at least 64 bits.
    types = [value.dtype for value in (start, stop, step) if hasattr(value, "dtype")]
    dtype = np.result_type(np.int64, *types) if dtype is None else np.dtype(dtype)
    start, stop, step = (_whole(value, "a number of np.arange") for value in (start, stop, step))
    if not isinstance(step, Tracer) and step == 0:
        raise ZeroDivisionError("np.arange with the step 0")
    divisor = np.where(step == 0, 1, step) if isinstance(step, Tracer) else step
    # The quotient rounded up.
    length = np.where(step == 0, STEP_OF_ZERO, np.maximum(-((start - stop) // divisor), 0))
    if dtype.kind in "iu":
        length = np.where(_are_first_outside(start, step, length, dtype), FIRST_OUTSIDE, length)
    found = _below(length, "how many numbers np.arange gives") * step + start
    return found.astype(dtype)


def _is_float(value):
    return (value.dtype.kind if hasattr(value, "dtype") else np.asarray(value).dtype.kind) == "f"


def _range_of_floats(start, stop, step, dtype):
    """``np.arange`` with a float among its numbers: NumPy counts in 64 bits, and adds the multiples of
    the difference of the first two numbers to the first one."""
    for value in (start, stop, step):
        if isinstance(value, Tracer) and value.ndim:
            text, shape = value._value_text, list(value._shape)
            raise TypeError(f"a number of np.arange, `{text}`, is {value.dtype}{shape}, and not one number")
    types = [value.dtype for value in (start, stop, step) if hasattr(value, "dtype")]
    narrow = next((of for of in types if of.kind in "fV" and of != np.float64), None)
    if narrow is not None or dtype is not None and np.dtype(dtype) == np.float16:
        # NumPy counts such numbers in their own type.
        raise TypeError(
            f"np.arange of traced numbers is computed in float64, not in {narrow or np.dtype(dtype)}: write "
            "x.astype(np.float64) for its numbers, and convert the result"
        )
    if not isinstance(step, Tracer) and step == 0:
        raise ZeroDivisionError("np.arange with the step 0")
    start, stop, step = (asarray(value).astype(np.float64) for value in (start, stop, step))
    count = np.ceil((stop - start) / np.where(step == 0, 1, step))
    # A number that is not finite is no length.
    length = np.where(np.isnan(count), -1, np.maximum(count, 0).astype(np.int64))
    length = np.where(step == 0, STEP_OF_ZERO, length)
    dtype = np.dtype(np.float64) if dtype is None else np.dtype(dtype)
    first, second = start.astype(dtype), (start + step).astype(dtype)
    places = _below(length, "how many numbers np.arange gives").astype(dtype)
    return first + places * (second - first)


def _are_first_outside(start, step, length, dtype):
    """Whether the type lacks the first or second number of a range. NumPy wraps all others."""
    limits = np.iinfo(dtype)
    first, last = limits.min, min(limits.max, _LAST)
    second = start + step
    is_outside = (length > 0) & ((start < first) | (start > last))
    return is_outside | ((length > 1) & ((second < first) | (second > last)))


def filled(shape, value, dtype):
    """``np.full`` for a shape with traced sizes."""
    sizes = list(shape) if isinstance(shape, (list, tuple)) else [shape]
    sizes = [_whole(size, "a size") for size in sizes]
    everywhere = 0
    for axis, size in enumerate(sizes):
        line = _below(size, "the size of an array") if isinstance(size, Tracer) else np.arange(size)
        everywhere = everywhere + line.reshape(-1, *(1,) * (len(sizes) - axis - 1))
    return np.full_like(everywhere, value, dtype)


def _below(length, subject):
    return positions_below(length, subject, "take a size that is large enough, or name it in `static=`")


def are_points(points):
    """Whether these are positions of ``np.split`` with a traced one among them."""
    return points.ndim == 1 if isinstance(points, Tracer) else has_tracer(points)


def split(x, points, axis):
    """``np.split`` at traced and known positions."""
    if isinstance(points, Tracer):
        points = [points[place] for place in range(points.shape[0])]
    before = (slice(None),) * axis
    return [x[(*before, slice(*ends))] for ends in zip((None, *points), (*points, None))]


def delete(x, positions, axis):
    """``np.delete`` of traced positions, or of those where a traced mask is true."""
    from ._scatters import scatter
    from ._sizes_from_data import compress

    positions = positions.reshape(-1) if positions.ndim == 0 else positions
    if positions.dtype == np.bool_:
        size = x.size if axis is None else x.shape[axis]
        if positions.ndim != 1 or positions.shape[0] != size:
            raise ValueError(
                f"the mask of np.delete has the shape {list(positions.shape)}, and the axis {size} elements"
            )
        return compress(~positions, x, axis)
    is_line = x.ndim == 1 and isinstance(x, Tracer)
    kept = np.ones_like(x, np.bool_) if is_line else np.ones(x.shape[axis], np.bool_)
    return compress(scatter("scatter_set", kept, positions, False), x, axis)
