"""Functions of ``jax.lax`` with other parameters than the operations of the same name or of NumPy."""

from __future__ import annotations

import builtins
import math
import operator

import numpy as np

from . import _functions, xla
from ._arrays import indim_name, numpy_dtype
from ._functions import asarray
from ._jax_numpy import as_traced
from ._products import einsum, matmul
from ._shape_functions import axis_index
from ._sorting import top_k
from ._tracing import Tracer


def dot(lhs, rhs, *, precision=None, preferred_element_type=None):
    """The product of two vectors or matrices."""
    lhs, rhs = asarray(lhs), asarray(rhs)
    if not (0 < lhs.ndim <= 2 and 0 < rhs.ndim <= 2):
        axes = f"{lhs.ndim} and {rhs.ndim} axes"
        raise TypeError(f"lax.dot takes vectors and matrices, not arrays of {axes}: see dot_general")
    return matmul(lhs, rhs, preferred_element_type=preferred_element_type)


def batch_matmul(lhs, rhs, precision=None):
    """The products of matrices in the last two axes."""
    return matmul(lhs, rhs)


def dot_general(lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None):
    """The sums of products over the axes ``dimension_numbers[0]`` of both operands; the axes
    ``dimension_numbers[1]`` are batches, which come first in the result."""
    (contracted, batches), operands = dimension_numbers, (asarray(lhs), asarray(rhs))
    for pair, word in ((contracted, "summed"), (batches, "batch")):
        left, right = ([x.shape[axis] for axis in axes] for x, axes in zip(operands, pair))
        if left != right:
            raise ValueError(f"lax.dot_general: the {word} axes have sizes {left} and {right}")
    labels, free, count = [], [], len(batches[0]) + len(contracted[0])
    for operand, summed, batch in zip(operands, contracted, batches):
        names = dict(zip([*batch, *summed], builtins.range(count)))
        own = [axis for axis in builtins.range(operand.ndim) if axis not in names]
        names |= {axis: count + len(free) + place for place, axis in enumerate(own)}
        free += [names[axis] for axis in own]
        labels.append([names[axis] for axis in builtins.range(operand.ndim)])
    result = [*builtins.range(len(batches[0])), *free]
    return einsum(
        operands[0], labels[0], operands[1], labels[1], result, preferred_element_type=preferred_element_type
    )


def _along_first(name):
    """The scan ``name``, by default along axis 0."""
    function = getattr(xla, name)

    def scan(operand, axis=0, reverse=False):
        return function(operand, axis=operator.index(axis), reverse=reverse)

    return _named(scan, name, function.__doc__)


def _over_axes(name, of_numpy):
    """The reduction ``name`` over all axes of a list."""
    function = getattr(xla, of_numpy)

    def reduction(operand, axes):
        return function(operand, axis=[operator.index(axis) for axis in axes])

    return _named(reduction, name, f"``{of_numpy}`` over these axes.")


def _named(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _of_bits(name, of_numpy, ufunc):
    """The reduction ``name`` of truth values, or of the bits of whole numbers."""
    of_truth_values = _over_axes(name, of_numpy)

    def reduction(operand, axes):
        operand = asarray(operand)
        if operand.dtype.kind == "b":
            return of_truth_values(operand, axes)
        if operand.dtype.kind not in "iu":
            raise TypeError(f"lax.{name} takes truth values and whole numbers, not {operand.dtype}")
        return ufunc.reduce(operand, axis=tuple(operator.index(axis) for axis in axes))

    return _named(reduction, name, f"``{ufunc.__name__}`` over these axes.")


cummax, cummin, cumprod, cumsum = (_along_first(name) for name in ("cummax", "cummin", "cumprod", "cumsum"))
reduce_and = _of_bits("reduce_and", "all", np.bitwise_and)
reduce_or = _of_bits("reduce_or", "any", np.bitwise_or)
reduce_max, reduce_min = _over_axes("reduce_max", "max"), _over_axes("reduce_min", "min")
reduce_prod, reduce_sum = _over_axes("reduce_prod", "prod"), _over_axes("reduce_sum", "sum")


def argmax(operand, axis, index_dtype=np.int32):
    """The position of the largest element along an axis."""
    return xla.argmax(operand, axis=operator.index(axis)).astype(index_dtype)


def argmin(operand, axis, index_dtype=np.int32):
    """The position of the smallest element along an axis."""
    return xla.argmin(operand, axis=operator.index(axis)).astype(index_dtype)


def sort(operand, dimension=-1, is_stable=True, num_keys=1):
    """The elements in increasing order along an axis.

    Of several arrays in a list or tuple, the first ``num_keys`` are keys: elements with equal first keys are
    in the order of their second keys, and so on. All arrays take that order.
    """
    if not isinstance(operand, (list, tuple)):
        return np.sort(asarray(operand), axis=dimension)
    arrays, count = [asarray(array) for array in operand], operator.index(num_keys)
    if not 1 <= count <= len(arrays):
        raise ValueError(f"lax.sort takes 1 to {len(arrays)} keys of {len(arrays)} arrays, not {count}")
    shapes = {tuple(array.shape) for array in arrays}
    if len(shapes) > 1:
        raise TypeError(f"lax.sort takes arrays of one shape, not {', '.join(map(str, sorted(shapes)))}")
    axis = axis_index(dimension, arrays[0].ndim)
    order = xla.lexsort(arrays[:count][::-1], axis=axis)
    return tuple(np.take_along_axis(array, order, axis=axis) for array in arrays)


def sort_key_val(keys, values, dimension=-1, is_stable=True):
    """The keys in increasing order along an axis, and the values in the same order."""
    keys, values = asarray(keys), asarray(values)
    order = np.argsort(keys, axis=dimension, kind="stable")
    return tuple(np.take_along_axis(array, order, axis=dimension) for array in (keys, values))


def slice(operand, start_indices, limit_indices, strides=None):
    """The elements between two corners."""
    operand = asarray(operand)
    strides = [1] * operand.ndim if strides is None else strides
    if not len(start_indices) == len(limit_indices) == len(strides) == operand.ndim:
        raise ValueError(f"lax.slice takes a start, a limit and a stride for each of {operand.ndim} axes")
    parts = [builtins.slice(*part) for part in zip(start_indices, limit_indices, strides)]
    for axis, (part, size) in enumerate(zip(parts, operand.shape)):
        if not 0 <= part.start <= part.stop <= size or part.step < 1:
            text = f"{part.start}:{part.stop}:{part.step}"
            raise IndexError(f"lax.slice: {text} is out of range for axis {axis} of size {size}")
    return operand[tuple(parts)]


def slice_in_dim(operand, start_index, limit_index, stride=1, axis=0):
    """The elements between two positions along an axis; negative positions count from the end."""
    operand = asarray(operand)
    axis = axis_index(axis, operand.ndim)
    size = operand.shape[axis]
    starts, limits, strides = [0] * operand.ndim, list(operand.shape), [1] * operand.ndim
    start, limit = 0 if start_index is None else start_index, size if limit_index is None else limit_index
    starts[axis] = start + size if start < 0 else start
    limits[axis] = limit + size if limit < 0 else limit
    strides[axis] = stride
    return slice(operand, starts, limits, strides)


def index_in_dim(operand, index, axis=0, keepdims=True):
    """The part at a known index along an axis."""
    operand = asarray(operand)
    axis, index = axis_index(axis, operand.ndim), operator.index(index)
    if not -operand.shape[axis] <= index < operand.shape[axis]:
        raise IndexError(f"index {index} is out of range for axis {axis} of size {operand.shape[axis]}")
    index %= operand.shape[axis]
    part = slice_in_dim(operand, index, index + 1, axis=axis)
    return part if keepdims else np.squeeze(part, axis)


def split(operand, sizes, axis=0):
    """The parts of these sizes along an axis."""
    operand = asarray(operand)
    if sum(sizes) != operand.shape[axis]:
        raise ValueError(f"parts of sizes {tuple(sizes)} do not make up axis {axis} of {operand.shape[axis]}")
    ends = [sum(sizes[: place + 1]) for place in builtins.range(len(sizes))]
    return [slice_in_dim(operand, end - size, end, axis=axis) for size, end in zip(sizes, ends)]


def reshape(operand, new_sizes, dimensions=None, *, out=None):
    """The same elements under another shape, in row-major order of the axes ``dimensions``, by default of
    all axes in their order; one size may be -1."""
    if dimensions is not None:
        operand = np.transpose(asarray(operand), tuple(dimensions))
    return _functions.reshape(operand, new_sizes, out=out)


def bitcast_convert_type(operand, new_dtype):
    """The bits of an array as elements of another type. A narrower type adds a last axis, and a wider type
    removes one. A compiled function does not know the bits of its values."""
    if isinstance(operand, Tracer):
        raise TypeError(
            "lax.bitcast_convert_type reads bits, which a traced value does not have: call it before the "
            "call and pass the result as an argument, or return the array and call it on the result"
        )
    operand = np.ascontiguousarray(asarray(operand)).reshape(np.shape(operand))
    own, other = operand.dtype.itemsize, numpy_dtype(indim_name(new_dtype))
    if own >= other.itemsize:
        found = operand.reshape(*operand.shape, 1).view(other)
        return found if own > other.itemsize else found[..., 0]
    if operand.ndim == 0 or operand.shape[-1] * own != other.itemsize:
        count = other.itemsize // own
        raise ValueError(
            f"lax.bitcast_convert_type: an element of {other} has the bits of {count} of {operand.dtype}, so "
            f"the last axis has {count} elements; the shape is {operand.shape}"
        )
    return operand.view(other)[..., 0]


def squeeze(array, dimensions):
    """The array without these axes, of size 1."""
    return np.squeeze(asarray(array), tuple(dimensions))


def rev(operand, dimensions):
    """The array reversed along these axes."""
    return np.flip(asarray(operand), tuple(dimensions))


def collapse(operand, start_dimension, stop_dimension=None):
    """The array with neighbouring axes merged into one."""
    operand = asarray(operand)
    start, stop, _ = builtins.slice(start_dimension, stop_dimension).indices(operand.ndim)
    shape = operand.shape
    if stop < start:
        raise ValueError(f"lax.collapse: no axes from {start_dimension} to {stop_dimension}")
    return operand.reshape((*shape[:start], math.prod(shape[start:stop]), *shape[stop:]))


def broadcast(operand, sizes):
    """The array with new axes of these sizes before its own."""
    operand = asarray(operand)
    return np.broadcast_to(operand, (*sizes, *operand.shape))


def broadcasted_iota(dtype, shape, dimension):
    """The positions along an axis, for all elements of an array of this shape."""
    axis = axis_index(dimension, len(shape))
    positions = np.arange(shape[axis], dtype=np.dtype(dtype))
    return as_traced(np.broadcast_to(positions.reshape((-1,) + (1,) * (len(shape) - axis - 1)), shape))


def full_like(x, fill_value, dtype=None, shape=None):
    """An array like ``x`` with ``fill_value`` everywhere."""
    return np.full_like(asarray(x), fill_value, dtype, shape=shape)


def integer_pow(x, y):
    """The power of a whole number."""
    return asarray(x) ** operator.index(y)


def select_n(which, *cases):
    """For each element the case with the number ``which``; false is the first of two."""
    which = asarray(which)
    if which.dtype == np.bool_ and len(cases) == 2:
        return xla.select(which, cases[1], cases[0])
    return np.choose(which, [asarray(case) for case in cases], mode="clip")


def pad(operand, padding_value, padding_config):
    """The array with ``padding_value`` around it: for each axis the numbers of elements before it, after it,
    and between two of its elements."""
    operand = asarray(operand)
    if len(padding_config) != operand.ndim:
        raise ValueError(f"lax.pad: {len(padding_config)} paddings for {operand.ndim} axes")
    between = [interior for _, _, interior in padding_config]
    for axis, count in enumerate(between):
        if count < 0:
            raise ValueError(f"lax.pad: {count} elements between two elements of axis {axis}")
        if count and operand.shape[axis] > 1:
            shape = list(operand.shape)
            apart = np.expand_dims(operand, axis + 1)
            gap = np.full_like(apart, padding_value, shape=(*shape[: axis + 1], count, *shape[axis + 1 :]))
            shape[axis] *= count + 1
            operand = np.concatenate([apart, gap], axis=axis + 1).reshape(shape)
            operand = slice_in_dim(operand, 0, shape[axis] - count, axis=axis)
    for axis, (low, high, _) in enumerate(padding_config):
        shape = list(operand.shape)
        size, result = shape[axis], shape[axis] + low + high
        if result < 0:
            raise ValueError(f"lax.pad: axis {axis} of size {size} has no {-low - high} elements to remove")
        start = min(max(-low, 0), size)
        limit = max(min(size + high, size), start)
        before = min(max(low, 0), result)
        parts = [slice_in_dim(operand, start, limit, axis=axis)]
        for place, count in ((0, before), (2, result - before - (limit - start))):
            shape[axis] = count
            parts.insert(place, np.full_like(operand, padding_value, shape=tuple(shape)))
        operand = np.concatenate(parts, axis=axis)
    return operand


def pow(x, y, *, broadcast_dimensions=None, out=None):
    """``x`` to the power ``y``; whole exponents of floats take the type of ``x``."""
    base, exponent = (getattr(value, "dtype", None) for value in (x, y))
    if base is not None and exponent is not None and exponent.kind in "iu" and base.kind in "fcV":
        y = y.astype(base)
    return xla.pow(x, y, broadcast_dimensions=broadcast_dimensions, out=out)


def square(x, *, out=None):
    """``x * x``, also of integers."""
    kind = getattr(getattr(x, "dtype", None), "kind", None)
    return xla.multiply(x, x, out=out) if kind in ("i", "u") else xla.square(x, out=out)


def reduce_xor(operand, axes):
    """The exclusive or of truth values, or of the bits of whole numbers, over these axes."""
    return np.bitwise_xor.reduce(asarray(operand), axis=tuple(operator.index(axis) for axis in axes))


def approx_max_k(operand, k, reduction_dimension=-1, **hints):
    """The ``k`` greatest elements and their positions, exactly; JAX's hints have no effect."""
    _check_hints("approx_max_k", hints)
    return top_k(operand, k, reduction_dimension)


def approx_min_k(operand, k, reduction_dimension=-1, **hints):
    """The ``k`` smallest elements and their positions, exactly; JAX's hints have no effect."""
    _check_hints("approx_min_k", hints)
    return top_k(operand, k, reduction_dimension, largest=False)


def _check_hints(name, hints):
    unknown = hints.keys() - {"recall_target", "reduction_input_size_override", "aggregate_to_topk"}
    if unknown:
        raise TypeError(f"lax.{name} takes no {', '.join(sorted(unknown))}")


def broadcast_to_rank(x, rank):
    """``x`` with new axes of size 1 before its own, up to this number of axes."""
    x = asarray(x)
    if rank < x.ndim:
        raise ValueError(f"lax.broadcast_to_rank: an array of {x.ndim} axes has no rank {rank}")
    return np.expand_dims(x, tuple(builtins.range(rank - x.ndim)))


def tile(operand, reps):
    """The array repeated along each axis."""
    operand = asarray(operand)
    if len(reps) != operand.ndim:
        raise ValueError(f"lax.tile takes {operand.ndim} numbers for {operand.ndim} axes, not {len(reps)}")
    return np.tile(operand, tuple(reps))
