"""Scans by an associative function, in runs of 16; linear recurrences, cumulative ``logsumexp``."""

from __future__ import annotations

import functools
import operator

import numpy as np

from . import _associativity, _foreign, _functions
from ._foreign import package_of
from ._functions import asarray, recorded
from ._handlers import ACCUMULATIONS
from ._jit import jit
from ._loops import record_or_run
from ._recording import running, running_recording
from ._regions import Body
from ._shape_functions import axis_index, weakly_promoted
from ._trees import filled, leaves_like, leaves_of, shown

#: Elements that are combined one after another; their totals are scanned in runs again.
RUN = 16


def scanned(combine, arrays):
    """For each position along axis 0 the combination of the elements of ``arrays`` up to it.

    Within a run the elements are combined one after another; the combination of all earlier runs is computed
    in the same way from their totals, and combined from the left. So the order depends on positions only.
    """
    size = arrays[0].shape[0]
    count = size // RUN if size > RUN else 0
    whole = count * RUN
    parts = []
    if count:
        shapes = [(count, RUN, *array.shape[1:]) for array in arrays]
        runs = [array[:whole].reshape(shape) for array, shape in zip(arrays, shapes)]
        within = _one_after_another(combine, [[run[:, i] for run in runs] for i in range(RUN)])
        totals = scanned(combine, within[-1])
        before = [total[:-1] for total in totals]
        results = [
            [
                np.concatenate([own[:1], joined], axis=0)
                for own, joined in zip(values, combine(before, [value[1:] for value in values]))
            ]
            for values in within
        ]
        stacked = [np.stack(of_array, axis=1) for of_array in zip(*results)]
        parts.append([array.reshape((whole, *array.shape[2:])) for array in stacked])
    if whole < size:
        rest = [[array[i] for array in arrays] for i in range(whole, size)]
        rest = _one_after_another(combine, rest)
        if count:
            rest = [combine([total[-1] for total in totals], values) for values in rest]
        parts.append([np.stack(of_array, axis=0) for of_array in zip(*rest)])
    return [np.concatenate(of_array, axis=0) for of_array in zip(*parts)] if len(parts) > 1 else parts[0]


def _one_after_another(combine, elements):
    results = [elements[0]]
    for element in elements[1:]:
        results.append(combine(results[-1], element))
    return results


def _along(combine, arrays, axis, reverse):
    """A scan along any axis, in either direction; without elements the arrays themselves."""
    axis = axis_index(axis, arrays[0].ndim)
    size = arrays[0].shape[axis]
    if any(array.ndim <= axis or array.shape[axis] != size for array in arrays):
        raise ValueError(f"the arrays of a scan have equal sizes along axis {axis}")
    if size == 0:
        return arrays
    arrays = [np.moveaxis(array, axis, 0) for array in arrays]
    if reverse:
        arrays = [np.flip(array, 0) for array in arrays]
    results = scanned(combine, arrays)
    if reverse:
        results = [np.flip(result, 0) for result in results]
    return [np.moveaxis(result, 0, axis) for result in results]


def associative_scan(fn, elems, reverse=False, axis=0):
    """For each position along an axis the elements up to it, combined by the associative function ``fn``.

    ``fn`` takes two trees like ``elems``, of the same number of elements along axis 0, and combines them
    element by element. Elements are combined in runs of 16, so rounded results differ from those of JAX.
    """
    if not list(leaves_of(elems)):
        return elems
    options = operator.index(axis), bool(reverse)
    return record_or_run("associative_scan", _recorded_scan, (fn,), options, elems)


def _recorded_scan(functions, axis, reverse, recording, elems):
    (fn,) = functions

    def combine(left, right):
        result = fn(filled(elems, left), filled(elems, right))
        leaves = leaves_like(elems, result)
        if leaves is None:
            raise TypeError(
                f"the function of associative_scan returns {shown(result)}, not {shown(elems)}: return the "
                "same containers"
            )
        return [asarray(leaf) for leaf in leaves]

    leaves = [recording.tracer(recorded(leaf), "elems") for leaf in leaves_of(elems)]
    _check(fn, recording, elems, leaves)
    return filled(elems, _along(combine, leaves, axis, reverse))


def _check(fn, recording, elems, leaves):
    """Refuses a function that is not associative, as far as that is known."""
    body = Body(recording, "the function of associative_scan")
    body.recording.probe = _associativity.Probe()
    with running(body.recording):
        left, right = ([body.recording.parameter(leaf, name) for leaf in leaves] for name in "xy")
        results = leaves_like(elems, fn(filled(elems, left), filled(elems, right)))
        _associativity.check("associative_scan", results or (), left, right)


def linear_recurrence(a, b, axis=-1, *, initial=None, reverse=False):
    """``y[i] = a[i] * y[i - 1] + b[i]`` along an axis; before the first element ``y`` is ``initial``, or 0.

    Exponential averages and filters are such recurrences. ``a`` and ``b`` broadcast to one shape; ``initial``
    broadcasts to this shape without the axis. With ``reverse`` the recurrence runs from the last element to
    the first. Floats are computed in 64 bits and rounded once. The order is that of a scan in runs of 16.
    Arrays may be of Dask, and DataArrays, whose axis may be a name.
    """
    given = (a, b) if initial is None else (a, b, initial)
    if _foreign.is_labelled(given) and running_recording() is None:
        return _labelled_recurrence(a, b, axis, initial, reverse)
    if running_recording() is None and any(package_of(value) is not None for value in given):
        # An engine computes with arrays of these packages in compiled functions.
        return _compiled_recurrence(operator.index(axis), bool(reverse), initial is not None)(*given)
    dtype = weakly_promoted(*given)
    a, b, *initial = (recorded(value).astype(dtype) for value in given)
    attributes = _attributes(axis, max(a.ndim, b.ndim), reverse) + [("initial", value) for value in initial]
    return _functions.apply("linear_recurrence", (a, b), attributes, "numpy")


def _labelled_recurrence(a, b, axis, initial, reverse):
    """``linear_recurrence`` of DataArrays, which meet by name; ``axis`` is a name, or a position in the
    result."""
    import xarray

    if _foreign.is_labelled((initial,)):
        raise TypeError("`initial` of linear_recurrence is an array without labels: write `initial.data`")
    dims = list(dict.fromkeys(dim for value in (a, b) for dim in getattr(value, "dims", ())))
    axis = dims.index(axis) if axis in dims else axis_index(operator.index(axis), len(dims))

    def compute(a, b):
        return linear_recurrence(a, b, axis, initial=initial, reverse=reverse)

    return xarray.apply_ufunc(compute, a, b, join="exact", dask="allowed")


@functools.lru_cache(maxsize=64)
def _compiled_recurrence(axis, reverse, has_initial):
    if has_initial:
        return jit(lambda a, b, initial: linear_recurrence(a, b, axis, initial=initial, reverse=reverse))
    return jit(lambda a, b: linear_recurrence(a, b, axis, reverse=reverse))


def cumlogsumexp(operand, axis=0, reverse=False):
    """For each position along an axis the logarithm of the sum of ``exp`` of the elements up to it.

    Nothing overflows; ``-inf`` is the logarithm of 0. Floats are computed in 64 bits and rounded once.
    """
    operand = recorded(operand)
    if operand.dtype.kind == "c":
        raise TypeError("cumlogsumexp takes real numbers: a complex logarithm has several branches")
    return _functions.apply("cumlogsumexp", (operand,), _attributes(axis, operand.ndim, reverse), "numpy")


def _attributes(axis, rank, reverse):
    return [("axis", [axis_index(operator.index(axis), rank)])] + [("reverse", True)] * bool(reverse)


def _accumulate(array, axis=0, dtype=None):
    if dtype is None:
        # NumPy's loops of small integers compute in short floats.
        dtype = np.logaddexp.resolve_dtypes((array.dtype, array.dtype, None))[0]
    return cumlogsumexp(array.astype(dtype), axis)


ACCUMULATIONS["logaddexp"] = _accumulate
