"""xarray's polynomials by least squares, weights and weighted quantiles, on traced values.

Each function makes the replacement of one of xarray's (`_xarray_hooks.py`).
"""

from __future__ import annotations

import functools

import numpy as np

from . import _least_squares
from ._tracing import Tracer


def polyfit(original):
    """Without ``skipna``, values of a traced array may be missing, and those of integers are not."""

    def replacement(obj, dim, deg, skipna=None, rcond=None, w=None, full=False, cov=False):
        if skipna is None:
            traced = [it.dtype for it in obj._variables.values() if isinstance(it._data, Tracer)]
            skipna = any(dtype.kind in "fc" for dtype in traced) if traced else None
        return original(obj, dim, deg, skipna, rcond, w, full, cov)

    return replacement


def least_squares(original):
    """The coefficients and residuals of a known matrix, without the rows whose values are missing."""

    def replacement(lhs, rhs, rcond=None, skipna=False):
        is_supported = isinstance(rhs, Tracer) and lhs.shape[1] <= _least_squares.MAX_UNKNOWNS
        if not (is_supported and skipna and rhs.dtype.kind in "biuf"):
            return original(lhs, rhs, rcond=rcond, skipna=skipna)
        rows, count = lhs.shape
        values = rhs.astype(np.float64)
        is_given = ~np.isnan(values)
        matrix = lhs.reshape((*lhs.shape, *(1,) * (values.ndim - 1)))
        columns = [np.where(is_given, matrix[:, column], 0.0) for column in range(count)]
        given = np.sum(is_given, axis=0)
        # xarray passes `rcond` on only if no value is missing.
        default = np.maximum(given, count) * np.finfo(np.float64).eps
        rcond = np.where(given == rows, default if rcond is None else rcond, default)
        found, residuals, rank = _least_squares.solve(columns, np.where(is_given, values, 0.0), rcond)
        coefficients = np.where(given > 0, np.stack(found), np.nan)
        return coefficients, np.where((rank == count) & (given > count), residuals, np.nan)

    return replacement


def weighted(original):
    """Traced weights, which have no elements that could be missing while a function is traced: results of
    missing weights are missing."""

    def __init__(self, obj, weights):
        if isinstance(getattr(weights, "data", None), Tracer):
            self.obj, self.weights = obj, weights
        else:
            original(self, obj, weights)

    return __init__


def applied(original):
    """``apply_ufunc``, which `quantile` of weighted arrays calls for one series after the other."""

    def replacement(function, *operands, **options):
        has_tracers = any(isinstance(getattr(it, "data", None), Tracer) for it in operands)
        if not has_tracers or getattr(function, "__name__", None) != "_weighted_quantile_1d":
            return original(function, *operands, **options)
        count = len(options["input_core_dims"][0])
        function = functools.partial(_weighted_quantile, count)
        return original(function, *operands, **{**options, "vectorize": False})

    return replacement


def _weighted_quantile(axes, data, weights, q, skipna):
    """The quantiles of the last axes, one for each ``q``, by xarray's default method ``linear``."""
    shape = (*data.shape[: data.ndim - axes], -1)
    data, weights = (np.asarray(it, like=_traced(data, weights)).reshape(shape) for it in (data, weights))
    is_missing = np.isnan(data) if data.dtype.kind == "f" else np.zeros(data.shape, bool)
    is_used = ~is_missing & (weights != 0)
    # Values without a weight come last, and count for nothing.
    order = np.argsort(np.where(is_used, data, np.inf), axis=-1)
    is_used, data, weights = (np.take_along_axis(it, order, -1) for it in (is_used, data, weights))
    data, weights = np.where(is_used, data, 0.0), np.where(is_used, weights, 0.0)
    total = np.sum(weights, axis=-1, keepdims=True)
    size = total**2 / np.sum(weights**2, axis=-1, keepdims=True)
    until = np.cumsum(weights / total, axis=-1)
    until = np.concatenate([np.zeros_like(until[..., :1]), until], axis=-1)
    found = []
    for part in q:
        end = np.clip((size - 1) * part + 1, 1, size)
        position = np.maximum((end - 1) / size, np.minimum(end / size, until))
        found.append(np.sum(data * np.diff(position * size - end + 1, axis=-1), axis=-1))
    found = np.stack(found, axis=-1)
    is_defined = np.any(is_used, axis=-1, keepdims=True)
    if not skipna:
        is_defined = is_defined & ~np.any(is_missing, axis=-1, keepdims=True)
    return np.where(is_defined, found, np.nan)


def _traced(*values):
    return next(value for value in values if isinstance(value, Tracer))
