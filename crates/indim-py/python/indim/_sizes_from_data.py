"""Functions whose results have as many elements as the data asks for: ``nonzero``, ``compress``, ``unique``.

On arrays they are NumPy's, and in compiled functions too, which then run in stages (`_data_stages.py`). With
``size=``, as in JAX, there is one stage: further elements are left out, and missing ones are filled.
"""

from __future__ import annotations

import operator

import numpy as np

from . import _masks
from ._data_stages import positions_of
from ._operands import has_tracer, tracer_of
from ._scatters import scatter
from ._shape_functions import axis_index
from ._tracing import Tracer
from ._view_functions import _array


def nonzero(x, *, size=None, fill_value=0):
    """The positions of the elements that are not zero: an array for each axis.

    ``size`` is the number of positions: further ones are left out, and missing ones are ``fill_value``, one
    number or one for each axis. Without it a compiled function runs in stages.

    >>> import indim, numpy as np
    >>> indim.jit(lambda x: indim.nonzero(x > 1, size=3))(np.array([0, 5, 1, 7]))
    (array([1, 3, 0]),)
    """
    x = _array(x, "x")
    if x.ndim == 0:
        raise ValueError("nonzero takes an array with axes; write indim.nonzero(x.reshape(1))")
    if size is None:
        return _masks.nonzero(_truth(x), *_no_size("nonzero")) if isinstance(x, Tracer) else np.nonzero(x)
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value,) * x.ndim
    if len(fills) != x.ndim:
        raise ValueError(f"fill_value has {len(fills)} numbers, and x has {x.ndim} axes")
    places = _Places(x.reshape(-1) != 0, size)
    shape = x.shape if x.ndim > 1 else (0,)
    steps = [int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(x.ndim)]
    along = (places.positions // step for step in steps)
    sizes = [None, *shape[1:]]
    within = (index if size is None else index % size for index, size in zip(along, sizes))
    return tuple(places.collect(index, np.int64(fill)) for index, fill in zip(within, fills))


def flatnonzero(x, *, size=None, fill_value=0):
    """The positions in ``x.ravel()`` of the elements that are not zero; ``size`` is that of ``nonzero``."""
    x = _array(x, "x")
    if size is None and isinstance(x, Tracer):
        return positions_of(_truth(x), *_no_size("flatnonzero"))
    return nonzero(x.reshape(-1), size=size, fill_value=fill_value)[0]


def argwhere(x, *, size=None, fill_value=0):
    """The positions of the elements that are not zero, a row for each; ``size`` is that of ``nonzero``."""
    return np.stack(nonzero(x, size=size, fill_value=fill_value), axis=-1)


def compress(condition, x, axis=None, *, size=None, fill_value=0):
    """The slices of ``x`` along an axis for which ``condition`` is true; without an axis, of ``x.ravel()``.

    A condition that is shorter than the axis is false beyond its end. ``size`` is the number of slices:
    further ones are left out, and missing ones are ``fill_value``. Without it a compiled function runs in
    stages.

    >>> import indim, numpy as np
    >>> positive = indim.jit(lambda x: indim.compress(x > 0, x, size=3))
    >>> positive(np.array([3.0, -1.0, 2.0, -4.0]))
    array([3., 2., 0.])
    """
    is_known = isinstance(condition, (list, tuple)) and not has_tracer(condition)
    condition, x = _array(condition, "condition"), _array(x, "x")
    if condition.ndim != 1:
        raise ValueError(f"the condition of compress has one axis, not {condition.ndim}")
    if size is None:
        if not has_tracer((condition, x)):
            return np.compress(condition, x, axis)
        if is_known:
            positions = np.flatnonzero(condition)
        else:
            condition = tracer_of((condition, x))._recording.tracer(condition, "condition")
            positions = positions_of(_truth(condition), *_no_size("compress"))
        # A true element beyond the end of the axis is an index out of range.
        return np.take(np.ravel(x) if axis is None else x, positions, axis=axis or 0)
    x = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    count, length = _shape(condition)[0], _shape(x)[0]
    if count > length:
        raise ValueError(f"the condition has {count} elements, and the axis of x has {length}")
    if count < length:
        x = x[: condition.shape[0]]
    result = _Places(condition != 0, size).collect(x, x.dtype.type(fill_value))
    return result if axis is None else np.moveaxis(result, 0, axis)


def extract(condition, x, *, size=None, fill_value=0):
    """The elements of ``x`` for which ``condition`` is true, as ``x[condition]``, in row-major order.

    ``size`` and ``fill_value`` are those of ``compress``.
    """
    condition, x = _array(condition, "condition"), _array(x, "x")
    if _shape(condition) != _shape(x):
        raise ValueError(f"the condition has the shape {_shape(condition)}, and x the shape {_shape(x)}")
    return compress(condition.reshape(-1), x, size=size, fill_value=fill_value)


def unique(
    x,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    size=None,
    fill_value=None,
):
    """The different elements of ``x``, in ascending order, and on request where and how often they occur.
    With ``axis`` the different slices, in the order of their first elements, then of their second ones.

    ``size`` is their number: further ones are left out, and missing ones are ``fill_value``, without which
    they repeat the least element. Their index is that of the least element, and their count is 0. The inverse
    counts all different elements. Without ``size`` a compiled function runs in stages.

    >>> import indim, numpy as np
    >>> indim.jit(lambda x: indim.unique(x, size=3, fill_value=-1))(np.array([5, 2, 5]))
    array([ 2,  5, -1])
    """
    x = _array(x, "x")
    returned = (return_index, return_inverse, return_counts)
    if size is None:
        if not isinstance(x, Tracer):
            return np.unique(x, *returned, axis, equal_nan=equal_nan)
        if axis is not None:
            return _unique_slices(x, returned, axis)
        return _unique_in_stages(x, *returned, equal_nan)
    if axis is not None and x.ndim > 1:
        raise TypeError("unique with `size` takes no `axis`: leave out `size`, or compare numbers of slices")
    if 0 in _shape(x):
        raise ValueError("an empty array has no element to repeat: write np.full(size, fill_value)")
    order = np.argsort(x.reshape(-1), kind="stable")
    elements = x.reshape(-1)[order]
    places = _Places(_differs_from_previous(elements, equal_nan), size)
    least = elements[0] if fill_value is None else elements.dtype.type(fill_value)
    results = [places.collect(elements, least)]
    if return_index:
        results.append(places.collect(order, order[0]))
    if return_inverse:
        inverse = scatter("scatter_set", np.zeros_like(order), order, places.ranks)
        results.append(inverse.reshape(x.shape))
    if return_counts:
        one = np.int64(1)
        results.append(scatter("scatter_add", np.zeros(places.size, np.int64), places.ranks, one, "drop"))
    return tuple(results) if len(results) > 1 else results[0]


def union1d(ar1, ar2, *, size=None, fill_value=None):
    """The different elements of two arrays, in ascending order. ``size`` and ``fill_value`` are those of
    ``unique``."""
    both = np.concatenate([np.ravel(_array(ar1, "ar1")), np.ravel(_array(ar2, "ar2"))])
    return unique(both, size=size, fill_value=fill_value)


#: Maximum number of elements of a slice that ``unique`` compares: each is a key of one sort.
MAX_SLICE = 256


def _unique_slices(x, returned, axis):
    """``unique`` of the slices of a traced array along an axis, without a size."""
    axis = axis_index(operator.index(axis), x.ndim)
    x = np.moveaxis(x, axis, 0)
    count, slices = int(np.prod(x.shape[1:], dtype=object)), x.shape[1:]
    if count == 0:
        return _unique_of_empty_slices(x, returned, axis)
    if count > MAX_SLICE:
        raise TypeError(
            f"unique compares slices of up to {MAX_SLICE} elements while a function is traced, not {count}: "
            "call np.unique on the result, or compare one number for each slice"
        )
    rows = x.reshape(x.shape[0], count)
    order = np.lexsort(tuple(rows[:, place] for place in reversed(range(count))))
    rows = rows[order]
    # NumPy compares slices with NaN as different.
    differs = np.any(rows[1:] != rows[:-1], axis=1)
    starts = np.concatenate([np.ones_like(rows[:1, 0], np.bool_), differs])
    positions = positions_of(starts, *_no_size("unique"))
    found = np.moveaxis(np.take(rows, positions, axis=0).reshape(-1, *slices), 0, axis)
    return _with_places(found, returned, order, starts, positions, None)


def _unique_of_empty_slices(x, returned, axis):
    """``unique`` of slices without elements along the first axis of ``x``: they are equal."""
    length = x.shape[0]
    places = (np.zeros(min(length, 1), np.int64), np.zeros(length, np.int64), np.full(min(length, 1), length))
    results = [np.moveaxis(x[:1], 0, axis)]
    results += [place for place, is_returned in zip(places, returned) if is_returned]
    return tuple(results) if len(results) > 1 else results[0]


def _with_places(found, returned, order, starts, positions, shape):
    """The results of ``unique``: where and how often the elements ``found`` occur, as far as requested."""
    results = [found]
    if returned[0]:
        results.append(order[positions])
    if returned[1]:
        ranks = np.cumsum(starts, dtype=np.int64) - 1
        inverse = scatter("scatter_set", np.zeros_like(order), order, ranks)
        results.append(inverse if shape is None else inverse.reshape(shape))
    if returned[2]:
        count = np.sum(np.ones_like(starts, np.int64)).reshape(1)
        ends = np.concatenate([positions[1:], count])
        results.append(ends - positions)
    return tuple(results) if len(results) > 1 else results[0]


def _unique_in_stages(x, return_index, return_inverse, return_counts, equal_nan):
    """``unique`` without a size, of a traced array."""
    if return_index or return_inverse:
        order = np.argsort(x.reshape(-1), kind="stable")
        elements = x.reshape(-1)[order]
    else:
        order, elements = None, np.sort(x.reshape(-1))
    starts = _differs_from_previous(elements, equal_nan)
    positions = positions_of(starts, *_no_size("unique"))
    returned = return_index, return_inverse, return_counts
    # A read of the shape ties the traced function to it.
    shape = x.shape if return_inverse else None
    return _with_places(elements[positions], returned, order, starts, positions, shape)


def _differs_from_previous(elements, equal_nan):
    """Whether each element of a sorted array differs from the one before it; true for the first."""
    after, before = elements[1:], elements[:-1]
    differs = after != before
    if equal_nan and elements.dtype.kind in "fc":
        differs = differs & ~(np.isnan(after) & np.isnan(before))
    # An empty array has no first element.
    return np.concatenate([np.ones_like(elements[:1], np.bool_), differs])


class _Places:
    """The places, in a result of ``size`` elements, of the elements for which ``mask`` is true."""

    def __init__(self, mask, size):
        self.size = operator.index(size)
        if self.size < 0:
            raise ValueError(f"size is {self.size}, and must not be negative")
        self._mask = mask
        #: For each element the number of true elements up to it, less one.
        self.ranks = np.cumsum(mask, dtype=np.int64) - 1

    @property
    def positions(self):
        """The numbers 0, 1, 2, ... along the mask."""
        return np.cumsum(np.ones_like(self._mask), dtype=np.int64) - 1

    def collect(self, values, fill):
        """The values of the true elements, in order, and then ``fill``."""
        # A read of the shape ties the traced function to it.
        row = values.shape[1:] if values.ndim > 1 else ()
        start = np.broadcast_to(fill, (self.size, *row))
        # A place beyond the end is dropped.
        places = np.where(self._mask, self.ranks, self.size)
        return scatter("scatter_set", start, places, values, "drop")


def _shape(x):
    """The shape of an array, which a message names; a traced function stays valid for other sizes."""
    return x._shape if isinstance(x, Tracer) else x.shape


def _truth(x):
    """Whether elements are not zero. Uses of one mask share a stage, so a mask stays as it is."""
    return x if x.dtype == np.bool_ else x != 0


def _no_size(name):
    """What has no size where no stage can compute it, and the advice."""
    return f"the size of {name}", f"write indim.{name}(..., size=k) for at most k elements"


#: Functions that take JAX's `size`.
FUNCTIONS = (argwhere, compress, extract, flatnonzero, nonzero, union1d, unique)
