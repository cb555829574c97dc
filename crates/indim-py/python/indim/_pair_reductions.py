"""Reductions by any associative function, also of several arrays together: along axes and in windows."""

from __future__ import annotations

import numpy as np

from . import _associativity
from ._functions import asarray, recorded
from ._lax_functions import pad
from ._trees import filled, leaves_like, leaves_of, shown


class PairReduction:
    """A reduction of arrays of one shape by ``combine(accumulators, elements)``, from initial values.

    Elements are combined by pairs, neighbours first; an odd last one is carried up. So the order depends on
    the size only. The last axis is reduced first; at the end the initial values come before the result.
    """

    def __init__(self, combine, arrays, initial):
        self.combine, self.arrays, self.initial = combine, arrays, initial
        self.shape = arrays[0].shape

    def along(self, axes):
        """The reduction along these axes, which are removed."""
        kept = tuple(size for axis, size in enumerate(self.shape) if axis not in axes)
        if 0 in self.shape:
            return self._initial(kept)
        arrays = self.arrays
        for axis in sorted(axes, reverse=True):
            arrays = self._axis(arrays, axis)
        return self.combine(self._initial(kept), arrays)

    def in_windows(self, sizes, strides, steps, widths):
        """The reduction of each window; ``widths`` are those of ``lax.pad`` for each axis."""
        pairs = zip(self.arrays, self.initial)
        arrays = [pad(array, value, widths) for array, value in pairs]
        windows = list(zip(arrays[0].shape, sizes, strides, steps))
        counts = [(size - (of - 1) * step - 1) // stride + 1 for size, of, stride, step in windows]
        counts = [max(count, 0) for count in counts]
        if 0 in counts:
            return self._initial(tuple(counts))
        for axis in reversed(range(len(counts))):
            _, size, stride, step = windows[axis]
            arrays = self._windows(arrays, axis, counts[axis], size, stride, step)
        return self.combine(self._initial(tuple(counts)), arrays)

    def _axis(self, arrays, axis):
        last = None
        while True:
            size = arrays[0].shape[axis]
            if size % 2:
                odd = _part(arrays, axis, size - 1, 1, 1)
                last = odd if last is None else self.combine(odd, last)
            if size < 2:
                return [array[_at(axis, 0)] for array in last]
            arrays = self.combine(*(_part(arrays, axis, start, size // 2, 2) for start in (0, 1)))

    def _windows(self, blocks, axis, count, size, stride, step):
        """On each level ``blocks[i]`` combines the ``2**level`` elements from ``i`` on; overlapping windows
        share them."""
        top, last = size.bit_length() - 1, None
        for level in range(top + 1):
            if size >> level & 1:
                before = (size >> level + 1 << level + 1) * step
                own = _part(blocks, axis, before, count, 1 if level == top > 0 else stride)
                last = own if last is None else self.combine(own, last)
            if level < top:
                offset = step << level
                whole = blocks[0].shape[axis] - offset, 1
                # The blocks of the top level are needed only at the first element of each window.
                many, apart = (count, stride) if level + 1 == top else whole
                blocks = self.combine(*(_part(blocks, axis, start, many, apart) for start in (0, offset)))
        return last

    def _initial(self, shape):
        return [np.broadcast_to(value, shape) for value in self.initial]


def _at(axis, index):
    return (slice(None),) * axis + (index,)


def _part(arrays, axis, start, count, step):
    """``count`` elements of each array along an axis, from ``start``."""
    index = _at(axis, slice(start, start + (count - 1) * step + 1, step))
    return [array[index] for array in arrays]


def recorded_along(functions, axes, recording, arguments):
    """Records the reduction of a tree of operands along axes, from a tree of initial values."""
    return filled(arguments[0], _recorded("reduce", functions, recording, arguments).along(axes))


def recorded_in_windows(functions, sizes, strides, steps, widths, recording, arguments):
    """Records the reduction of the windows of a tree of operands, from a tree of initial values."""
    reduction = _recorded("reduce_window", functions, recording, arguments)
    return filled(arguments[0], reduction.in_windows(sizes, strides, steps, widths))


def _recorded(name, functions, recording, arguments):
    (computation,) = functions
    operands, initial = arguments
    arrays = [recording.tracer(recorded(leaf), "operands") for leaf in leaves_of(operands)]
    starts = leaves_like(operands, initial)
    if starts is None:
        raise ValueError(
            f"a reduction takes an initial value for each operand, in the same containers: the operands are "
            f"{shown(operands)}, the initial values {shown(initial)}"
        )
    starts = [recorded(leaf) for leaf in starts]
    if any(array.shape != arrays[0].shape for array in arrays):
        shapes = " and ".join(str(array.shape) for array in arrays)
        raise ValueError(f"a reduction takes operands of one shape, not {shapes}")
    if any(start.ndim for start in starts):
        raise ValueError("a reduction begins with one number for each operand, not with an array")
    dtypes = [array.dtype for array in arrays]

    def combine(before, later):
        results = computation(filled(operands, before), filled(operands, later))
        leaves = leaves_like(operands, results)
        if leaves is None:
            raise TypeError(
                f"`computation` returns {shown(results)}, not the containers of the operands, "
                f"{shown(operands)}"
            )
        results = [asarray(leaf) for leaf in leaves]
        if any(result.shape != array.shape for result, array in zip(results, before)):
            raise TypeError("`computation` returns results of the shape of its arguments, which are numbers")
        found = [result.dtype for result in results]
        if found != dtypes:
            raise TypeError(
                f"`computation` returns {_names(found)} for {_names(dtypes)}: it returns a result for each "
                "operand, in its type; write `.astype`"
            )
        return results

    _associativity.check(name, computation, recording, operands, arrays)
    starts = [start.astype(dtype) for start, dtype in zip(starts, dtypes)]
    return PairReduction(combine, arrays, starts)


def _names(dtypes):
    return ", ".join(map(str, dtypes)) or "nothing"
