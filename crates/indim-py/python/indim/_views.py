"""Indices of traced values, and NumPy's view functions and concatenations."""

from __future__ import annotations

import operator

import numpy as np

from . import _functions, _masks, _padding, _shape_functions, _slices_by_sizes, _traced_sizes
from . import _view_functions, _view_writes
from ._advice import refuse_given
from ._handlers import ARRAY_FUNCTIONS, implements
from ._operands import as_array, has_tracer, index_keys
from ._recording import innermost
from ._tracing import Tracer

_FUNCTIONS = _view_functions.define("numpy")


class LabelIndexError(IndexError):
    """A label of a column as an index of an array."""


def _getitem(x, key):
    """``x[key]`` for numbers, slices, ``None``, ``...``, arrays of integers and masks, as in NumPy."""
    keys = index_keys(key)
    x = innermost((x, *keys)).lift(x)
    if any(map(_traced_sizes.is_traced_slice, keys)) and not any(map(_masks.is_mask, keys)):
        return _traced_sizes.getitem(x, keys)
    if any(map(_masks.is_mask, keys)) or _masks.is_single_truth(keys):
        return _masks.getitem(x, keys)
    if _slices_by_sizes.are_by_sizes(keys):
        keys = _slices_by_sizes.keys_from_end(x, keys)
        if x.ndim == len(keys) == 1 and _slices_by_sizes.are_by_sizes(keys):
            found = _slices_by_sizes.getitem(x, *keys)
            if found is not None:
                return found
    items = tuple(_item(x, key) for key in keys)
    result = x._call("[]", [(None, items)])
    if result.ndim and _are_positions(x, keys, result):
        _view_writes.share_by_positions(x, keys, result)
    return result


def _are_positions(x, keys, result):
    """Whether some keys are traced, and all arrays among them are single positions: NumPy's result is then a
    view."""
    if not any(isinstance(key, Tracer) for key in keys):
        return False
    removed = sum(key is not None and key is not Ellipsis and not isinstance(key, slice) for key in keys)
    return result.ndim == x.ndim - removed + sum(key is None for key in keys)


def _item(x, key):
    if key is None or key is Ellipsis:
        return key
    if isinstance(key, slice):
        return tuple(None if end is None else _end(x, end) for end in (key.start, key.stop, key.step))
    if isinstance(key, (bool, np.bool_)):
        raise TypeError(f"`{x._value_text}` takes no truth value as an index; {_view_functions.NO_MASK}")
    if isinstance(key, str) or (isinstance(key, list) and key and isinstance(key[0], str)):
        raise LabelIndexError(
            f"`{x._value_text}` is an array in a compiled function, without columns by name: pass the "
            f"column, {x._text_of_operand()}[{key!r}], as an argument"
        )
    if isinstance(key, Tracer) or np.ndim(key) > 0:
        return x._recording.operand(_view_functions.elements(x._value_text, key))
    try:
        return operator.index(key)
    except TypeError:
        raise IndexError(
            f"{key!r} is not an index of `{x._value_text}`: numbers, slices, None, `...` and arrays of "
            "integers are"
        ) from None


def _end(x, end):
    if isinstance(end, Tracer):
        end._refuse(
            f"a slice of `{x._value_text}`",
            "take the slice of the result of the mask, x[mask][a:b], or name arguments that say sizes in "
            "`static=`",
        )
    end = operator.index(end)
    # NumPy clamps ends of any size.
    return max(-(2**63), min(2**63 - 1, end))


@implements(np.concatenate)
def _concatenate(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    refuse_given("concatenate", out=out)
    return _FUNCTIONS["concatenate"](_converted(arrays, dtype, casting), axis)


if hasattr(np, "concat"):
    ARRAY_FUNCTIONS[np.concat] = _concatenate


@implements(np.stack)
def _stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    refuse_given("stack", out=out)
    return _FUNCTIONS["stack"](_converted(arrays, dtype, casting), axis)


def _converted(arrays, dtype, casting):
    if dtype is None:
        return list(arrays)
    arrays = [array if isinstance(array, Tracer) else np.asarray(array) for array in arrays]
    return [array.astype(dtype, casting=casting) for array in arrays]


def _at_least(name, rank_of_parts, axis_of):
    """The handler of `hstack` and similar functions: raises the rank of the parts, then concatenates."""

    def handler(tup, *, dtype=None, casting="same_kind"):
        parts = [rank_of_parts(part) for part in tup]
        return _concatenate(parts, axis_of(parts), dtype=dtype, casting=casting)

    handler.__name__ = name
    ARRAY_FUNCTIONS[getattr(np, name)] = handler


_at_least("hstack", np.atleast_1d, lambda parts: 0 if parts[0].ndim == 1 else 1)
_at_least("vstack", np.atleast_2d, lambda parts: 0)
_at_least("dstack", np.atleast_3d, lambda parts: 2)


@implements(np.flip)
def _flip(m, axis=None):
    return _FUNCTIONS["flip"](m, axis)


@implements(np.flipud)
def _flipud(m):
    return m[::-1, ...]


@implements(np.fliplr)
def _fliplr(m):
    return m[:, ::-1]


@implements(np.roll)
def _roll(a, shift, axis=None):
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift]
    if not any(isinstance(item, Tracer) for item in shifts):
        return _FUNCTIONS["roll"](a, shift, axis)
    if isinstance(shift, Tracer) and shift.ndim == 1:
        shifts = [shift[place] for place in range(shift.shape[0])]
    if any(np.ndim(item) != 0 for item in shifts) or np.ndim(axis) > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    a = _functions.asarray(a)
    rolled = np.ravel(a) if axis is None else a
    axes = [0] if axis is None else list(axis) if np.ndim(axis) else [axis]
    axes = [_shape_functions.axis_index(item, rolled.ndim) for item in axes]
    (count,) = np.broadcast_shapes((len(shifts),), (len(axes),))
    shifts, axes = (items * count if len(items) == 1 else items for items in (shifts, axes))
    offsets = {}
    for item, place in zip(shifts, axes):
        offsets[place] = offsets.get(place, 0) + _offset(item, rolled.shape[place])
    for place, offset in offsets.items():
        size = rolled.shape[place]
        places = (np.arange(size) - offset) % max(size, 1)
        rolled = np.take(rolled, places, place, mode="clip")
    return rolled.reshape(a.shape) if axis is None else rolled


def _offset(shift, size):
    """A shift modulo the size of its axis, in 64 bits: sums of shifts could leave the range of their type."""
    size = max(size, 1)
    if not isinstance(shift, Tracer):
        return int(shift) % size
    if shift.dtype.kind not in "biu":
        raise TypeError(
            f"numpy.roll takes traced shifts of integers, not of {shift.dtype}: write shift.astype(int)"
        )
    if shift.dtype == np.uint64:
        return (shift % np.uint64(size)).astype(np.int64)
    return shift.astype(np.int64) % np.int64(size)


@implements(np.pad)
def _pad(array, pad_width, mode="constant", **kwargs):
    array = _functions.asarray(array)
    _padding.check(mode, kwargs)
    values = kwargs.get("constant_values", 0)
    if kwargs.get("reflect_type") == "even":
        del kwargs["reflect_type"]
    rest = [keyword for keyword in kwargs if keyword != "constant_values"]
    if array.ndim == 0:
        _padding.widths(pad_width, 0)
        return array.copy()
    if _padding.is_composed(mode, values, rest):
        return _padding.pad(array, pad_width, mode, kwargs)
    return _FUNCTIONS["pad"](array, pad_width, mode, constant_values=values)


@implements(np.lib.stride_tricks.sliding_window_view)
def _sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    refuse_given("sliding_window_view", writeable=writeable or None)
    return _FUNCTIONS["sliding_window_view"](x, window_shape, axis)


@implements(np.take)
def _take(a, indices, axis=None, out=None, mode="raise"):
    refuse_given("take", out=out)
    indices = as_array(indices) if has_tracer(indices) else indices
    return _FUNCTIONS["take"](a, indices, axis, mode=mode)


@implements(np.take_along_axis)
def _take_along_axis(arr, indices, axis=-1):
    return _FUNCTIONS["take_along_axis"](arr, indices, axis)


@implements(np.diff)
def _diff(a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue):
    if n == 0:
        return a
    prepend, append = (None if part is np._NoValue else part for part in (prepend, append))
    return _FUNCTIONS["diff"](a, n, axis, prepend=prepend, append=append)


@implements(np.ediff1d)
def _ediff1d(ary, to_end=None, to_begin=None):
    flat = np.ravel(_functions.asarray(ary))
    ends = []
    for name, end in (("to_begin", to_begin), ("to_end", to_end)):
        end = np.zeros(0, flat.dtype) if end is None else np.ravel(_functions.asarray(end))
        if not np.can_cast(end.dtype, flat.dtype, "same_kind"):
            raise TypeError(f"`{name}` of numpy.ediff1d is not of the kind of the array, {flat.dtype}")
        ends.append(end.astype(flat.dtype))
    differences = flat[1:] - flat[:-1]
    if to_begin is None and to_end is None:
        return differences
    return np.concatenate([ends[0], differences, ends[1]])


@implements(np.tile)
def _tile(A, reps):
    reps = (reps,) if np.ndim(reps) == 0 else tuple(reps)
    rank = max(A.ndim, len(reps))
    reps = (1,) * (rank - len(reps)) + reps
    if A.ndim == 1:
        # The sizes of the program follow from that of the array.
        *before, count = map(operator.index, reps)
        line = A if count == 1 else _shape_functions.repeated(A, count).reshape(-1)
        return _shape_functions.repeated(line, *before)._made()
    sizes = (1,) * (rank - A.ndim) + A.shape
    spread = A.reshape([size for pair in zip((1,) * rank, sizes) for size in pair])
    spread = np.broadcast_to(spread, tuple(size for pair in zip(reps, sizes) for size in pair))
    return spread.reshape([count * size for count, size in zip(reps, sizes)])._made()


def _take_of(self, indices, axis=None, out=None, mode="raise"):
    return np.take(self, indices, axis, out, mode)


def _repeat_of(self, repeats, axis=None):
    return np.repeat(self, repeats, axis)


Tracer.__getitem__ = _getitem
Tracer.take = _take_of
Tracer.repeat = _repeat_of
