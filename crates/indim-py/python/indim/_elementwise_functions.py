"""NumPy's element-wise functions that are no single operation, on traced values: compositions."""

from __future__ import annotations

import numpy as np

from . import _view_functions
from ._advice import refused_keyword
from ._functions import asarray
from ._statistics_functions import promoted
from ._tracing import UFUNCS, implements, tracer_of

# NumPy's function is traced only if the array itself is.
_take = _view_functions.define("numpy")["take"]


@implements(np.isreal)
def _isreal(x):
    return asarray(x).imag == 0 if asarray(x).dtype.kind == "c" else np.ones_like(x, bool)


@implements(np.iscomplex)
def _iscomplex(x):
    return asarray(x).imag != 0 if asarray(x).dtype.kind == "c" else np.zeros_like(x, bool)


# Comparisons of whole arrays.


@implements(np.allclose)
def _allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return np.all(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan))


@implements(np.array_equal)
def _array_equal(a1, a2, equal_nan=False):
    a1, a2 = asarray(a1), asarray(a2)
    return _all_equal(a1, a2, equal_nan) if a1.shape == a2.shape else np.False_


@implements(np.array_equiv)
def _array_equiv(a1, a2):
    a1, a2 = asarray(a1), asarray(a2)
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return np.False_
    return _all_equal(a1, a2, False)


def _all_equal(x, y, equal_nan):
    are_equal = x == y
    if equal_nan and x.dtype.kind in "fcV" and y.dtype.kind in "fcV":
        are_equal = are_equal | (np.isnan(x) & np.isnan(y))
    return np.all(are_equal)


@implements(np.isin)
def _isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    element, table = asarray(element), np.ravel(asarray(test_elements))
    if table.shape[0] == 0:
        return np.full_like(element, invert, bool)
    dtype = promoted(element, table)
    element, table = element.astype(dtype), np.sort(table.astype(dtype))
    found = _take(table, np.searchsorted(table, element), mode="clip") == element
    return ~found if invert else found


if hasattr(np, "in1d"):
    # NumPy has it until 2.3.
    @implements(np.in1d)
    def _in1d(ar1, ar2, assume_unique=False, invert=False, *, kind=None):
        return _isin(np.ravel(asarray(ar1)), ar2, assume_unique, invert)


@implements(np.sort_complex)
def _sort_complex(a):
    ordered = np.sort(a)
    if ordered.dtype.kind == "c":
        return ordered
    return ordered.astype(np.complex64 if ordered.dtype.char in "bhBH" else np.complex128)


@implements(np.apply_over_axes)
def _apply_over_axes(func, a, axes):
    a = asarray(a)
    for axis in np.ravel(axes):
        axis = int(axis) % a.ndim
        found = func(a, axis)
        a = found if found.ndim == a.ndim else np.expand_dims(found, axis)
    return a


if hasattr(np, "astype"):
    # NumPy has it since 2.1.
    @implements(np.astype)
    def _astype(x, dtype, /, *, copy=True, device=None):
        return x.astype(dtype)


# Ufuncs.


def _ufunc(name):
    """Makes the decorated function the ufunc of this name; its operands have the type of NumPy's loop."""
    ufunc = getattr(np, name)

    def register(function):
        def handler(*operands, **keywords):
            for keyword in keywords:
                recording = tracer_of(operands)._recording
                raise TypeError(refused_keyword(recording.function, ufunc, keyword, keywords))
            operands = [asarray(operand) for operand in operands]
            types = (*(operand.dtype for operand in operands), *(None,) * ufunc.nout)
            return function(*(operand.astype(ufunc.resolve_dtypes(types)[0]) for operand in operands))

        UFUNCS[name] = handler
        return function

    return register


@_ufunc("modf")
def _modf(x):
    whole = np.trunc(x)
    return np.copysign(np.where(np.isinf(x), np.zeros((), x.dtype), x - whole), x), whole


@_ufunc("spacing")
def _spacing(x):
    if x.dtype == np.float16:
        raise TypeError(
            "numpy.spacing has no loop for float16 while it is traced: convert by x.astype(np.float32)"
        )
    return np.nextafter(x, np.copysign(np.full((), np.inf, x.dtype), x)) - x


@_ufunc("logaddexp2")
def _logaddexp2(x, y):
    more = np.log1p(np.exp2(-np.abs(x - y))) * float(np.log2(np.e))
    return np.where(x == y, x + 1, np.maximum(x, y) + more)
