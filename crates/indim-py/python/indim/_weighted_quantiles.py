"""NumPy's quantiles with weights, on traced values: the method ``inverted_cdf``, which selects elements."""

from __future__ import annotations

import numpy as np

from . import _arrays
from ._functions import asarray
from ._shape_functions import axis_indices


def weighted(name, a, q, axis, weights, method, keepdims):
    """The quantiles of ``a`` along axes. ``weights`` have its shape, or are those along the only axis."""
    if method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    if name.startswith("nan"):
        raise TypeError(f"numpy.{name} takes no `weights` while a function is traced: give NaN the weight 0")
    _arrays.refuse_traced((q,))
    a, weights, dtype = asarray(a), asarray(weights), np.asarray(q).dtype
    q = np.asarray(q / 100 if name == "percentile" else q, dtype if dtype.kind == "f" else np.float64)
    if not ((q >= 0) & (q <= 1)).all():
        what = "Percentiles must be in the range [0, 100]" if name == "percentile" else None
        raise ValueError(what or "Quantiles must be in the range [0, 1]")
    axes = axis_indices(axis, a.ndim)
    weights = _of_shape(weights, a, axes)
    kept = [place for place in range(a.ndim) if place not in axes]
    shape = tuple(a.shape)
    count = int(np.prod([shape[place] for place in axes], dtype=object))
    if count == 0:
        raise ValueError("quantiles of no elements: the axis has size 0")
    outer = tuple(shape[place] for place in kept)
    rows, weights = (array.transpose(*kept, *axes).reshape(*outer, count) for array in (a, weights))
    order = np.argsort(rows, axis=-1, kind="stable")
    rows, weights = (np.take_along_axis(array, order, axis=-1) for array in (rows, weights))
    shares = np.cumsum(weights, axis=-1, dtype=np.float64)
    shares = (shares / shares[..., -1:]).astype(q.dtype)
    # An element without weight is no quantile, not even that of 0.
    shares = np.where(shares == 0, np.full((), -1, shares.dtype), shares)
    result = tuple(1 if place in axes else size for place, size in enumerate(shape)) if keepdims else outer
    found = [_selected(rows, shares, fraction).reshape(result) for fraction in q.ravel()]
    return np.stack(found).reshape(q.shape + result) if q.ndim else found[0]


def _of_shape(weights, a, axes):
    """The weights in the shape of ``a``."""
    if tuple(weights.shape) == tuple(a.shape):
        return weights
    if weights.ndim != 1 or len(axes) != 1:
        raise TypeError("If weights and a do not have the same shape, `axis` is one axis, and weights are 1D")
    (axis,) = axes
    if weights.shape[0] != a.shape[axis]:
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    weights = weights.reshape(-1, *(1,) * (a.ndim - axis - 1))
    return np.broadcast_to(weights, a.shape)


def _selected(rows, shares, fraction):
    """The first element of each row up to which the share of the weights is at least ``fraction``."""
    place = np.minimum(np.sum(shares < fraction, axis=-1, keepdims=True), rows.shape[-1] - 1)
    found = np.take_along_axis(rows, place, axis=-1)[..., 0]
    # NaN is sorted last.
    return np.where(np.isnan(rows[..., -1]), rows[..., -1], found) if rows.dtype.kind == "f" else found
