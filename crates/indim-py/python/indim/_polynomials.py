"""NumPy's polynomials, the highest power first, on traced values: compositions."""

from __future__ import annotations

import operator
import warnings

import numpy as np

from . import _least_squares
from ._data_stages import positions_below
from ._functions import asarray
from ._handlers import implements
from ._numbers import plain_value
from ._operands import has_tracer
from ._tracing import Tracer

#: Maximum number of factors, or of steps of a division: each adds operations to the program.
MAX_STEPS = 64


@implements(np.polyadd)
def _polyadd(a1, a2):
    return np.add(*_of_one_length(a1, a2))


@implements(np.polysub)
def _polysub(a1, a2):
    return np.subtract(*_of_one_length(a1, a2))


def _of_one_length(*polynomials):
    """Polynomials with zeros before their highest powers."""
    arrays = [np.atleast_1d(asarray(polynomial)) for polynomial in polynomials]
    longest = max(array.shape[0] for array in arrays)
    return [np.pad(array, (longest - array.shape[0], 0)) for array in arrays]


@implements(np.polyder)
def _polyder(p, m=1):
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    p = asarray(p)
    for _ in range(m):
        p = p[:-1] * np.arange(p.shape[0] - 1, 0, -1)
    return p


@implements(np.polyint)
def _polyint(p, m=1, k=None):
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = np.atleast_1d(asarray(np.zeros(m) if k is None else k))
    if constants.shape[0] == 1 and m > 1:
        constants = np.broadcast_to(constants, (m,))
    if constants.shape[0] < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    p = asarray(p)
    for at in range(m):
        p = np.concatenate([p / np.arange(p.shape[0], 0, -1), constants[at : at + 1]])
    return p


@implements(np.polyval)
def _polyval(p, x):
    p = p if isinstance(p, Tracer) else np.asarray(plain_value(p))
    if isinstance(p, Tracer) and p.ndim != 1:
        raise TypeError(
            "the coefficients of np.polyval have one axis while a function is traced: write "
            "np.stack([np.polyval(p, x) for p in rows])"
        )
    # The steps are those of NumPy, with its first step and its element types.
    x = asarray(x)
    value = np.zeros_like(x)
    for at in range(p.shape[0]):
        value = value * x + p[at]
    return value


@implements(np.vander)
def _vander(x, N=None, increasing=False):
    x = asarray(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = x.shape[0] if N is None else N
    dtype = np.promote_types(x.dtype, int)
    columns = np.broadcast_to(x.astype(dtype)[:, None], (x.shape[0], max(count - 1, 0)))
    ones = np.ones((x.shape[0], min(count, 1)), dtype)
    powers = np.concatenate([ones, np.cumprod(columns, axis=1, dtype=dtype)], axis=1)
    return powers if increasing else powers[:, ::-1]


@implements(np.polyfit)
def _polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    if has_tracer(deg) or full or cov:
        raise TypeError(
            "numpy.polyfit gives the coefficients alone while a function is traced, for a degree that is "
            "known then: leave out `full` and `cov`, and name the degree in `static=`"
        )
    if has_tracer((x, w)):
        return fitted(x, y, operator.index(deg), rcond, w)
    x, y, order = np.asarray(x) + 0.0, asarray(y) + 0.0, operator.index(deg) + 1
    terms, y, scale = _scaled_terms(x, y, order, w if w is None else np.asarray(w))
    rcond = len(x) * np.finfo(x.dtype).eps if rcond is None else rcond
    coefficients, _, rank, _ = np.linalg.lstsq(terms / scale, y, rcond)
    if rank != order:
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=4)
    return coefficients / (scale[:, None] if y.ndim == 2 else scale)


def fitted(x, y, degree, rcond, w):
    """``polyfit`` whose points or weights are traced: least squares by orthogonal columns. A matrix without
    full rank has the solution of the least norm, without NumPy's warning."""
    x, y, order = asarray(x) + 0.0, asarray(y) + 0.0, degree + 1
    if order > _least_squares.MAX_UNKNOWNS:
        most = _least_squares.MAX_UNKNOWNS - 1
        raise TypeError(
            f"numpy.polyfit of traced points has a degree from 0 to {most}, not {degree}: fit outside of the "
            "compiled function"
        )
    terms, y, scale = _scaled_terms(x, y, order, w if w is None else asarray(w))
    scale = np.where(scale == 0, np.ones((), scale.dtype), scale)
    columns = [terms[:, place] / scale[place] for place in range(order)]
    columns = [column[:, None] for column in columns] if y.ndim == 2 else columns
    rcond = x.shape[0] * np.finfo(x.dtype).eps if rcond is None else rcond
    solution = _least_squares.solve(columns, y, rcond)[0]
    return np.stack([part / scale[place] for place, part in enumerate(solution)])


def _scaled_terms(x, y, order, w):
    """The powers of ``x`` and ``y``, both times the weights, and the lengths of the columns of powers."""
    if order < 1:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.shape[0] == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if y.shape[0] != x.shape[0]:
        raise TypeError("expected x and y to have same length")
    terms = np.vander(x, order)
    if w is not None:
        w = w + 0.0
        if w.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if w.shape[0] != x.shape[0]:
            raise TypeError("expected w and y to have the same length")
        terms, y = terms * w[:, None], y * (w[:, None] if y.ndim == 2 else w)
    return terms, y, np.sqrt(np.sum(terms * terms, axis=0))


@implements(np.polymul)
def _polymul(a1, a2):
    factors = (_of_one_axis(a1), _of_one_axis(a2))
    # A polynomial without coefficients is zero.
    factors = [p if p.shape[0] else np.zeros(1, p.dtype) for p in factors]
    return np.convolve(*(_from_first(p, p != 0) for p in factors))


@implements(np.polydiv)
def _polydiv(u, v):
    u, v = (_of_one_axis(p) + 0.0 for p in (u, v))
    dtype = np.result_type(u.dtype, v.dtype)
    of_u, of_v = u.shape[0], v.shape[0]
    _check_steps("numpy.polydiv", of_u - of_v + 1)
    scale, rest, quotient = 1.0 / v[0], u.astype(dtype), []
    for k in range(of_u - of_v + 1):
        quotient.append(scale * rest[k])
        rest = np.concatenate([rest[:k], rest[k : k + of_v] - quotient[-1] * v, rest[k + of_v :]])
    found = np.stack(quotient).astype(dtype) if quotient else np.zeros(1, dtype)
    # The tolerance is that of NumPy.
    return found, _from_first(rest, ~(np.abs(rest) <= 1e-8))


@implements(np.poly)
def _poly(seq_of_zeros):
    roots = np.atleast_1d(asarray(seq_of_zeros))
    if roots.ndim != 1:
        raise TypeError(
            "numpy.poly of a matrix cannot be traced, because it computes eigenvalues: write "
            "np.poly(np.linalg.eigvals(a))"
        )
    if roots.dtype.kind == "c":
        raise TypeError(
            "numpy.poly of complex roots cannot be traced, because its type depends on whether they are "
            "conjugate: write `np.convolve(p, np.stack([1, -root]))` for each root"
        )
    _check_steps("numpy.poly", roots.shape[0])
    roots = roots.astype(np.float32 if roots.dtype == np.float32 else np.float64)
    found = np.ones(1, roots.dtype)
    for place in range(roots.shape[0]):
        found = np.convolve(found, np.stack([np.ones((), roots.dtype), -roots[place]]))
    return asarray(found)


def _check_steps(name, count):
    if count > MAX_STEPS:
        raise TypeError(f"{name} takes up to {MAX_STEPS} steps while a function is traced, not {count}")


def _of_one_axis(p):
    p = np.atleast_1d(asarray(p))
    if p.ndim != 1:
        raise ValueError("Polynomial must be 1d only.")
    return p


def _from_first(p, is_kept):
    """The coefficients from the first for which ``is_kept`` holds, or the last one."""
    if not isinstance(p, Tracer):
        kept = np.flatnonzero(is_kept)
        return p[min(kept[0] if kept.size else p.size, p.size - 1) :]
    count = p.shape[0]
    first = np.min(np.where(is_kept, np.arange(count), count - 1))
    advice = "write `np.convolve(p, q)`, which keeps all coefficients"
    places = positions_below(count - first, "how many leading coefficients are zeros", advice)
    return np.take(p, places + first, axis=0, mode="clip")
