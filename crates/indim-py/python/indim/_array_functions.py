"""NumPy's functions on traced values that are not single operations."""

from __future__ import annotations

import math

import numpy as np

from . import _arrays
from ._advice import refuse_given
from ._functions import asarray
from ._handlers import ARRAY_FUNCTIONS, implements
from ._numbers import is_weak
from ._operands import has_tracer, tracer_of
from ._shape_functions import axis_indices, promoted, weakly_promoted
from ._view_writes import is_row_major


@implements(np.where)
def _where(condition, *choices):
    if not choices:
        return np.nonzero(condition)
    operands = (condition, *choices)
    return tracer_of(operands)._record("where", operands)


@implements(np.clip)
def _clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None, **kwargs):
    """``a`` limited to bounds; either may be ``None``."""
    if out is not None:
        from ._outputs import write_result

        where, casting = kwargs.pop("where", True), kwargs.pop("casting", "same_kind")
        return write_result("clip", np.clip(a, a_min, a_max, min=min, max=max, **kwargs), out, where, casting)
    dtype, casting = kwargs.pop("dtype", None), kwargs.pop("casting", "same_kind")
    if dtype is not None:
        a = asarray(a).astype(dtype, casting=casting)
    for keyword in ("order", "subok"):
        # These say how the result lies in memory, and whether it is of a subclass.
        kwargs.pop(keyword, None)
    if kwargs.get("where") is True:
        del kwargs["where"]
    refuse_given("clip", **kwargs)
    low, high = (
        next((bound for bound in bounds if bound is not None and bound is not np._NoValue), None)
        for bounds in ((a_min, min), (a_max, max))
    )
    operands = [operand for operand in (a, low, high) if operand is not None]
    tracer = tracer_of(operands)
    if low is None and high is None:
        return +a
    if low is None:
        return tracer._record("minimum", operands)
    if high is None:
        return tracer._record("maximum", operands)
    if all(asarray(operand).dtype == np.bool_ for operand in operands):
        # The recorded `clip` has no bools.
        return np.minimum(np.maximum(a, low), high)
    return tracer._record("clip", operands)


@implements(np.select)
def _select(condlist, choicelist, default=0):
    """The choice of the first condition that holds, else ``default``, in the type of all choices."""
    if len(condlist) != len(choicelist) or len(condlist) == 0:
        raise ValueError("np.select takes conditions and choices, as many of the one as of the other")
    condlist = [asarray(condition) for condition in condlist]
    choicelist = [choice if is_weak(choice) else asarray(choice) for choice in choicelist]
    for index, condition in enumerate(condlist):
        if condition.dtype != np.bool_:
            raise TypeError(f"condlist[{index}] of np.select has no truth values: compare, as in x > 0")
    dtype = weakly_promoted(*choicelist, default)
    chosen = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        chosen = np.where(condition, choice, chosen).astype(dtype)
    return chosen


@implements(np.angle)
def _angle(z, deg=False):
    is_complex = z.dtype.kind == "c"
    angle = np.arctan2(z.imag, z.real) if is_complex else np.arctan2(0, z)
    return angle * (180 / np.pi) if deg else angle


@implements(np.fix)
def _fix(x, out=None):
    refuse_given("fix", out=out)
    return np.trunc(x)


@implements(np.isposinf)
def _isposinf(x, out=None):
    refuse_given("isposinf", out=out)
    return np.isinf(x) & ~np.signbit(x)


@implements(np.isneginf)
def _isneginf(x, out=None):
    refuse_given("isneginf", out=out)
    return np.isinf(x) & np.signbit(x)


@implements(np.reshape)
def _reshape(a, /, shape, order="C", *, copy=None):
    return a.reshape(shape, order=order)


def _permutes(function):
    """Registers a handler that permutes the axes of a traced value as NumPy's ``function`` does.

    NumPy's function is called on an array whose axis ``i`` has the size ``i``: the shape of its result is the
    permutation.
    """

    def handler(a, *args, **kwargs):
        _arrays.refuse_traced((*args, *kwargs.values()))
        permutation = function(np.broadcast_to(np.int8(0), range(a.ndim)), *args, **kwargs).shape
        return a._call("transpose", [(None, _arrays.integers(permutation))])

    ARRAY_FUNCTIONS[function] = handler


def _adds_axes(function):
    """Registers a handler that adds axes of size 1 as NumPy's ``function`` does.

    NumPy's function is called on an array of the same rank with axes of size 2: the axes of size 1 in its
    result are new. So the program is valid for all sizes.
    """

    def handler(a, *args, **kwargs):
        if has_tracer(args):
            # `atleast_1d` and the like take several arrays.
            return tuple(function(array) for array in (a, *args))
        a = asarray(a)
        shape = function(np.broadcast_to(np.int8(0), (2,) * a.ndim), *args, **kwargs).shape
        return a[tuple(None if size == 1 else slice(None) for size in shape)] if 1 in shape else a

    ARRAY_FUNCTIONS[function] = handler


@implements(np.squeeze)
def _squeeze(a, axis=None):
    return a.reshape(np.squeeze(np.broadcast_to(np.int8(0), a.shape), axis).shape)


for _function in (np.transpose, np.swapaxes, np.moveaxis, np.rollaxis):
    _permutes(_function)
for _module in (np, np.linalg):
    # NumPy has it since 2.0.
    if hasattr(_module, "matrix_transpose"):
        _permutes(_module.matrix_transpose)
for _function in (np.expand_dims, np.atleast_1d, np.atleast_2d, np.atleast_3d):
    _adds_axes(_function)
del _function, _module


@implements(np.ravel)
def _ravel(a, order="C"):
    if order not in ("C", "F"):
        raise TypeError(
            f"order={order!r} depends on how arrays lie in memory; a traced value is raveled by 'C' or 'F'"
        )
    a = a.transpose() if order == "F" else a
    result = a.reshape(-1)
    # NumPy copies elements that are not contiguous.
    return result if a._origin is None or is_row_major(a) else result._shared_or_copied()


@implements(np.broadcast_to)
def _broadcast_to(array, shape, subok=False):
    return array._call("broadcast_to", [(None, _arrays.integers(shape))])


@implements(np.real)
def _real(val):
    return val.real


@implements(np.imag)
def _imag(val):
    return val.imag


@implements(np.copy)
def _copy(a, order="K", subok=False):
    return a.copy(order)


implements(np.result_type)(promoted)


@implements(np.ndim)
def _ndim(a):
    return a.ndim


@implements(np.shape)
def _shape(a):
    return a.shape


@implements(np.size)
def _size(a, axis=None):
    if isinstance(axis, tuple):
        sizes = [a.shape[index] for index in axis_indices(axis, a.ndim)]
        return math.prod(sizes)
    return a.size if axis is None else a.shape[axis]
