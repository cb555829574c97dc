"""Indices of tracing values, and NumPy's functions that show arrays otherwise or put them together."""

from __future__ import annotations

import operator

import numpy as np

from . import _arrays
from ._tracing import ARRAY_FUNCTIONS, Tracer, innermost, tracer_of


def _getitem(x, key):
    """``x[key]``: numbers, slices, ``None``, ``...`` and an array of integers, as NumPy has them."""
    keys = key if isinstance(key, tuple) else (key,)
    x = innermost((x, *keys)).lifted(x)
    items = tuple(_item(x, key) for key in keys)
    return x._call("[]", [(None, items)])


def _item(x, key):
    if key is None or key is Ellipsis:
        return key
    if isinstance(key, slice):
        return tuple(None if end is None else _end(x, end) for end in (key.start, key.stop, key.step))
    if isinstance(key, (bool, np.bool_)):
        raise TypeError(f"`{x._piece}` takes no truth value as an index; {_NO_MASK}")
    if isinstance(key, Tracer) or np.ndim(key) > 0:
        return _elements(x, key)
    try:
        return operator.index(key)
    except TypeError:
        raise IndexError(
            f"{key!r} is no index of `{x._piece}`: numbers, slices, None, `...` and arrays of integers are"
        ) from None


_NO_MASK = "to choose between elements write np.where(mask, x, other)"


def _end(x, end):
    if isinstance(end, Tracer):
        end._refuse(
            f"a slice of `{x._piece}`",
            "name arguments that say sizes in `static=`, or take elements by their indices",
        )
    end = operator.index(end)
    # NumPy clamps ends of any size.
    return max(-(2**63), min(2**63 - 1, end))


def _elements(x, key):
    """The name of an array of integers."""
    if not isinstance(key, Tracer):
        key = np.asarray(key)
        if key.size == 0 and key.dtype == np.float64:
            key = key.astype(np.intp)
    if key.dtype == np.bool_:
        raise TypeError(
            f"how many elements of `{x._piece}` a mask keeps is not known before it is computed; {_NO_MASK}"
        )
    return x._recording.operand(key)


def _implements(function):
    def register(handler):
        ARRAY_FUNCTIONS[function] = handler
        return handler

    return register


def _axes(axis):
    return [] if axis is None else [("axis", _arrays.integers(axis))]


@_implements(np.concatenate)
def _concatenate(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    _refuse_given("concatenate", out=out)
    arrays = list(arrays)
    if axis is None:
        arrays, axis = [np.ravel(array) for array in arrays], 0
    return _joined("concatenate", arrays, axis, dtype, casting)


if hasattr(np, "concat"):
    ARRAY_FUNCTIONS[np.concat] = _concatenate


@_implements(np.stack)
def _stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    _refuse_given("stack", out=out)
    return _joined("stack", list(arrays), axis, dtype, casting)


def _joined(function, arrays, axis, dtype, casting):
    """Numbers are arrays here, as in NumPy."""
    tracer = tracer_of(arrays)
    if dtype is not None:
        arrays = [_converted(array, dtype, casting) for array in arrays]
    arrays = [array if isinstance(array, Tracer) else np.asarray(array) for array in arrays]
    return tracer._record(function, arrays, [("axis", operator.index(axis))], "numpy")


def _converted(array, dtype, casting):
    array = array if isinstance(array, Tracer) else np.asarray(array)
    return array.astype(dtype, casting=casting)


def _at_least(name, rank_of_parts, axis_of):
    """`hstack` and its like: parts of at least so many axes, one after another."""

    def handler(tup, *, dtype=None, casting="same_kind"):
        parts = [rank_of_parts(part) for part in tup]
        return _joined("concatenate", parts, axis_of(parts), dtype, casting)

    handler.__name__ = name
    ARRAY_FUNCTIONS[getattr(np, name)] = handler


_at_least("hstack", np.atleast_1d, lambda parts: 0 if parts[0].ndim == 1 else 1)
_at_least("vstack", np.atleast_2d, lambda parts: 0)
_at_least("dstack", np.atleast_3d, lambda parts: 2)


def _refuse_given(name, **arguments):
    for keyword, value in arguments.items():
        if value is not None:
            raise TypeError(f"numpy.{name} takes no `{keyword}` while a function is traced")


@_implements(np.flip)
def _flip(m, axis=None):
    return m._call("flip", _axes(axis))


@_implements(np.flipud)
def _flipud(m):
    return m[::-1, ...]


@_implements(np.fliplr)
def _fliplr(m):
    return m[:, ::-1]


@_implements(np.roll)
def _roll(a, shift, axis=None):
    return a._call("roll", [("shift", _arrays.integers(shift)), *_axes(axis)])


_PAD_MODES = ("constant", "edge", "wrap", "reflect", "symmetric")


@_implements(np.pad)
def _pad(array, pad_width, mode="constant", **kwargs):
    if mode not in _PAD_MODES:
        raise TypeError(f"numpy.pad with mode={mode!r} cannot be traced: take one of {', '.join(_PAD_MODES)}")
    if isinstance(pad_width, dict):
        given = {operator.index(axis) % array.ndim: width for axis, width in pad_width.items()}
        pad_width = [given.get(axis, 0) for axis in range(array.ndim)]
        pad_width = [np.broadcast_to(width, 2) for width in pad_width]
    widths = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2))
    if widths.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type")
    if (widths < 0).any():
        raise ValueError("index can't contain negative values")
    value = kwargs.pop("constant_values", 0) if mode == "constant" else 0
    if kwargs or np.ndim(value) != 0 or isinstance(value, Tracer):
        what = next(iter(kwargs), "constant_values")
        raise TypeError(f"numpy.pad takes no such `{what}` while a function is traced: give one number")
    pairs = [(int(low), int(high)) for low, high in widths]
    if not pairs:
        return array
    attributes = [("pad_width", pairs), ("mode", mode)]
    if mode == "constant":
        # As NumPy writes it into an array of this type.
        number = np.zeros((), array.dtype)
        number[...] = value
        number = number.item()
        if isinstance(number, complex):
            if number.imag:
                raise TypeError(
                    "numpy.pad takes no complex number while a function is traced: use np.concatenate"
                )
            number = number.real
        attributes.append(("constant_values", number))
    return array._call("pad", attributes)


@_implements(np.take)
def _take(a, indices, axis=None, out=None, mode="raise"):
    _refuse_given("take", out=out)
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    operands = (a, indices if isinstance(indices, Tracer) else np.asarray(indices))
    axis = [] if axis is None else [("axis", operator.index(axis))]
    return tracer_of(operands)._record("take", operands, [*axis, ("mode", mode)], "numpy")


@_implements(np.diff)
def _diff(a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue):
    parts = [_beside(a, part, axis) for part in (prepend, append)]
    if any(part is not None for part in parts):
        a = np.concatenate([part for part in (parts[0], a, parts[1]) if part is not None], axis)
    return a._call("diff", [("n", operator.index(n)), ("axis", operator.index(axis))])


def _beside(a, part, axis):
    """What is put in front of an array, or behind it; a number is one element of the axis."""
    if part is np._NoValue:
        return None
    part = part if isinstance(part, Tracer) else np.asarray(part)
    if part.ndim == 0:
        shape = list(a.shape)
        shape[axis] = 1
        part = np.broadcast_to(part, tuple(shape))
    return part


@_implements(np.ediff1d)
def _ediff1d(ary, to_end=None, to_begin=None):
    _refuse_given("ediff1d", to_end=to_end, to_begin=to_begin)
    flat = np.ravel(ary)
    return flat[1:] - flat[:-1]


@_implements(np.repeat)
def _repeat(a, repeats, axis=None):
    if axis is None:
        a, axis = np.ravel(a), 0
    indices = np.repeat(np.arange(a.shape[axis]), repeats)
    return np.take(a, indices, axis, mode="clip")


@_implements(np.tile)
def _tile(A, reps):
    reps = (reps,) if np.ndim(reps) == 0 else tuple(reps)
    rank = max(A.ndim, len(reps))
    reps = (1,) * (rank - len(reps)) + reps
    sizes = (1,) * (rank - A.ndim) + A.shape
    spread = A.reshape([size for pair in zip((1,) * rank, sizes) for size in pair])
    spread = np.broadcast_to(spread, tuple(size for pair in zip(reps, sizes) for size in pair))
    return spread.reshape([count * size for count, size in zip(reps, sizes)])


def _take_of(self, indices, axis=None, out=None, mode="raise"):
    return np.take(self, indices, axis, out, mode)


def _repeat_of(self, repeats, axis=None):
    return np.repeat(self, repeats, axis)


Tracer.__getitem__ = _getitem
Tracer.take = _take_of
Tracer.repeat = _repeat_of
