"""Outside NumPy arrays that a traced function indexes by traced values, and calls of NumPy for elements.

``table[i]`` calls a method of the array, which cannot return a traced value. So the function is traced once
more as a copy of itself, in which views of another class stand for these arrays, and the module of
`_numpy_module.py` for NumPy. The function and what it reads stay as they are, for other threads too.
"""

from __future__ import annotations

import copy
import functools
import types

import numpy as np

from . import _captured
from ._signatures import ADAPTED

#: Functions, objects and containers that are copied within one another.
_MAX_DEPTH = 32


class Indexable(np.ndarray):
    """A view of a captured array that takes traced values as indices."""

    #: The captured array; ``None`` for an array that is computed from a view.
    _captured_array = None

    #: The place in the function that made the array, or what it is computed from; None for a captured array.
    _made_by = None

    def __array_finalize__(self, of):
        self._made_by = getattr(of, "_made_by", None)

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        return self._traced(keys)[key] if _has_tracer(keys) else super().__getitem__(key)

    def __setitem__(self, key, values):
        keys = key if isinstance(key, tuple) else (key,)
        if not _has_tracer((*keys, values)):
            return super().__setitem__(key, values)
        self._refuse_write()

    def fill(self, value):
        if not _has_tracer((value,)):
            return super().fill(value)
        self._refuse_write()

    @property
    def flat(self):
        return _Flat(self, np.ndarray.flat.__get__(self))

    @flat.setter
    def flat(self, values):
        if _has_tracer((values,)):
            self._refuse_write()
        np.ndarray.flat.__set__(self, values)

    def _refuse_write(self):
        """Refuses to write traced values into the array; if the function has made it, it runs once more."""
        note_write(self)
        name = _captured.name_of(self) or "array"
        raise TypeError(
            f"`{name}` is an array of NumPy, which takes no traced values: write `{name} = "
            f"np.zeros({name}.shape) + {name}` before the assignment, an array that the function makes"
        )

    @property
    def at(self):
        """Updates of elements, as JAX's arrays have them; a compiled function may get this array from another
        one."""
        from ._functions import recorded
        from ._scatters import At

        return At(recorded(self))

    def take(self, indices, axis=None, out=None, mode="raise"):
        of = self._traced((indices,)) if _has_tracer((indices,)) else super()
        return of.take(indices, axis, out, mode)

    def _traced(self, keys):
        """The captured array as a traced value of the recording that the keys belong to."""
        from ._recording import innermost

        return innermost(_with_ends(keys)).tracer(self, _captured.name_of(self) or "captured")


class _Flat:
    """The attribute ``flat`` of a view, which takes traced values as indices."""

    def __init__(self, array, elements):
        self._array, self._elements = array, elements

    def __getattr__(self, name):
        return getattr(self._elements, name)

    def __len__(self):
        return len(self._elements)

    def __iter__(self):
        return iter(self._elements)

    def __array__(self, dtype=None, copy=None):
        return np.array(self._elements, dtype)

    def __getitem__(self, key):
        return self._array.reshape(-1)[key] if _has_tracer((key,)) else self._elements[key]

    def __setitem__(self, key, values):
        if _has_tracer((key, values)):
            self._array._refuse_write()
        self._elements[key] = values


def note_write(array):
    """Notes that the function writes traced values into an array that it has made by NumPy: the next run of
    the function makes a traced value there (see `_trace_function.py`)."""
    if isinstance(array, Indexable) and array._made_by is not None:
        from ._recording import running_recording

        running_recording().outermost().written_array = array._made_by


def indexable(array, arguments=()):
    """An array of NumPy that takes traced values as indices. If it has the memory of an argument, traced
    values are written into it as into the argument."""
    if type(array) is not np.ndarray:
        return array
    view = array.view(Indexable)
    for argument in arguments:
        if isinstance(argument, np.ndarray) and np.may_share_memory(argument, array):
            view._made_by = getattr(argument, "_made_by", None)
    return view


def made_in_function(result, arguments=()):
    """The result of a function of NumPy that makes an array of these arguments: an indexable array, or a
    traced value, if the traced function writes traced values into it."""
    from ._recording import running_recording

    running, known = running_recording(), [value for value in arguments if isinstance(value, np.ndarray)]
    if type(result) is not np.ndarray or any(np.may_share_memory(value, result) for value in known):
        return indexable(result, known)
    place = _captured.place_of_call()
    if place in running.outermost().written_arrays:
        return running.tracer(result, "constant")._made_by_numpy()
    view = result.view(Indexable)
    view._made_by = place
    return view


def _replacement_of_numpy(value):
    from ._numpy_module import replacement

    return replacement(value)


def _has_tracer(values):
    return any(getattr(type(value), "_is_tracer", False) for value in _with_ends(values))


def _with_ends(values):
    """Values and keys, with the ends of those that are slices and the items of those that are lists."""
    ends = [end for value in values if type(value) is slice for end in (value.start, value.stop, value.step)]
    items = [item for value in values if type(value) is list for item in value]
    return (*values, *ends, *items)


def captured_array(value):
    """The array that a view stands for, as a plain NumPy array; any other value unchanged."""
    if not isinstance(value, Indexable):
        return value
    return value.view(np.ndarray) if value._captured_array is None else value._captured_array


class Copies:
    """A copy of a function and of the values it reads, with views in place of arrays.

    Only objects through which an array is reached are copied, but no code of installed packages, no classes,
    and no objects without a dict. A cycle ends at the original.
    """

    def __init__(self, root, objects):
        search = _captured.search(root, objects)
        self._is_own, self._mentioned = search.is_own, search.names
        self._root = root
        #: By the id of each original: the original and its copy. Holding the original keeps its id unique.
        self._copies = {}
        self.has_views = False

    def of(self, value, depth=0):
        """The copy of a value; itself where it leads to no array."""
        if id(value) in self._copies:
            return self._copies[id(value)][1]
        make = self._copier(value)
        if make is None or depth > _MAX_DEPTH:
            return value
        self._copies[id(value)] = value, value
        result = make(value, depth + 1)
        self._copies[id(value)] = value, result
        return result

    def _copier(self, value):
        """The function that copies a value."""
        if _replacement_of_numpy(value) is not None:
            return self._numpy
        if isinstance(value, types.FunctionType):
            is_own = self._is_own(value.__module__) or getattr(value, ADAPTED, None) is self._root
            return self._function if is_own else None
        if isinstance(value, types.ModuleType):
            return self._module if self._is_own(value.__name__) else None
        if type(value) in _COPIERS:
            return functools.partial(_COPIERS[type(value)], self)
        if type(value).__module__.startswith("indim."):
            return self._wrapper if hasattr(value, "__wrapped__") else None
        has_dict = hasattr(value, "__dict__") and not isinstance(value, type)
        return self._instance if has_dict and self._is_own(type(value).__module__) else None

    def _changed_copies(self, entries, names, depth):
        """Copies of the entries with these names, without those that are the originals."""
        copies = {name: self.of(entries[name], depth) for name in names if name in entries}
        return {name: copied for name, copied in copies.items() if copied is not entries[name]}

    def _numpy(self, value, depth):
        self.has_views = True
        return _replacement_of_numpy(value)

    def _array(self, array, depth):
        self.has_views = True
        view = array.view(Indexable)
        view._captured_array = array
        return view

    def _function(self, function, depth):
        closure = function.__closure__ or ()
        cells = tuple(self._cell(cell, depth) for cell in closure)
        names = self._changed_copies(function.__globals__, _captured.global_names(function.__code__), depth)
        defaults = [self.of(default, depth) for default in (function.__defaults__, function.__kwdefaults__)]
        copies, originals = (*cells, *defaults), (*closure, function.__defaults__, function.__kwdefaults__)
        if not names and all(copied is original for copied, original in zip(copies, originals)):
            return function
        result = types.FunctionType(
            function.__code__, function.__globals__ | names, function.__name__, defaults[0], cells
        )
        result.__module__, result.__qualname__ = function.__module__, function.__qualname__
        result.__kwdefaults__ = defaults[1]
        result.__dict__.update(function.__dict__)
        return result

    def _cell(self, cell, depth):
        try:
            contents = cell.cell_contents
        except ValueError:
            # The cell is empty.
            return cell
        copied = self.of(contents, depth)
        return cell if copied is contents else types.CellType(copied)

    def _method(self, method, depth):
        parts = method.__func__, method.__self__
        copies = self._sequence(parts, depth)
        return method if copies is parts else types.MethodType(*copies)

    def _partial(self, partial, depth):
        parts = (partial.func, partial.args, partial.keywords)
        copies = self._sequence(parts, depth)
        return partial if copies is parts else functools.partial(copies[0], *copies[1], **copies[2])

    def _sequence(self, sequence, depth):
        if len(sequence) > _captured.MAX_ENTRIES:
            return sequence
        copies = [self.of(value, depth) for value in sequence]
        is_same = all(copied is value for copied, value in zip(copies, sequence))
        return sequence if is_same else type(sequence)(copies)

    def _dict(self, entries, depth):
        if len(entries) > _captured.MAX_ENTRIES:
            return entries
        changed = self._changed_copies(entries, entries, depth)
        return entries | changed if changed else entries

    def _module(self, module, depth):
        changed = self._changed_copies(vars(module), self._mentioned, depth)
        if not changed:
            return module
        result = types.ModuleType(module.__name__)
        result.__dict__.update(vars(module) | changed)
        return result

    def _wrapper(self, wrapper, depth):
        """A compiled function, the gradient of a function, or a function with derivatives of its own."""
        wrapped, rules = self.of(wrapper.__wrapped__, depth), getattr(wrapper, "_rules", ())
        result = wrapper if wrapped is wrapper.__wrapped__ else wrapper._remade(wrapped)
        # The rules of a derivative may call the function.
        self._copies[id(wrapper)] = wrapper, result
        copies = self._sequence(rules, depth)
        if copies is not rules:
            result = wrapper._remade(wrapped) if result is wrapper else result
            result._rules = copies
        return result

    def _instance(self, value, depth):
        """An object; methods that lead to arrays become attributes of the copy."""
        changed = self._changed_copies(vars(value), self._mentioned, depth)
        found = {name: _captured.of_class(type(value), name) for name in self._mentioned - vars(value).keys()}
        methods = {name: member for name, member in found.items() if isinstance(member, types.FunctionType)}
        methods = self._changed_copies(methods, methods, depth)
        if not changed and not methods:
            return value
        try:
            result = copy.copy(value)
        except Exception:  # Any error of the class; its arrays are refused as before.
            return value
        vars(result).update(changed)
        vars(result).update({name: types.MethodType(method, result) for name, method in methods.items()})
        return result


_COPIERS = {
    np.ndarray: Copies._array,
    np.memmap: Copies._array,
    types.MethodType: Copies._method,
    functools.partial: Copies._partial,
    list: Copies._sequence,
    tuple: Copies._sequence,
    dict: Copies._dict,
}
