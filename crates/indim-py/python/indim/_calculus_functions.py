"""NumPy's differences, integrals and convolutions, on traced values: compositions."""

from __future__ import annotations


import numpy as np

from . import _view_functions
from ._functions import asarray
from ._handlers import implements
from ._numbers import plain_value
from ._shape_functions import along, axis_index, axis_indices, masked, promoted
from ._tracing import Tracer

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
    # A number of the call, where it is the size of an argument: the comparison is a guard.
    size = f._shape_numbers()[axis] if isinstance(f, Tracer) else f.shape[axis]
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
    ends = [part(-1 - at, -at or None) for at in range(edge_order + 1)]
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
    is_inside = np.pad(np.ones_like(part, dtype=bool), padding)
    products = masked(_windows(is_inside, size), _windows(np.pad(part, padding), size) * v)
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
