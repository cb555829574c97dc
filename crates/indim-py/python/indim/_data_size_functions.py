"""NumPy's functions on traced values whose sizes depend on data; they run in stages (`_data_stages.py`)."""

from __future__ import annotations

import operator

import numpy as np

from . import _sizes_from_data
from ._advice import refuse_given
from ._data_stages import positions_below
from ._functions import asarray
from ._handlers import implements
from ._shape_functions import axis_index, repeated, weakly_promoted
from ._tracing import Tracer


@implements(np.nonzero)
def _nonzero(a):
    return _sizes_from_data.nonzero(a)


@implements(np.flatnonzero)
def _flatnonzero(a):
    return _sizes_from_data.flatnonzero(a)


@implements(np.argwhere)
def _argwhere(a):
    return _sizes_from_data.argwhere(a)


@implements(np.compress)
def _compress(condition, a, axis=None, out=None):
    refuse_given("compress", out=out)
    return _sizes_from_data.compress(condition, asarray(a), axis)


@implements(np.extract)
def _extract(condition, arr):
    condition = condition if isinstance(condition, list) else asarray(condition)
    return _compress(np.ravel(condition), np.ravel(asarray(arr)))


@implements(np.unique)
def _unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    axis = None if axis is not None and ar.ndim == 1 and axis in (0, -1) else axis
    returned = (return_index, return_inverse, return_counts)
    return _sizes_from_data.unique(ar, *returned, axis, equal_nan=equal_nan)


if hasattr(np, "unique_all"):

    @implements(np.unique_all)
    def _unique_all(x):
        results = _unique(x, True, True, True, equal_nan=False)
        return type(np.unique_all(np.zeros(1)))(*results)

    @implements(np.unique_counts)
    def _unique_counts(x):
        results = _unique(x, return_counts=True, equal_nan=False)
        return type(np.unique_counts(np.zeros(1)))(*results)

    @implements(np.unique_inverse)
    def _unique_inverse(x):
        results = _unique(x, return_inverse=True, equal_nan=False)
        return type(np.unique_inverse(np.zeros(1)))(*results)

    @implements(np.unique_values)
    def _unique_values(x):
        return _unique(x, equal_nan=False)


@implements(np.union1d)
def _union1d(ar1, ar2):
    # Numbers of Python take the type of the other array.
    dtype = weakly_promoted(ar1, ar2)
    return _unique(np.concatenate([np.ravel(asarray(of)).astype(dtype) for of in (ar1, ar2)]))


def _traced(x):
    """An array or list as a traced value, because positions that data give are read from it."""
    from ._jax_numpy import as_traced

    return x if isinstance(x, Tracer) else as_traced(asarray(x))


@implements(np.setdiff1d)
def _setdiff1d(ar1, ar2, assume_unique=False):
    ar1 = _traced(ar1)
    values = np.ravel(ar1) if assume_unique else _unique(ar1)
    return _sizes_from_data.compress(~np.isin(values, ar2), values)


@implements(np.intersect1d)
def _intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    ar1, ar2 = np.ravel(_traced(ar1)), np.ravel(_traced(ar2))
    dtype = np.result_type(ar1, ar2)
    if not return_indices:
        values = np.sort(ar1) if assume_unique else _unique(ar1)
        return _sizes_from_data.compress(np.isin(values, ar2), values).astype(dtype)
    (values, first), (others, second) = (_with_indices(array, assume_unique) for array in (ar1, ar2))
    is_common = np.isin(values, others)
    found = _sizes_from_data.compress(is_common, values).astype(dtype)
    of_first = _sizes_from_data.compress(is_common, first)
    return found, of_first, second[np.searchsorted(others, found)]


def _with_indices(array, is_unique):
    """The different elements of an array in ascending order, and where each occurs first."""
    if not is_unique:
        return _unique(array, return_index=True) if isinstance(array, Tracer) else np.unique(array, True)
    order = np.argsort(array, kind="stable")
    return array[order], order


@implements(np.trim_zeros)
def _trim_zeros(filt, trim="fb", axis=None):
    filt, trim = asarray(filt), trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    if filt.ndim != 1 or axis not in (None, 0, -1):
        raise TypeError("numpy.trim_zeros takes one axis while a function is traced: write slices")
    found = trimmed(filt, "f" in trim, "b" in trim)
    if isinstance(filt, Tracer):
        # NumPy's result is a view.
        filt._share(found, None)
    return found


def trimmed(x, at_front, at_back):
    """A traced array of one axis without zeros at its ends."""
    places = np.cumsum(np.ones_like(x, np.int64)) - 1
    count, is_set = np.sum(np.ones_like(x, np.int64)), x != 0
    first = np.min(np.where(is_set, places, count), initial=np.iinfo(np.int64).max) if at_front else 0
    end = np.max(np.where(is_set, places, -1), initial=-1) + 1 if at_back else count
    first = np.minimum(first, end)
    advice = "write a slice with known ends, `x[first:end]`"
    kept = positions_below(end - first, "how many elements are no zeros at an end", advice)
    return np.take(x, kept + first, axis=0, mode="clip")


@implements(np.repeat)
def _repeat(a, repeats, axis=None):
    a = asarray(a)
    if axis is None:
        a, axis = np.ravel(a), 0
    a = np.atleast_1d(a)
    axis = axis_index(operator.index(axis), a.ndim)
    if isinstance(repeats, (int, np.integer)) and repeats >= 0 and axis == a.ndim - 1:
        # A broadcast, which costs less than a gather of single elements; along other axes, rows are gathered.
        if a.ndim == 1:
            return np.moveaxis(repeated(a, int(repeats)), 0, -1).reshape(-1)._made()
        *before, size = a.shape
        spread = np.broadcast_to(np.expand_dims(a, a.ndim), (*before, size, int(repeats)))
        return spread.reshape((*before, size * int(repeats)))._made()
    if not isinstance(repeats, Tracer):
        return np.take(a, np.repeat(np.arange(a.shape[axis]), repeats), axis, mode="clip")
    if repeats.dtype.kind not in "biu":
        raise TypeError(f"numpy.repeat takes counts of whole numbers, not {repeats.dtype}")
    if repeats.ndim > 1:
        raise ValueError("numpy.repeat takes one count, or one for each part along the axis")
    counts = np.broadcast_to(repeats.astype(np.int64), (a.shape[axis],))
    ends = np.cumsum(counts)
    # A negative number is no size.
    total = np.where(np.any(counts < 0), -1, np.max(ends, initial=0))
    places = positions_below(
        total,
        "how many elements numpy.repeat gives",
        "write indim.numpy.repeat(x, counts, total_repeat_length=n), or pass counts in `static=`",
    )
    return np.take(a, np.searchsorted(ends, places, side="right"), axis, mode="clip")


@implements(np.setxor1d)
def _setxor1d(ar1, ar2, assume_unique=False):
    ar1, ar2 = asarray(ar1), asarray(ar2)
    only = [_setdiff1d(ar1, ar2, assume_unique), _setdiff1d(ar2, ar1, assume_unique)]
    return np.sort(np.concatenate(only))


def _nonzero_of(self):
    return _nonzero(self)


Tracer.nonzero = _nonzero_of
