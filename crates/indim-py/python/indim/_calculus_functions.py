"""NumPy's differences, integrals, convolutions and polynomials, on traced values: compositions."""

from __future__ import annotations

import operator
import warnings

import numpy as np

from . import _view_functions
from ._functions import asarray
from ._numbers import plain_value
from ._shape_functions import along, axis_index, axis_indices, masked, promoted
from ._tracing import Tracer, has_tracer, implements

_windows = _view_functions.define("numpy")["sliding_window_view"]


# Differences and integrals.


@implements(np.gradient)
def _gradient(f, *varargs, axis=None, edge_order=1):
    f = asarray(f)
    axes = axis_indices(axis, f.ndim)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if len(varargs) == 0:
        steps = [1.0] * len(axes)
    elif len(varargs) == 1 and np.ndim(varargs[0]) == 0:
        steps = [varargs[0]] * len(axes)
    elif len(varargs) == len(axes):
        steps = [_steps(coordinates, f.shape[index]) for coordinates, index in zip(varargs, axes)]
    else:
        raise TypeError("invalid number of arguments")
    f = f.astype(np.float64) if f.dtype.kind in "iu" else f
    gradients = [_gradient_along(f, step, index, edge_order) for step, index in zip(steps, axes)]
    return gradients[0] if len(gradients) == 1 else tuple(gradients)


def _steps(coordinates, size):
    """The differences of coordinates, or one difference for all."""
    if np.ndim(coordinates) == 0:
        return coordinates
    coordinates = asarray(coordinates)
    if coordinates.ndim != 1:
        raise ValueError("distances must be either scalars or 1d")
    if coordinates.shape[0] != size:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    if coordinates.dtype.kind in "iu":
        coordinates = coordinates.astype(np.float64)
    steps = np.diff(coordinates)
    is_uniform = not isinstance(steps, Tracer) and (steps == steps[0]).all()
    return steps[0] if is_uniform else steps


def _gradient_along(f, step, axis, edge_order):
    size = f.shape[axis]
    if size < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements "
            "are required."
        )

    def part(first, end):
        return f[along(axis, slice(first, end))]

    is_uniform = np.ndim(step) == 0
    steps = None if is_uniform else step.reshape([-1 if index == axis else 1 for index in range(f.ndim)])
    if is_uniform:
        inner = (part(2, None) - part(None, -2)) / (2.0 * step)
    else:
        before, after = (steps[along(axis, slice(*ends))] for ends in ((0, -1), (1, None)))
        both = before + after
        inner = (
            -after / (before * both) * part(None, -2)
            + (after - before) / (before * after) * part(1, -1)
            + before / (after * both) * part(2, None)
        )
    first = _edge([part(at, at + 1) for at in range(edge_order + 1)], step, steps, axis, is_first=True)
    ends = [part(size - 1 - at, size - at) for at in range(edge_order + 1)]
    last = _edge(ends, step, steps, axis, is_first=False)
    dtype = f.dtype if f.dtype.kind in "fc" else np.dtype(np.float64)
    return np.concatenate([value.astype(dtype) for value in (first, inner, last)], axis=axis)


def _edge(values, step, steps, axis, is_first):
    """The one-sided difference at an edge; ``values`` begin at the edge."""
    if steps is not None:
        count = steps.shape[axis]
        order = range(count) if is_first else range(count - 1, -1, -1)
        near = [steps[along(axis, slice(at, at + 1))] for at in list(order)[: len(values) - 1]]
    if len(values) == 2:
        difference = values[1] - values[0] if is_first else values[0] - values[1]
        return difference / (step if steps is None else near[0])
    sign = 1 if is_first else -1
    if steps is None:
        factors = -1.5 / step, 2.0 / step, -0.5 / step
    else:
        near, next_step = near
        both = near + next_step
        factors = (
            -(2.0 * near + next_step) / (near * both),
            both / (near * next_step),
            -near / (next_step * both),
        )
    terms = [sign * factor * value for factor, value in zip(factors, values)]
    # NumPy adds from the side of the smaller index.
    first, middle, last = terms if is_first else terms[::-1]
    return first + middle + last


@implements(*(getattr(np, name) for name in ("trapezoid", "trapz") if hasattr(np, name)))
def _trapezoid(y, x=None, dx=1.0, axis=-1):
    y = asarray(y)
    axis = axis_index(axis, y.ndim)
    widths = dx
    if x is not None:
        x = asarray(x)
        widths = np.diff(x, axis=-1 if x.ndim == 1 else axis)
        if x.ndim == 1:
            widths = widths.reshape([-1 if index == axis else 1 for index in range(y.ndim)])
    heights = y[along(axis, slice(1, None))] + y[along(axis, slice(None, -1))]
    return np.sum(widths * heights / 2.0, axis=axis)


@implements(np.unwrap)
def _unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    p = asarray(p)
    axis = axis_index(axis, p.ndim)
    steps = np.diff(p, axis=axis)
    dtype = promoted(steps, period)
    if steps.dtype.kind in "iu" and isinstance(period, int):
        # NumPy's error of numbers that the type of the steps lacks.
        np.asarray([-(period // 2), plain_value(period)], steps.dtype)
    discont = period / 2 if discont is None else discont
    high, is_ambiguous = period / 2, True
    if dtype.kind in "iu":
        high, rest = divmod(period, 2)
        is_ambiguous = rest == 0
    wrapped = (steps + high) % period - high
    if is_ambiguous:
        wrapped = np.where((wrapped == -high) & (steps > 0), high, wrapped)
    correction = np.where(np.abs(steps) < discont, 0, wrapped - steps)
    rest = p[along(axis, slice(1, None))] + np.cumsum(correction, axis=axis)
    return np.concatenate([p[along(axis, slice(0, 1))].astype(dtype), rest.astype(dtype)], axis=axis)


# Convolutions.


def _correlated(a, v, mode):
    """The sums of products of ``v`` with each window of ``a``, which is the longer one."""
    rest = v.shape[0] - 1
    if mode not in ("valid", "same", "full"):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    before = {"valid": 0, "same": v.shape[0] // 2, "full": rest}[mode]
    after = {"valid": 0, "same": rest - before, "full": rest}[mode]
    if v.dtype.kind in "biu" or not isinstance(v, Tracer) and np.isfinite(v).all():
        return np.matmul(_windows(np.pad(a, (before, after)), v.shape[0]), v)
    inner = np.matmul(_windows(a, v.shape[0]), v)
    return np.concatenate([_edge_sums(a, v, before, 0), inner, _edge_sums(a, v, 0, after)])


def _edge_sums(a, v, before, after):
    """The sums of windows that reach ``before`` elements over the first end, or ``after`` over the last.

    Products of padding are left out: zero times an infinity in ``v`` is NaN.
    """
    size = v.shape[0]
    part = a[: size - 1] if before else a[a.shape[0] - size + 1 :]
    count = before or after
    if count == 0:
        return np.zeros(0, v.dtype)
    padding = (before, 0) if before else (0, after)
    is_inside = np.pad(np.ones(size - 1, bool), padding)[np.arange(count)[:, None] + np.arange(size)]
    products = masked(is_inside, _windows(np.pad(part, padding), size) * v)
    return np.sum(products, axis=-1, dtype=v.dtype)


def _vectors(name, *arrays):
    arrays = [asarray(array) for array in arrays]
    dtype = promoted(*arrays)
    for array in arrays:
        if array.ndim > 1:
            raise ValueError(f"numpy.{name} takes arrays with one axis")
        if array.size == 0:
            raise ValueError(f"an array of numpy.{name} is empty")
    return [array.reshape(-1).astype(dtype) for array in arrays]


@implements(np.convolve)
def _convolve(a, v, mode="full"):
    a, v = _vectors("convolve", a, v)
    a, v = (v, a) if v.shape[0] > a.shape[0] else (a, v)
    return _correlated(a, v[::-1], mode)


@implements(np.correlate)
def _correlate(a, v, mode="valid"):
    a, v = _vectors("correlate", a, v)
    v = np.conj(v) if v.dtype.kind == "c" else v
    return _correlated(a, v, mode) if v.shape[0] <= a.shape[0] else _correlated(v, a, mode)[::-1]


# Polynomials, the highest power first.


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
        raise TypeError("the coefficients of np.polyval have one axis while a function is traced")
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
    if has_tracer((x, w, deg)) or full or cov:
        raise TypeError(
            "numpy.polyfit factorises a matrix of x and w, and gives the coefficients alone while a function "
            "is traced: have x and w known then, from outside or in `static=`, without `full` and `cov`"
        )
    x, y, order = np.asarray(x) + 0.0, asarray(y) + 0.0, operator.index(deg) + 1
    if order < 1:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1 or x.size == 0:
        raise TypeError("expected 1D vector for x" if x.size else "expected non-empty vector for x")
    if y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        raise TypeError("expected 1D or 2D array for y, of the same length as x")
    terms = np.vander(x, order)
    if w is not None:
        w = np.asarray(w) + 0.0
        if w.shape != x.shape:
            raise TypeError("expected w and y to have the same length")
        terms, y = terms * w[:, None], y * (w[:, None] if y.ndim == 2 else w)
    scale = np.sqrt((terms * terms).sum(axis=0))
    rcond = len(x) * np.finfo(x.dtype).eps if rcond is None else rcond
    coefficients, _, rank, _ = np.linalg.lstsq(terms / scale, y, rcond)
    if rank != order:
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=4)
    return coefficients / (scale[:, None] if y.ndim == 2 else scale)
