"""The method ``reduceat`` of NumPy's ufuncs, on traced values: a scatter of each element to its segment."""

from __future__ import annotations

import operator

import numpy as np

from . import _scatters, _ufunc_methods
from ._functions import asarray
from ._shape_functions import axis_index
from ._tracing import Tracer

#: The function of segments of each ufunc.
SEGMENTS = {
    "add": _scatters.segment_sum,
    "multiply": _scatters.segment_prod,
    "minimum": _scatters.segment_min,
    "maximum": _scatters.segment_max,
    "logical_and": _scatters.segment_min,
    "logical_or": _scatters.segment_max,
}


def reduceat(ufunc, array, indices, axis=0, dtype=None):
    """``ufunc.reduceat(array, indices, axis)``; the indices are known while the function is traced."""
    name = ufunc.__name__
    segments = SEGMENTS.get(name)
    if isinstance(indices, Tracer):
        known = "segment_sum" if segments is None else segments.__name__
        raise TypeError(
            f"numpy.{name}.reduceat takes no traced indices: write indim.{known}(x, ids, n) with the "
            "number of its segment for each element, which for ascending starts is "
            'np.searchsorted(starts, np.arange(len(x)), side="right") - 1; or name indices that are an '
            "argument in `static=`"
        )
    if segments is None:
        size = array.shape[axis_index(operator.index(axis), array.ndim)]
        return _ufunc_methods.reduceat(ufunc, array, *_bounds(name, indices, size), axis, dtype)
    array = asarray(array)
    x = np.moveaxis(array, axis_index(operator.index(axis), array.ndim), 0)
    if name.startswith("logical"):
        x = x != 0
    else:
        x = x.astype(_result_type(ufunc, x.dtype) if dtype is None else dtype)
    starts, ids, positions = _positions(name, indices, x.shape[0])
    if len(positions) != x.shape[0] or (positions != np.arange(len(positions))).any():
        x = np.take(x, positions, axis=0)
    if segments is _scatters.segment_sum and x.dtype.kind in "fc":
        # A sum of -0.0 alone is -0.0.
        start = np.full((len(starts), *x.shape[1:]), -0.0, x.dtype)
        reduced = _scatters.scatter("scatter_add", start, ids, x, "drop")
    else:
        reduced = segments(x, ids, len(starts))
    return np.moveaxis(reduced, 0, axis)


def _result_type(ufunc, dtype):
    """The type of NumPy's result: small integers are added and multiplied as integers of the platform."""
    return ufunc.reduceat(np.ones(1, dtype), [0]).dtype


def _positions(name, indices, size):
    """The starts of the segments; the segment of each element that is reduced, and its position."""
    starts, ends = _bounds(name, indices, size)
    counts = ends - starts
    ids = np.repeat(np.arange(len(starts)), counts)
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return starts, ids, starts[ids] + offsets


def _bounds(name, indices, size):
    """The starts and ends of the segments."""
    starts = np.asarray(indices, dtype=np.intp)
    if starts.ndim != 1:
        raise ValueError("the indices of reduceat have one axis")
    for start in starts[(starts < 0) | (starts >= size)][:1]:
        raise IndexError(f"index {start} out-of-bounds in {name}.reduceat [0, {size})")
    # A segment whose end is not behind its start is one element.
    return starts, np.maximum(np.append(starts[1:], size), starts + 1)
