"""Traced values: a :class:`Tracer` stands for an array, and records the operations of a Python function.

The recorder checks each operation at once, and adds it to the computation. `_trace_function.py` runs the
function.
"""

from __future__ import annotations

import math
import operator
import re
import sys
import threading
import warnings
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from . import _arrays, _captured, _elements_advice, _foreign, _frames, _refused
from ._advice import in_python, refused_keyword
from ._contents import ArrayUses
from ._errors import ExprError, NumberRangeError
from ._indexable import captured_array, note_write
from ._numbers import Number, is_number, plain_value
from ._operators import UFUNCS_OF_SYMBOLS, define_assignments, define_operators
from ._snapshots import Snapshots
from ._trees import flatten, is_node, items_of, leaves_of, mapped
from ._view_writes import is_row_major

#: Handlers of NumPy's functions on traced values. The modules of NumPy's names fill it, mostly by
#: `implements`.
ARRAY_FUNCTIONS = {}


def implements(*functions):
    """Makes the decorated function the handler of these functions of NumPy."""

    def register(handler):
        for function in functions:
            ARRAY_FUNCTIONS[function] = handler
        return handler

    return register


#: Handlers of the method ``accumulate`` of ufuncs, by the ufunc's name; filled by `_reductions.py`.
ACCUMULATIONS = {}

#: Handlers of the method ``reduce`` of ufuncs, by the ufunc's name; filled by `_reductions.py`.
REDUCTIONS = {}

#: Handlers of ufuncs that are not operations, by name; filled by `_elementwise_functions.py`,
#: `_reductions.py` and `_products.py`.
UFUNCS = {}

#: Whose memory a traced value stands for: that of an argument or an outside array, which a function does not
#: write into; an array that the function has made (see `_assignments.py`); or one that it has made by a
#: function of `indim.numpy`, which is not written into, as in JAX.
SHARED, OWNED, IMMUTABLE = range(3)

#: Functions whose results are views of their operand in NumPy, and so are most results of indices.
_VIEWS = {
    *("broadcast_in_dim", "broadcast_to", "flip", "imag", "real", "reshape", "sliding_window_view"),
    "transpose",
}

#: Attributes that are operands.
OPERAND_ATTRIBUTES = ("where", "initial")


class Recording:
    """A call of a function on traced values: the recorder of the compiled part, and names for messages.

    A differentiated function, and one of a loop or branch, is recorded within the recording ``outer``:
    its parameters stand for the values ``sources`` there.
    """

    __slots__ = (
        *("_recorder", "function", "is_over", "outer", "depth", "namespace", "sources", "_lifted"),
        *("has_requested_elements", "is_branch", "derivative_mode", "cuts", "batch", "positions", "end"),
        *("_origins", "written_arrays", "written_array", "frames", "probe", "gives_sizes", "uses"),
        "snapshots",
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
        return Tracer(self, description)

    def argument(self, value):
        """The value that the function gets for an argument: a separate parameter, even if two arguments are
        the same value."""
        return self.parameter(self.outer.lift(value)) if isinstance(value, Tracer) else value

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
        if isinstance(value, Tracer):
            return self.lift(value)
        value = captured_array(plain_value(value))
        if self.outer is not None:
            return self.lift(self.outer.tracer(value, name))
        self.uses.note(value)
        array = _arrays.as_array(_foreign.without_default_labels(value, name), name)
        description, position = self.recorder(name).capture(as_identifier(name), array)
        self.snapshots.take(position, name, array)
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
        if isinstance(operand, Tracer):
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


#: The versions of the array API standard that `array_api.py` has; each contains those before it.
_API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


def _is_library(frame):
    """Whether the code of a frame is indim's own, or of a library that computes with plain sizes."""
    return _captured.is_library(frame.f_globals.get("__name__"))


def _is_of_xarray(frame):
    return frame.f_globals.get("__name__", "").startswith("xarray.")


def _is_of_jax(frame):
    """Whether the code of a frame has `indim.numpy` among its global names: it expects that ``y += v`` binds
    a name to a new array, as in JAX."""
    jax_numpy = sys.modules.get("indim.numpy")
    return jax_numpy is not None and any(value is jax_numpy for value in frame.f_globals.values())


#: Maximum number of parts of a traced array that Python iterates over: each adds operations to the program.
LONGEST_ITERATION = 64


class Rebinding(NamedTuple):
    """An operator that assigns, at a line of a file, which has bound a name to a new array."""

    symbol: str
    filename: str
    line: int
    #: The new array.
    result: object
    #: Whether the name was that of a view of another array.
    is_of_view: bool
    #: How the array whose name was bound is made of the one that notes this; None for the array itself.
    part: tuple | None = None


class Memory:
    """The memory that an array would share with its views in NumPy."""

    __slots__ = ("version",)

    def __init__(self):
        #: The number of writes.
        self.version = 0


#: What to write instead of Python's choices and loops.
_OF_CHOICES = (
    "use indim.where or indim.cond for choices and indim.while_loop for loops, and name arguments that are "
    "not arrays in `static=`"
)


_OF_TRUTH = (
    _OF_CHOICES + "; write `(a < x) & (x < b)` for `a < x < b`, and `&`, `|` and `~` for and, or and not"
)


class Tracer:
    """Stands for an array while a function is traced."""

    _is_tracer = True

    __slots__ = (
        *("_recording", "_name", "_value_text", "_dtype", "_shape", "_storage"),
        *("_memory", "_version", "_origin", "_base", "_is_of_numpy", "_is_number"),
        *("_is_row_major", "_rebound"),
    )

    def __init__(self, recording, description, storage=SHARED):
        self._recording = recording
        self._storage = storage
        #: The memory that this value shares with its views in NumPy, None if it has none, and the version of
        #: the memory that it stands for.
        self._memory, self._version = None, 0
        #: The value that this one is a view of, with the function and the attributes that made it.
        self._origin = None
        #: The value that this one is a view of, or may be, as the layout in memory decides.
        self._base = None
        #: Whether the function made the array by NumPy: it is an array even if its rank is 0, and ``y += v``
        #: keeps its type.
        self._is_of_numpy = False
        #: Whether it is a number in NumPy: a result of rank 0, which no function writes into.
        self._is_number = False
        #: Whether it is known that the elements of an array of NumPy would lie in row-major order.
        self._is_row_major = False
        #: The operator that bound a name of this array, or of a view of it, to a new array.
        self._rebound = None
        #: The name in the recording; its text in messages.
        self._name, self._value_text, self._dtype, self._shape = description

    # The attributes of an array.

    @property
    def dtype(self):
        return _arrays.numpy_dtype(self._dtype)

    @property
    def ndim(self):
        return len(self._shape)

    @property
    def shape(self):
        return self._used_shape() if self._has_plain_sizes(sys._getframe(1)) else self._shape_numbers()

    @shape.setter
    def shape(self, shape):
        text = self._text_of_operand()
        raise AttributeError(f"the shape of a traced value is fixed: write y = {text}.reshape({shape})")

    def _has_plain_sizes(self, frame):
        """Whether the code of a frame gets plain sizes."""
        return _is_library(frame) and not (self._recording.gives_sizes and _is_of_xarray(frame))

    def _shape_numbers(self):
        """The sizes as numbers that may differ at the next call, as far as they are those of arguments."""
        self._recording.recorder(self._value_text)
        return tuple([self._recording.size_of(self, axis) for axis in range(self.ndim)])

    def _used_shape(self):
        """The sizes as plain numbers; the program is then valid for these sizes alone."""
        self._recording.recorder(self._value_text).use_sizes()
        return self._shape

    @property
    def size(self):
        has_plain_sizes = self._has_plain_sizes(sys._getframe(1))
        return math.prod(self._used_shape() if has_plain_sizes else self._shape_numbers())

    def __len__(self):
        if not self._shape:
            raise TypeError("an array of rank 0 has no length")
        return self._used_shape()[0]

    def __repr__(self):
        return f"Tracer({self._value_text} : {self._dtype}{list(self._shape)})"

    # Operations that a traced value refuses.

    def _refuse(self, what, advice=None):
        self._recording.recorder(self._value_text)
        raise TypeError(
            f"{what} needs the elements of `{self._value_text}`, which are not known while "
            f"{self._recording.function} is traced; {advice or _OF_CHOICES}"
        )

    def __getattr__(self, name):
        if name.startswith("_") and name != "__dlpack__":
            raise AttributeError(name)
        raise AttributeError(_refused.method_message(self._value_text, name), name=name)

    def __bool__(self):
        frame = sys._getframe(1)
        if _captured.is_call(frame) or _captured.is_assignment(frame):
            # A function in C, such as `np.arange(k, dtype=float)`, or an array of bool, `y[0] = x > 0`.
            self._recording.request_elements()
        advice = _elements_advice.of_scikit_learn(frame)
        if advice is None and _captured.is_call(frame):
            advice = _elements_advice.of_names(frame, ("max", "min", "sorted"))
        self._refuse("a truth value", advice or _OF_TRUTH)

    def __format__(self, specification):
        if specification:
            self._refuse("a text", "return the value, and format the result of the call")
        return repr(self)

    def __contains__(self, value):
        text = self._text_of_operand()
        self._refuse_labels(isinstance(value, str), f"`{value!r} in {text}`")
        self._refuse("`in`", f"write np.any({text} == value), an array of one truth value, and return it")

    # NumPy calls these three for `array[0] = x`, and replaces their errors.

    def __int__(self):
        self._recording.request_elements()
        self._refuse("int()")

    def __float__(self):
        self._recording.request_elements()
        self._refuse("float()", _elements_advice.of_scikit_learn(sys._getframe(1)))

    def __complex__(self):
        self._recording.request_elements()
        self._refuse("complex()")

    def __index__(self):
        self._recording.request_elements()
        if _captured.is_index(sys._getframe(1)):
            self._refuse("an index of a list", f"write np.array(values)[{self._value_text}] for numbers, and "
                         "indim.switch for a choice between functions")
        self._refuse(
            "an index",
            "use indim.fori_loop for `for i in range(n)`, and name arguments that are not arrays in "
            "`static=`",
        )

    def _text_of_operand(self):
        """The text of the value, in parentheses if it is longer than a word."""
        return self._value_text if " " not in self._value_text else f"({self._value_text})"

    def __array__(self, dtype=None, copy=None):
        self._recording.request_elements()
        if _captured.is_index(sys._getframe(1)):
            self._refuse(
                "an index of a NumPy array",
                f"write indim.take(array, {self._value_text}, axis=0), which takes arrays and traced values",
            )
        text = self._text_of_operand()
        advice = _elements_advice.of_function(sys._getframe(1))
        if advice is not None:
            self._refuse(*advice)
        advice = _elements_advice.of_names(sys._getframe(1), ("permutation", "choice"))
        if advice is not None:
            self._refuse("a random generator of NumPy", advice)
        self._refuse(
            "a NumPy array",
            f"write indim.asarray({self._value_text}) for np.asarray({self._value_text}), "
            f"{text}.astype(np.float32) for np.float32({self._value_text}), and "
            "np.stack([x, y]) for np.array([x, y])",
        )

    def _is_frame(self):
        """Whether this value stands for a whole DataFrame, some of whose methods differ from NumPy's."""
        return self._name in self._recording.frames

    def _refuse_labels(self, may_be_label, use):
        """Raises ``LabelIndexError`` for a use of the labels of a whole DataFrame."""
        if may_be_label and self._is_frame():
            from ._views import LabelIndexError

            raise LabelIndexError(f"{use} reads labels of columns, and the DataFrame is one array here")

    def __iter__(self):
        self._refuse_labels(self._value_text.isidentifier(), f"iteration over `{self._value_text}`")
        # `len` makes the program valid for these sizes alone.
        if self._shape and len(self) <= LONGEST_ITERATION:
            return iter([self[index] for index in range(len(self))])
        self._refuse(
            f"iteration over more than {LONGEST_ITERATION} parts" if self._shape else "iteration",
            "pass what it consists of as a list or tuple of arrays, or use indim.scan, a loop over axis 0",
        )

    # Recording.

    def _call(self, function, attributes=(), rule="as-written"):
        return self._record(function, (self,), attributes, rule)

    def _record(self, function, operands, attributes=(), rule="as-written"):
        """Records a function, or an operator by its symbol. An attribute is its keyword, or ``None`` if it is
        positional, and a number, a list, or the name of an element type; ``where`` and ``initial`` are
        operands."""
        recording = innermost([*operands, *(value for _, value in attributes)])
        if recording.outer is not None and any(type(operand) is Number for operand in operands):
            from ._lifted_numbers import lifted

            operands = lifted(recording, function, operands)
        if function != "[]" and function not in _VIEWS:
            for operand in operands:
                if isinstance(operand, Tracer):
                    operand._warn_of_rebinding()
        operands = [recording.operand(operand) for operand in operands]
        attributes = [
            (keyword, recording.operand(value) if keyword in OPERAND_ATTRIBUTES else plain_value(value))
            for keyword, value in attributes
        ]
        recorder = recording.recorder(self._value_text)
        try:
            result = Tracer(recording, recorder.record(function, operands, attributes, rule))
        except NumberRangeError as error:
            raise in_python(error) from None
        if recording.probe is not None:
            recording.probe.operations[result._name] = function, operands
        if recording.frames and _frames.is_of_elements(function):
            if any(recording.frames.get(operand) == result._shape for operand in operands):
                recording.frames[result._name] = result._shape
        if function in _VIEWS or (function == "[]" and _is_view(attributes, result)):
            is_known = function != "reshape" or _splits(self._shape, result._shape) or is_row_major(self)
            self._share(result, (function, attributes, rule) if is_known else None)
        else:
            result._storage, result._is_number = OWNED, not result._shape
        return result

    def _operator(self, symbol, x, y):
        if self._is_for_labels((x, y)):
            # NumPy arrays call the ufunc too, and xarray then takes over.
            return UFUNCS_OF_SYMBOLS[symbol](x, y)
        x, y = (as_array(operand) if isinstance(operand, (list, tuple)) else operand for operand in (x, y))
        if symbol in ("==", "!=") and any(operand is None or isinstance(operand, str) for operand in (x, y)):
            # No element equals it, as in NumPy; that is known while the function is traced.
            return np.full(tuple(self.shape), symbol == "!=")
        if not _is_operand(x) or not _is_operand(y) or _are_columns(x, y):
            return NotImplemented
        return self._record(symbol, (x, y))

    def _assign(self, symbol, other):
        """``self symbol= other``."""
        result = self._operator(symbol, self, other)
        if self._is_number or not (self._is_writable() and isinstance(result, Tracer)):
            return result
        has_type = (result._dtype, result._shape) == (self._dtype, self._shape)
        if not self._is_of_numpy and not self._is_assigned_in_place(has_type, sys._getframe(2)):
            self._note_rebinding(symbol, result, sys._getframe(2))
            return result
        if not has_type:
            from ._outputs import written

            return written(UFUNCS_OF_SYMBOLS[symbol].__name__, result, self)
        self._become(result)
        return self

    def _is_assigned_in_place(self, has_type, frame):
        """Whether ``y symbol= v`` in the code of ``frame`` writes into this array, as in NumPy, if the result
        has its type or not. A copy of rank 0 is a number in NumPy, or an array. Arrays of xarray share memory
        without views."""
        if self._recording.namespace is not None or (self._base is None and not self._shape):
            return False
        if _is_of_jax(frame) or _is_library(frame):
            return False
        return has_type if self._base is None else self._origin is not None

    # Memory, as NumPy would share it.

    def _snapshot(self):
        """The same elements, which later assignments do not change."""
        return Tracer(self._recording, (self._name, self._value_text, self._dtype, self._shape))

    def _made(self):
        """The same elements as a new array, which the function has just made."""
        self._warn_of_rebinding()
        self._recording.lift(self)
        made = self._snapshot()
        made._storage, made._is_number = OWNED, self._is_number
        return made

    def _made_by_numpy(self):
        """The same elements as a new array that NumPy would have made."""
        made = self._made()
        made._is_of_numpy, made._is_number = True, False
        return made

    def _share(self, view, made_by):
        """Notes that ``view`` shares memory with this value, its operand. Without ``made_by`` it is a view
        or a copy, as the layout in memory decides: after a write into one, the other is an error."""
        if self._is_number:
            # NumPy makes a new array.
            view._storage = OWNED
            return
        view._storage = SHARED
        # A read-only view, as a diagonal, has a memory too.
        is_tracked = self._storage is OWNED or self._memory is not None
        if is_tracked and view._recording is self._recording:
            if self._memory is None:
                self._memory = Memory()
            view._storage, view._memory, view._version = self._storage, self._memory, self._memory.version
            view._origin = None if made_by is None else (self, *made_by)
            view._base = self
            view._is_of_numpy = self._is_of_numpy and made_by is not None
            view._inherit_rebinding()

    def _shared_or_copied(self):
        """The same elements, in a view or a copy: the layout in memory decides."""
        self._recording.lift(self)
        result = self._snapshot()
        self._share(result, None)
        return result

    def _is_writable(self):
        """Whether the function that runs has made the array."""
        return self._storage is OWNED and self._recording is running_recording()

    def _update(self):
        """Makes a view again if an array was assigned to meanwhile whose memory it shares."""
        if self._memory is None or self._version == self._memory.version:
            return
        if self._origin is None or self._recording.is_over:
            raise ValueError(
                f"`{self._value_text}` shares memory with a view of it that was assigned to, or may share "
                "memory with an array that was, as a reshape may: assign to the array itself and make the "
                "view afterwards, or use a copy() of either"
            )
        base, function, attributes, rule = self._origin
        base._update()
        # A function of a loop may read the view.
        with resumed(self._recording):
            again = function(base) if callable(function) else base._call(function, attributes, rule)
        self._name, self._version = again._name, self._memory.version

    def _bases(self):
        """The arrays that this one is a view of, or may be."""
        found = self
        while found._base is not None:
            found = found._base
            yield found

    def _note_rebinding(self, symbol, result, frame):
        """Notes that ``y symbol= v`` in the code of ``frame`` binds the name of this array to ``result``."""
        if _is_of_jax(frame) or _is_library(frame):
            return
        is_of_view = self._base is not None
        noted = Rebinding(symbol, frame.f_code.co_filename, frame.f_lineno, result, is_of_view)
        self._rebound = noted
        for view in (self, *self._bases()):
            if view._base is not None and view._base._rebound is None:
                view._base._rebound = noted._replace(part=view._origin or ())

    def _inherit_rebinding(self):
        """Notes the operator that bound the name of another view of the same array, unless the two views are
        parts by different indices, which may not overlap."""
        noted = self._base._rebound
        if noted is None or noted.part is None:
            return
        made_by = [origin[1:3] if origin else None for origin in (self._origin, noted.part)]
        if made_by[0] == made_by[1] or not all(by and by[0] == "[]" for by in made_by):
            self._rebound = noted._replace(part=None)

    def _forget_rebinding(self, value):
        """Notes that ``value`` is written into the array: ``y[key] += v`` first computes ``y[key] + v`` of a
        view."""
        for array in (self, *self._bases()):
            if array._rebound is not None and array._rebound.result is value:
                array._rebound = None

    def _warn_of_rebinding(self):
        """Warns if NumPy would have written into this array, which is read, where a name was bound."""
        of_bases = (base for base in self._bases() if base._rebound and base._rebound.part is None)
        holder = self if self._rebound else next(of_bases, None)
        if holder is None:
            return
        (symbol, filename, line, _, is_of_view, _), holder._rebound = holder._rebound, None
        if is_of_view:
            # A write into a view makes other uses of its array errors.
            what = "binds `y`, a view, to a new array, as in JAX, and the array that it views"
            advice = "to write into that array, and make the view afterwards"
        else:
            what = "binds `y` to a new array, as in JAX, and the old one"
            advice = "with [...] for a whole array, to write into the array"
        warnings.warn_explicit(
            f"a compiled function is traced: `y {symbol}= v` {what} is read afterwards, as "
            f"`{self._value_text}`; NumPy would write into it. Write array[key] {symbol}= v, {advice}, or "
            f"y = y {symbol} v",
            UserWarning,
            filename,
            line,
        )

    def _become(self, value):
        """Replaces the elements by those of ``value``, of this type and shape, also in the array that this
        one is a view of."""
        written = [(self, value)]
        if self._memory is not None:
            written = self._written(value)
            self._memory.version += 1
        for array, value in written:
            array._name, array._value_text = value._name, value._value_text
            array._dtype, array._shape = value._dtype, value._shape
            if array._memory is not None:
                array._version = array._memory.version

    def _written(self, value):
        """This array and the arrays that it is a view of, with their elements after a write of ``value``. The
        list ends with a view that may be a copy of its array."""
        from . import _view_writes

        written, view = [(self, value)], self
        while view._origin is not None:
            base, *made_by = view._origin
            base._update()
            value = _view_writes.written(base._snapshot(), made_by, value._snapshot())
            if value is None:
                break
            written.append((base, value))
            view = base
        return written

    def _is_for_labels(self, operands):
        """Whether an operand is an array of xarray with traced values: xarray then does the operation."""
        return self._recording.namespace is not None and _foreign.is_labelled(operands)

    def _product(self, x, y):
        """``x @ y``; lists are arrays, as for NumPy. A labelled array decides on its own product."""
        operands = x, y
        are_known = all(_is_operand(operand) or isinstance(operand, (list, tuple)) for operand in operands)
        if self._is_for_labels(operands) or not are_known:
            return NotImplemented
        return self._record("@", operands, rule="numpy")

    def __matmul__(self, other):
        return self._product(self, other)

    def __rmatmul__(self, other):
        return self._product(other, self)

    def __neg__(self):
        return self._call("-")

    def __pos__(self):
        return self._call("+")

    def __invert__(self):
        return self._call("~")

    def __abs__(self):
        return self._call("abs")

    def __round__(self, digits=None):
        return self._call("round", [(None, operator.index(digits or 0))])

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __copy__(self):
        return self._made()

    def __deepcopy__(self, memo):
        return self._made()

    __hash__ = None

    # NumPy's protocols.

    __array_priority__ = 1000

    # `series + x` calls `x.__radd__`.
    __pandas_priority__ = 10_000

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if self._is_for_labels(inputs) or _are_columns(*inputs):
            return NotImplemented
        # `axis=None` of a reduction means all axes; other keywords are omitted by `None`.
        kept = ("axis",) if method in ("reduce", "accumulate") else ()
        kwargs = {key: value for key, value in kwargs.items() if value is not None or key in kept}
        # A tuple of indices is a key, and no array.
        lists = (list,) if method == "at" else (list, tuple)
        inputs = [as_array(value) if isinstance(value, lists) else value for value in inputs]
        if method == "__call__":
            return self._call_of_ufunc(ufunc, inputs, kwargs)
        if method == "outer":
            return ufunc(*_of_outer(*inputs), **kwargs)
        if method == "at":
            from ._assignments import ufunc_at

            return ufunc_at(ufunc, *inputs)
        out = kwargs.pop("out", None)
        if out is not None:
            from ._outputs import written_whole

            result = getattr(ufunc, method)(*inputs, **kwargs)
            return written_whole(f"{ufunc.__name__}.{method}", inputs[0], result, out)
        if method == "reduceat":
            from ._reduceat import reduceat

            # NumPy passes indices that are given by keyword twice.
            return reduceat(ufunc, *inputs, **{key: kwargs[key] for key in kwargs if key != "indices"})
        handlers = {"accumulate": ACCUMULATIONS, "reduce": REDUCTIONS}[method]
        if ufunc.__name__ in handlers and _is_of_numpy(ufunc):
            return handlers[ufunc.__name__](*inputs, **kwargs)
        from . import _ufunc_methods

        return getattr(_ufunc_methods, method)(ufunc, *inputs, **kwargs)

    def _call_of_ufunc(self, ufunc, inputs, kwargs):
        """A call of a ufunc whose omitted keywords are left out."""
        # These say how the result lies in memory, and whether it is of a subclass.
        kwargs = {key: value for key, value in kwargs.items() if key not in ("order", "subok")}
        if kwargs.get("where") is True:
            del kwargs["where"]
        out = kwargs.get("out", (None,))
        if isinstance(out[0], Tracer) and ufunc.nout == 1:
            from ._outputs import written

            where, casting = kwargs.pop("where", True), kwargs.get("casting", "same_kind")
            del kwargs["out"]
            return written(ufunc.__name__, ufunc(*inputs, **kwargs), out, where, casting)
        if out[0] is not None:
            self._recording.request_elements()
            note_write(out[0])
            raise TypeError(refused_keyword(self._recording.function, ufunc, "out", kwargs))
        loop = {key: kwargs.pop(key) for key in ("dtype", "casting", "signature") if key in kwargs}
        if loop:
            inputs = loop_operands(ufunc, inputs, **loop)
        if not _is_of_numpy(ufunc):
            from . import _other_ufuncs

            return _other_ufuncs.call(ufunc, inputs, kwargs)
        if ufunc.__name__ in UFUNCS:
            return UFUNCS[ufunc.__name__](*inputs, **kwargs)
        for keyword in kwargs:
            raise TypeError(refused_keyword(self._recording.function, ufunc, keyword, kwargs))
        return self._numpy_function(ufunc.__name__, inputs)

    def __array_namespace__(self, *, api_version=None):
        if self._recording.namespace is not None:
            return self._recording.namespace
        from . import array_api

        if api_version not in (None, *_API_VERSIONS):
            raise ValueError(f"api_version={api_version!r}: indim has {array_api.__array_api_version__!r}")
        return array_api

    def __array_function__(self, function, types, args, kwargs):
        if any(hasattr(of, "_takes_traced_values") for of in types):
            return NotImplemented
        handler = ARRAY_FUNCTIONS.get(function)
        if handler is None:
            raise TypeError(_refused.function_message(function))
        out = kwargs.get("out")
        if out is None or function is np.clip:
            return handler(*args, **kwargs)
        from ._outputs import written_whole

        result = handler(*args, **{key: kwargs[key] for key in kwargs if key != "out"})
        return written_whole(function.__name__, args[0] if args else kwargs.get("a"), result, out)

    def _numpy_function(self, name, operands):
        if name == "divmod":
            return operator_call("//", *operands), operator_call("%", *operands)
        if name == "power":
            return operator_call("**", *operands)
        if name in ("matmul", "matvec", "vecmat"):
            return self._record("@" if name == "matmul" else name, operands, rule="numpy")
        try:
            return self._record(_UFUNC_NAMES.get(name, name), operands)
        except ExprError as error:
            if error.code not in ("unknown-function", "not-element-wise"):
                raise
        raise TypeError(_refused.ufunc_message(name))

    # The methods of arrays that are element-wise.

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        target = _arrays.indim_name(dtype)
        if not np.can_cast(self.dtype, _arrays.numpy_dtype(target), casting=casting):
            raise TypeError(
                f"cannot cast `{self._value_text}` from {self.dtype} to {target} with casting={casting!r}"
            )
        if not copy and self.dtype == _arrays.numpy_dtype(target):
            return self
        return self._call(target)

    def conj(self):
        # NumPy's function `conj`, unlike the method, copies, and converts truth values.
        return self._call("conj") if self.dtype.kind == "c" else self

    conjugate = conj

    @property
    def real(self):
        return self._call("real")

    @property
    def imag(self):
        return self._call("imag")

    @real.setter
    def real(self, values):
        from ._assignments import write_part

        write_part(self, "real", values)

    @imag.setter
    def imag(self, values):
        from ._assignments import write_part

        write_part(self, "imag", values)

    @property
    def T(self):
        return self._call("transpose")

    @property
    def mT(self):
        if not self.ndim >= 2:
            raise ValueError(f"`{self._value_text}` has fewer than two axes, and `mT` exchanges the last two")
        return np.swapaxes(self, -1, -2)

    def round(self, decimals=0):
        return self.__round__(decimals)

    def clip(self, min=None, max=None, out=None, **kwargs):
        return np.clip(self, min, max, out, **kwargs)

    def reshape(self, *shape, order="C", copy=None):
        if order not in ("C", "F"):
            raise TypeError(f"order={order!r} depends on how arrays lie in memory: write 'C' or 'F'")
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if type(shape) in (tuple, list) and any(type(size) is Number for size in shape):
            from ._slices_by_sizes import reshape

            shape = reshape(self, shape)
        shape = _arrays.integers(shape)
        if order == "F":
            return self.T.reshape(shape[::-1]).T
        return self._call("reshape", [(None, shape)])

    def ravel(self, order="C"):
        return np.ravel(self, order)

    def flatten(self, order="C"):
        return np.ravel(self, order)._made()

    def copy(self, order="C"):
        made = self._made()
        made._is_row_major = order == "C"
        return made

    def squeeze(self, axis=None):
        return np.squeeze(self, axis)

    def swapaxes(self, axis1, axis2):
        return np.swapaxes(self, axis1, axis2)

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        axes = None if axes is None else _arrays.integers(axes)
        return self._call("transpose", [(None, axes)] if axes else ())


def _are_columns(*operands):
    """Whether an operand is a DataFrame or table that is read by columns, which then does the operation."""
    return any(getattr(type(operand), "is_columns", False) for operand in operands)


def _is_view(attributes, result):
    """Whether the result of an index is a view of the array in NumPy: not for arrays of integers, whose
    items are names of values, and not for a single element."""
    ((_, items),) = attributes
    if any(isinstance(item, str) for item in items):
        return False
    return bool(result._shape) or any(item is Ellipsis or isinstance(item, tuple) for item in items)


def _splits(shape, new_shape):
    """Whether a reshape splits axes, or adds or removes axes of size 1: NumPy's result is then a view for any
    layout in memory."""
    if 0 in shape:
        return True
    sizes = (size for size in new_shape if size != 1)
    for size in shape:
        part = 1
        while part < size:
            part *= next(sizes)
        if part != size:
            return False
    return True


#: Ufuncs with another name in the language of expressions.
_UFUNC_NAMES = {"absolute": "abs", "equal": "eq"}


def _is_of_numpy(ufunc):
    """Whether a ufunc is NumPy's of its name; other packages have ufuncs of the same names."""
    return getattr(np, ufunc.__name__, None) is ufunc


def _is_operand(value):
    return isinstance(value, (Tracer, bool, int, float, complex, np.ndarray, np.generic)) or hasattr(
        value, "__array__"
    )


def as_array(values):
    """Nested lists of numbers and traced values as an array, as for NumPy."""
    return np.asarray(values, like=tracer_of(leaves_of(values))) if has_tracer(values) else np.asarray(values)


def index_keys(key):
    """The keys of an index; lists that contain traced values are arrays."""
    keys = key if isinstance(key, tuple) else (key,)
    return tuple(as_array(key) if type(key) is list and has_tracer(key) else key for key in keys)


def loop_operands(ufunc, inputs, dtype=None, casting="same_kind", signature=None):
    """The operands in the types of the loop of a ufunc whose results have the type ``dtype``, if it is
    given, or that has this signature. Python numbers are weak."""
    weak = int, float, complex
    inputs = [plain_value(value) for value in inputs]
    inputs = [
        value if isinstance(value, Tracer) or type(value) in weak else np.asarray(value) for value in inputs
    ]
    types = [type(value) if type(value) in weak else value.dtype for value in inputs]
    if signature is None:
        signature = (None,) * ufunc.nin + (None if dtype is None else np.dtype(dtype),) * ufunc.nout
    types = ufunc.resolve_dtypes((*types, *(None,) * ufunc.nout), signature=signature, casting=casting)
    return [
        value.astype(of_loop) if isinstance(value, Tracer) else np.asarray(value, of_loop)
        for value, of_loop in zip(inputs, types)
    ]


def _of_outer(x, y):
    """The operands of the method ``outer`` of a ufunc, which then broadcast against each other."""
    # Numbers are arrays here, so they are not weak.
    x, y = (value if isinstance(value, Tracer) else np.asarray(value) for value in (x, y))
    return x.reshape(tuple(x.shape) + (1,) * y.ndim), y


def innermost(operands):
    """The recording of an operation on these operands: their innermost one, or a branch within it that runs,
    since only the chosen branch computes."""
    recordings = [operand._recording for operand in operands if isinstance(operand, Tracer)]
    recording = max(recordings, key=lambda recording: recording.depth)
    inner, branch = running_recording(), None
    while inner is not None and inner is not recording:
        if branch is None and inner.is_branch:
            branch = inner
        inner = inner.outer
    return recording if inner is None or branch is None else branch


def tracer_of(operands):
    for operand in operands:
        if isinstance(operand, Tracer):
            return operand
    raise TypeError("none of the operands is a traced value")


def operator_call(symbol, x, y):
    """``x symbol y``; at least one operand is a traced value."""
    return tracer_of((x, y))._operator(symbol, x, y)


define_operators(Tracer, Tracer._operator)
define_assignments(Tracer, Tracer._assign)


def has_tracer(value, depth=0):
    """Whether a traced value is in a container, up to the maximum depth of containers."""
    if depth > 32 or not is_node(value):
        return isinstance(value, Tracer)
    return any(has_tracer(item, depth + 1) for item in items_of(value))


def result_tracer(recording, value):
    """A result of a traced function as a value of its recording."""
    if value is None:
        raise TypeError("the function returns None; a compiled function returns arrays")
    if is_number(value):
        operand = recording.operand(value)
        return Tracer(recording, recording.recorder("result").record("copy", [operand], [], "numpy"))
    if isinstance(value, Tracer):
        value._warn_of_rebinding()
    return recording.tracer(value, "result")


def new_arrays(value):
    """The traced values in a container as new arrays, like the results of a compiled function."""

    def new(leaf):
        if not isinstance(leaf, Tracer):
            return leaf
        made = leaf._made()
        # The results of rank 0 are arrays.
        made._is_number = False
        return made

    return mapped(value, new)


def recorded_results(recording, function, args, kwargs):
    """The container of a function's results, the keys if that is a dict, and the results as values of the
    recording, in which the function runs."""
    with running(recording):
        kind, keys, results = flatten(function(*args, **kwargs))
        return kind, keys, [result_tracer(recording, result) for result in results]
