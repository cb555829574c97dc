"""Assignments to traced values, ``y[key] = values``, and NumPy's functions that write into an array.

A traced value is a name for a result of the program, so an assignment makes a new result and gives the
value its name. A function may write into the arrays that it has made, and into views of them, which writes
into the array (`_view_writes.py`). A view is made again when it is used after an assignment. A write into an
argument is an error.
"""

from __future__ import annotations

import numpy as np

from . import _captured, _functions, _masks, _scatters, _ufunc_methods
from ._advice import refuse_given
from ._handlers import implements
from ._indexable import note_write
from ._numbers import Number, is_number
from ._operands import as_array, has_tracer, index_keys
from ._recording import running_recording
from ._traced_memory import IMMUTABLE
from ._traced_sizes import is_traced_slice
from ._tracing import Tracer
from ._tracing import result_tracer
from ._view_writes import is_part


def _setitem(x, key, values):
    x._forget_rebinding(values)
    _check_writable(x)
    keys = index_keys(key)
    if isinstance(values, Tracer) and is_part(x, keys, values):
        return
    x._become(updated(x, keys, _converted(values, x.dtype)))


def write_part(x, name, values):
    """``x.real = values`` and ``x.imag = values``."""
    if x.dtype.kind != "c":
        if name == "imag":
            raise TypeError(f"`{x._value_text}` has no imaginary part, because it is {x.dtype}")
        return _setitem(x, Ellipsis, values)
    x._forget_rebinding(values)
    _check_writable(x)
    values = np.broadcast_to(_converted(values, x.real.dtype), x.shape)
    parts = {"real": x.real, "imag": x.imag, name: values}
    x._become(_functions.apply("complex", (parts["real"], parts["imag"]), rule="numpy"))


def _check_writable(x):
    function = x._recording.function
    x._recording.recorder(x._value_text)
    x._update()
    if x._recording.namespace is not None:
        # xarray shares arrays between objects without views, and runs such a function itself.
        raise TypeError(f"`{x._value_text}` cannot be assigned to while {function} is traced")
    if x._is_writable():
        return
    if x._storage is IMMUTABLE:
        name = _captured.name_of(x) or "y"
        raise TypeError(
            f"`{name}` is made by indim.numpy, whose arrays are not written into, as in JAX: write {name} = "
            f"{name}.at[key].set(values), or make it by numpy, such as np.zeros"
        )
    if x._recording is not running_recording():
        raise TypeError(
            f"`{x._value_text}` belongs to {function}, and the function of a loop, a branch or a derivative "
            f"cannot assign to it: return `{x._value_text}.at[key].set(values)`, a new array"
        )
    if x._memory is not None:
        raise TypeError(
            f"`{x._value_text}` is a view that is read-only in NumPy: assign to the array itself, or to a "
            "copy() of the view"
        )
    raise TypeError(
        f"`{x._value_text}` cannot be assigned to while {function} is traced, because it is an argument or "
        f"comes from outside, and a compiled function does not write into those: write y = "
        f"{x._text_of_operand()}.copy() first, and assign to y; or write "
        f"`{x._text_of_operand()}.at[key].set(values)` or np.where(condition, values, x), a new array"
    )


def _converted(values, dtype):
    """The assigned values in the type of the array: NumPy truncates floats for integers."""
    if type(values) is Number:
        values = result_tracer(values._recording, values)
    elif is_number(values) or isinstance(values, np.generic):
        # NumPy's errors for numbers that the type does not have.
        number = np.zeros((), dtype)
        number[()] = values
        return number
    elif not isinstance(values, Tracer):
        values = as_array(values) if has_tracer(values) else values
        # Each call reads the elements of an outside array.
        values = _functions.recorded(values)
    if values.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError(f"complex numbers lose their imaginary parts as {dtype}: assign `values.real`")
    return values if values.dtype == dtype else values.astype(dtype)


def updated(x, keys, values):
    """``x`` after the assignment of ``values`` to ``x[keys]``, as a new value."""
    if len(keys) == 1 and _masks.is_mask(keys[0]):
        mask = keys[0] if isinstance(keys[0], Tracer) else np.asarray(keys[0])
        if values.ndim <= x.ndim - mask.ndim:
            return _chosen(x, mask, values)
    ranges = _ranges(x, keys)
    if ranges is not None:
        return _in_ranges(x, *ranges, values)
    if all(key is Ellipsis or isinstance(key, slice) or _is_position(key) for key in keys):
        values = _without_leading(values, x.ndim - sum(map(_is_position, keys)))
    return _scatters.At(x)[keys if len(keys) != 1 else keys[0]].set(values)


def _chosen(x, mask, values):
    """``x`` with ``values`` in place of the elements, or rows, that a mask takes."""
    if x._shape[: mask.ndim] != mask.shape:
        _masks._check(_masks._mask(x, mask), x, 0)
    mask = mask.reshape(tuple(mask.shape) + (1,) * (x.ndim - mask.ndim))
    return np.where(mask, np.broadcast_to(values, x.shape) if values.ndim else values, x)


def _ranges(x, keys):
    """The first and last position of each axis, whether the axis is reversed, and the shape of ``x[keys]``;
    None for other keys than numbers and slices of neighbours."""
    if not all(key is Ellipsis or isinstance(key, (int, np.integer, slice)) for key in keys):
        return None
    if any(isinstance(key, (bool, np.bool_)) for key in keys) or keys.count(Ellipsis) > 1:
        return None
    if any(map(is_traced_slice, keys)):
        return None
    count = len(keys) - keys.count(Ellipsis)
    if count > x.ndim:
        raise IndexError(f"{count} indices for `{x._value_text}`, an array of {x.ndim} axes")
    fill = (slice(None),) * (x.ndim - count)
    at = keys.index(Ellipsis) if Ellipsis in keys else len(keys)
    bounds, shape = [], []
    for key, size in zip((*keys[:at], *fill, *keys[at + 1 :]), x.shape):
        if isinstance(key, slice):
            start, stop, step = key.indices(size)
            count = len(range(start, stop, step))
            if step not in (1, -1) and count > 1:
                return None
            first = start if step > 0 else start - count + 1
            shape.append(count)
            bounds.append((first, first + count, step < 0))
        else:
            if not -size <= key < size:
                raise IndexError(f"index {key} is out of bounds for axis of size {size} of `{x._value_text}`")
            bounds.append((int(key) % size, int(key) % size + 1, False))
    return bounds, shape


def _is_position(key):
    """Whether a key is one whole number, which may be traced."""
    if isinstance(key, Tracer):
        return key.ndim == 0 and key.dtype.kind in "iu"
    return isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_))


def _without_leading(values, rank):
    """The values without leading axes of size 1 that an array of this rank does not have."""
    while values.ndim > rank and values.shape[0] == 1:
        values = values[0]
    return values


def _in_ranges(x, bounds, shape, values):
    values = np.broadcast_to(_without_leading(values, len(shape)), shape)
    if 0 in shape:
        return x
    values = values.reshape([stop - start for start, stop, _ in bounds])
    reversed_axes = tuple(axis for axis, (_, _, is_reversed) in enumerate(bounds) if is_reversed)
    values = np.flip(values, reversed_axes) if reversed_axes else values
    cut = [axis for axis, (start, stop, _) in enumerate(bounds) if stop - start < x.shape[axis]]
    return _placed(x, bounds, cut, _functions.recorded(values))


def _placed(x, bounds, cut, values):
    """``x`` with ``values`` between the bounds of the axes ``cut``."""
    if not cut:
        return values
    axis, before = cut[0], (slice(None),) * cut[0]
    start, stop, _ = bounds[axis]
    inner = _placed(x[(*before, slice(start, stop))], bounds, cut[1:], values) if cut[1:] else values
    parts = [x[(*before, slice(start))], inner, x[(*before, slice(stop, None))]]
    return np.concatenate([part for part in parts if part.shape[axis]], axis)


# NumPy's functions and methods that write into an array.


def _write(x, values):
    """Gives ``x`` the elements of ``values``, of its shape."""
    _setitem(x, Ellipsis, values)


def _destination(name, x):
    """The array that NumPy's function ``name`` writes into."""
    if not isinstance(x, Tracer):
        running_recording().request_elements()
        note_write(x)
        raise TypeError(
            f"numpy.{name} cannot write traced values into an array of NumPy: make the array by "
            "np.zeros_like(x) and the like"
        )
    return x


@implements(np.copyto)
def _copyto(dst, src, casting="same_kind", where=True):
    dst, src = _destination("copyto", dst), _functions.asarray(src)
    if not np.can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(f"Cannot cast array data from {src.dtype!r} to {dst.dtype!r} with rule '{casting}'")
    _write(dst, src if where is True else np.where(where, src.astype(dst.dtype), dst))


@implements(np.fill_diagonal)
def _fill_diagonal(a, val, wrap=False):
    a = _destination("fill_diagonal", a)
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    if wrap and a.ndim == 2:
        _fill_wrapped_diagonal(a, val)
        return
    positions = np.arange(min(a.shape))
    count, values = len(positions), _converted(val, a.dtype)
    if values.ndim:
        # NumPy repeats the values along the diagonal.
        values = np.resize(values.reshape(-1), (count,))
    a[(positions,) * a.ndim] = values


def _fill_wrapped_diagonal(a, val):
    """The diagonal of a tall matrix begins again after a row without it."""
    positions = np.arange(0, a.shape[0] * a.shape[1], a.shape[1] + 1)
    values = _converted(val, a.dtype)
    if values.ndim:
        values = np.resize(values.reshape(-1), (len(positions),))
    _write(a, _scatters.At(a.reshape(-1))[positions].set(values).reshape(a.shape))


@implements(np.put)
def _put(a, ind, v, mode="raise"):
    a = _destination("put", a)
    indices = _functions.asarray(ind).reshape(-1)
    if mode == "clip":
        # Then NumPy does not count from the end.
        indices = np.maximum(indices, 0)
    values = np.resize(_converted(v, a.dtype).reshape(-1), indices.shape)
    _write(a, _scatters.At(a.reshape(-1))[indices].set(values, mode=mode).reshape(a.shape))


@implements(np.putmask)
def _putmask(a, mask, values):
    a = _destination("putmask", a)
    _write(a, np.where(mask, np.resize(_converted(values, a.dtype), a.shape), a))


@implements(np.place)
def _place(arr, mask, vals):
    arr, values = _destination("place", arr), _functions.recorded(vals).reshape(-1)
    mask = _functions.asarray(mask).astype(bool)
    order = np.cumsum(mask).reshape(mask.shape) - 1
    _write(arr, np.where(mask, np.take(values, order, mode="wrap"), arr))


@implements(np.put_along_axis)
def _put_along_axis(arr, indices, values, axis):
    arr = _destination("put_along_axis", arr)
    _write(arr, _scatters.put_along_axis(arr, indices, _converted(values, arr.dtype), axis))


#: Methods of updates by the names of ufuncs.
UPDATES = {"add": "add", "maximum": "max", "minimum": "min", "multiply": "multiply", "subtract": "subtract"}


def ufunc_at(ufunc, x, indices, values=None):
    """``ufunc.at(x, indices, values)``."""
    x = _destination(f"{ufunc.__name__}.at", x)
    _check_writable(x)
    if ufunc.__name__ in UPDATES:
        x._become(getattr(_scatters.At(x)[indices], UPDATES[ufunc.__name__])(values))
    else:
        x._become(_ufunc_methods.at(ufunc, x._snapshot(), indices, values))


class _Flat:
    """``x.flat``: the elements in row-major order, for indices and assignments."""

    __slots__ = ("_array",)

    def __init__(self, array):
        self._array = array

    def __getitem__(self, key):
        # NumPy's results are copies.
        return self._array.reshape(-1)[key].copy()

    def __setitem__(self, key, values):
        _check_writable(self._array)
        flat = self._array.reshape(-1).copy()
        values = _converted(values, flat.dtype)
        if values.ndim and not (has_tracer(key) or is_traced_slice(key)):
            shape = np.arange(flat.shape[0])[key].shape
            if shape and values.size == 0:
                return
            # NumPy repeats the values, or leaves out the last ones.
            values = np.resize(values.reshape(-1), shape) if shape else values
        flat[key] = values
        self._array._become(flat.reshape(self._array.shape))

    def __iter__(self):
        return iter(self._array.reshape(-1))

    def __len__(self):
        return self._array.size


def _set_flat(self, values):
    # NumPy repeats the values.
    _setitem(self, Ellipsis, np.resize(_converted(values, self.dtype), self.shape))


def _fill(self, value):
    self[...] = value


def _sort_of(self, axis=-1, kind=None, order=None, *, stable=None, descending=None):
    # Sorts of NumPy before 2.5 take no `descending`.
    options = {} if descending is None else {"descending": descending}
    _write(self, np.sort(self, axis, kind=kind, order=order, **options))


def _partition_of(self, kth, axis=-1, kind="introselect", order=None):
    _write(self, np.partition(self, kth, axis))


def _put_of(self, indices, values, mode="raise"):
    np.put(self, indices, values, mode)


Tracer.__setitem__, Tracer.fill, Tracer.put = _setitem, _fill, _put_of
Tracer.sort, Tracer.partition = _sort_of, _partition_of
Tracer.flat = property(_Flat, _set_flat)
