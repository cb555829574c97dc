"""The names of ``jax.numpy`` for `numpy.py`: NumPy's signatures, functions that make arrays, element types.

A function that makes an array gives a traced value while a function is traced, which has ``at`` and the other
attributes of traced values. Elsewhere it gives a NumPy array.
"""

from __future__ import annotations

import functools
import inspect

import numpy as np

from . import _arrays, _creation_functions, _functions, _jax_keywords, _scatters, _shape_functions
from . import _sizes_from_data
from ._handlers import ARRAY_FUNCTIONS
from ._joined import Joined, bmat
from ._operands import has_tracer
from ._recording import running_recording
from ._traced_memory import IMMUTABLE
from ._tracing import Tracer


def _has_axis(args):
    return len(args) > 1 and (args[1] is None or isinstance(args[1], (int, np.integer, tuple)))


#: Operations whose positional arguments may also be those of NumPy's function, which has another meaning, and
#: whether they are.
_NUMPY_MEANING = {
    "max": _has_axis,
    "min": _has_axis,
    "nan_to_num": lambda args: len(args) > 1 and isinstance(args[1], bool),
    "select": lambda args: bool(args) and isinstance(args[0], (list, tuple)),
}

#: The operations' names of NumPy's parameters.
_OWN_NAMES = {"a": "x", "m": "x", "arr": "x", "array": "x", "val": "x", "v": "x", "ddof": "correction"}


def complete(namespace):
    """Adds the names of ``jax.numpy`` to the operations of a module."""
    for name, own in list(namespace.items()):
        function = getattr(np, name, None)
        if not name.startswith("_") and inspect.isfunction(own) and not isinstance(function, np.ufunc):
            if callable(function):
                namespace[name] = _with_signature_of_numpy(own, function, _NUMPY_MEANING.get(name))
        elif isinstance(function, np.ufunc) and inspect.isfunction(own) and not hasattr(own, "_ufunc"):
            namespace[name] = _with_ufunc(own, function)
    added = {
        **{name: _made(getattr(np, name)) for name in _MADE_BY},
        **{name: _filled(name, value) for name, value in _FILLED.items()},
        **{name: ScalarType(name) for name in _TYPES},
        **{function.__name__: function for function in _sizes_from_data.FUNCTIONS},
        "argsort": _always_stable(namespace["argsort"]),
        "array": array,
        "asarray": asarray,
        "astype": astype,
        "bincount": _scatters.bincount,
        "clip": _clip(namespace["clip"]),
        "bfloat16": ScalarType("bfloat16"),
        "bool_": ScalarType("bool"),
        "complex_": ScalarType("complex128"),
        "float_": ScalarType("float64"),
        "int4": ScalarType("int4"),
        "uint4": ScalarType("uint4"),
        "c_": Joined(np.c_),
        "r_": Joined(np.r_),
        "fill_diagonal": fill_diagonal,
        "full": full,
        "ndarray": ndarray,
        "place": place,
        "put": put,
        "put_along_axis": put_along_axis,
        "repeat": repeat,
        "roll": _roll(namespace["roll"]),
        "searchsorted": _by_any_method(namespace["searchsorted"]),
        "sort": _always_stable(namespace["sort"]),
        "take": _take(namespace["take"]),
        "take_along_axis": _take_along_axis(namespace["take_along_axis"]),
        "where": _where(namespace["where"]),
    }
    hints = {name: of for name, of in _jax_keywords.HINTS.items() if name in namespace}
    added |= {name: _jax_keywords.without_hints(namespace[name], of) for name, of in hints.items()}
    added |= {name: of for name, of in _jax_keywords.FUNCTIONS.items() if name in namespace}
    namespace.update(added)
    namespace["__all__"] = sorted({*namespace["__all__"], *added})
    for name in ("prod", "sum"):
        namespace[name] = _jax_keywords.with_type_of_elements(namespace[name])


def of_numpy(name):
    """A name of NumPy that needs no version of its own: its functions take traced values."""
    if name == "vectorize":
        # It is imported late, because `vmap` takes the functions of this module.
        from ._vectorize import vectorize

        return vectorize
    if name.startswith("_") or not hasattr(np, name):
        raise AttributeError(f"indim.numpy has no {name!r}, and neither has NumPy")
    if name == "bool":
        # It is no name of the module, whose functions need Python's `bool`.
        return ScalarType("bool")
    found = getattr(np, name)
    if name == "bmat":
        return bmat
    if name in ("ascontiguousarray", "asfortranarray", "require"):
        return _with_layout(found)
    if name == "meshgrid":
        return _in_list(found)
    if name in _jax_keywords.FUNCTIONS:
        return _jax_keywords.FUNCTIONS[name]
    hints = _jax_keywords.HINTS.get(name)
    return found if hints is None else _jax_keywords.without_hints(found, hints)


def _with_layout(function):
    """NumPy's function whose result has one layout in memory, which traced values do not have."""

    @functools.wraps(function)
    def with_layout(a, dtype=None, *args, **kwargs):
        if not has_tracer(a):
            return function(a, dtype, *args, **kwargs)
        result = asarray(a, dtype)
        return np.atleast_1d(result) if function is np.ascontiguousarray else result

    return with_layout


def _in_list(function):
    """NumPy's function of a tuple of arrays, which JAX returns as a list."""

    @functools.wraps(function)
    def in_list(*args, **kwargs):
        return list(function(*args, **kwargs))

    return in_list


def _where(own):
    """``where`` that also takes a condition alone, as ``nonzero``."""

    def where(condition, *choices, size=None, fill_value=0, **keywords):
        if choices or keywords:
            return own(condition, *choices, **keywords)
        return _sizes_from_data.nonzero(condition, size=size, fill_value=fill_value)

    return functools.update_wrapper(where, own)


def _clip(own):
    """``clip`` that also takes one bound by position, or none, as in JAX and the array API."""

    def clip(*args, **keywords):
        if len(args) in (1, 2) and keywords.keys() <= {"min", "max"}:
            args, by_position = args[:1], dict(zip(("min",), args[1:]))
            if by_position.keys() & keywords.keys():
                raise TypeError("clip takes `min` once")
            keywords = {"min": None, "max": None} | by_position | keywords
        return own(*args, **keywords)

    return functools.update_wrapper(clip, own)


def _take(own):
    """``take`` that also has the mode ``fill``, and takes JAX's hints."""

    def take(
        a,
        indices,
        axis=None,
        out=None,
        mode="raise",
        unique_indices=False,
        indices_are_sorted=False,
        fill_value=None,
    ):
        mode = "raise" if mode is None else mode
        if mode != "fill":
            if fill_value is not None:
                raise TypeError("`fill_value` belongs to mode='fill'")
            return own(a, indices, axis, out=out, mode=mode)
        if out is not None:
            raise TypeError("take with mode='fill' takes no `out`")
        a, indices = _functions.asarray(a), _functions.asarray(indices)
        if axis is None:
            a, axis = a.reshape(-1), 0
        axis, places = _shape_functions.axis_index(axis, a.ndim), range(indices.ndim)
        found = _scatters.at(np.moveaxis(a, axis, 0))[indices].get(mode="fill", fill_value=fill_value)
        return np.moveaxis(found, places, [axis + place for place in places])

    return functools.update_wrapper(take, own)


def _take_along_axis(own):
    """``take_along_axis`` that also has the modes ``fill`` and ``clip`` of JAX, in which negative indices
    count from the end."""

    def take_along_axis(arr, indices, axis=-1, mode="raise", fill_value=None, *, out=None):
        mode = _scatters._MODES_OF_JAX.get(mode, mode)
        if mode not in ("drop", "clip"):
            return own(arr, indices, axis, mode=mode, out=out)
        if out is not None:
            raise TypeError("take_along_axis with a mode takes no `out`")
        arr, indices = _functions.asarray(arr), _functions.asarray(indices)
        if axis is None:
            arr, axis = arr.reshape(-1), 0
        axis = _shape_functions.axis_index(axis, arr.ndim)
        size = arr.shape[axis]
        places = _scatters.from_start(indices, size)
        found = own(arr, places, axis, mode="clip")
        if mode == "clip":
            return found
        missing = _scatters.missing(arr.dtype) if fill_value is None else fill_value
        return np.where((places >= 0) & (places < size), found, np.asarray(missing, arr.dtype))

    return functools.update_wrapper(take_along_axis, own)


def _by_any_method(own):
    """``searchsorted`` that takes JAX's hint ``method``, which has no effect."""

    def searchsorted(*args, method="scan", **keywords):
        if method not in ("scan", "scan_unrolled", "sort", "compare_all"):
            raise ValueError(f"searchsorted has no method {method!r} of JAX")
        return own(*args, **keywords)

    return functools.update_wrapper(searchsorted, own)


def _roll(own):
    """``roll`` that also takes traced shifts."""

    def roll(*args, **keywords):
        if not has_tracer((args[1:2], keywords.get("shift"))):
            return own(*args, **keywords)
        if "x" in keywords:
            keywords["a"] = keywords.pop("x")
        return ARRAY_FUNCTIONS[np.roll](*args, **keywords)

    return functools.update_wrapper(roll, own)


def _always_stable(own):
    """A sort, which is stable for every ``kind`` and ``stable``."""

    def sort(*args, kind=None, stable=None, **keywords):
        return own(*args, **keywords)

    return functools.update_wrapper(sort, own)


# NumPy's signatures.


def _with_ufunc(own, ufunc):
    """A composition or product that also takes the keywords of NumPy's ufunc, and has its methods."""

    @functools.cache
    def known():
        return inspect.signature(own).parameters.keys()

    def operation(*args, **keywords):
        is_own = not keywords or keywords.keys() <= known()
        return own(*args, **keywords) if is_own else ufunc(*args, **keywords)

    functools.update_wrapper(operation, own)
    _functions.add_ufunc(operation, ufunc)
    return operation


def _with_signature_of_numpy(own, function, is_numpy_meaning):
    """The operation ``own``, which also takes the arguments of NumPy's ``function``; they are NumPy's if
    ``is_numpy_meaning(args)``, or if they are not the operation's."""

    @functools.cache
    def signatures():
        # Reading them takes longer than the import of the module may.
        try:
            return _Parameters(own), inspect.signature(function)
        except ValueError:
            # NumPy 1.26 does not say the parameters of functions in C.
            return _Parameters(own), None

    def operation(*args, **kwargs):
        parameters, signature = signatures()
        if is_numpy_meaning is None or not is_numpy_meaning(args):
            if parameters.take(args, kwargs):
                return own(*args, **kwargs)
        if signature is None:
            return function(*args, **kwargs)
        found = _translated(parameters.signature, signature, args, kwargs)
        return function(*args, **kwargs) if found is None else own(**found)

    functools.update_wrapper(operation, own)
    return operation


class _Parameters:
    """The parameters of an operation."""

    def __init__(self, operation):
        self.signature = inspect.signature(operation)
        parameters = list(self.signature.parameters.values())
        by_position = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        #: The numbers of arguments by position for which the call needs no binding.
        self._required = sum(parameter.default is parameter.empty for parameter in by_position)
        self._most = len(by_position)
        self._positions = {parameter.name: position for position, parameter in enumerate(parameters)}

    def take(self, args, kwargs):
        """Whether these are arguments of the operation; None is no operand."""
        # Binding takes longer than a small operation.
        if (
            self._required <= len(args) <= self._most
            and not [arg for arg in args[: self._required] if arg is None]
            and not [name for name in kwargs if self._positions.get(name, -1) < len(args)]
        ):
            return True
        try:
            given = self.signature.bind(*args, **kwargs).arguments
        except TypeError:
            return False
        parameters = self.signature.parameters
        return all(
            value is not None or parameters[name].default is not inspect.Parameter.empty
            for name, value in given.items()
        )


def _translated(own_signature, signature, args, kwargs):
    """Arguments of NumPy's function for the operation, by name, or None if it has no such parameter."""
    bound, found, parameters = signature.bind(*args, **kwargs), {}, list(own_signature.parameters)
    for position, (name, value) in enumerate(bound.arguments.items()):
        if value is signature.parameters[name].default and value in (None, np._NoValue):
            continue
        if name not in parameters:
            name = parameters[0] if position == 0 else _OWN_NAMES.get(name, name)
        if name not in parameters:
            return None
        found[name] = value
    return found


# Functions that make arrays.


def as_traced(made):
    """An array as a constant of the function that is traced; elsewhere the array itself."""
    recording = running_recording()
    if recording is None or isinstance(made, Tracer):
        return made
    return _immutable(recording.tracer(made, "constant"))


def _immutable(made):
    made._storage = IMMUTABLE
    return made


def array(object, dtype=None, copy=True, order=None, ndmin=0, *, device=None):
    """Numbers, arrays and traced values in nested lists as one array."""
    dtype = None if dtype is None else np.dtype(dtype)
    if has_tracer(object):
        return _creation_functions._array(object, dtype, copy=copy, ndmin=ndmin)
    return as_traced(np.array(object, dtype, ndmin=ndmin))


def asarray(a, dtype=None, order=None, *, copy=None, device=None):
    """``a`` as an array, without a copy if it is one of this type; nested lists like ``array``."""
    if copy or has_tracer(a):
        return array(a, dtype, copy)
    return as_traced(np.asarray(a, None if dtype is None else np.dtype(dtype)))


def astype(x, dtype, /, *, copy=True, device=None):
    """``x`` with every element converted to ``dtype``; without ``copy`` it may be ``x`` itself."""
    if not copy and isinstance(x, (np.ndarray, Tracer)):
        if x.dtype == _arrays.numpy_dtype(_arrays.indim_name(dtype)):
            return x
    return _functions.astype(x, dtype)


def full(shape, fill_value, dtype=None, *, device=None):
    """An array with ``fill_value`` everywhere, which may be a traced value."""
    recording = running_recording()
    if isinstance(fill_value, Tracer):
        fill_value = fill_value if dtype is None else fill_value.astype(dtype)
        return _immutable(np.broadcast_to(fill_value, shape))
    if recording is None:
        return np.full(shape, fill_value, dtype)
    return _immutable(np.broadcast_to(recording.tracer(np.asarray(fill_value, dtype), "constant"), shape))


def repeat(a, repeats, axis=None, *, total_repeat_length=None):
    """``np.repeat``; with ``total_repeat_length`` the result has this size: further parts are left out, and
    missing ones repeat the last part."""
    a, counts = _functions.recorded(a), _functions.asarray(repeats)
    if total_repeat_length is None:
        if isinstance(counts, Tracer) and not isinstance(a, Tracer):
            a = counts._recording.tracer(a, "a")
        return np.repeat(a, counts if isinstance(counts, Tracer) else repeats, axis)
    if axis is None:
        a, axis = np.ravel(a), 0
    axis = _shape_functions.axis_index(axis, a.ndim)
    ends = np.cumsum(np.broadcast_to(counts, (a.shape[axis],)))
    places = np.searchsorted(ends, np.arange(total_repeat_length), side="right")
    return np.take(a, np.minimum(places, a.shape[axis] - 1), axis)


def put_along_axis(arr, indices, values, axis, inplace=True, *, mode=None):
    """``indim.put_along_axis``, for ``inplace=False`` as in JAX: a new array."""
    if inplace:
        raise ValueError("indim.numpy.put_along_axis returns a new array: write inplace=False, as in JAX")
    if mode is not None:
        raise TypeError("put_along_axis takes no `mode`: indices are within the axis")
    return _scatters.put_along_axis(arr, indices, values, axis)


def fill_diagonal(a, val, wrap=False, *, inplace=True):
    """NumPy's ``fill_diagonal``; with ``inplace=False`` a new array, as in JAX."""
    return _written(np.fill_diagonal, inplace, a, val, wrap)


def place(arr, mask, vals, *, inplace=True):
    """NumPy's ``place``; with ``inplace=False`` a new array, as in JAX."""
    return _written(np.place, inplace, arr, mask, vals)


def put(a, ind, v, mode=None, *, inplace=True):
    """NumPy's ``put``; with ``inplace=False`` a new array, as in JAX."""
    return _written(np.put, inplace, a, ind, v, "raise" if mode is None else mode)


def _written(function, inplace, array, *arguments):
    """The result of a function of NumPy that writes into ``array``, or into a copy."""
    if not inplace:
        array = _functions.recorded(array).copy()
    function(array, *arguments)
    return None if inplace else array


def _filled(name, value):
    def made(shape, dtype=None, *, device=None):
        return full(shape, value, np.float64 if dtype is None else dtype)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"NumPy's ``{name}``: an array of this shape."
    return made


#: Functions that fill an array, with their values. `empty` has zeros, as in JAX.
_FILLED = {"empty": 0, "ones": 1, "zeros": 0}


def _made(function):
    """NumPy's function, whose result is traced while a function is."""

    @functools.wraps(function)
    def made(*args, **kwargs):
        result = function(*args, **kwargs)
        # `linspace` with `retstep=True`.
        return tuple(map(as_traced, result)) if isinstance(result, tuple) else as_traced(result)

    return made


_MADE_BY = ("arange", "eye", "fromfunction", "identity", "indices", "linspace", "logspace", "tri")


# Element types.


class ScalarType:
    """An element type that also converts: ``jnp.float32(x)``. NumPy takes it as a dtype."""

    def __init__(self, name):
        self._name = name

    @property
    def dtype(self):
        return _arrays.numpy_dtype(_arrays.indim_name(self._name))

    def __call__(self, x=0):
        return as_traced(_functions.asarray(x, self.dtype))

    def __eq__(self, other):
        return self.dtype == other

    def __hash__(self):
        return hash(self.dtype)

    def __repr__(self):
        return f"indim.numpy.{self._name}"


_TYPES = (
    *("float16", "float32", "float64", "complex64", "complex128"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)


class _Arrays(type):
    def __instancecheck__(cls, value):
        return isinstance(value, (np.ndarray, Tracer))


class ndarray(metaclass=_Arrays):
    """Arrays and traced values, for ``isinstance`` and annotations."""
