"""NumPy's quantiles with weights, on traced values: the method ``inverted_cdf``, which selects elements."""

from __future__ import annotations

import numpy as np

from . import _arrays
from ._functions import asarray
from ._shape_functions import axis_indices
from ._tracing import Tracer


def weighted(name, a, q, axis, weights, method, keepdims):
    """The quantiles of ``a`` along axes. ``weights`` have its shape, or are those along the only axis.

    Traced weights that NumPy refuses give NaN, or an `IndexError` if ``a`` has integers.
    """
    if method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    if name.startswith("nan"):
        raise TypeError(f"numpy.{name} takes no `weights` while a function is traced: give NaN the weight 0")
    _arrays.refuse_traced_fractions(q)
    a, weights, q = asarray(a), asarray(weights), _fractions(name, q)
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    axes = axis_indices(axis, a.ndim)
    weights = _of_shape(weights, a, axes)
    if not isinstance(weights, Tracer):
        _check_weights(weights, axes)
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
    is_valid = np.isfinite(shares[..., -1]) & (shares[..., -1] > 0) & ~np.any(weights < 0, axis=-1)
    shares = (shares / shares[..., -1:]).astype(q.dtype)
    # An element without weight is no quantile, not even that of 0.
    shares = np.where(shares == 0, np.full((), -1, shares.dtype), shares)
    result = tuple(1 if place in axes else size for place, size in enumerate(shape)) if keepdims else outer
    found = [_selected(rows, shares, fraction, is_valid).reshape(result) for fraction in q.ravel()]
    return np.stack(found).reshape(q.shape + result) if q.ndim else found[0]


def _fractions(name, q):
    """The quantiles from 0 to 1, as NumPy checks them."""
    dtype = np.asarray(q).dtype
    q = np.asarray(q / 100 if name == "percentile" else q, dtype if dtype.kind == "f" else np.float64)
    if not ((q >= 0) & (q <= 1)).all():
        what = "Percentiles must be in the range [0, 100]" if name == "percentile" else None
        raise ValueError(what or "Quantiles must be in the range [0, 1]")
    return q


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


def _check_weights(weights, axes):
    """Refuses known weights as NumPy does."""
    if (weights < 0).any():
        raise ValueError("Weights must be non-negative.")
    with np.errstate(over="ignore"):
        totals = np.sum(weights, axis=axes, dtype=np.float64)
    if not (np.isfinite(totals) & (totals > 0)).all():
        raise ValueError("Weights included NaN, inf or were all zero.")


def _selected(rows, shares, fraction, is_valid):
    """The first element of each row up to which the share of the weights is at least ``fraction``."""
    count = rows.shape[-1]
    place = np.minimum(np.sum(shares < fraction, axis=-1, keepdims=True), count - 1)
    if rows.dtype.kind != "f":
        # Integers have no NaN: the position after the last one is an error.
        return np.take_along_axis(rows, np.where(is_valid[..., None], place, count), axis=-1)[..., 0]
    found = np.take_along_axis(rows, place, axis=-1)[..., 0]
    # NaN is sorted last.
    found = np.where(np.isnan(rows[..., -1]), rows[..., -1], found)
    return np.where(is_valid, found, np.full((), np.nan, rows.dtype))
