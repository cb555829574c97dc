"""Scatters in JAX's style, eager on arrays and recorded on traced values, and functions composed of them."""

from __future__ import annotations

import math
import operator

import numpy as np

from . import _functions, _view_functions, _views
from ._advice import refuse_given
from ._data_stages import positions_below
from ._handlers import implements
from ._operands import has_tracer, index_keys
from ._recording import innermost
from ._recording import running_recording
from ._traced_memory import SHARED
from ._tracing import Tracer

_MODES = ("raise", "clip", "wrap", "drop")

#: JAX's names of modes, and its hints, which have no effect here.
_MODES_OF_JAX = {"fill": "drop", "promise_in_bounds": "raise", None: "raise"}
_HINTS = ("indices_are_sorted", "unique_indices", "wrap_negative_indices")


class At:
    """An array whose elements can be updated: ``indim.at(x)[key].add(values)``."""

    __slots__ = ("_array",)

    def __init__(self, array):
        self._array = _view_functions._array(array, "x")

    def __getitem__(self, key):
        return IndexUpdate(self._array, index_keys(key) if has_tracer(key) else key)

    def __repr__(self):
        return f"indim.at(<{self._array.dtype} of shape {self._array.shape}>)"


class IndexUpdate:
    """An array and an index, ``at(x)[key]``. Each method returns a new array; ``x`` does not change.

    Updates broadcast to the shape of ``x[key]`` and are converted to the type of ``x``. Several updates of
    one element are combined in row-major order. A key of integers and arrays of integers takes a ``mode``:
    ``raise``, ``clip``, ``wrap``, or ``drop``, which drops updates at indices out of range. Negative indices
    count from the end. JAX's ``fill`` is ``drop``, and ``promise_in_bounds`` is ``raise``.
    """

    __slots__ = ("_array", "_key")

    def __init__(self, array, key):
        self._array, self._key = array, key

    def set(self, values, *, mode="raise", **hints):
        """The array with these elements replaced; the last update of an element wins."""
        return self._updated("scatter_set", values, mode, hints)

    def add(self, values, *, mode="raise", **hints):
        """The array with ``values`` added: floats in double precision, rounded once."""
        return self._updated("scatter_add", values, mode, hints)

    def multiply(self, values, *, mode="raise", **hints):
        """The array with these elements multiplied: floats in double precision, rounded once."""
        if _is_differentiated() and _are_unique(self._array.shape, self._key, _checked_mode(mode, hints)):
            # A scatter of products has no derivative, since an element may have several updates.
            return self._replaced(lambda elements: elements * values, mode, hints)
        return self._updated("scatter_mul", values, mode, hints)

    def min(self, values, *, mode="raise", **hints):
        """The array with the smallest of each element and its updates; NaN if one of them is NaN."""
        return self._updated("scatter_min", values, mode, hints)

    def max(self, values, *, mode="raise", **hints):
        """The array with the largest of each element and its updates; NaN if one of them is NaN."""
        return self._updated("scatter_max", values, mode, hints)

    mul = multiply

    def subtract(self, values, *, mode="raise", **hints):
        """The array with ``values`` subtracted, like ``add``."""
        return self.add(-_functions.asarray(values), mode=mode, **hints)

    def divide(self, values, *, mode="raise", **hints):
        """The array with these elements divided by ``values``; the last update of an element wins."""
        return self._replaced(lambda elements: elements / values, mode, hints)

    def power(self, values, *, mode="raise", **hints):
        """The array with these elements to the power of ``values``; the last update of an element wins."""
        return self._replaced(lambda elements: elements**values, mode, hints)

    def apply(self, func, *, mode="raise", **hints):
        """The array with these elements replaced by ``func`` of them. An element that occurs several times is
        replaced once, where JAX applies ``func`` each time."""
        return self._replaced(func, mode, hints)

    def get(self, *, mode="raise", fill_value=None, **hints):
        """The elements ``x[key]``. With the mode ``fill``, elements at indices out of range are
        ``fill_value``, by default that of JAX: NaN, the minimum of a signed type, the maximum of an unsigned
        one, or True."""
        mode = _checked_mode(mode, hints)
        if mode == "raise":
            return self._array[self._key]
        x, indices = self._along_one_axis(mode)
        attributes = [("axis", 0), ("mode", "clip" if mode == "drop" else mode)]
        found = _functions.apply("take", (x, indices), attributes, "numpy")
        if mode != "drop":
            return found
        if fill_value is None:
            fill_value = missing(x.dtype)
        is_within = (indices >= 0) & (indices < x.shape[0])
        is_within = is_within.reshape(tuple(indices.shape) + (1,) * (x.ndim - 1))
        return np.where(is_within, found, np.asarray(fill_value, x.dtype))

    def _along_one_axis(self, mode):
        """The array with the axes of the key merged into one, and the indices along it; None as the indices
        for a key of other items, which takes no mode."""
        keys = self._key if isinstance(self._key, tuple) else (self._key,)
        if mode == "raise":
            is_along_one = len(keys) == 1 and _is_indices(keys[0])
            return self._array, _view_functions.elements("x", keys[0]) if is_along_one else None
        if not keys or not all(_is_indices(key) or _is_integer(key) for key in keys):
            raise TypeError(f"mode={mode!r} takes integers and arrays of integers, along the first axes")
        sizes = self._array.shape[: len(keys)]
        if len(sizes) < len(keys):
            raise IndexError(f"{len(keys)} indices for an array of {len(sizes)} axes")
        count, position, is_outside = math.prod(sizes), 0, False
        for key, size in zip(keys, sizes):
            index = from_start(_view_functions.elements("x", key), size)
            if len(keys) == 1:
                return self._array, index
            if mode == "drop":
                is_outside = is_outside | (index < 0) | (index >= size)
            else:
                index = np.clip(index, 0, size - 1) if mode == "clip" else index % size
            index = index.astype(np.int64)
            position = position * size + index
        if mode == "drop":
            position = np.where(is_outside, count, position)
        return self._array.reshape((count, *self._array.shape[len(keys) :])), position

    def _replaced(self, function, mode, hints):
        return self._updated("scatter_set", function(self.get(mode=mode)), mode, hints)

    def _updated(self, function, values, mode, hints):
        mode = _checked_mode(mode, hints)
        x, indices = self._along_one_axis(mode)
        values = _converted(values, x.dtype)
        if indices is not None:
            return scatter(function, x, indices, values, mode).reshape(self._array.shape)
        flat = scatter(function, x.reshape(-1), _positions(x.shape, self._key), values, mode)
        return flat.reshape(x.shape)


def from_start(indices, size):
    """The indices; negative ones count from the end."""
    if indices.dtype.kind in "iu" and size > np.iinfo(indices.dtype).max:
        indices = indices.astype(np.int64)
    return indices if indices.dtype.kind == "u" else np.where(indices < 0, indices + size, indices)


def missing(dtype):
    """The value of an element that does not exist, as in JAX."""
    if dtype.kind in "fcV":
        return np.nan
    return True if dtype.kind == "b" else _limit(dtype, "min" if dtype.kind == "i" else "max")


def _checked_mode(mode, hints):
    mode = _MODES_OF_JAX.get(mode, mode)
    if mode not in _MODES:
        raise ValueError(f"the mode of a scatter is one of {', '.join(_MODES)}, not {mode!r}")
    for hint in hints:
        if hint not in _HINTS:
            raise TypeError(f"an update takes `mode`, and JAX's hints {', '.join(_HINTS)}, not {hint!r}")
    return mode


def scatter(function, x, indices, updates, mode="raise"):
    """A scatter along the first axis; ``function`` is its name in the compiled part."""
    return _functions.apply(function, (x, indices, updates), [("axis", 0), ("mode", mode)], "numpy")


def _is_indices(key):
    if not isinstance(key, (Tracer, np.ndarray, list)) or np.ndim(key) == 0:
        return False
    # An empty list has the type float64.
    return key_dtype(key).kind not in "bfc" or (isinstance(key, list) and np.size(key) == 0)


def _is_integer(key):
    return np.ndim(key) == 0 and key_dtype(key).kind in "iu"


def key_dtype(key):
    """The element type of an index."""
    return key.dtype if isinstance(key, Tracer) else np.asarray(key).dtype


def _positions(shape, key):
    """The positions of ``x[key]`` among the elements of ``x``, an array of this shape."""
    positions = np.arange(np.prod(shape, dtype=np.intp)).reshape(shape)
    keys = key if isinstance(key, tuple) else (key,)
    ends = [end for item in keys if isinstance(item, slice) for end in (item.start, item.stop, item.step)]
    if any(isinstance(item, Tracer) for item in (*keys, *ends)):
        recording = innermost((*keys, *ends))
        return _views._getitem(recording.tracer(positions, "positions"), key)
    return positions[key]


def _is_differentiated():
    """Whether the function that runs is differentiated."""
    recording = running_recording()
    while recording is not None and recording.derivative_mode is None:
        recording = recording.outer
    return recording is not None


def _are_unique(shape, key, mode):
    """Whether it is known that an update of ``x[key]`` has no element twice; ``x`` has this shape."""
    keys = key if isinstance(key, tuple) else (key,)
    if mode not in ("raise", "drop") or any(isinstance(item, Tracer) and item.ndim for item in keys):
        return False
    if any(isinstance(item, slice) and has_tracer((item.start, item.stop, item.step)) for item in keys):
        return False
    known = tuple(0 if isinstance(item, Tracer) else item for item in keys)
    try:
        found = np.arange(np.prod(shape, dtype=np.intp)).reshape(shape)[known]
    except IndexError:
        return False
    return np.unique(found).size == found.size


def _converted(values, dtype):
    values = _functions.recorded(values) if isinstance(values, np.ndarray) else values
    if isinstance(values, Tracer):
        if not np.can_cast(values.dtype, dtype, "same_kind"):
            raise TypeError(f"updates of {values.dtype} would lose digits as {dtype}: convert them by astype")
        return values if values.dtype == dtype else values.astype(dtype)
    if isinstance(values, (bool, int)):
        return dtype.type(values)
    return np.asarray(values).astype(dtype, casting="same_kind")


def at(x):
    """The array ``x`` for updates: ``at(x)[key]`` has ``set``, ``add``, ``multiply``, ``min`` and ``max``.

    Each returns a new array, as ``x.at[key]`` in JAX. Updates of one element are combined in row-major order.
    """
    return At(x)


def put_along_axis(x, indices, values, axis):
    """``x`` with ``values`` at the positions ``indices`` along an axis: a new array, unlike in NumPy, which
    writes into ``x``. For ``axis=None`` the positions are those in ``x.ravel()``."""
    x, indices = _view_functions._array(x, "x"), _view_functions.elements("x", indices)
    if axis is None:
        return put_along_axis(x.reshape(-1), indices, values, 0).reshape(x.shape)
    if indices.ndim != x.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if not -x.ndim <= operator.index(axis) < x.ndim:
        raise np.exceptions.AxisError(axis, x.ndim)
    key = list(np.ix_(*map(np.arange, x.shape)))
    key[axis] = indices
    return At(x)[tuple(key)].set(values)


def _segment_function(function):
    """A function of the rows with the same id, with the keywords of ``jax.ops``."""

    def of_segments(
        data,
        segment_ids,
        num_segments=None,
        indices_are_sorted=False,
        unique_indices=False,
        bucket_size=None,
        mode=None,
    ):
        if mode not in (None, "drop", "fill"):
            raise ValueError(f"ids out of range are ignored, so there is no mode {mode!r}: write 'drop'")
        return function(data, segment_ids, num_segments)

    of_segments.__name__ = of_segments.__qualname__ = function.__name__
    # Without docstrings, `python -OO`, there is nothing to add to.
    of_segments.__doc__ = (function.__doc__ or "") + """

    Ids out of range are ignored. ``num_segments`` is one more than the largest id, if it is left out; in a
    compiled function it must be given. JAX's hints ``indices_are_sorted``, ``unique_indices`` and
    ``bucket_size`` have no effect."""
    return of_segments


@_segment_function
def segment_sum(data, segment_ids, num_segments):
    """The sums of the rows of ``data`` with the same id."""
    return _segments("scatter_add", data, segment_ids, num_segments, lambda dtype: 0)


@_segment_function
def segment_prod(data, segment_ids, num_segments):
    """The products of the rows of ``data`` with the same id."""
    return _segments("scatter_mul", data, segment_ids, num_segments, lambda dtype: 1)


@_segment_function
def segment_max(data, segment_ids, num_segments):
    """The maxima of the rows of ``data`` with the same id; the least value for a segment without rows."""
    return _segments("scatter_max", data, segment_ids, num_segments, lambda dtype: _limit(dtype, "min"))


@_segment_function
def segment_min(data, segment_ids, num_segments):
    """The minima of the rows of ``data`` with the same id; the largest value for a segment without rows."""
    return _segments("scatter_min", data, segment_ids, num_segments, lambda dtype: _limit(dtype, "max"))


def _segments(function, data, ids, num_segments, start):
    data, ids = _view_functions._array(data, "data"), _view_functions.elements("data", ids)
    if data.shape[: ids.ndim] != ids.shape:
        raise ValueError(f"data of shape {data.shape} has no id for each row in ids of shape {ids.shape}")
    if num_segments is None:
        if isinstance(ids, Tracer):
            raise TypeError("a compiled function needs the number of segments: pass `num_segments`")
        num_segments = int(ids.max()) + 1 if ids.size else 0
    shape = (operator.index(num_segments), *data.shape[ids.ndim :])
    return scatter(function, np.full(shape, start(data.dtype), data.dtype), ids, data, "drop")


def _limit(dtype, end):
    if dtype.kind in "iu":
        return getattr(np.iinfo(dtype), end)
    if dtype.kind == "b":
        return end == "max"
    return np.inf if end == "max" else -np.inf


def one_hot(x, num_classes, *, dtype=np.float32, axis=-1):
    """Ones at the indices ``x`` along a new axis of ``num_classes`` elements, zeros elsewhere. The new axis
    is at the position ``axis`` of the result."""
    x = _view_functions._array(x, "x")
    # The classes may not fit the type of the indices.
    found = (x[..., None] == np.arange(operator.index(num_classes))).astype(dtype)
    return found if axis == -1 else np.moveaxis(found, -1, operator.index(axis))


def bincount(x, weights=None, minlength=0, *, length=None):
    """The number of elements of each value, or the sum of their weights in double precision.

    ``length`` is the size of the result: elements beyond it are ignored. Without it, an array has the length
    that NumPy gives. While a function is traced that length is ``minlength``, and an element that is not less
    is an error; without ``minlength`` the function runs in stages.
    """
    x, mode = _view_functions.positions("x", x), "drop"
    if x.ndim != 1:
        raise ValueError("bincount takes an array with one axis")
    if x.dtype.kind in "fc" and x.size:
        raise TypeError(f"bincount takes whole numbers, not {x.dtype}: convert them, x.astype(np.int64)")
    if length is None:
        if isinstance(x, Tracer):
            length, mode = operator.index(minlength), "raise"
            if length <= 0:
                return _bincount_in_stages(x, weights)
            # No negative index counts from the end.
            x = x if x.dtype.kind == "u" else np.where(x < 0, np.int64(length), x.astype(np.int64))
        else:
            if x.size and x.min() < 0:
                raise ValueError("bincount takes no negative elements")
            length = max(operator.index(minlength), int(x.max()) + 1 if x.size else 0)
    if weights is None:
        return scatter("scatter_add", np.zeros(length, np.int64), x, np.int64(1), mode)
    if np.shape(weights) != x.shape:
        raise ValueError("the weights of bincount do not have the shape of its elements")
    return scatter("scatter_add", np.zeros(length), x, _converted(weights, np.dtype(np.float64)), mode)


def _bincount_in_stages(x, weights):
    """``bincount`` of a traced array whose greatest element gives the length of the result."""
    # An empty array has no greatest element.
    whole = x.astype(np.int64)
    length = np.where(np.any(whole < 0), -1, np.max(whole, initial=-1) + 1)
    bins = positions_below(
        length,
        "the length of bincount",
        "write np.bincount(x, minlength=n), where all elements are less than n, or "
        "indim.bincount(x, length=n), which ignores elements from n on",
    )
    if weights is None:
        return scatter("scatter_add", np.zeros_like(bins, np.int64), whole, np.int64(1), "raise")
    if np.shape(weights) != x.shape:
        raise ValueError("the weights of bincount do not have the shape of its elements")
    weights = _converted(weights, np.dtype(np.float64))
    return scatter("scatter_add", np.zeros_like(bins, np.float64), whole, weights, "raise")


@implements(np.bincount)
def _bincount(x, weights=None, minlength=0):
    return bincount(x, weights, minlength)


@implements(np.diagonal)
def _diagonal(a, offset=0, axis1=0, axis2=1):
    result = _diagonal_elements(a, offset, axis1, axis2)
    # NumPy's result is a view, which is read-only.
    a._share(result, (lambda a: _diagonal_elements(a, offset, axis1, axis2), (), None))
    result._storage = SHARED
    return result


def _diagonal_elements(a, offset, axis1, axis2):
    # NumPy's errors of axes.
    np.moveaxis(np.broadcast_to(0, (1,) * a.ndim), (axis1, axis2), (-2, -1))
    axis1, axis2 = axis1 % a.ndim, axis2 % a.ndim
    rows, columns = a.shape[axis1], a.shape[axis2]
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    positions = np.arange(count)
    key = [slice(None)] * a.ndim
    key[axis1], key[axis2] = positions + max(-offset, 0), positions + max(offset, 0)
    # Axes side by side are indexed in place, without a transpose of the whole array.
    found = min(axis1, axis2) if abs(axis1 - axis2) == 1 else 0
    return np.moveaxis(a[tuple(key)], found, -1)


@implements(np.trace)
def _trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    refuse_given("trace", out=out)
    return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


class _TracedAt:
    """``x.at`` of a traced value."""

    def __get__(self, instance, owner):
        return self if instance is None else At(instance)


Tracer.at = _TracedAt()
