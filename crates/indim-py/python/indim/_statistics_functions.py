"""NumPy's weighted means, covariances and histograms, on traced values: compositions of reductions."""

from __future__ import annotations

import numpy as np

from . import _arrays
from ._functions import asarray, recorded
from ._handlers import implements
from ._operands import has_tracer
from ._scatters import scatter
from ._shape_functions import axis_indices, promoted
from ._tracing import Tracer


def _axes(axis, rank):
    """The axes of a reduction as a tuple, or ``None`` for all."""
    if axis is None:
        return None
    return axis_indices(axis, rank)


@implements(np.average)
def _average(a, axis=None, weights=None, returned=False, *, keepdims=np._NoValue):
    a = asarray(a)
    axis = _axes(axis, a.ndim)
    keepdims = keepdims is not np._NoValue and bool(keepdims)
    if weights is None:
        average = np.mean(a, axis=axis, keepdims=keepdims)
        count = np.prod([a.shape[index] for index in (range(a.ndim) if axis is None else axis)], dtype=int)
        total = np.full((), count, average.dtype)
    else:
        weights = _weights(a, recorded(weights), axis)
        dtype = promoted(a, weights, *(["f8"] if a.dtype.kind in "biu" else []))
        total = np.sum(weights, axis=axis, dtype=dtype, keepdims=keepdims)
        if not isinstance(total, Tracer) and np.any(total == 0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        weighted = a.astype(dtype) * weights.astype(dtype)
        average = np.sum(weighted, axis=axis, keepdims=keepdims) / total
    return (average, np.broadcast_to(total, average.shape)) if returned else average


def _weights(a, weights, axis):
    """The weights in a shape that broadcasts onto ``a``: they have its shape, or that of ``axis``."""
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weights.shape != tuple(a.shape[index] for index in axis):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    shape = [size if index in axis else 1 for index, size in enumerate(a.shape)]
    return np.transpose(weights, np.argsort(axis)).reshape(shape)


@implements(np.cov)
def _cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    ddof = int(not bias) if ddof is None else int(ddof)
    samples = [asarray(values) for values in (m, y) if values is not None]
    dtype = promoted(*samples, np.float64) if dtype is None else dtype
    rows = [_variables(name, values, rowvar, dtype) for name, values in zip("my", samples)]
    x = rows[0] if len(rows) == 1 else np.concatenate(rows, axis=0)
    if x.shape[0] == 0:
        return np.zeros((0, 0))
    weights, factor = _sample_weights(x.shape[1], ddof, fweights, aweights)
    average = np.average(x, axis=1, weights=weights)
    # Not to integers.
    x = (x - average[:, None]).astype(dtype, casting="same_kind")
    weighted = x if weights is None else x * weights
    products = np.dot(x, np.conj(weighted.T))
    return np.squeeze((products * factor).astype(products.dtype))


def _variables(name, values, rowvar, dtype):
    """One variable in each row."""
    if values.ndim > 2:
        raise ValueError(f"{name} has more than 2 dimensions")
    rows = np.atleast_2d(values).astype(dtype)
    is_column = not rowvar and (values.ndim == 2 if name == "m" else rows.shape[0] != 1)
    return rows.T if is_column else rows


def _sample_weights(count, ddof, fweights, aweights):
    """The weight of each sample, and the factor of the sums of products."""
    if fweights is None and aweights is None:
        # NumPy warns, and divides by zero.
        return None, 1 / (count - ddof) if count > ddof else np.inf
    factors = [
        _checked_weights(count, *pair) for pair in (("f", fweights), ("a", aweights)) if pair[1] is not None
    ]
    weights = factors[0] if len(factors) == 1 else factors[0] * factors[1]
    total = np.sum(weights)
    if ddof == 0:
        size = total
    elif aweights is None:
        size = total - ddof
    else:
        size = total - ddof * np.sum(weights * factors[-1]) / total
    return weights, 1 / np.where(size <= 0, 0.0, size)


def _checked_weights(count, letter, weights):
    name = f"{letter}weights"
    weights = asarray(weights)
    if weights.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if weights.shape[0] != count:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if isinstance(weights, Tracer):
        if letter == "f" and weights.dtype.kind not in "biu":
            raise TypeError("fweights must be integer: convert them by fweights.astype(int)")
    elif letter == "f" and (weights != np.around(weights)).any():
        raise TypeError("fweights must be integer")
    elif (weights < 0).any():
        raise ValueError(f"{name} cannot be negative")
    return weights.astype(np.float64)


@implements(np.corrcoef)
def _corrcoef(x, y=None, rowvar=True, *, dtype=None):
    covariance = np.cov(x, y, rowvar, dtype=dtype)
    if covariance.ndim == 0:
        return covariance / covariance
    deviation = np.sqrt(np.diagonal(covariance).real)
    correlation = covariance / deviation[:, None] / deviation[None, :]
    if correlation.dtype.kind != "c":
        return np.clip(correlation, -1, 1)
    # The imaginary part is clipped too; the unit is exact in both types.
    unit = np.full((), 1j, correlation.dtype)
    return np.clip(correlation.real, -1, 1) + np.clip(correlation.imag, -1, 1) * unit


# Histograms.


@implements(np.histogram_bin_edges)
def _histogram_bin_edges(a, bins=10, range=None, weights=None):
    a = asarray(a)
    edges = _given_edges(a, bins)
    if edges is not None:
        return edges
    first, last = _outer_edges(a, range)
    dtype = promoted(first, last, a)
    return np.linspace(
        first, last, int(bins) + 1, dtype=dtype if dtype.kind == "f" else promoted(dtype, float)
    )


def _given_edges(a, bins):
    """The edges that the caller passes, or ``None`` for a number of bins."""
    if a.dtype.kind == "c":
        raise TypeError("numpy.histogram takes real numbers: pass x.real or np.abs(x)")
    if isinstance(bins, str):
        raise _error_of_estimator(bins)
    bins = asarray(bins)
    if bins.ndim == 1:
        if not isinstance(bins, Tracer) and (bins[:-1] > bins[1:]).any():
            raise ValueError("`bins` must increase monotonically, when an array")
        return bins
    _arrays.refuse_traced((bins,))
    if bins.ndim > 1:
        raise ValueError("`bins` must be 1d, when an array")
    if bins.dtype.kind not in "biu":
        raise TypeError("`bins` must be an integer, a string, or an array")
    if int(bins) < 1:
        raise ValueError("`bins` must be positive, when an integer")
    return None


#: The number of bins of NumPy's estimators that depend on the number of elements alone, unless elements are
#: equal or integers in few bins.
_ESTIMATORS = {
    "rice": "int(np.ceil(2 * x.size ** (1 / 3)))",
    "sqrt": "int(np.ceil(np.sqrt(x.size)))",
    "sturges": "int(np.ceil(np.log2(x.size) + 1))",
}


def _error_of_estimator(bins):
    if bins not in (*_ESTIMATORS, "auto", "doane", "fd", "scott", "stone"):
        return ValueError(f"{bins!r} is not a valid estimator for `bins`")
    written = _ESTIMATORS.get(bins, _ESTIMATORS["sturges"])
    return TypeError(
        f"the number of bins of bins={bins!r} depends on data, and is known while a function is traced: "
        f"write bins={written}, or pass the edges"
    )


def _outer_edges(a, range):
    if range is not None:
        first, last = range
        if not has_tracer((first, last)):
            if first > last:
                raise ValueError("max must be larger than min in range parameter.")
            if not np.isfinite([first, last]).all():
                raise ValueError(f"supplied range of [{first}, {last}] is not finite")
    elif a.size == 0:
        first, last = 0.0, 1.0
    else:
        first, last = np.min(a), np.max(a)
    if not has_tracer([first, last]):
        return (first - 0.5, last + 0.5) if first == last else (first, last)
    is_point = asarray(first) == asarray(last)
    return np.where(is_point, first - 0.5, first), np.where(is_point, last + 0.5, last)


@implements(np.histogram)
def _histogram(a, bins=10, range=None, density=None, weights=None):
    a = np.ravel(asarray(a))
    edges = _histogram_bin_edges(a, bins, range)
    is_uniform = np.ndim(bins) == 0
    if weights is None and not is_uniform:
        counts = np.diff(_bounds(np.sort(a), edges))
    else:
        weights = np.ones(a.shape, np.int64) if weights is None else np.ravel(asarray(weights))
        if weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        counts = _weighted_counts(a, edges, weights, is_uniform)
    if not density:
        return counts, edges
    widths = np.diff(edges).astype(np.float64)
    return counts / widths / np.sum(counts), edges


def _bounds(ordered, edges):
    """The number of elements below each edge; the last bin contains its upper edge."""
    return np.concatenate(
        [np.searchsorted(ordered, edges[:-1], "left"), np.searchsorted(ordered, edges[-1:], "right")]
    )


def _bins(a, edges):
    """The bin of each element; for NaN and elements outside of all bins, the number of bins."""
    count = edges.shape[0] - 1
    bins = np.searchsorted(edges, a, "right") - 1
    bins = np.where(a == edges[-1], count - 1, bins)
    return np.where((a >= edges[0]) & (a <= edges[-1]), bins, count)


def _uniform_bins(a, edges):
    """The bin of each element, as `_bins`, for bins of one width: computed, then compared with the edges, as
    NumPy does."""
    count, a, edges = edges.shape[0] - 1, a.astype(edges.dtype), recorded(edges)
    first, last = edges[0], edges[-1]
    bins = ((a - first) / (last - first) * count).astype(np.int32 if count < 1 << 30 else np.int64)
    bins = np.minimum(bins, count - 1)
    bins = bins - (a < np.take(edges, bins, mode="clip"))
    bins = bins + ((a >= np.take(edges, bins + 1, mode="clip")) & (bins < count - 1))
    return np.where((a >= first) & (a <= last), bins, count)


def _weighted_counts(a, edges, weights, is_uniform=True):
    if weights.dtype == np.bool_:
        if not is_uniform:
            raise TypeError("weights of truth values cannot be added in bins of given edges: convert them")
        return _weighted_counts(a, edges, weights.astype(np.int64)) != 0
    start = np.zeros(edges.shape[0] - 1, weights.dtype)
    bins = _uniform_bins(a, edges) if is_uniform else _bins(a, edges)
    return scatter("scatter_add", start, bins, weights, "drop")


def _edges_in_common_type(a, bins, range):
    """Edges in the type of the outer ones, unlike those of ``np.histogram``."""
    edges = _given_edges(a, bins)
    return np.linspace(*_outer_edges(a, range), int(bins) + 1) if edges is None else edges


def _samples(sample):
    """The samples along each axis, of one length and in their common type."""
    if isinstance(sample, Tracer) or getattr(sample, "ndim", 0) > 0:
        sample = np.atleast_1d(recorded(sample))
        columns = [sample] if sample.ndim == 1 else [sample[:, axis] for axis in range(sample.shape[1])]
    else:
        columns = [recorded(column) for column in sample]
    if all(column.ndim == 0 for column in columns):
        # NumPy takes a list of numbers as samples along one axis.
        columns = [np.stack(columns)]
    if any(column.ndim == 0 for column in columns):
        raise ValueError("the samples of numpy.histogramdd are arrays of one length, not some numbers")
    if any(column.ndim > 1 for column in columns):
        raise ValueError("the samples of numpy.histogram2d have one axis: pass x.ravel()")
    if any(column.shape[0] != columns[0].shape[0] for column in columns):
        raise ValueError("The samples of all dimensions must have the same length.")
    dtype = promoted(*columns)
    return [column.astype(dtype) for column in columns]


def _bins_of_axes(bins, rank):
    """The bins of each axis."""
    if not isinstance(bins, (list, tuple)) and np.ndim(bins) == 0:
        return (bins,) * rank
    if len(bins) != rank:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    return tuple(bins)


@implements(np.histogram2d)
def _histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    if not np.ndim(x) or not np.ndim(y):
        raise TypeError("the samples of numpy.histogram2d are arrays, not numbers: they have no len()")
    if np.shape(x)[0] != np.shape(y)[0]:
        raise ValueError("x and y must have the same length.")
    if (isinstance(bins, (list, tuple)) or np.ndim(bins) > 0) and len(bins) not in (1, 2):
        bins = (bins, bins)
    counts, edges = _histogramdd((x, y), bins, range, density, weights)
    return counts, *edges


@implements(np.histogramdd)
def _histogramdd(sample, bins=10, range=None, density=None, weights=None):
    columns = _samples(sample)
    rank, length = len(columns), columns[0].shape
    bins, range = _bins_of_axes(bins, rank), (None,) * rank if range is None else range
    if len(range) != rank:
        raise ValueError("range argument must have one entry per dimension")
    weights = np.ones(length) if weights is None else recorded(weights).astype(np.float64, casting="safe")
    if weights.shape != length:
        raise ValueError("The weights and list don't have the same length.")
    edges = [_edges_in_common_type(*axis) for axis in zip(columns, bins, range)]
    shape = tuple(of_axis.shape[0] - 1 for of_axis in edges)
    count = int(np.prod(shape, dtype=object))
    position, is_within = 0, True
    for column, of_axis, size in zip(columns, edges, shape):
        of_column = _bins(column, of_axis)
        position, is_within = position * size + of_column, (of_column < size) & is_within
    position = np.where(is_within, position, count)
    counts = scatter("scatter_add", np.zeros(count), position, weights, "drop").reshape(shape)
    if density:
        counts = counts / np.sum(counts)
        for axis, of_axis in enumerate(edges):
            widths = np.diff(of_axis)
            counts = counts / widths.reshape([-1 if other == axis else 1 for other in np.arange(rank)])
    # A list, as NumPy's.
    return counts, edges
