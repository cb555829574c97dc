"""Quantiles at traced fractions: positions that are computed, and elements that are taken there."""

from __future__ import annotations

import numpy as np

from . import _sorting
from ._functions import apply, asarray
from ._operands import as_array

#: Maximum number of fractions: each is a part of the program.
MAX_FRACTIONS = 64

#: From the fractional position in a row: the position of the quantile, which is between two elements or one.
_METHODS = {
    "linear": lambda position: position,
    "lower": np.floor,
    "higher": np.ceil,
    "midpoint": lambda position: (np.floor(position) + np.ceil(position)) / 2,
    # Half positions are rounded to even ones, as in NumPy.
    "nearest": np.round,
}


def quantile(x, q, axis, method, keepdims):
    """``quantile`` at traced fractions; NaN at fractions outside of 0 to 1, which NumPy refuses."""
    if method not in _METHODS:
        raise TypeError(
            f"quantile takes {', '.join(_METHODS)} as the method of traced fractions, not {method!r}: name "
            "the fractions in `static=`"
        )
    q = as_array(q)
    rows, result = _sorting._rows(_sorting._real("quantile", x), axis, keepdims)
    if rows.shape[-1] == 0:
        raise ValueError("quantiles of no elements: the axis has size 0")
    if method not in _sorting._OF_ELEMENTS:
        rows = _promoted(rows, q)

    def at(fraction):
        position = _METHODS[method](fraction * (rows.shape[-1] - 1))
        found = _sorting._with_nan(rows, _between(rows, np.clip(position, 0, rows.shape[-1] - 1)))
        return result(_inside(found, fraction))

    return _for_each(q, at)


def nanquantile(x, q, axis, keepdims):
    """``nanquantile`` at traced fractions, by the linear method."""
    q, x = as_array(q), asarray(x)
    if x.dtype.kind not in "fV":
        return quantile(x, q, axis, "linear", keepdims)
    rows, result = _sorting._rows(_sorting._real("nanquantile", x), axis, keepdims)
    if rows.shape[-1] == 0:
        raise ValueError("quantiles of no elements: the axis has size 0")
    rows = _promoted(rows, q)

    def at(fraction):
        found = _sorting._nan_between(rows, fraction.astype(np.float64))
        return result(_inside(found, fraction))

    return _for_each(q, at)


def _promoted(rows, q):
    """The rows in the type of their quantiles."""
    if rows.dtype.kind == "V":
        return rows
    return rows.astype(np.promote_types(rows.dtype, q.dtype if q.dtype.kind == "f" else np.float64))


def _between(rows, position):
    """One value for each row at a fractional position, as `_sorting._between` computes it."""
    low = np.floor(position)
    part = (position - low).astype(rows.dtype)
    low = low.astype(np.int64)
    before, after = (_at(rows, np.minimum(place, rows.shape[-1] - 1)) for place in (low, low + 1))
    step = after - before
    between = np.where(part >= 0.5, after - step * (1 - part), before + step * part)
    return np.where(part == 0, before, between).astype(rows.dtype)


def _at(rows, position):
    # Only the position may be traced, by which `np.take` would not dispatch.
    return apply("take", (rows, position), [("axis", rows.ndim - 1), ("mode", "clip")], "numpy")


def _inside(found, fraction):
    if found.dtype.kind in "biu":
        return found
    return np.where((fraction >= 0) & (fraction <= 1), found, np.nan).astype(found.dtype)


def _for_each(q, function):
    """The result of ``function`` for each fraction; the axes of the fractions come first."""
    shape = q._used_shape()
    count = int(np.prod(shape))
    if count > MAX_FRACTIONS:
        raise TypeError(
            f"quantiles at more than {MAX_FRACTIONS} traced fractions: for fractions q of an array of one "
            "axis write np.interp(q * (x.size - 1), np.arange(x.size), np.sort(x)), or name them in `static=`"
        )
    flat = q.reshape(count)
    if not count:
        one = function(np.float64(0))
        return np.broadcast_to(one, (*shape, *one.shape))
    found = np.stack([function(flat[index]) for index in range(count)])
    return found.reshape(shape + tuple(found.shape[1:]))
