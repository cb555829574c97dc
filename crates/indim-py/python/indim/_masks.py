"""Indices by masks, arrays of truth values: ``x[mask]``."""

from __future__ import annotations

import numpy as np

from . import _functions
from ._data_stages import positions_of
from ._tracing import Tracer
from ._view_functions import NO_MASK


def is_mask(key):
    """Whether an index is an array of truth values."""
    if not isinstance(key, (Tracer, np.ndarray, list)) or np.ndim(key) == 0:
        return False
    return (key.dtype if isinstance(key, Tracer) else np.asarray(key).dtype) == np.bool_


def is_single_truth(keys):
    """Whether an index is one truth value that is computed: ``x[x > 0]`` of an array of rank 0."""
    return len(keys) == 1 and isinstance(keys[0], Tracer) and keys[0].ndim == 0 and keys[0].dtype == np.bool_


def getitem(x, keys):
    """``x[keys]``, where some keys are masks."""
    if len(keys) == 1 and not isinstance(keys[0], list):
        mask = _mask(x, keys[0])
        if mask.ndim == 0:
            return _rows(x[None], mask[None])
        if x._is_frame() and mask.ndim == 2:
            text = x._text_of_operand()
            raise TypeError(
                f"{text}[mask] of a DataFrame has all elements in pandas, with NaN for the others: write "
                f"np.where(mask, {text}, np.nan)"
            )
        return _rows(x, mask)
    found, axis = [], 0
    for index, key in enumerate(keys):
        if key is Ellipsis:
            axis = x.ndim - sum(map(_axis_count, keys[index + 1 :]))
        if is_mask(key):
            mask = _mask(x, key)
            _check(mask, x, axis)
            # A list is known, and its positions too.
            known = isinstance(key, list)
            found.extend(np.nonzero(key) if known else nonzero(mask, *_message(x)))
        else:
            found.append(key)
        axis += _axis_count(key)
    return x[tuple(found)]


def nonzero(mask, subject, advice):
    """The positions of the true elements of a traced mask, an array for each axis; ``subject`` and ``advice``
    are those of ``positions_of``."""
    positions = positions_of(mask, subject, advice)
    if mask.ndim == 1:
        return (positions,)
    found, axes = [], range(mask.ndim)
    for axis in reversed(axes):
        # The size of the axis, as a traced number: a read of `shape` would tie the traced function to it. A
        # mask without elements has no positions, so its sizes may be 1.
        line = mask[tuple(slice(None) if other == axis else slice(1) for other in axes)]
        size = np.maximum(np.sum(np.ones_like(line, np.int64)), 1)
        found.append(positions % size if axis else positions)
        positions = positions // size
    return tuple(reversed(found))


def _mask(x, key):
    """A mask as a traced value. One that is none is known outside of loops and the like."""
    if isinstance(key, Tracer):
        return key
    recording = x._recording
    while recording.outer is not None:
        recording = recording.outer
    return recording.tracer(np.asarray(key), "mask")


def _axis_count(key):
    """How many axes of an array an index takes."""
    if key is None or key is Ellipsis:
        return 0
    return np.ndim(key) if is_mask(key) else 1


def _rows(x, mask):
    """``x[mask]`` of a mask over the first axes."""
    _check(mask, x, 0)
    if 1 < mask.ndim < x.ndim:
        return x[nonzero(mask, *_message(x))]
    x = x.reshape(-1) if mask.ndim > 1 else x
    return np.take(x, positions_of(mask, *_message(x)), axis=0, mode="clip")


def _check(mask, x, axis):
    """Refuses a mask that does not have the sizes of the axes of ``x`` from ``axis`` on."""
    sizes = x._shape[axis : axis + mask.ndim]
    if len(sizes) < mask.ndim:
        raise IndexError(
            f"too many indices: `{x._value_text}` has {x.ndim} axes, and the mask has {mask.ndim}"
        )
    for position, (size, of_mask) in enumerate(zip(sizes, mask._shape)):
        if size != of_mask:
            raise IndexError(
                f"the mask has {of_mask} elements along axis {position}, and `{x._value_text}` has {size} "
                f"along axis {axis + position}"
            )
    others = tuple(other for other in range(x.ndim) if not axis <= other < axis + mask.ndim)
    # This operation computes nothing, and checks the shapes of later calls.
    truth = x.astype(np.bool_)
    _functions.apply("logical_and", (mask, np.any(truth, axis=others) if others else truth), (), "none")


def _message(x):
    return f"how many elements of `{x._value_text}` a mask keeps", NO_MASK
