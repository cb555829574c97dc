"""A call of a function on traced values, and the calls that run in a thread."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager

from . import _arrays, _captured, _foreign
from ._contents import ArrayUses
from ._indexable import captured_array
from ._numbers import Number, is_number, plain_value
from ._snapshots import Snapshots


def is_tracer(value):
    """Whether a value is a :class:`Tracer`, whose module imports this one."""
    return getattr(type(value), "_is_tracer", False)


class Recording:
    """A call of a function on traced values: the recorder of the compiled part, and names for messages.

    A differentiated function, and one of a loop or branch, is recorded within the recording ``outer``:
    its parameters stand for the values ``sources`` there.
    """

    __slots__ = (
        *("_recorder", "function", "is_over", "outer", "depth", "namespace", "sources", "_lifted"),
        *("has_requested_elements", "may_ignore_values", "is_branch", "derivative_mode", "cuts", "batch"),
        *("positions", "end"),
        *("_origins", "written_arrays", "written_array", "frames", "probe", "gives_sizes", "uses"),
        *("snapshots", "package"),
    )

    def __init__(self, recorder, function, outer=None, written_arrays=()):
        self._recorder = recorder
        self.function = function
        self.is_over = False
        self.outer = outer
        self.depth = 0 if outer is None else outer.depth + 1
        #: The array namespace of traced values, if not indim.
        self.namespace = None if outer is None else outer.namespace
        #: Whether xarray gets the sizes of traced values as numbers that may differ at the next call.
        self.gives_sizes = False
        self.sources = []
        #: ``(source, removed)`` of each parameter, by name.
        self._origins = {}
        self._lifted = {}
        #: Whether NumPy requested the elements of a traced value.
        self.has_requested_elements = False
        #: Whether the function may have called a function of NumPy that ignores traced values.
        self.may_ignore_values = False
        #: Whether the function runs only if it is chosen.
        self.is_branch = False
        #: ``"reverse"`` or ``"forward"`` if the function is differentiated, and its calls of functions with
        #: derivatives of their own: see `_custom_cuts.py`.
        self.derivative_mode, self.cuts = None, []
        #: The batch whose element the function computes: see `_vectorized.py`.
        self.batch = None
        #: The positions of masks that earlier stages computed: see `_data_stages.py`.
        self.positions = None
        #: What ended the run of the function at a mask.
        self.end = None
        #: The places in the function where NumPy makes arrays that it writes traced values into, and one more
        #: such place that the run has found: see `_trace_function.py`.
        self.written_arrays, self.written_array = written_arrays, None
        #: The shapes of the values that stand for whole DataFrames, by name: of arguments, and of what is
        #: computed from them element by element.
        self.frames = {}
        #: The package of the Series and DataFrames among the arguments, pandas or polars.
        self.package = None
        #: Where the program takes outside arrays as inputs.
        self.uses = ArrayUses() if outer is None else outer.uses
        #: What the recording of the function of a reduction or scan notes: see `_associativity.py`.
        self.probe = None
        #: The arrays that the program has captured, with their elements at that time.
        self.snapshots = Snapshots()

    def outermost(self):
        """The recording around all others: that of the compiled function."""
        recording = self
        while recording.outer is not None:
            recording = recording.outer
        return recording

    def request_elements(self):
        """Notes that NumPy requested elements: `_trace_function.py` then runs the function once more."""
        self.outermost().has_requested_elements = True

    def recorder(self, name):
        """The recorder, for an operation on the value called ``name``."""
        if self.is_over:
            raise ValueError(
                f"`{name}` was kept beyond the call of {self.function} in which it stood for an array; now "
                "it means nothing. Return values from the function instead of storing them in lists, "
                "attributes or global names"
            )
        return self._recorder

    def ended(self, end):
        """The exception ``end``, which ends the run of the function, also if the function catches it."""
        self.end = self.end or end
        return end

    def parameter(self, source, name=None, removed=None):
        """A parameter that stands for ``source``, a value of the recording around, or for its elements along
        the axis ``removed``; messages call it ``name``, or as the source."""
        name = name or (source._value_text if source._value_text.isidentifier() else "x")
        description = self._recorder.parameter_like(name, self.outer.recorder(name), source._name, removed)
        if removed is None and source._is_frame():
            self.frames[description[0]] = source._shape
        source = source._snapshot()
        self.sources.append(source)
        self._origins[description[0]] = source, removed
        from ._tracing import Tracer

        return Tracer(self, description)

    def argument(self, value):
        """The value that the function gets for an argument: a separate parameter, even if two arguments are
        the same value."""
        return self.parameter(self.outer.lift(value)) if is_tracer(value) else value

    def size_of(self, tracer, axis):
        """The size of an axis of a value of this recording: a :class:`Number` if it is that of an argument of
        the compiled function; otherwise plain, for a program valid for these sizes alone."""
        found = self._size(tracer._name, axis)
        return tracer._used_shape()[axis] if found is None else found

    def _size(self, name, axis):
        """The size of an axis of the value called ``name``, as the size of an argument; 1 for an added axis;
        None if its origin is unknown."""
        places = self.recorder(name).size_origin(name, axis)
        sizes = None if places is None else [self._size_of_parameter(*place) for place in places]
        if sizes is None or any(size is None for size in sizes):
            return None
        if places != [(name, axis)]:
            # The value has this size as long as the broadcasts that made it are the same.
            self.outermost().recorder(name).use_ones()
        # Each comparison is a guard of the program.
        are_equal = all([other is sizes[0] or other == sizes[0] for other in sizes])
        return None if not are_equal else sizes[0] if sizes else 1

    def _size_of_parameter(self, name, axis):
        if self.outer is None:
            found = self.recorder(name).size(name, axis)
            return None if found is None else Number(self, *found)
        if name not in self._origins:
            return None
        source, removed = self._origins[name]
        return source._recording._size(source._name, axis + (removed is not None and axis >= removed))

    def as_function(self, results):
        """The recorded function for a step of the recorder around: its recorder, and the names of its results
        and of the values that its parameters stand for."""
        sources = [source._name for source in self.sources]
        return self._recorder, [result._name for result in results], sources

    def lift(self, tracer):
        """``tracer``, which may belong to an outer recording, as a value of this one."""
        tracer._update()
        if tracer._recording is self:
            return tracer
        tracer._recording.recorder(tracer._value_text)
        if self.outer is None or self.depth <= tracer._recording.depth:
            raise ValueError(
                f"`{tracer._value_text}` belongs to another call, of {tracer._recording.function}, which is "
                f"traced around {self.function}; pass it as an argument"
            )
        source = self.outer.lift(tracer)
        if source._name not in self._lifted:
            self._lifted[source._name] = self.parameter(source)
        return self._lifted[source._name]

    def tracer(self, value, name):
        """A traced value or an array as a value of this recording; messages use ``name``."""
        if is_tracer(value):
            return self.lift(value)
        value = captured_array(plain_value(value))
        if self.outer is not None:
            return self.lift(self.outer.tracer(value, name))
        self.uses.note(value)
        array = _arrays.as_array(_foreign.without_default_labels(value, name), name)
        description, position = self.recorder(name).capture(as_identifier(name), array)
        self.snapshots.take(position, name, array)
        from ._tracing import Tracer

        return Tracer(self, description)

    def replace_written_captures(self, outside):
        """Gives the program copies of the captured arrays that NumPy has written into since. ``outside`` has
        the identities of what the function can reach from outside."""
        self.snapshots.replace_written(self._recorder, self.function, outside)

    def operand(self, operand):
        """An operand for the recorder: the name of a value of this recording, or a Python number."""
        if type(operand) is Number and operand._recording is self:
            return operand._name
        operand = plain_value(operand)
        if is_number(operand):
            return operand
        if is_tracer(operand):
            return self.lift(operand)._name
        return self.tracer(operand, _captured.name_of(operand) or "captured")._name


#: The recordings whose functions run in this thread, the innermost last.
_RUNNING = threading.local()


@contextmanager
def resumed(recording):
    """The context in which an outer recording runs again, within the call of another."""
    _RUNNING.stack.append(recording)
    try:
        yield
    finally:
        _RUNNING.stack.pop()


@contextmanager
def running(recording):
    """The context in which a function runs on the values of ``recording``; after it they are invalid."""
    stack = _RUNNING.__dict__.setdefault("stack", [])
    stack.append(recording)
    try:
        yield
    except Exception as error:
        from ._outside_errors import add_help

        add_help(error, recording)
        raise
    finally:
        stack.pop()
        recording.is_over = True


def running_recording():
    """The recording whose function runs in this thread, or None."""
    stack = getattr(_RUNNING, "stack", None)
    return stack[-1] if stack else None


def as_identifier(name):
    """``d['weights']`` as ``d_weights``."""
    return re.sub(r"\W+", "_", name).strip("_") or "captured"


def innermost(operands):
    """The recording of an operation on these operands: their innermost one, or a branch within it that runs,
    since only the chosen branch computes."""
    recordings = [operand._recording for operand in operands if is_tracer(operand)]
    recording = max(recordings, key=lambda recording: recording.depth)
    inner, branch = running_recording(), None
    while inner is not None and inner is not recording:
        if branch is None and inner.is_branch:
            branch = inner
        inner = inner.outer
    return recording if inner is None or branch is None else branch
