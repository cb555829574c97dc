"""NumPy's norms and matrix functions that are sums and products, on traced values: compositions."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np

from . import _reductions
from ._advice import refuse_given
from ._functions import asarray
from ._handlers import ARRAY_FUNCTIONS, implements
from ._operands import has_tracer
from ._shape_functions import axis_index, axis_indices

_LENGTH = _reductions.define("numpy", {})["norm"]


# Least squares.


def known_least_squares(a, b, rcond):
    """``numpy.linalg.lstsq`` of a matrix that is known while a function is traced."""
    a, b = np.asarray(a), asarray(b)
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise np.linalg.LinAlgError("lstsq takes a matrix, and a vector or matrix with as many rows")
    (rows, columns), dtypes = a.shape, (a.dtype, b.dtype)
    single = all(dtype in (np.float32, np.complex64) for dtype in dtypes)
    real, dtype = (np.float32, np.complex64) if single else (np.float64, np.complex128)
    # As in NumPy, elements of 64 bits are computed, and rounded at the end.
    wide = np.complex128 if "c" in (of.kind for of in dtypes) else np.float64
    dtype = dtype if wide is np.complex128 else real
    a, b, epsilon = a.astype(wide), b.astype(wide), np.finfo(np.float64).eps
    rcond = epsilon * max(a.shape) if rcond is None else rcond
    # LAPACK replaces other values by the largest rounding error.
    rcond = rcond if 0 < rcond < 1 else epsilon / 2
    values = np.linalg.svd(a, compute_uv=False)
    rank = int((values > rcond * values.max(initial=0)).sum())
    x = np.matmul(np.linalg.pinv(a, rcond), b)
    residuals = np.zeros(0, real)
    if rank == columns < rows:
        residuals = np.sum(np.abs(b - np.matmul(a, x)) ** 2, axis=0, keepdims=b.ndim == 1).astype(real)
    return x.astype(dtype), residuals, np.int32(rank), values.astype(real)


# Norms.


@implements(np.linalg.norm)
def _norm(x, ord=None, axis=None, keepdims=False):
    x = asarray(x)
    if x.ndim == 0 and axis is not None:
        # NumPy's error.
        axis_indices(axis, 0)
    if ord is None and (axis is None or isinstance(axis, int)):
        return _length(x, axis, keepdims)
    axes = _axes(axis, x.ndim)
    if len(axes) == 1:
        return _vector_norm_along(x, ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    return _matrix_norm_along(x, ord, axes, keepdims)


def _axes(axis, rank):
    if isinstance(axis, list):
        raise TypeError("'axis' must be None, an integer or a tuple of integers")
    return axis_indices(axis, rank)


def _length(x, axis, keepdims):
    """The square root of the sum of squares."""
    return _LENGTH(x, axis=axis, keepdims=bool(keepdims))


def _floats(x):
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def _vector_norm_along(x, ord, axis, keepdims):
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord is None or ord == 2:
        return _length(x, axis, keepdims)
    x = _floats(x)
    size = np.abs(x)
    if ord == np.inf:
        return np.max(size, axis=axis, keepdims=keepdims, initial=0)
    if ord == -np.inf:
        return np.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(size.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(size, axis=axis, keepdims=keepdims)
    return np.sum(size**ord, axis=axis, keepdims=keepdims) ** np.reciprocal(ord, dtype=size.dtype)


def _norm_by_singular_values(x, ord, axes, keepdims):
    """The norm of order 2, -2 or "nuc"; NumPy computes the singular values (`_host_calls.py`)."""
    values = np.linalg.svd(np.moveaxis(_floats(x), axes, (-2, -1)), compute_uv=False)
    if ord == -2:
        norms = np.min(values, axis=-1)
    else:
        norms = (np.max if ord == 2 else np.sum)(values, axis=-1, initial=0)
    return np.expand_dims(norms, tuple(sorted(axes))) if keepdims else norms


def _matrix_norm_along(x, ord, axes, keepdims):
    if ord in (None, "fro", "f"):
        return _length(x, axes, keepdims)
    if isinstance(ord, str) and ord != "nuc" or not isinstance(ord, str) and abs(ord) not in (1, 2, np.inf):
        raise ValueError("Invalid norm order for matrices.")
    if ord == "nuc" or abs(ord) == 2:
        return _norm_by_singular_values(x, ord, axes, keepdims)
    summed, other = axes if abs(ord) == 1 else axes[::-1]
    sums = np.sum(np.abs(_floats(x)), axis=summed, keepdims=True)
    norms = (
        np.min(sums, axis=other, keepdims=True)
        if ord < 0
        else np.max(sums, axis=other, keepdims=True, initial=0)
    )
    return norms if keepdims else np.squeeze(norms, axes)


def _matrix_norm(x, /, *, keepdims=False, ord="fro"):
    return _norm(x, ord, (-2, -1), keepdims)


def _vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    axes = _axes(axis, x.ndim)
    rest = tuple(index for index in range(x.ndim) if index not in axes)
    count = math.prod(x.shape[index] for index in axes)
    merged = np.transpose(x, (*axes, *rest)).reshape((count, *(x.shape[index] for index in rest)))
    norms = _vector_norm_along(merged, ord, 0, keepdims=False)
    shape = [1 if index in axes else size for index, size in enumerate(x.shape)]
    return norms.reshape(shape) if keepdims else norms


# Products.


@implements(np.cross)
def _cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = asarray(a), asarray(b)
    a = np.moveaxis(a, axis_index(axisa, a.ndim), -1)
    b = np.moveaxis(b, axis_index(axisb, b.ndim), -1)
    sizes = a.shape[-1], b.shape[-1]
    if not set(sizes) <= {2, 3}:
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    a0, a1, a2 = _parts(a)
    b0, b1, b2 = _parts(b)
    last = a0 * b1 - a1 * b0
    if sizes == (2, 2):
        return last
    first = _difference((a1, b2), (a2, b1))
    second = _difference((a2, b0), (a0, b2))
    parts = np.broadcast_arrays(first, second, last)
    return np.moveaxis(np.stack(parts, axis=-1), -1, axisc)


def _parts(vectors):
    """The components of vectors; the third is ``None`` if they have two."""
    parts = [vectors[..., at] for at in range(vectors.shape[-1])]
    return parts if len(parts) == 3 else [*parts, None]


def _difference(plus, minus):
    """``plus[0] * plus[1] - minus[0] * minus[1]``. A factor ``None`` is a missing third component, which is
    0."""
    if plus[0] is None or plus[1] is None:
        return -(minus[0] * minus[1])
    if minus[0] is None or minus[1] is None:
        return plus[0] * plus[1]
    return plus[0] * plus[1] - minus[0] * minus[1]


@implements(np.kron)
def _kron(a, b):
    a, b = asarray(a), asarray(b)
    rank = max(a.ndim, b.ndim)
    if 0 in (a.ndim, b.ndim):
        return a * b
    sizes = [(1,) * (rank - of.ndim) + tuple(of.shape) for of in (a, b)]
    left = a.reshape([part for size in sizes[0] for part in (size, 1)])
    right = b.reshape([part for size in sizes[1] for part in (1, size)])
    return (left * right).reshape([x * y for x, y in zip(*sizes)])


@implements(np.linalg.matrix_power)
def _matrix_power(a, n):
    n = operator.index(n)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if n < 0:
        a, n = np.linalg.inv(a), -n
    if n == 0:
        return np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
    # NumPy squares in this order too.
    power, square = None, None
    while n > 0:
        square = a if square is None else np.matmul(square, square)
        n, bit = divmod(n, 2)
        if bit:
            power = square if power is None else np.matmul(power, square)
    return power


@implements(np.linalg.multi_dot)
def _multi_dot(arrays, *, out=None):
    refuse_given("linalg.multi_dot", out=out)
    arrays = [asarray(array) for array in arrays]
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    ranks = [array.ndim for array in arrays]
    if any(rank != 2 for rank in ranks[1:-1]) or not {ranks[0], ranks[-1]} <= {1, 2}:
        raise np.linalg.LinAlgError("multi_dot takes matrices; the first and the last may be vectors")
    return functools.reduce(np.dot, arrays)


if hasattr(np.linalg, "vector_norm"):
    # NumPy has them since 2.0.
    ARRAY_FUNCTIONS[np.linalg.matrix_norm] = _matrix_norm
    ARRAY_FUNCTIONS[np.linalg.vector_norm] = _vector_norm

    @implements(np.linalg.cross)
    def _cross_of_three(x1, x2, /, *, axis=-1):
        x1, x2 = asarray(x1), asarray(x2)
        if x1.shape[axis] != 3 or x2.shape[axis] != 3:
            raise ValueError("np.linalg.cross takes arrays of vectors with 3 elements")
        return _cross(x1, x2, axis=axis)
