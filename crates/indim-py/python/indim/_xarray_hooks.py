"""Functions of xarray that need arrays of NumPy, on traced values: interpolation, weights, and arrays of
indices.

xarray has no protocol for them, so each is replaced by one that calls it for all arrays except traced ones.
A version of xarray without such a function runs the method as plain xarray (`_plain_xarray.py`).
"""

from __future__ import annotations

import functools
import importlib

import numpy as np

from ._tracing import Tracer


def install():
    """Replaces the functions; also called again, it replaces each once."""
    for module, name, make in (
        ("xarray.core.missing", "_interp1d", _interp1d),
        ("xarray.computation.computation", "to_like_array", _to_like_array),
        ("xarray.computation.weighted", "Weighted.__init__", _weighted),
        ("xarray.core.indexing", "ArrayApiIndexingAdapter._vindex_get", _vindex_get),
    ):
        holder, _, name = name.rpartition(".")
        try:
            found = importlib.import_module(module)
            found = getattr(found, holder) if holder else found
            function = getattr(found, name)
            replacement = functools.wraps(function)(make(function))
        except (ImportError, AttributeError):
            continue
        if not hasattr(function, "_of_indim"):
            replacement._of_indim = True
            setattr(found, name, replacement)


def _to_like_array(original):
    """Coordinates that `idxmax` reads at traced indices are traced too."""

    def to_like_array(array, like):
        if isinstance(like, Tracer) and getattr(array, "dtype", np.dtype(object)).kind in "biuf":
            return like._recording.tracer(np.asarray(array), "coordinates")
        return original(array, like)

    return to_like_array


def _weighted(original):
    """Traced weights, which have no elements that could be missing while a function is traced: results of
    missing weights are missing."""

    def __init__(self, obj, weights):
        if isinstance(getattr(weights, "data", None), Tracer):
            self.obj, self.weights = obj, weights
        else:
            original(self, obj, weights)

    return __init__


def _vindex_get(original):
    """A traced array at arrays of indices that broadcast against each other."""
    from xarray.core.nputils import NumpyVIndexAdapter

    def vindex_get(self, indexer):
        if isinstance(self.array, Tracer):
            return NumpyVIndexAdapter(self.array)[indexer.tuple]
        return original(self, indexer)

    return vindex_get


def _interp1d(original):
    """Linear and nearest interpolation along the last axis, between known coordinates."""

    def interp1d(var, x_, new_x_, func, kwargs):
        known = _known(var, x_, new_x_, kwargs)
        if known is None:
            return original(var, x_, new_x_, func, kwargs)
        x, new_x = known
        values = var._data
        if values.dtype.kind in "biu":
            values = values.astype(np.float64)
        found = _INTERPOLATIONS[kwargs["method"]](values, x, new_x.ravel())
        fill_value = kwargs.get("fill_value")
        if fill_value != "extrapolate":
            is_outside = (new_x.ravel() < x[0]) | (new_x.ravel() > x[-1])
            # A number would give another type than SciPy.
            fill = np.full((), np.nan if fill_value is None else fill_value, found.dtype)
            found = np.where(is_outside, fill, found)
        if new_x.ndim == 0:
            return found[..., -1]
        return found.reshape((*values.shape[:-1], *new_x.shape)) if new_x.ndim > 1 else found

    return interp1d


def _known(var, x_, new_x_, kwargs):
    """The known coordinates and those to interpolate to, if the values are traced and the interpolation is
    one of these; otherwise None."""
    values, x, new_x = var._data, x_[0]._data, new_x_[0]._data
    if not isinstance(values, Tracer) or isinstance(x, Tracer) or isinstance(new_x, Tracer):
        return None
    x, new_x = np.asarray(x), np.asarray(new_x)
    fill_value = kwargs.get("fill_value")
    is_plain = set(kwargs) <= {"method", "fill_value"} and (
        fill_value is None or isinstance(fill_value, (int, float)) or fill_value == "extrapolate"
    )
    are_ordered = len(x) > 1 and (np.diff(x) > 0).all() and not np.isnan(new_x).any()
    # SciPy interpolates complex numbers and half precision by rules of its own.
    is_supported = kwargs.get("method") in _INTERPOLATIONS and values.dtype.kind in "biuf"
    is_supported = is_supported and values.dtype != np.float16
    return (x, new_x) if is_plain and are_ordered and is_supported else None


def _linear(values, x, new_x):
    above = np.clip(np.searchsorted(x, new_x), 1, len(x) - 1)
    low, high = (np.take(values, above + offset, axis=-1) for offset in (-1, 0))
    slope = (high - low) / (x[above] - x[above - 1])
    return (slope * (new_x - x[above - 1]) + low).astype(np.result_type(values.dtype, np.float64))


def _nearest(values, x, new_x):
    middle = x / 2
    index = np.searchsorted(middle[1:] + middle[:-1], new_x, side="left")
    return np.take(values, np.clip(index, 0, len(x) - 1), axis=-1)


_INTERPOLATIONS = {"linear": _linear, "nearest": _nearest}
