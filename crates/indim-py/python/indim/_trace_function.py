"""Runs a function on traced values (`_tracing.py`), for the compiled part."""

from __future__ import annotations

from . import _captured
from ._contents import Contents
from ._indexable import Copies
from ._numbers import Number
from ._operands import has_tracer
from ._random_draws import RandomDraws
from ._recording import Recording, running
from ._signatures import ADAPTED
from ._statics import frozen
from ._tracing import Tracer, new_arrays, result_tracer
from ._trees import fields_of, flatten, mapped, rebuilt, rebuilt_with_statics


def trace(function, recorder, arguments):
    """Runs ``function``; returns the container of its results with its keys (see ``flatten``), the names of
    the results, and the captures, which it may have read outside its arguments.

    The compiled part calls it with ``(name, kind, object, items)`` for each argument.
    """
    roots = getattr(function, ADAPTED, function), _static_objects(arguments)
    recording = Recording(recorder, getattr(function, "__qualname__", repr(function)))
    try:
        traced = _record_trace(recording, function, arguments, roots, frozen)
    except Exception:
        # The function probably indexes a NumPy array by a traced value, or makes an array of traced values.
        copies = Copies(*roots) if recording.has_requested_elements else None
        if copies is None or not _copy_arrays(copies, function, roots[1]):
            raise
    else:
        copies = Copies(*roots) if recording.may_ignore_values else None
        if copies is None or not _copy_arrays(copies, function, roots[1]):
            return traced
    return _trace_copy(copies, function, recorder, arguments, roots)


def inlined(function, arguments):
    """The results of a compiled function within the one that is traced. It does not write into its arguments,
    and its results are new arrays, like those of a call from outside."""

    def argument(leaf):
        if not isinstance(leaf, Tracer):
            return leaf
        leaf._warn_of_rebinding()
        leaf._update()
        return leaf._snapshot()

    isolated = [mapped(value, argument) if has_tracer(value) else value for value in arguments]
    return new_arrays(function(*isolated))


#: Maximum number of places where a function makes arrays by NumPy that it writes traced values into: each
#: runs the function once more.
MAX_WRITTEN_ARRAYS = 64


def _trace_copy(copies, function, recorder, arguments, roots):
    """The result of ``trace`` of the copy of a function. An array that NumPy makes in it is known, until the
    function writes a traced value into it: then it runs again, and NumPy's call gives a traced value."""
    name, written = getattr(function, "__qualname__", repr(function)), set()
    while True:
        recorder.restart()
        recording = Recording(recorder, name, written_arrays=frozenset(written))
        try:
            return _record_trace(
                recording, copies.of(function), arguments, roots, lambda value: copies.of(frozen(value))
            )
        except Exception:
            found = recording.written_array
            if found is None or found in written or len(written) == MAX_WRITTEN_ARRAYS:
                raise
            written.add(found)


def _copy_arrays(copies, function, objects):
    """Copies a function and its static objects; returns whether they hold arrays."""
    for value in (function, *objects):
        copies.of(value)
    return copies.has_views


def _record_trace(recording, function, arguments, roots, static):
    """The result of ``trace``; the function gets ``static(value)`` for a static argument."""
    walk = _captured.search(*roots)
    before, draws, contents = walk.captures, RandomDraws(walk), Contents(walk)
    # NumPy's `bmat` returns None for a traced value; the copy of the function refuses it.
    recording.may_ignore_values = "bmat" in walk.names
    with running(recording):
        result = function(*(_value(recording, static, *argument) for argument in arguments))
        if recording.end is not None:
            raise recording.end
        recording.replace_written_captures(walk.visited)
        captured = _captured.unchanged_captures(before, _captured.search(*roots).captures)
        captured += contents.captures(recording.uses)
        draws.warn(recording.function)
        kind, keys, results = flatten(result)
        return kind, keys, [result_tracer(recording, value)._name for value in results], captured


def _static_objects(arguments):
    """The static objects, with the contents of lists, tuples and dicts, whose copies are passed."""
    pending, objects, containers = [], [], [arguments]
    while containers:
        for _, kind, value, items in containers.pop():
            containers.append(items)
            if kind == "static":
                pending.append(value)
    while pending:
        value = pending.pop()
        if type(value) in (list, tuple):
            pending.extend(value)
        elif type(value) is dict:
            pending.extend(value.values())
        else:
            objects.append(value)
    return objects


def _value(recording, static, name, kind, value, items):
    """The value that the function gets for an argument."""
    # Stars begin the names of arguments that a function collects.
    name = name.lstrip("*")
    if kind == "array":
        return Tracer(recording, recording.recorder(name).parameter(name, value))
    if kind == "static":
        return static(value)
    if kind == "number":
        return Number(recording, recording.recorder(name).number(name, value), value)
    if kind == "constant":
        return value
    if hasattr(value, "item_names"):
        names = [*value.item_names(), "static"]
        items = [(label, *item[1:]) for label, item in zip(names, items)]
    values, fields = [_value(recording, static, *item) for item in items], fields_of(value)
    if fields is None:
        return rebuilt(value, values)
    pairs = [(item, is_static) for item, (_, is_static, _) in zip(values, fields)]
    leaves = [item for item, is_static in pairs if not is_static]
    return rebuilt_with_statics(value, leaves, [item for item, is_static in pairs if is_static])
