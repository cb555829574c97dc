"""Sorts, quantiles and searches, eager on arrays and recorded on traced values, and the handlers of NumPy's
functions on traced values."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _functions, _traced_quantiles
from ._advice import refuse_given
from ._functions import asarray
from ._handlers import ARRAY_FUNCTIONS, implements
from ._indim import _view_functions
from ._numbers import Number
from ._operands import as_array, has_tracer
from ._shape_functions import axis_indices
from ._tracing import Tracer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ._types import Operand

_SIDES = ("left", "right")

#: Methods of quantiles that select an element, so integers keep their type.
_OF_ELEMENTS = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")


def define(rule):
    """The sorts and searches under the rule set ``rule``, by name."""

    def sort(
        x: Operand, axis: int | None = -1, *, descending: bool = False, out: NDArray[Any] | None = None
    ):
        return _sorted("sort", x, axis, descending, rule, out)

    def argsort(
        x: Operand, axis: int | None = -1, *, descending: bool = False, out: NDArray[Any] | None = None
    ):
        return _sorted("argsort", x, axis, descending, rule, out)

    def lexsort(keys: Sequence[Operand], axis: int = -1, *, out: NDArray[Any] | None = None):
        keys = [asarray(key) for key in keys]
        return _functions.apply("lexsort", keys, [("axis", operator.index(axis))], rule, out)

    def searchsorted(table: Operand, x: Operand, side: str = "left", *, out: NDArray[Any] | None = None):
        if side not in _SIDES:
            raise ValueError(f"the side of searchsorted is one of {', '.join(_SIDES)}, not {side!r}")
        return _functions.apply("searchsorted", (asarray(table), asarray(x)), [("side", side)], rule, out)

    functions_by_name = {function.__name__: function for function in (sort, argsort, lexsort, searchsorted)}
    functions = {}
    for name, doc, aliases in _view_functions():
        if name in functions_by_name:
            function = functions_by_name[name]
            function.__doc__, function.__qualname__ = doc, name
            functions |= dict.fromkeys((name, *aliases), function)
    return functions


def _sorted(function, x, axis, descending, rule="numpy", out=None):
    x = asarray(x)
    if axis is None:
        x, axis = np.ravel(x), 0
    attributes = [("axis", operator.index(axis))]
    if descending:
        attributes.append(("descending", True))
    return _functions.apply(function, (x,), attributes, rule, out)


def top_k(x: Operand, k: int, axis: int = -1, *, largest: bool = True):
    """The ``k`` greatest elements along an axis in descending order, and their positions.

    Equal elements keep the order of their positions; NaN is greatest. With ``largest=False`` the smallest
    elements in ascending order.
    """
    x = asarray(x)
    k, axis = operator.index(k), operator.index(axis)
    size = x.shape[axis]
    if not 0 <= k <= size:
        raise ValueError(f"top_k takes up to {size} elements along axis {axis}, not {k}")
    first = (slice(None),) * (axis % x.ndim) + (slice(0, k),)
    found = tuple(_sorted(name, x, axis, largest)[first] for name in ("sort", "argsort"))
    return found[0], _without_labels(found[1], axis)


def _without_labels(positions, axis):
    """Positions that get no labels of pandas, which the results of ``argsort`` have: an axis that is reversed
    meets no labelled one."""
    if not isinstance(positions, Tracer) or positions._recording.outermost().package is None:
        return positions
    return np.flip(np.flip(positions, axis), axis)


def median(x: Operand, axis: int | Sequence[int] | None = None, *, keepdims: bool = False):
    """The median along axes: the middle element, or the mean of the two middle ones; NaN if any is NaN."""
    rows, result = _rows(x, axis, keepdims)
    return result(_with_nan(rows, _median_of(rows)))


def nanmedian(x: Operand, axis: int | Sequence[int] | None = None, *, keepdims: bool = False):
    """The median along axes of the elements that are not NaN; NaN if all are NaN."""
    rows, result = _rows(_real("nanmedian", x), axis, keepdims)
    # `bfloat16` has the kind V.
    if rows.dtype.kind not in "fV" or rows.shape[-1] == 0:
        return result(_median_of(rows))
    return result(_nan_between(rows, 0.5, _mean))


def quantile(
    x: Operand,
    q: float | Sequence[float] | NDArray[Any],
    axis: int | Sequence[int] | None = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
):
    """Quantiles along axes, by NumPy's methods; NaN if any element is NaN. The axes of ``q`` come first."""
    if has_tracer(q):
        return _traced_quantiles.quantile(x, q, axis, method, keepdims)
    rows, result = _rows(_real("quantile", x), axis, keepdims)
    rows = _as_quantiles(rows, q, method) if method not in _OF_ELEMENTS else rows
    # NumPy computes positions in the type of the probabilities.
    q = np.asarray(q)
    size = rows.shape[-1]
    if size == 0:
        raise ValueError("quantiles of no elements: the axis has size 0")
    # NumPy's quantile of the numbers 0 to `size - 1` is the fractional position of the quantile in a row.
    positions = np.quantile(np.arange(float(size)), q, method=method)
    return _for_each(positions, lambda position: result(_with_nan(rows, _between(rows, position))))


def percentile(
    x: Operand,
    q: float | Sequence[float] | NDArray[Any],
    axis: int | Sequence[int] | None = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
):
    """Percentiles along axes: ``quantile(x, q / 100)``."""
    return quantile(x, _hundredths(q), axis, method=method, keepdims=keepdims)


def _hundredths(q):
    """Percentages as fractions; a number stays a number, which is weak."""
    return (q if isinstance(q, (int, float)) else as_array(q)) / 100


def nanquantile(
    x: Operand,
    q: float | Sequence[float] | NDArray[Any],
    axis: int | Sequence[int] | None = None,
    *,
    keepdims: bool = False,
):
    """Quantiles along axes of the elements that are not NaN, by the linear method; NaN if all are NaN."""
    if has_tracer(q):
        return _traced_quantiles.nanquantile(x, q, axis, keepdims)
    if not ((np.asarray(q) >= 0) & (np.asarray(q) <= 1)).all():
        raise ValueError("Quantiles must be in the range [0, 1]")
    x = _real("nanquantile", x)
    if 0 in x.shape:
        # NumPy's result, which has no axes of `q` then.
        return np.nanmean(x, axis=axis, keepdims=keepdims)
    rows, result = _rows(x, axis, keepdims)
    if rows.dtype.kind not in "fV":
        return quantile(x, q, axis, keepdims=keepdims)
    rows = _as_quantiles(rows, q)
    return _for_each(q, lambda fraction: result(_nan_between(rows, fraction)))


def digitize(x: Operand, bins: Operand, right: bool = False):
    """NumPy's ``digitize``: the number of the bin of each element. The bins ascend or descend."""
    bins = asarray(bins)
    side = "left" if right else "right"
    count = bins.shape[0]
    ascending = _search(bins, x, side)
    if not isinstance(bins, Tracer):
        # Comparisons, because differences of unsigned or narrow integers wrap. NaN compares as in NumPy.
        others = bins[1:][bins[1:] != bins[:1]]
        is_ascending = not others.size or bins[0] < others[0]
        unordered = bins[:-1] > bins[1:] if is_ascending else bins[:-1] < bins[1:]
        if unordered.any():
            raise ValueError("bins must be monotonically increasing or decreasing")
        if is_ascending:
            return ascending
    descending = count - _search(bins[::-1], x, side)
    if not isinstance(bins, Tracer):
        return descending
    # A NaN counts as the greatest number, as in a sorted array.
    is_ascending = (bins[0] <= bins[-1]) | np.isnan(bins[-1]) if count else True
    return np.where(is_ascending, ascending, descending) if count else ascending


def interp(
    x: Operand, xp: Operand, fp: Operand, left: float | None = None, right: float | None = None
):
    """NumPy's ``interp``: linear interpolation between the ascending points ``xp``, in ``f64``."""
    x, xp, fp = (asarray(value) for value in (x, xp, fp))
    is_complex = fp.dtype.kind == "c"
    x, xp = x.astype(np.float64), xp.astype(np.float64)
    fp = fp.astype(np.complex128 if is_complex else np.float64)
    if xp.ndim != 1 or xp.shape != fp.shape or xp.shape[0] == 0:
        raise ValueError("`xp` and `fp` are points and values: arrays with one axis of one size, not 0")
    count = xp.shape[0]
    left, right = (fp[at] if given is None else given for at, given in ((0, left), (-1, right)))
    found = fp[0]
    if count > 1:
        at = np.clip(_search(xp, x, "right") - 1, 0, count - 2)
        x0, x1, y0, y1 = (_take(values, index) for values in (xp, fp) for index in (at, at + 1))
        slope = (y1 - y0) / (x1 - x0)
        found, after = slope * (x - x0) + y0, slope * (x - x1) + y1
        found = np.where(np.isnan(found), np.where(np.isnan(after) & (y0 == y1), y0, after), found)
        for is_knot, line, value in ((x == x0, found, y0), (x == xp[-1], after, fp[-1])):
            found = np.where(is_knot, value if is_complex else _value_of_knot(value, line), found)
    found = np.where(x > xp[-1], right, np.where(x < xp[0], left, found))
    # A single point is the result for NaN too, as in NumPy.
    return found if count == 1 else np.where(np.isnan(x), x, found)


def _value_of_knot(value, line):
    """The value of a knot, computed by the line through it, whose slope is the derivative; lines that are
    not finite miss it."""
    return np.where((line == value) & (np.signbit(line) == np.signbit(value)), line, value)


def _take(values, positions):
    """The elements at positions. Values, positions or both are traced; ``np.take`` would dispatch on values
    alone."""
    return _functions.apply("take", (values, positions), [("mode", "clip")], "numpy")


def _search(table, x, side):
    return _functions.apply("searchsorted", (asarray(table), asarray(x)), [("side", side)], "numpy")


def _rows(x, axis, keepdims):
    """The elements with ``axis`` merged into a last axis, sorted along it; and a function that reshapes an
    array with one number for each of these rows to the shape of the result."""
    x = asarray(x)
    axes = axis_indices(axis, x.ndim)
    if x.ndim == len(axes) == 1:
        # No size is read, so one program serves all lengths.
        return _sorted("sort", x, -1, False), lambda results: results[None] if keepdims else results
    kept = [index for index in range(x.ndim) if index not in axes]
    shape = tuple(x.shape[index] for index in kept)
    count = int(np.prod([x.shape[index] for index in axes], dtype=np.int64))
    rows = np.transpose(x, (*kept, *axes)).reshape((*shape, count))
    if keepdims:
        shape = tuple(1 if index in axes else size for index, size in enumerate(x.shape))
    return _sorted("sort", rows, -1, False), lambda results: results.reshape(shape)


def _as_quantiles(rows, q, method="linear"):
    """The rows in the type of their quantiles: NumPy promotes them with the type of float probabilities, of
    which one number of Python is weak. The probabilities 0 and 1 as integers give elements, by the linear
    method."""
    given, kind = np.asarray(q).dtype, rows.dtype.kind
    if kind == "V" or (given.kind != "f" and method == "linear"):
        return rows
    if isinstance(q, (int, float)) and not isinstance(q, np.generic):
        return rows.astype(np.float64) if kind in "biu" else rows
    return rows.astype(np.promote_types(rows.dtype, given if given.kind == "f" else np.float64))


def _real(function, x):
    x = asarray(x)
    if x.dtype.kind == "c":
        raise TypeError(f"{function} takes real numbers, not {x.dtype}: take `x.real` or `abs(x)`")
    return x


def _length_of(rows):
    """The number of elements of each row: a number of the program, if it is the size of an argument."""
    return rows._shape_numbers()[-1] if isinstance(rows, Tracer) else rows.shape[-1]


def _median_of(rows):
    size = _length_of(rows)
    if rows.ndim == 1 and type(size) is Number and size > 1:
        is_odd = operator.index(size % 2)
        # The two halves around the middle, or around the place before it.
        halves = (rows[:-1] if is_odd else rows).reshape(2, -1)
        after = halves[1, :1]
        return np.mean(after if is_odd else np.concatenate([halves[0, -1:], after]), axis=-1)
    size = operator.index(size)
    return np.mean(rows[..., max(size - 1, 0) // 2 : size // 2 + 1], axis=-1)


def _with_nan(rows, found):
    """``found``, or NaN for rows whose greatest element is NaN."""
    if rows.dtype.kind in "biu" or _length_of(rows) == 0:
        return found
    return np.where(np.isnan(rows[..., -1]), rows[..., -1], found)


def _for_each(numbers, function):
    """The result of ``function`` for each of these numbers; the axes of the numbers come first."""
    numbers = np.asarray(numbers)
    found = [function(float(number)) for number in numbers.ravel()]
    if numbers.ndim == 0:
        return found[0]
    if not found:
        # The result has the type of a quantile, and its shape after the axes of `q`.
        one = function(0.0)
        return np.broadcast_to(one, (*numbers.shape, *one.shape))
    stacked = np.stack(found)
    return stacked.reshape(numbers.shape + tuple(stacked.shape[1:]))


def _nan_between(rows, q, middle=None):
    """The quantile of each sorted row, in which NaNs are last. Between two elements it interpolates linearly,
    or by ``middle`` if that is given."""
    count = np.sum(~np.isnan(rows), axis=-1)
    position = q * (count - 1)
    low = np.floor(position)
    part = (position - low).astype(rows.dtype)
    positions = np.arange(rows.shape[-1])
    before, after = (
        np.sum(np.where(positions == np.minimum(at, count - 1)[..., None], rows, 0), axis=-1)
        for at in (low, low + 1)
    )
    step = after - before
    between = np.where(part >= 0.5, after - step * (1 - part), before + step * part)
    if middle is not None:
        between = middle(before, after)
    found = np.where((part == 0) | (before == after), before, between)
    return np.where(count == 0, np.nan, found).astype(rows.dtype)


def _mean(before, after):
    return np.mean(np.stack([before, after], -1), axis=-1)


def _between(rows, position):
    """One value for each row: at a fractional position, interpolated linearly between two elements."""
    low = int(position)
    part = position - low
    before = rows[..., low]
    if part == 0:
        return before
    after = rows[..., low + 1]
    step = after - before
    return after - step * (1 - part) if part >= 0.5 else before + step * part


# NumPy's functions.


def _is_descending(descending):
    """The argument ``descending``, which sorts have since NumPy 2.5."""
    return descending is not None and descending is not np._NoValue and bool(descending)


def _reversed(a):
    """Elements in the reverse order, in which NaN stays last, as in NumPy's descending sorts."""
    return -a if a.dtype.kind in "fcV" else ~a


def register(functions):
    """Registers handlers of NumPy's sorts, searches and quantiles on traced values, and gives traced values
    the methods of arrays; those that sort in place raise."""

    @implements(np.sort)
    def _sort(a, axis=-1, kind=None, order=None, *, stable=None, descending=None):
        refuse_given("sort", order=order)
        # NumPy's error of an unknown kind.
        np.sort(np.zeros(0), kind=kind)
        if _is_descending(descending):
            return _reversed(functions["sort"](_reversed(a), axis))
        return functions["sort"](a, axis)

    @implements(np.argsort)
    def _argsort(a, axis=-1, kind=None, order=None, *, stable=None, descending=None):
        refuse_given("argsort", order=order)
        a = _with_an_axis(a)
        return functions["argsort"](_reversed(a) if _is_descending(descending) else a, axis)

    @implements(np.partition)
    def _partition(a, kth, axis=-1, kind="introselect", order=None):
        refuse_given("partition", order=order)
        _check_kth(a, kth, axis)
        return functions["sort"](a, axis)

    @implements(np.argpartition)
    def _argpartition(a, kth, axis=-1, kind="introselect", order=None):
        refuse_given("argpartition", order=order)
        a = _with_an_axis(a)
        _check_kth(a, kth, axis)
        return _without_labels(functions["argsort"](a, axis), axis)

    @implements(np.lexsort)
    def _lexsort(keys, axis=-1):
        if getattr(keys, "ndim", 1) == 0:
            raise TypeError("lexsort takes a list of keys: write np.lexsort([x])")
        return functions["lexsort"](list(_keys(keys)), axis)

    @implements(np.searchsorted)
    def _searchsorted(a, v, side="left", sorter=None):
        table = a
        if sorter is not None:
            if np.shape(sorter) != np.shape(a):
                shapes = f"{np.shape(a)}, not {np.shape(sorter)}"
                raise ValueError(f"the sorter has the shape of the table: {shapes}")
            table = _take(asarray(a), asarray(sorter))
        return functions["searchsorted"](table, v, side)

    @implements(np.digitize)
    def _digitize(x, bins, right=False):
        return digitize(x, bins, right)

    @implements(np.interp)
    def _interp(x, xp, fp, left=None, right=None, period=None):
        return interp(x, xp, fp, left, right) if period is None else _periodic(x, xp, fp, period)

    for name, function in (("median", median), ("nanmedian", nanmedian)):
        ARRAY_FUNCTIONS[getattr(np, name)] = _of_axes(name, function)
    for name, function in (("quantile", quantile), ("percentile", percentile)):
        ARRAY_FUNCTIONS[getattr(np, name)] = _of_quantiles(name, function)
    ARRAY_FUNCTIONS[np.nanquantile] = _of_quantiles("nanquantile", _nanquantile_of_numpy)
    ARRAY_FUNCTIONS[np.nanpercentile] = _of_quantiles("nanpercentile", _nanpercentile_of_numpy)

    Tracer.argsort = lambda self, axis=-1, kind=None, order=None, *, stable=None, descending=None: _argsort(
        self, axis, kind, order, stable=stable, descending=descending
    )
    Tracer.argpartition = lambda self, kth, axis=-1, kind="introselect", order=None: _argpartition(
        self, kth, axis, kind, order
    )
    Tracer.searchsorted = lambda self, v, side="left", sorter=None: _searchsorted(self, v, side, sorter)


def _of_axes(name, function):
    def handler(a, axis=None, out=None, overwrite_input=False, keepdims=False):
        refuse_given(name, out=out)
        return function(a, axis, keepdims=bool(keepdims) and keepdims is not np._NoValue)

    return handler


def _of_quantiles(name, function):
    def handler(
        a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *,
        weights=None, interpolation=None
    ):
        refuse_given(name, out=out, interpolation=interpolation)
        keepdims = bool(keepdims) and keepdims is not np._NoValue
        if weights is not None:
            from ._weighted_quantiles import weighted

            return weighted(name, a, q, axis, weights, method, keepdims)
        return function(a, q, axis, method=method, keepdims=keepdims)

    return handler


def _nanquantile_of_numpy(a, q, axis, method, keepdims):
    if method != "linear":
        raise TypeError(f"numpy.nanquantile takes the method 'linear' while it is traced, not {method!r}")
    return nanquantile(a, q, axis, keepdims=keepdims)


def _nanpercentile_of_numpy(a, q, axis, method, keepdims):
    return _nanquantile_of_numpy(a, _hundredths(q), axis, method, keepdims)


def _periodic(x, xp, fp, period):
    """``np.interp`` of a periodic function: the points of one period, and one more on either side."""
    x, xp, fp = (asarray(value) for value in (x, xp, fp))
    if not isinstance(period, Tracer) and period == 0:
        raise ValueError("period must be a non-zero value")
    if xp.ndim != 1 or fp.ndim != 1 or xp.shape != fp.shape:
        raise ValueError("`xp` and `fp` are points and values: arrays with one axis of one size")
    period = np.abs(period)
    x, xp = x.astype(np.float64) % period, xp.astype(np.float64) % period
    order = np.argsort(xp)
    xp, fp = _take(xp, order), _take(fp, order)
    xp = np.concatenate([xp[-1:] - period, xp, xp[:1] + period])
    return interp(x, xp, np.concatenate([fp[-1:], fp, fp[:1]]))


def _keys(keys):
    """The keys of a list, or the rows of an array."""
    return [keys[index] for index in range(keys.shape[0])] if isinstance(keys, Tracer) else keys


def _with_an_axis(x):
    """An array of rank 0 as one of one element, whose position is 0, as NumPy takes it."""
    return x.reshape(1) if x.ndim == 0 else x


def _check_kth(a, kth, axis):
    _arrays.refuse_traced(kth if isinstance(kth, (list, tuple)) else (kth,))
    # NumPy's error of an axis beyond the rank.
    size = math.prod(a.shape) if axis is None else a.shape[axis_indices(axis, a.ndim)[0]]
    kth = np.asarray(kth)
    if kth.dtype.kind not in "iu":
        raise (ValueError if kth.dtype == np.bool_ else TypeError)("Partition index must be integer")
    for position in np.ravel(kth):
        # As in NumPy, each position is one of no elements.
        if 0 not in a.shape and not -size <= position < size:
            raise ValueError(f"kth(={position}) out of bounds ({size})")


# `make_stubs.py` finds these functions by their code objects.
_functions.OPERATION_CODES |= {function.__code__ for function in define("numpy").values()}
