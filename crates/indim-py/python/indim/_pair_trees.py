"""Reductions along axes and in windows, recorded step by step in the order of the compiled part.

Elements are combined by pairs of neighbours, as `VariadicReduction` of `indim-transforms` does, so the bits
are the same. Each step calls the function for all pairs at once.
"""

from __future__ import annotations

import numpy as np

from ._functions import asarray
from ._lax_functions import pad
from ._vectorized import vectorised


def reduced_along(combine, arrays, starts, axes):
    """The reductions of arrays along axes; ``starts`` are the initial values."""
    shape, combine = arrays[0].shape, _of_elements(combine, len(arrays))
    if 0 in shape:
        return _spread(starts, [size for axis, size in enumerate(shape) if axis not in axes])
    for axis in sorted(axes, reverse=True):
        arrays = _along(combine, arrays, axis)
    return _from_initial(combine, arrays, starts)


def reduced_in_windows(combine, arrays, starts, windows, widths):
    """The reductions of the windows of arrays: size, stride and step of each axis. ``widths`` are those of
    ``lax.pad``."""
    combine = _of_elements(combine, len(arrays))
    arrays = [pad(array, start, widths) for array, start in zip(arrays, starts)]
    spans = [(size - 1) * step + 1 for size, _, step in windows]
    counts = [
        max((length - span) // stride + 1, 0)
        for length, span, (_, stride, _) in zip(arrays[0].shape, spans, windows)
    ]
    if 0 in counts:
        return _spread(starts, counts)
    for axis, (window, count) in reversed(list(enumerate(zip(windows, counts)))):
        arrays = _in_windows(combine, arrays, axis, count, *window)
    return _from_initial(combine, arrays, starts)


def _of_elements(combine, count):
    """``combine`` of numbers as a function of two lists of ``count`` arrays of one shape."""

    def of_numbers(*values):
        return tuple(map(asarray, combine(values[:count], values[count:])))

    def of_arrays(x, y):
        function = of_numbers
        for _ in range(x[0].ndim):
            function = _of_rows(function)
        return list(function(*x, *y))

    return of_arrays


def _of_rows(function):
    def of_rows(*values):
        return vectorised(function, values, {}, 0, 0)

    of_rows.__qualname__ = function.__qualname__ = "the function of reduce"
    return of_rows


def _along(combine, arrays, axis):
    """The elements along an axis combined by pairs; an odd last one is carried up."""
    last = None
    while True:
        size = arrays[0].shape[axis]
        if size % 2:
            last = _followed(combine, _parts(arrays, axis, size - 1, 1), last)
        if size < 2:
            return [np.squeeze(array, axis) for array in last]
        arrays = combine(*(_parts(arrays, axis, start, size // 2, 2) for start in (0, 1)))


def _in_windows(combine, blocks, axis, count, size, stride, step):
    """The elements of each of ``count`` windows combined by pairs: windows share blocks of ``2**level``
    elements."""
    top, last = size.bit_length() - 1, None
    for level in range(top + 1):
        by = 1 if level == top > 0 else stride
        if size >> level & 1:
            # The elements of a window before its block of this level.
            before = (size >> level + 1) << level + 1
            last = _followed(combine, _parts(blocks, axis, before * step, count, by), last)
        if level < top:
            offset = step << level
            # The blocks of the top level are needed only at the first element of each window.
            is_last = level + 1 == top
            length, by = (count, stride) if is_last else (blocks[0].shape[axis] - offset, 1)
            blocks = combine(*(_parts(blocks, axis, start, length, by) for start in (0, offset)))
    return last


def _followed(combine, arrays, following):
    return arrays if following is None else combine(arrays, following)


def _from_initial(combine, arrays, starts):
    return combine(_spread(starts, arrays[0].shape), arrays)


def _spread(starts, shape):
    return [np.broadcast_to(start, shape) for start in starts]


def _parts(arrays, axis, start, count, step=1):
    """``count`` elements of each array along an axis."""
    key = (slice(None),) * axis + (slice(start, start + (count - 1) * step + 1, step),)
    return [array[key] for array in arrays]
