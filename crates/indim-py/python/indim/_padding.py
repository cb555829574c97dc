"""The modes of ``np.pad`` that indim composes: statistics, ramps, odd reflections, several constants.

As in NumPy, the axes are padded one after another, so the last axis fills the corners.
"""

from __future__ import annotations

import operator

import numpy as np

from ._functions import asarray
from ._numbers import plain_value
from ._shape_functions import along
from ._tracing import Tracer

#: The keywords that each mode takes.
KEYWORDS = {
    "constant": ("constant_values",),
    "edge": (),
    "empty": (),
    "linear_ramp": ("end_values",),
    "maximum": ("stat_length",),
    "mean": ("stat_length",),
    "median": ("stat_length",),
    "minimum": ("stat_length",),
    "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
    "wrap": (),
}

_STATISTICS = {"maximum": np.max, "mean": np.mean, "median": np.median, "minimum": np.min}


def check(mode, keywords):
    """NumPy's errors for an unknown mode or keyword."""
    if callable(mode):
        raise TypeError(
            "np.pad with a function as the mode cannot be traced, because the function writes into slices: "
            "write np.concatenate, or the mode that the function computes"
        )
    if mode not in KEYWORDS:
        raise ValueError(f"mode '{mode}' is not supported: take one of {', '.join(KEYWORDS)}")
    for keyword in keywords:
        if keyword not in KEYWORDS[mode]:
            raise ValueError(f"unsupported keyword arguments for mode '{mode}': {{{keyword!r}}}")


def is_composed(mode, values=None, keywords=()):
    """Whether this file pads: indim has one operation for the other calls."""
    is_simple = mode in ("constant", "edge", "reflect", "symmetric", "wrap")
    is_number = not isinstance(values, Tracer) and np.ndim(plain_value(values)) == 0
    return not is_simple or not is_number or bool(keywords)


def widths(pad_width, rank):
    """The numbers of elements before and after each axis."""
    if isinstance(pad_width, dict):
        if not all(-rank <= operator.index(axis) < rank for axis in pad_width):
            raise IndexError(f"pad_width names axis {max(pad_width, key=abs)} of an array of {rank} axes")
        given = {operator.index(axis) % rank: width for axis, width in pad_width.items()}
        pad_width = [np.broadcast_to(given.get(axis, 0), 2) for axis in range(rank)]
    found = np.asarray(pad_width)
    if found.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    if (found < 0).any():
        raise ValueError("index can't contain negative values")
    return [(int(low), int(high)) for low, high in np.broadcast_to(found, (rank, 2))]


def pad(x, pad_width, mode, keywords):
    """``np.pad`` by concatenations along each axis."""
    rank = x.ndim
    options = keywords.get(KEYWORDS[mode][0]) if KEYWORDS[mode] else None
    by_axis = options if mode in ("reflect", "symmetric") else _pairs(options, rank, mode)
    for axis, width in enumerate(widths(pad_width, rank)):
        if width == (0, 0):
            continue
        if x.shape[axis] == 0 and mode not in ("constant", "empty"):
            raise ValueError(
                f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
            )
        if mode in ("reflect", "symmetric"):
            before, after = _reflected(x, axis, width, mode, by_axis)
        else:
            before, after = _SIDES[mode](x, axis, width, mode, by_axis[axis])
        x = np.concatenate([part for part in (before, x, after) if part is not None], axis=axis)
    return x


def _pairs(values, rank, mode):
    """The values before and after each axis."""
    if values is None:
        values = None if mode in _STATISTICS else 0
    if values is None:
        return [(None, None)] * rank
    if mode in _STATISTICS:
        return [tuple(map(int, pair)) for pair in np.broadcast_to(np.asarray(values), (rank, 2))]
    values = asarray(values)
    if mode == "linear_ramp" and values.dtype.kind == "b":
        raise ValueError("end_values are numbers, not truth values")
    # One or two numbers, or a pair for each axis.
    both = np.broadcast_to(values, (rank, 2))
    return [(both[axis, 0], both[axis, 1]) for axis in range(rank)]


def _block(x, axis, size, value):
    """An array like ``x`` with this size along the axis, and one value everywhere; None without elements."""
    if size == 0:
        return None
    shape = tuple(size if index == axis else of for index, of in enumerate(x.shape))
    return np.broadcast_to(asarray(value).astype(x.dtype), shape)


def _constant(x, axis, width, mode, values):
    return tuple(_block(x, axis, size, value) for size, value in zip(width, values))


def _statistic(x, axis, width, mode, lengths):
    size = x.shape[axis]
    found = []
    for is_after, (count, length) in enumerate(zip(width, lengths)):
        length = size if length is None else min(length, size)
        if length == 0 and mode in ("maximum", "minimum"):
            raise ValueError("stat_length of 0 yields no value for padding")
        part = x[along(axis, slice(size - length, None) if is_after else slice(length))]
        value = _STATISTICS[mode](part, axis=axis, keepdims=True)
        value = np.rint(value) if x.dtype.kind in "iu" and mode in ("mean", "median") else value
        found.append(_block(x, axis, count, value))
    return tuple(found)


def _ramp(x, axis, width, mode, ends):
    edges = x[along(axis, slice(1))], x[along(axis, slice(x.shape[axis] - 1, None))]
    parts = []
    for is_after, (count, end, edge) in enumerate(zip(width, ends, edges)):
        if count == 0:
            parts.append(None)
            continue
        ramp = np.linspace(end, np.squeeze(edge, axis), count, endpoint=False, axis=axis)
        ramp = np.floor(ramp) if x.dtype.kind in "iu" else ramp
        ramp = ramp.astype(x.dtype)
        parts.append(np.flip(ramp, axis) if is_after else ramp)
    return tuple(parts)


_SIDES = {
    "constant": _constant,
    "empty": _constant,
    "linear_ramp": _ramp,
    **dict.fromkeys(_STATISTICS, _statistic),
}


def _reflected(x, axis, width, mode, kind):
    """The parts before and after an axis of an odd reflection: twice the edge less the reflected elements."""
    if kind not in ("even", "odd"):
        raise ValueError(f"reflect_type is 'even' or 'odd', not {kind!r}")
    size, skipped = x.shape[axis], mode == "reflect"
    period = size - skipped
    parts = []
    for is_after, count in enumerate(width):
        source = np.flip(x, axis) if is_after else x
        edge, pieces = source[along(axis, slice(1))], []
        if period == 0:
            parts.append(None if count == 0 else np.repeat(edge, count, axis=axis))
            continue
        # Each piece reflects the one before it at its outer edge.
        while count > 0:
            inner = np.flip(source[along(axis, slice(skipped, skipped + min(count, period)))], axis)
            # Truth values become numbers here, and NumPy stores the difference as a truth value.
            piece = (2 * edge - inner).astype(x.dtype) if kind == "odd" else inner
            pieces.insert(0, piece)
            count -= period
            if count > 0:
                edge = piece[along(axis, slice(1))]
                source = np.concatenate([piece, source[along(axis, slice(1))]], axis) if skipped else piece
        part = np.concatenate(pieces, axis) if pieces else None
        parts.append(np.flip(part, axis) if is_after and part is not None else part)
    return tuple(parts)
