"""NumPy's functions that make arrays, on traced values: filled arrays, ranges between two ends, ``like=``."""

from __future__ import annotations

import operator

import numpy as np

from . import _arrays
from ._functions import asarray
from ._handlers import ARRAY_FUNCTIONS, implements
from ._numbers import plain_value
from ._operands import has_tracer
from ._shape_functions import promoted
from ._tracing import Tracer
from ._view_writes import is_row_major


# Filled arrays.


@implements(np.zeros_like, np.empty_like)
def _zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return _full_like(a, 0, dtype, shape=shape)


@implements(np.ones_like)
def _ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return _full_like(a, 1, dtype, shape=shape)


@implements(np.full_like)
def _full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    if not isinstance(a, Tracer):
        a = np.asarray(a)
    dtype = a.dtype if dtype is None else _arrays.numpy_dtype(_arrays.indim_name(dtype))
    if isinstance(fill_value, Tracer):
        number = fill_value.astype(dtype)
    else:
        number = np.zeros(np.shape(fill_value), dtype)
        np.copyto(number, plain_value(fill_value), casting="unsafe")
    if shape is not None or not isinstance(a, Tracer):
        return np.broadcast_to(number, a.shape if shape is None else _arrays.integers(shape))
    if number.ndim > 0:
        return np.broadcast_to(number, a.shape)
    everywhere = a._call("bool")._call("ones_like")
    return everywhere._record("where", (everywhere, number, number))._made()


# Ranges.


@implements(np.linspace)
def _linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    start, stop = (_as_floats(end, (start, stop)) for end in (start, stop))
    start, stop = np.broadcast_arrays(start, stop)
    delta = stop - start
    positions = np.arange(num, dtype=delta.dtype).reshape((-1,) + (1,) * delta.ndim)
    parts = num - 1 if endpoint else num
    if parts > 0:
        step = delta / parts
        # A step that underflows to zero.
        values = np.where(np.any(step == 0), positions / parts * delta, positions * step)
    else:
        step, values = np.nan, positions * delta
    values = values + start
    if endpoint and num > 1:
        values = np.concatenate([values[:-1], stop[None]])
    values = np.moveaxis(values, 0, axis) if axis != 0 else values
    if dtype is not None:
        values = (np.floor(values) if np.dtype(dtype).kind in "iu" else values).astype(dtype)
    return (values, step) if retstep else values


def _as_floats(end, ends):
    """An end of a range in the type of the range."""
    ends = [
        value if isinstance(value, (Tracer, bool, int, float, complex)) else asarray(value) for value in ends
    ]
    dtype = promoted(*ends)
    return asarray(end).astype(dtype if dtype.kind in "fc" else np.float64)


@implements(np.logspace)
def _logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    if np.ndim(base) > 0:
        rank = max(map(np.ndim, (start, stop, base)))
        start, stop, base = (asarray(value) for value in (start, stop, base))
        start, stop, base = (
            value.reshape((1,) * (rank - value.ndim) + tuple(value.shape)) for value in (start, stop, base)
        )
        base = np.expand_dims(base, axis)
    powers = np.power(base, np.linspace(start, stop, num, endpoint, axis=axis))
    return powers if dtype is None else powers.astype(dtype)


@implements(np.geomspace)
def _geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    num, start, stop = operator.index(num), asarray(start), asarray(stop)
    computed = promoted(start, stop, float(num), np.zeros((), dtype))
    if computed.kind == "c":
        raise TypeError("numpy.geomspace of complex numbers is a spiral: write it by np.exp and np.linspace")
    start, stop = np.broadcast_arrays(start.astype(computed), stop.astype(computed))
    sign = np.sign(start)
    first, last = start / sign, stop / sign
    values = np.logspace(np.log10(first), np.log10(last), num, endpoint, dtype=computed)
    if num > 1:
        ends = [first[None], values[1:-1], last[None]] if endpoint else [first[None], values[1:]]
        values = np.concatenate(ends)
    elif num == 1:
        values = first[None]
    values = values * sign
    values = np.moveaxis(values, 0, axis) if axis != 0 else values
    return values if dtype is None else values.astype(dtype)


# The keyword `like=`.


def _without_like(function):
    """Registers NumPy's ``function`` itself for ``like=``: plain arrays meet traced values."""
    ARRAY_FUNCTIONS[function] = function


for _function in (np.arange, np.empty, np.ones, np.zeros, np.full, np.eye, np.identity, np.tri):
    _without_like(_function)


#: The mode of copies by which libraries call `np.array`.
_ALWAYS = getattr(getattr(np, "_CopyMode", None), "ALWAYS", True)


@implements(np.array)
def _array(a, dtype=None, *, copy=True, order=None, subok=False, ndmin=0):
    array = asarray(_stacked(a), dtype)
    if ndmin > array.ndim:
        array = array.reshape((1,) * (ndmin - array.ndim) + tuple(array.shape))
    # NumPy's `_CopyMode.IF_NEEDED` has no truth value.
    return array._made() if copy in (True, _ALWAYS) else array


@implements(np.asarray, np.asanyarray)
def _asarray(a, dtype=None, order=None, *, copy=None, device=None):
    return _array(a, dtype, copy=copy)


@implements(np.ascontiguousarray)
def _ascontiguousarray(a, dtype=None):
    array = _array(a, dtype, copy=None)
    return np.atleast_1d(array if is_row_major(array) else array._shared_or_copied())


def _stacked(values):
    """Nested lists with traced values as one array."""
    if isinstance(values, (list, tuple)) and has_tracer(values):
        return np.stack([asarray(_stacked(value)) for value in values])
    return values
