"""NumPy's functions that split, join and arrange arrays, on traced values: compositions of views."""

from __future__ import annotations

import operator

import numpy as np

from . import _arrays, _traced_sizes
from ._advice import refuse_given
from ._functions import asarray
from ._handlers import ARRAY_FUNCTIONS, implements
from ._numbers import is_weak, plain_value, weak
from ._operands import has_tracer
from ._tracing import Tracer


def axis_index(axis, rank):
    """An axis counted from the front; NumPy's error if the array has no such axis."""
    _arrays.refuse_traced((axis,))
    axis = operator.index(axis)
    if not -rank <= axis < rank:
        raise np.exceptions.AxisError(axis, rank)
    return axis % rank


def axis_indices(axis, rank):
    """Distinct axes counted from the front: all axes for ``None``, one, or a list."""
    if axis is None:
        return tuple(range(rank))
    axes = np.ravel(axis) if isinstance(axis, np.ndarray) else axis
    axes = axes if isinstance(axes, (tuple, list, np.ndarray)) else (axes,)
    axes = tuple(axis_index(index, rank) for index in axes)
    if len(set(axes)) != len(axes):
        raise ValueError("repeated axis in `axis` argument")
    return axes


def along(axis, key):
    """The index that applies ``key`` to an axis counted from the front, and keeps all other axes."""
    return (slice(None),) * axis + (key,)


def repeated(x, *counts):
    """An array that repeats ``x`` along new first axes of these sizes, for any sizes of ``x``."""
    return x._call("broadcast", [("sizes", list(counts))]) if counts else x


def promoted(*values):
    """The type of arrays, types and numbers together, as NumPy promotes them."""
    return np.result_type(
        *(value.dtype if isinstance(value, Tracer) else plain_value(value) for value in values)
    )


def weakly_promoted(*values):
    """The type of arrays and numbers together; a Python number takes the type of the arrays."""
    return np.result_type(*(weak(value) if is_weak(value) else asarray(value).dtype for value in values))


def masked(mask, x, fill=0):
    """``x`` where ``mask`` holds, else a number, in the type of ``x``."""
    return np.where(mask, x, np.full((), fill, x.dtype))


def _static(name, **arguments):
    """Refuses traced arguments whose elements determine the size of the result."""
    for argument, value in arguments.items():
        if has_tracer(value):
            raise TypeError(
                f"`{argument}` of numpy.{name} determines the size of the result, which is known while a "
                f"function is traced: name it in `static=`, as in indim.jit(f, static={argument!r}); "
                "and for a mask that is computed write np.where(mask, x, other)"
            )


# Parts of an array.


def _split(name, axis_of=None):
    """The handler of a function that splits; ``axis_of`` gives the axis by the rank of the array."""
    function = np.array_split if name == "array_split" else np.split

    def handler(ary, indices_or_sections, axis=0):
        axis = axis_index(axis if axis_of is None else axis_of(ary.ndim), ary.ndim)
        if _traced_sizes.are_points(indices_or_sections):
            return _traced_sizes.split(ary, indices_or_sections, axis)
        _static(name, indices_or_sections=indices_or_sections)
        if np.ndim(indices_or_sections) == 1:
            # Slices as NumPy takes them, which are valid for all sizes.
            points = [operator.index(point) for point in indices_or_sections]
            return [ary[along(axis, slice(*ends))] for ends in zip((0, *points), (*points, None))]
        parts = function(np.arange(ary.shape[axis]), indices_or_sections)
        ends = [(part[0], part[-1] + 1) if part.size else (0, 0) for part in parts]
        return [ary[along(axis, slice(int(first), int(end)))] for first, end in ends]

    def of_two(ary, indices_or_sections):
        return handler(ary, indices_or_sections)

    ARRAY_FUNCTIONS[getattr(np, name)] = handler if axis_of is None else of_two


def _axis_of_at_least(name, least_rank, axis):
    def axis_of(rank):
        if rank < least_rank:
            raise ValueError(f"{name} only works on arrays of {least_rank} or more dimensions")
        return axis if rank > 1 else 0

    return axis_of


_split("split")
_split("array_split")
_split("hsplit", _axis_of_at_least("hsplit", 1, 1))
_split("vsplit", _axis_of_at_least("vsplit", 2, 0))
_split("dsplit", _axis_of_at_least("dsplit", 3, 2))


def _unstack(x, /, *, axis=0):
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    axis = axis_index(axis, x.ndim)
    return tuple(x[along(axis, index)] for index in range(x.shape[axis]))


if hasattr(np, "unstack"):
    # NumPy has it since 2.1.
    ARRAY_FUNCTIONS[np.unstack] = _unstack


# Several arrays.


@implements(np.column_stack)
def _column_stack(tup):
    arrays = [asarray(array) for array in tup]
    columns = [array if array.ndim > 1 else array.reshape(-1, 1) for array in arrays]
    return np.concatenate(columns, axis=1)


@implements(np.append)
def _append(arr, values, axis=None):
    arr, values = asarray(arr), asarray(values)
    if axis is None:
        return np.concatenate([np.ravel(arr), np.ravel(values)])
    return np.concatenate([arr, values], axis=axis)


@implements(np.block)
def _block(arrays):
    depth = _depth(arrays)
    result = _joined(arrays, depth, max(depth, _rank(arrays)))
    return result._made() if depth == 0 and isinstance(result, Tracer) else result


def _depth(arrays):
    """The number of lists around each array, the same for all."""
    if not isinstance(arrays, list):
        if isinstance(arrays, tuple):
            raise TypeError("np.block takes lists of arrays, not tuples")
        return 0
    if not arrays:
        raise ValueError("a list of np.block is empty")
    depths = {_depth(array) for array in arrays}
    if len(depths) > 1:
        raise ValueError("the lists of np.block have different depths")
    return depths.pop() + 1


def _rank(arrays):
    return max(map(_rank, arrays)) if isinstance(arrays, list) else np.ndim(arrays)


def _joined(arrays, depth, rank):
    """Nested lists of arrays as one array of this rank; the innermost lists join along the last axis."""
    if not isinstance(arrays, list):
        array = asarray(arrays)
        return array[(None,) * (rank - array.ndim)] if array.ndim < rank else array
    return np.concatenate([_joined(array, depth - 1, rank) for array in arrays], axis=-depth)


@implements(np.broadcast_arrays)
def _broadcast_arrays(*args, subok=False):
    arrays = [asarray(array) for array in args]
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    return tuple(np.broadcast_to(array, shape) for array in arrays)


@implements(np.meshgrid)
def _meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    axes = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        axes[:2] = 1, 0
    grids = [
        asarray(x).reshape([-1 if axis == of else 1 for of in range(len(xi))]) for axis, x in zip(axes, xi)
    ]
    grids = grids if sparse else _broadcast_arrays(*grids)
    return tuple(grid._made() if copy and isinstance(grid, Tracer) else grid for grid in grids)


@implements(np.ix_)
def _ix(*args):
    arrays = [asarray(array) for array in args]
    for array in arrays:
        if array.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if array.dtype == np.bool_ and isinstance(array, Tracer):
            raise TypeError("np.ix_ of truth values has a size that depends on data: pass positions")
    arrays = [array if isinstance(array, Tracer) else np.ix_(given)[0] for array, given in zip(arrays, args)]
    return tuple(
        array.reshape([-1 if axis == of else 1 for of in range(len(arrays))])
        for axis, array in enumerate(arrays)
    )


@implements(np.insert)
def _insert(arr, obj, values, axis=None):
    _static("insert", obj=obj)
    arr = asarray(arr)
    # A Python number out of range is NumPy's error.
    values = values if isinstance(values, Tracer) else np.asarray(plain_value(values), arr.dtype)
    if axis is None:
        arr, axis = np.ravel(arr), 0
    if isinstance(arr, Tracer) and arr.ndim == 1 and values.ndim <= 1 and type(obj) is int:
        size = arr._shape_numbers()[0]
        if axis in (0, -1) and -size <= obj <= size:
            # The sizes of the program follow from that of the array.
            return np.concatenate([arr[:obj], values.reshape(-1).astype(arr.dtype), arr[obj:]])
    axis, indices = axis_index(axis, arr.ndim), _positions_of(obj, arr.shape[axis])
    if values.ndim < arr.ndim:
        values = values.reshape((1,) * (arr.ndim - values.ndim) + tuple(values.shape))
    if indices.ndim == 0:
        # NumPy's error of a position out of range, also without values.
        np.insert(np.empty(arr.shape[axis], bool), indices, False)
        # The first axis of the values goes along the axis.
        values = np.moveaxis(values, 0, axis)
    count = values.shape[axis] if indices.size == 1 else indices.size
    shape = list(arr.shape)
    shape[axis] = count
    size = arr.shape[axis]
    if indices.size == 1:
        indices = np.repeat(indices.reshape(1), count)
    order = np.insert(np.arange(size), indices, size + np.arange(count))
    both = np.concatenate([arr, np.broadcast_to(values.astype(arr.dtype), shape)], axis=axis)
    return np.take(both, order, axis=axis, mode="clip")


def _positions_of(obj, size):
    """Where ``np.insert`` inserts: a slice, positions, or truth values."""
    if isinstance(obj, slice):
        return np.arange(*obj.indices(size), dtype=np.intp)
    indices = np.asarray(obj)
    if indices.dtype == np.bool_:
        return np.flatnonzero(indices)
    return indices.astype(np.intp) if indices.size == 0 else indices


@implements(np.delete)
def _delete(arr, obj, axis=None):
    if axis is None:
        arr, axis = np.ravel(arr), 0
    axis = axis_index(axis, arr.ndim)
    if isinstance(obj, Tracer):
        return _traced_sizes.delete(asarray(arr), obj, axis)
    _static("delete", obj=obj)
    return np.take(arr, np.delete(np.arange(arr.shape[axis]), obj), axis=axis, mode="clip")


@implements(np.resize)
def _resize(a, new_shape):
    _arrays.refuse_traced(np.ravel(new_shape) if not isinstance(new_shape, Tracer) else (new_shape,))
    positions = np.resize(np.arange(a.size), new_shape)
    if a.size == 0:
        return np.zeros(positions.shape, a.dtype)
    return np.take(np.ravel(a), positions, mode="clip")


@implements(np.rot90)
def _rot90(m, k=1, axes=(0, 1)):
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    first, second = (axis_index(axis, m.ndim) for axis in axes)
    if first == second:
        raise ValueError("Axes must be different.")
    k = operator.index(k) % 4
    if k == 0:
        return m
    if k == 2:
        return np.flip(m, (first, second))
    turned = np.flip(m, second) if k == 1 else m
    turned = np.swapaxes(turned, first, second)
    return turned if k == 1 else np.flip(turned, second)


# Triangles and diagonals.


@implements(np.tril)
def _tril(m, k=0):
    return masked(np.tri(*m.shape[-2:], k=k, dtype=bool), m)


@implements(np.triu)
def _triu(m, k=0):
    return masked(~np.tri(*m.shape[-2:], k=k - 1, dtype=bool), m)


@implements(np.diag)
def _diag(v, k=0):
    if v.ndim == 2:
        return np.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    k = operator.index(k)
    rows = np.pad(v, (max(-k, 0), max(k, 0)))
    return masked(np.eye(v.shape[0] + abs(k), k=k, dtype=bool), rows[:, None])


@implements(np.diagflat)
def _diagflat(v, k=0):
    return np.diag(np.ravel(v), k)


if hasattr(np.linalg, "diagonal"):
    # NumPy has them since 2.0.
    ARRAY_FUNCTIONS[np.linalg.diagonal] = lambda x, /, *, offset=0: np.diagonal(x, offset, -2, -1)
    ARRAY_FUNCTIONS[np.linalg.trace] = lambda x, /, *, offset=0, dtype=None: np.trace(
        x, offset, -2, -1, dtype=dtype
    )


# Choices.


@implements(np.choose)
def _choose(a, choices, out=None, mode="raise"):
    refuse_given("choose", out=out)
    choices = [choice if isinstance(choice, (bool, int, float)) else asarray(choice) for choice in choices]
    dtype = promoted(*choices)
    a, *arrays = _broadcast_arrays(a, *(asarray(choice).astype(dtype) for choice in choices))
    stacked = np.stack(arrays, axis=0)
    if not np.can_cast(a.dtype, np.int64, "safe"):
        raise TypeError(f"numpy.choose takes indices that fit int64, not {a.dtype}: convert them by astype")
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    if mode == "raise" and a.dtype.kind == "i":
        # A negative index is an error here, and not counted from the end.
        a = np.where(a < 0, np.asarray(len(arrays), np.int64), a)
    if mode == "wrap":
        a = a % len(arrays)
    elif mode == "clip":
        a = np.clip(a, 0, len(arrays) - 1)
    return np.take_along_axis(stacked, a[None].astype(np.int64), axis=0)[0]


@implements(np.piecewise)
def _piecewise(x, condlist, funclist, *args, **kw):
    conditions = [asarray(condition).astype(bool) for condition in _conditions(condlist, x)]
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} "
            "functions are expected"
        )
    x = asarray(x)
    conditions = _masks(conditions, x.shape)

    def part(function):
        value = function(x, *args, **kw) if callable(function) else function
        if isinstance(value, Tracer):
            return value.astype(x.dtype)
        value = np.asarray(plain_value(value), x.dtype)
        if not callable(function) and value.size != 1:
            raise ValueError(
                f"NumPy boolean array indexing assignment cannot assign {value.size} input values: pass a "
                "number or a function for each condition of np.piecewise"
            )
        return value if callable(function) else value.reshape(())

    result = part(funclist[-1]) if len(funclist) > len(conditions) else np.zeros((), x.dtype)
    for condition, function in zip(conditions, funclist):
        result = np.where(condition, part(function), result)
    return np.broadcast_to(result, x.shape)


def _masks(conditions, shape):
    """The conditions as masks of an array of this shape, whose first axes they have."""
    shapes = [tuple(condition.shape) for condition in conditions]
    if len(set(shapes)) > 1:
        raise ValueError(f"the conditions of np.piecewise have different shapes: {shapes}")
    for of_condition in shapes[:1]:
        if of_condition != tuple(shape[: len(of_condition)]):
            raise IndexError(
                f"boolean index did not match indexed array: conditions of shape {of_condition} for an array "
                f"of shape {tuple(shape)}"
            )
        rest = (1,) * (len(shape) - len(of_condition))
        return [condition.reshape(of_condition + rest) for condition in conditions]
    return conditions


def _conditions(condlist, x):
    """The conditions as a list; a single one may be given without a list."""
    if isinstance(condlist, (list, tuple)):
        is_single = bool(condlist) and np.ndim(condlist[0]) == 0 and np.ndim(x) != 0
        return [asarray(condlist)] if is_single else condlist
    is_single = condlist.ndim == 0 or (condlist.ndim == 1 and np.ndim(x) != 0)
    return [condlist] if is_single else [condlist[at] for at in range(condlist.shape[0])]


# Functions of shapes and types alone.


def _of_type(function):
    """Registers a handler that calls NumPy's ``function`` on arrays of the same shapes and types, whose
    elements it does not read."""

    def placeholder(value):
        if isinstance(value, Tracer):
            return np.broadcast_to(np.zeros((), value.dtype), value.shape)
        return value

    def handler(*args, **kwargs):
        return function(*map(placeholder, args), **kwargs)

    ARRAY_FUNCTIONS[function] = handler


for _function in (
    *(np.iscomplexobj, np.isrealobj, np.common_type, np.einsum_path),
    *(np.diag_indices_from, np.tril_indices_from, np.triu_indices_from),
):
    _of_type(_function)
del _function


# Methods and attributes of arrays.


def _choose_of(self, choices, out=None, mode="raise"):
    return np.choose(self, choices, out, mode)


def _compress_of(self, condition, axis=None, out=None):
    return np.compress(condition, self, axis, out)


def _diagonal_of(self, offset=0, axis1=0, axis2=1):
    return np.diagonal(self, offset, axis1, axis2)


def _trace_of(self, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return np.trace(self, offset, axis1, axis2, dtype, out)


def _to_device(self, device, /, *, stream=None):
    if device != "cpu" or stream is not None:
        raise ValueError("the device of arrays is 'cpu', without streams")
    return self


Tracer.choose, Tracer.compress, Tracer.to_device = _choose_of, _compress_of, _to_device
Tracer.diagonal, Tracer.trace = _diagonal_of, _trace_of
Tracer.device = property(lambda self: "cpu")
Tracer.itemsize = property(lambda self: self.dtype.itemsize)
Tracer.nbytes = property(lambda self: self.size * self.dtype.itemsize)
