"""The methods ``reduce``, ``accumulate``, ``reduceat`` and ``at`` of ufuncs for which indim has no function:
loops in NumPy's order, on traced values.
"""

from __future__ import annotations

import operator

import numpy as np

from . import _scatters
from ._functions import asarray
from ._shape_functions import axis_index, axis_indices, promoted
from ._tracing import Tracer

#: Maximum number of segments of ``reduceat``: each adds a loop to the program.
MAX_SEGMENTS = 64


def reduce(ufunc, array, axis=0, dtype=None, keepdims=False, initial=np._NoValue, where=True):
    """``ufunc.reduce``: a loop over the elements along the axes."""
    from ._loops import scan

    array = _in_loop_type(ufunc.reduce, array, dtype)
    # NumPy takes axis 0 of an array of rank 0, too.
    axes = () if array.ndim == 0 and axis in (0, -1) else axis_indices(axis, array.ndim)
    if len(axes) > 1:
        # NumPy's error if the order of the axes matters.
        ufunc.reduce(np.ones((1, 1), array.dtype), axis=(0, 1))
    kept = [index for index in range(array.ndim) if index not in axes]
    x, mask = (_rows(value, axes, kept) for value in (array, _mask(where, array)))
    if initial is np._NoValue or initial is None:
        initial = ufunc.identity
        if initial is None and where is not True:
            raise ValueError(
                f"reduction operation '{ufunc.__name__}' does not have an identity, so to use a where mask "
                "one has to specify 'initial'"
            )
    if initial is None:
        if x.shape[0] == 0:
            raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
        start, x, mask = x[0], x[1:], None
    else:
        start = np.broadcast_to(asarray(initial).astype(x.dtype), x.shape[1:])

    def step(total, item):
        element, is_used = item
        combined = ufunc(total, element).astype(total.dtype)
        return (combined if is_used is None else np.where(is_used, combined, total)), None

    result, _ = scan(step, start, (x, mask))
    if not keepdims:
        return result
    return result.reshape([1 if index in axes else size for index, size in enumerate(array.shape)])


def accumulate(ufunc, array, axis=0, dtype=None):
    """``ufunc.accumulate``: a loop over the elements along the axis."""
    from ._loops import scan

    array = _in_loop_type(ufunc.accumulate, array, dtype)
    if axis is None or isinstance(axis, tuple) and len(axis) > 1:
        raise ValueError("accumulate does not allow multiple axes")
    axis = axis_index(axis[0] if isinstance(axis, tuple) else axis, array.ndim)
    x = np.moveaxis(array, axis, 0)

    def step(total, element):
        combined = ufunc(total, element).astype(total.dtype)
        return combined, combined

    if x.shape[0] < 2:
        return array.copy()
    _, rest = scan(step, x[0], x[1:])
    return np.moveaxis(np.concatenate([x[:1], rest]), 0, axis)


def reduceat(ufunc, array, starts, ends, axis, dtype):
    """``ufunc.reduceat`` with the starts and ends of its segments."""
    if len(starts) > MAX_SEGMENTS:
        raise TypeError(
            f"numpy.{ufunc.__name__}.reduceat of {len(starts)} segments cannot be traced: each of them is a "
            f"loop, and {MAX_SEGMENTS} are the most; write indim.scan, a loop over axis 0"
        )
    array = _in_loop_type(ufunc.reduceat, asarray(array), dtype)
    axis = axis_index(operator.index(axis), array.ndim)
    x = np.moveaxis(array, axis, 0)
    parts = [reduce(ufunc, x[int(start) : int(end)]) for start, end in zip(starts, ends)]
    return np.moveaxis(np.stack(parts), 0, axis)


def at(ufunc, x, indices, values=None):
    """The elements of ``x`` after ``ufunc.at(x, indices, values)``, which updates one after another."""
    from ._loops import fori_loop

    positions = _scatters._positions(x.shape, indices)
    shape = tuple(positions.shape)
    operands = [] if values is None else [np.broadcast_to(asarray(values), shape).reshape(-1)]
    positions = positions.reshape(-1)

    def step(index, elements):
        place = asarray(positions)[index] if isinstance(positions, Tracer) else _item(positions, index)
        updated = ufunc(elements[place], *(_item(operand, index) for operand in operands))
        return _scatters.At(elements)[place].set(updated.astype(elements.dtype))

    count = int(np.prod(shape, dtype=object))
    if count == 0:
        return x
    return fori_loop(0, count, step, x.reshape(-1)).reshape(x.shape)


def _item(values, index):
    """The element at a traced index, of an array or of a traced value."""
    return index._recording.tracer(values, "values")[index]


def _in_loop_type(method, array, dtype):
    """The array in the type in which NumPy's method computes."""
    if dtype is None:
        arguments = ([0],) if method.__name__ == "reduceat" else ()
        dtype = method(np.ones(1, array.dtype), *arguments).dtype
    return array.astype(dtype)


def _mask(where, array):
    """The mask of the elements that are reduced, of the shape of the array; None for all."""
    if where is True or where is np._NoValue or where is None:
        return None
    where = asarray(where)
    promoted(where)
    return np.broadcast_to(where, array.shape)


def _rows(array, axes, kept):
    """The array with these axes merged into axis 0."""
    if array is None:
        return None
    count = int(np.prod([array.shape[index] for index in axes], dtype=object))
    return np.transpose(array, (*axes, *kept)).reshape((count, *(array.shape[index] for index in kept)))
