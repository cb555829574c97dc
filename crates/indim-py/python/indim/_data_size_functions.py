"""NumPy's functions on traced values whose sizes depend on data; they run in stages (`_data_stages.py`)."""

from __future__ import annotations

import numpy as np

from . import _sizes_from_data
from ._advice import refuse_given
from ._functions import asarray
from ._tracing import Tracer, implements


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
    if axis is not None and not (ar.ndim == 1 and axis in (0, -1)):
        raise TypeError("numpy.unique along an axis cannot be traced, because it compares whole slices")
    returned = (return_index, return_inverse, return_counts)
    return _sizes_from_data.unique(ar, *returned, equal_nan=equal_nan)


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
    return _unique(np.concatenate([np.ravel(asarray(ar1)), np.ravel(asarray(ar2))]))


@implements(np.setdiff1d)
def _setdiff1d(ar1, ar2, assume_unique=False):
    values = np.ravel(asarray(ar1)) if assume_unique else _unique(asarray(ar1))
    return _sizes_from_data.compress(~np.isin(values, ar2), values)


@implements(np.intersect1d)
def _intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    refuse_given("intersect1d", return_indices=return_indices or None)
    ar1, ar2 = np.ravel(asarray(ar1)), np.ravel(asarray(ar2))
    values = np.sort(ar1) if assume_unique else _unique(ar1)
    return _sizes_from_data.compress(np.isin(values, ar2), values).astype(np.result_type(ar1, ar2))


@implements(np.setxor1d)
def _setxor1d(ar1, ar2, assume_unique=False):
    ar1, ar2 = asarray(ar1), asarray(ar2)
    only = [_setdiff1d(ar1, ar2, assume_unique), _setdiff1d(ar2, ar1, assume_unique)]
    return np.sort(np.concatenate(only))


def _nonzero_of(self):
    return _nonzero(self)


Tracer.nonzero = _nonzero_of
