"""xarray's interpolation and filling of missing values, on traced values.

Each function makes the replacement of one of xarray's (`_xarray_hooks.py`).
"""

from __future__ import annotations

import functools

import numpy as np

from ._tracing import Tracer


def interp1d(original):
    """Linear and nearest interpolation along the last axis, between known coordinates."""

    def replacement(var, x_, new_x_, func, kwargs):
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

    return replacement


def _known(var, x_, new_x_, kwargs):
    """The known coordinates and those to interpolate to, if the values are traced and the interpolation is
    one of these; otherwise None."""
    values, x, new_x = var._data, x_[0]._data, new_x_[0]._data
    if not isinstance(values, Tracer) or isinstance(x, Tracer) or isinstance(new_x, Tracer):
        return None
    x, new_x = np.asarray(x), np.asarray(new_x)
    fill_value = kwargs.get("fill_value")
    is_plain = set(kwargs) <= {"method", "fill_value"} and (
        isinstance(fill_value, (int, float, type(None))) or fill_value == "extrapolate"
    )
    are_ordered = len(x) > 1 and (np.diff(x) > 0).all() and not np.isnan(new_x).any()
    is_supported = kwargs.get("method") in _INTERPOLATIONS and _is_interpolated(values.dtype)
    return (x, new_x) if is_plain and are_ordered and is_supported else None


def _is_interpolated(dtype):
    """Whether values of a type are interpolated here: SciPy has rules of its own for complex numbers and half
    precision."""
    return dtype.kind in "biuf" and dtype != np.float16


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


# Several coordinates at once.


def interpnd(original):
    """Linear and nearest interpolation at known points of several coordinates."""

    def replacement(data, *coords, interp_func, interp_kwargs, **options):
        is_known = isinstance(data, Tracer) and not any(isinstance(it, Tracer) for it in coords)
        if len(coords) > 2 and is_known and _is_interpn(data, interp_func, interp_kwargs):
            interp_func = _at_points
        return original(data, *coords, interp_func=interp_func, interp_kwargs=interp_kwargs, **options)

    return replacement


def _is_interpn(data, interp_func, options):
    fill_value = options.get("fill_value", np.nan)
    return (
        getattr(interp_func, "__name__", None) == "interpn"
        and options.get("method") in _INTERPOLATIONS
        and set(options) <= {"method", "bounds_error", "fill_value"}
        and not options.get("bounds_error")
        and isinstance(fill_value, (int, float, type(None)))
        and _is_interpolated(data.dtype)
    )


def _at_points(x, data, points, method, bounds_error=False, fill_value=np.nan):
    """The values at known points, one a row, by those at the corners of the cells around them. The axes of
    the coordinates are the first ones of ``data``."""
    x = [np.asarray(it.data) for it in x]
    is_outside = np.zeros(len(points), bool)
    tail = (1,) * (data.ndim - len(x))
    # The indices of each corner, and its weight.
    corners = [((), 1.0)]
    for grid, at in zip(x, points.T):
        is_outside |= (at < grid[0]) | (at > grid[-1]) | np.isnan(at)
        low = np.clip(np.searchsorted(grid, at, side="right") - 1, 0, len(grid) - 2)
        part = (at - grid[low]) / (grid[low + 1] - grid[low])
        sides = ((low, 1 - part), (low + 1, part))
        if method == "nearest":
            sides = ((np.where(part <= 0.5, low, low + 1), 1.0),)
        corners = [((*index, at), weight * share) for index, weight in corners for at, share in sides]
    values = data if data.dtype.kind == "f" else data.astype(np.float64)
    if method == "nearest":
        found = values[corners[0][0]]
    else:
        found = sum(values[index] * weight.reshape(-1, *tail) for index, weight in corners)
    if fill_value is None:
        return found
    return np.where(is_outside.reshape(-1, *tail), np.full((), fill_value, found.dtype), found)


# Missing values.


def push(original):
    """Missing values replaced by the last value before them, at most ``n`` in a row."""

    def replacement(array, n=None, axis=-1, **options):
        if not isinstance(array, Tracer):
            return original(array, n, axis, **options)
        if array.dtype.kind not in "fc":
            return array
        last = _last(~np.isnan(array), axis)
        found = np.take_along_axis(array, np.maximum(last, 0), axis)
        is_filled = last >= 0
        if n is not None and n < array.shape[axis]:
            is_filled = is_filled & (_positions(array, axis) - last <= n)
        return np.where(is_filled, found, array)

    return replacement


def _positions(array, axis):
    """The position of each element along an axis, broadcast against the array."""
    axis = axis % array.ndim
    return np.arange(array.shape[axis]).reshape((-1,) + (1,) * (array.ndim - 1 - axis))


def _last(is_given, axis):
    """The position of the last given element up to each one; -1 without one."""
    return np.maximum.accumulate(np.where(is_given, _positions(is_given, axis), -1), axis=axis)


def _next(is_given, axis):
    """The position of the first given element from each one on; the size of the axis without one."""
    found = np.where(is_given, _positions(is_given, axis), is_given.shape[axis])
    return np.flip(np.minimum.accumulate(np.flip(found, axis), axis=axis), axis)


def applied(original):
    """``apply_ufunc``, which `interpolate_na` calls for one series after the other."""

    def replacement(function, *operands, **options):
        series = getattr(operands[0], "variable", operands[0]) if operands else None
        fill = _filling(function) if isinstance(getattr(series, "_data", None), Tracer) else None
        if fill is None or series.dtype.kind not in "biuf":
            return original(function, *operands, **options)
        return original(fill, *operands, **{**options, "vectorize": False})

    return replacement


def _filling(function):
    """The function that fills missing values along the last axis; None for other methods."""
    options = dict(getattr(function, "keywords", None) or {})
    if getattr(getattr(function, "func", None), "__name__", None) != "func_interpolate_na":
        return None
    method, fill_value = options.pop("method", None), options.pop("fill_value", None)
    if method not in _BETWEEN or options or not isinstance(fill_value, (int, float, type(None))):
        return None
    fill_value = np.nan if fill_value is None else fill_value
    return functools.partial(_filled, between=_BETWEEN[method], fill_value=fill_value)


def _filled(series, x, between, fill_value):
    """The series with its missing values interpolated from those before and after them."""
    if series.dtype.kind != "f":
        return series
    is_given = ~np.isnan(series)
    before, after = _last(is_given, -1), _next(is_given, -1)
    size = series.shape[-1]
    is_outside = (before < 0) | (after >= size)
    before, after = np.maximum(before, 0), np.minimum(after, size - 1)
    low, high = (np.take_along_axis(series, index, -1).astype(np.float64) for index in (before, after))
    points = series._recording.tracer(np.asarray(x, np.float64), "coordinates")
    found = between(np.asarray(x, np.float64), points[before], points[after], low, high)
    found = np.where(is_outside, np.float64(fill_value), found).astype(series.dtype)
    # xarray leaves a series with a single value as it is.
    count = np.sum(is_given, axis=-1, keepdims=True)
    return np.where(is_given | (count < 2), series, found)


def _linear_between(x, x_low, x_high, low, high):
    is_between = x_high > x_low
    slope = (high - low) / np.where(is_between, x_high - x_low, 1)
    return slope * (x - x_low) + low


def _nearest_between(x, x_low, x_high, low, high):
    return np.where(x <= x_low / 2 + x_high / 2, low, high)


_BETWEEN = {"linear": _linear_between, "nearest": _nearest_between}
